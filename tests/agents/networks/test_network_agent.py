"""Networks, their files, and the agent that plays them with and without a tree search."""

import json
import pickle
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

import torch
from patched_clock import Clock

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.networks import network_agent
from meeplezoo.agents.networks.architecture import Architecture, build, has_cell_plane
from meeplezoo.agents.networks.network_agent import NetworkAgent, NetworkSettings
from meeplezoo.agents.networks.network_file import check_fits, load_network, make_metadata, save_network
from meeplezoo.cli.main import main
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.engine.batch import determinize_games

SMALL = Architecture("mlp", (16,))
GAMES = [
    ("azul", {}, None, "mlp"),
    ("azul", {"num_players": 3}, None, "mlp"),
    ("qwirkle", {"board_size": 26}, "flat", "mlp"),
    ("qwirkle", {"board_size": 26}, "planes", "conv"),
    ("manhattan", {}, None, "mlp"),
]
EVERY_GAME = pytest.mark.parametrize(("name", "options", "encoding", "kind"), GAMES)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Let torch use one thread: several are many times slower on busy cores."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def lively(game, architecture, seed=1):
    """Return a new network whose logits and values differ a lot from position to position."""
    torch.manual_seed(seed)
    network = build(game, architecture)
    layers = network.network if architecture.heuristic else network
    heads = getattr(layers, "heads", layers)
    with torch.no_grad():
        heads.policy.weight.mul_(200)
        heads.values.weight.mul_(2)
        if architecture.kind == "conv":
            layers.features.cell_logit.weight.mul_(100)
    return network.eval()


def agent_of(game, architecture=SMALL, seed=1, value="return", **settings):
    head = make_metadata(game, architecture, value, {})
    return NetworkAgent("net", lively(game, architecture), head, seed, NetworkSettings(**settings))


def positions(game, count, plies, seed=3):
    batch = GameBatch(game, count, auto_reset=False)
    batch.reset(seed)
    for _ in range(plies):
        batch.step(batch.random_actions())
    return batch.states[batch.states["status"] == 0]


@pytest.fixture
def file(tmp_path):
    """Return a file of a small network for Azul."""
    path = tmp_path / "small.safetensors"
    save_lively(path, make_game("azul"))
    return path


def save_lively(path, game, architecture=SMALL, **changes):
    head = make_metadata(
        game, architecture, "return", {"algorithm": "alphazero", "decisions": 12, "versions": {"a": "1"}}
    )
    save_network(path, lively(game, architecture), replace(head, **changes))
    return replace(head, **changes)


# --- networks


@EVERY_GAME
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("hidden", [(), (8,), (12, 8)])
def test_networks_have_the_sizes_of_their_game_and_begin_undecided(name, options, encoding, kind, shared, hidden):
    # a layer of few units can be born dead
    torch.manual_seed(2)
    game = make_game(name, encoding=encoding, **options)
    network = build(game, Architecture(kind, hidden, channels=4, shared_trunk=shared))
    decisions = DecisionBatch(game, positions(game, 5, 9))
    logits, values = network(torch.as_tensor(decisions.observation))
    assert logits.shape == (5, game.num_actions)
    assert values.shape == (5, game.num_players)
    assert logits.dtype == values.dtype == torch.float32
    assert 0 < logits.std() < 0.1
    # every weight is used, and reached by the gradient of its own head
    (logits.pow(2).sum() + values.pow(2).sum()).backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in network.parameters())


def test_hidden_layers_are_orthogonal_and_can_be_shared():
    game = make_game("azul")
    network = build(game, Architecture("mlp", (64, 32)))
    for layer, gain in ((network.trunk[0], 2), (network.trunk[2], 2), (network.policy, 0.0001), (network.values, 1)):
        weight = layer.weight.detach()
        rows = weight if weight.shape[0] <= weight.shape[1] else weight.T
        torch.testing.assert_close(rows @ rows.T, gain * torch.eye(len(rows)), rtol=0, atol=1e-4 * gain)
        assert not layer.bias.any()
    observation = torch.rand(3, game.observation_size)
    for shared in (True, False):
        network = build(game, Architecture("mlp", (64, 32), shared_trunk=shared))
        before = network(observation)
        with torch.no_grad():
            network.trunk[2].weight.mul_(2)
        logits, values = network(observation)
        assert not torch.allclose(logits, before[0])
        assert torch.equal(values, before[1]) != shared


def test_the_forward_of_a_small_network_is_what_it_should_be():
    game = make_game("azul")
    network = lively(game, Architecture("mlp", (3,)))
    observation = np.random.default_rng(1).random((4, game.observation_size), np.float32)
    one, policy, values = (
        [part.detach().numpy().astype(np.float64) for part in (layer.weight, layer.bias)]
        for layer in (network.trunk[0], network.policy, network.values)
    )
    latent = np.maximum(0, observation @ one[0].T + one[1])
    found = [part.detach().numpy() for part in network(torch.as_tensor(observation))]
    np.testing.assert_allclose(found[0], latent @ policy[0].T + policy[1], atol=1e-4)
    np.testing.assert_allclose(found[1], latent @ values[0].T + values[1], atol=1e-5)


@EVERY_GAME
def test_a_network_that_sees_the_heuristic_adds_to_it(name, options, encoding, kind):
    torch.manual_seed(2)
    game = make_game(name, encoding=encoding, **options)
    network = build(game, Architecture(kind, (8,), 4, True, True, True))
    decisions = DecisionBatch(game, positions(game, 20, 10))
    observation, action_values = torch.as_tensor(decisions.observation), torch.as_tensor(decisions.action_values)
    logits, values = network(observation, action_values)
    assert (logits - 0.5 * action_values).abs().max() < 0.1
    # other values are seen: all that hangs on the layers changes, beside what is added
    others = network(observation, torch.flip(action_values, (1,)))
    assert not torch.allclose(others[1], values)
    assert not torch.allclose(others[0] - 0.5 * torch.flip(action_values, (1,)), logits - 0.5 * action_values)
    (logits.pow(2).sum() + values.pow(2).sum()).backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in network.parameters())


@EVERY_GAME
def test_of_no_decisions_nothing_is_said(name, options, encoding, kind):
    game = make_game(name, encoding=encoding, **options)
    for architecture in (Architecture(kind, (8,), 4), Architecture(kind, (8,), 4, True, True, True)):
        priors, values = agent_of(game, architecture).evaluate(DecisionBatch(game, positions(game, 3, 5)[:0]))
        assert priors.shape == (0, game.num_actions)
        assert values.shape == (0, game.num_players)


def test_only_planes_whose_cells_are_actions_are_seen_by_cells():
    assert has_cell_plane(make_game("qwirkle"))
    flat = make_game("qwirkle", encoding="flat")
    assert not has_cell_plane(flat)
    assert not has_cell_plane(make_game("azul"))
    with pytest.raises(ValueError, match="which qwirkle with the encoding flat has not"):
        build(flat, Architecture("conv", (8,)))


@pytest.mark.parametrize("side", [26, 48])
@pytest.mark.parametrize("plies", [0, 9, 60])
@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("others", [[120], [5, 20, 40, 80, 120]])
def test_cells_say_the_same_of_a_game_alone_and_in_a_batch(side, plies, seen, others):
    game = make_game("qwirkle", board_size=side)
    agent = agent_of(game, Architecture("conv", (16,), 4, True, seen, seen))
    states = positions(game, 12, plies)
    # more games that are further have a larger part of the window looked at; many are looked at in groups
    number = 1 if len(others) == 1 else 12
    states = np.concatenate([states, *(positions(game, number, further) for further in others)])
    priors, values = agent.evaluate(DecisionBatch(game, states))
    for index in range(0, len(states), 1 if number == 1 else 5):
        alone = agent.evaluate(DecisionBatch(game, states[index : index + 1]))
        np.testing.assert_allclose(alone[0][0], priors[index], atol=1e-5)
        np.testing.assert_allclose(alone[1][0], values[index], atol=1e-5)
    assert priors.max() > 0.3
    assert values.std() > 0.01


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "transformer"}, "kind of network must be one of mlp, conv, not 'transformer'"),
        ({"hidden_sizes": [8]}, "hidden_sizes must be integers from 1 to 65536, not [8]"),
        ({"hidden_sizes": (8, 0)}, "hidden_sizes must be integers from 1 to 65536, not (8, 0)"),
        ({"hidden_sizes": (True,)}, "hidden_sizes must be integers"),
        ({"hidden_sizes": (10**9,)}, "hidden_sizes must be integers"),
        ({"channels": 0}, "channels must be an integer from 1 to 65536, not 0"),
        ({"shared_trunk": 1}, "shared_trunk must be true or false, not 1"),
        ({"heuristic_input": True}, "heuristic_input needs heuristic"),
        ({"heuristic": True, "margin_input": True}, "margin_input needs heuristic_input"),
    ],
)
def test_wrong_architectures_are_named(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Architecture(**{"kind": "mlp", "hidden_sizes": (8,), **given})


# --- files


@EVERY_GAME
@pytest.mark.parametrize("shared", [True, False])
def test_a_file_gives_back_the_network_bit_for_bit(name, options, encoding, kind, shared, tmp_path):
    game = make_game(name, encoding=encoding, **options)
    architecture = Architecture(kind, (16, 8), 4, shared)
    network = lively(game, architecture)
    head = make_metadata(game, architecture, "reward", {"seconds": 1.5, "win_weight": 0.25, "versions": {"torch": "2"}})
    paths = [tmp_path / "some" / "one.safetensors", tmp_path / "two.safetensors"]
    save_network(paths[0], network, head)
    with paths[1].open("wb") as stream:
        save_network(stream, network, head)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    before = torch.get_rng_state()
    loaded, read = load_network(paths[0])
    assert torch.equal(torch.get_rng_state(), before)
    assert read == head
    assert (read.game, read.options, read.observation) == (name, game.options, game.encoding)
    assert not loaded.training
    observation = torch.as_tensor(DecisionBatch(game, positions(game, 40, 11)).observation)
    for one, other in zip(network(observation), loaded(observation), strict=True):
        assert torch.equal(one, other)
    # it can be trained on
    loaded(observation)[0].sum().backward()


def test_a_file_without_the_newer_fields_of_its_architecture_is_read(tmp_path):
    game = make_game("azul")
    network = build(game, Architecture("mlp", (8,)))
    path = tmp_path / "net.safetensors"
    save_network(path, network, make_metadata(game, Architecture("mlp", (8,)), "return", {}))
    old = {"kind": "mlp", "hidden_sizes": [8], "channels": 16, "shared_trunk": True, "heuristic": False}
    path.write_bytes(altered(path.read_bytes(), with_head(architecture=old)))
    assert load_network(path)[1].architecture == Architecture("mlp", (8,))
    path.write_bytes(altered(path.read_bytes(), with_head(architecture={**old, "kind": None, "size": 3})))
    with pytest.raises(ValueError, match="lacks something, or has too much"):
        load_network(path)


def altered(content, change):
    """Return the content of a file with its header changed and its length right."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    change(header)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


def with_head(**changes):
    """Return a change of a header's description of its network; None leaves the key out."""

    def change(header):
        head = {**json.loads(header["__metadata__"]["meeplezoo_network"]), **changes}
        head = {name: value for name, value in head.items() if value is not None}
        header["__metadata__"] = {"meeplezoo_network": json.dumps(head)}

    return change


def without_head(header):
    header["__metadata__"] = {"format": "pt"}


def not_json(header):
    header["__metadata__"] = {"meeplezoo_network": "{" + "[" * 100_000}


def renamed(header):
    header["trunk.1.weight"] = header.pop("trunk.0.weight")


def reshaped(header):
    header["values.weight"]["shape"].reverse()


DAMAGE = {
    "empty": (lambda content: b"", "is damaged, or no safetensors file"),
    "cut in the header": (lambda content: content[:100], "is damaged, or no safetensors file"),
    "cut in the weights": (lambda content: content[:-1], "is damaged, or no safetensors file"),
    "longer": (lambda content: content + b"0", "is damaged, or no safetensors file"),
    "flipped length": (lambda content: b"\xff" + content[1:], "is damaged, or no safetensors file"),
    "flipped header": (lambda content: content[:8] + b"\xff" + content[9:], "is damaged, or no safetensors file"),
    "text": (lambda content: b"not a network\n" * 50, "is damaged, or no safetensors file"),
    "no head": (lambda content: altered(content, without_head), "the file holds no network of meeplezoo"),
    "no JSON": (lambda content: altered(content, not_json), "the file's description of its network is not JSON"),
    "format": (lambda content: altered(content, with_head(format=1)), "the file's format is not 2, the one known"),
    "missing": (lambda content: altered(content, with_head(value=None)), "lacks something, or has too much"),
    "too much": (lambda content: altered(content, with_head(colour="red")), "lacks something, or has too much"),
    "architecture": (lambda content: altered(content, with_head(architecture=[16])), "lacks something, or has"),
    "value": (lambda content: altered(content, with_head(value="points")), "must be one of return, reward"),
    "leaf plies": (
        lambda content: altered(content, with_head(training={"leaf_plies": -1})),
        "leaf_plies .* an integer from 0 to 1,000,000, not -1",
    ),
    "win weight": (
        lambda content: altered(content, with_head(training={"win_weight": 2})),
        "win_weight .* from 0 to 1",
    ),
    "type": (lambda content: altered(content, with_head(version="0")), "version of a network cannot be '0'"),
    "unknown game": (lambda content: altered(content, with_head(game="chess")), "there is no game 'chess'"),
    "unknown option": (lambda content: altered(content, with_head(options={"hue": 1})), "azul has no option 'hue'"),
    "unknown form": (
        lambda content: altered(content, with_head(observation="x")),
        "has the encodings flat, compact, not 'x'",
    ),
    "other version": (
        lambda content: altered(content, with_head(version=9)),
        "the network was trained for version 9 of azul, this is version 0$",
    ),
    "other sizes": (
        lambda content: altered(content, with_head(observation_size=7)),
        "was trained for observations of 7 numbers and 180 actions, but azul has 181 and 180$",
    ),
    "renamed": (lambda content: altered(content, renamed), "the network lacks the weights 'trunk.0.weight'$"),
    "reshaped": (lambda content: altered(content, reshaped), r"must be \[2, 16\] 'F32', not \[16, 2\] 'F32'$"),
    "not finite": (lambda content: content[:-4] + np.float32("nan").tobytes(), "the weights '.*' are not all finite"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused_in_one_sentence(damage, file):
    change, message = DAMAGE[damage]
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(ValueError, match=message) as caught:
        make_agent(f"net:{file}", make_game("azul"))
    assert str(caught.value).count(str(file)) == 2
    assert "\n" not in str(caught.value)


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_nothing_is_unpickled(file, tmp_path):
    mark = tmp_path / "exploded"
    for write in (lambda path: path.write_bytes(pickle.dumps(Bomb(mark))), lambda path: torch.save(Bomb(mark), path)):
        write(file)
        with pytest.raises(ValueError, match="is damaged, or no safetensors file"):
            load_network(file)
        assert not mark.exists()
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"^there is no file '.*none\.safetensors'$"):
        load_network(tmp_path / "none.safetensors")
    with pytest.raises(ValueError, match=r"is not a regular file$"):
        load_network(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("qwirkle", {}, "the network was trained for azul, not for qwirkle"),
        ("azul", {"num_players": 3}, "was trained for azul with num_players=2, not with num_players=3"),
        (
            "azul",
            {"wall": "grey", "max_rounds": 4},
            "was trained for azul with wall=coloured and max_rounds=30, not with wall=grey and max_rounds=4",
        ),
    ],
)
def test_a_network_of_another_game_is_refused(name, options, message, file):
    with pytest.raises(ValueError, match=f"^agent 'net:{file}': .*{message}$"):
        make_agent(f"net:{file}", make_game(name, **options))


def test_heads_that_do_not_fit_a_game_say_why():
    game = make_game("azul")
    head = make_metadata(game, SMALL, "return", {})
    check_fits(head, game)
    for change, message in (
        ({"version": 3}, "trained for version 3 of azul, this is version 0"),
        ({"options": {**game.options, "bags": 2}}, "with bags=2, not with no bags"),
        ({"observation": "planes"}, "sees the observation 'planes', but azul has flat"),
        ({"num_actions": 150}, "observations of 181 numbers and 150 actions, but azul has 181 and 180"),
    ):
        with pytest.raises(ValueError, match=message):
            check_fits(replace(head, **change), game)


# --- the agent


class Fixed(torch.nn.Module):
    """A network that says the same of every observation."""

    def __init__(self, logits, values):
        super().__init__()
        self.logits = torch.nn.Parameter(torch.tensor(logits, dtype=torch.float32))
        self.values = torch.tensor(values, dtype=torch.float32)

    def forward(self, observation):
        number = len(observation)
        return self.logits.expand(number, -1), self.values.expand(number, -1)


@pytest.mark.parametrize(
    ("value", "inverse"), [("return", lambda v: np.log(v / (1 - v))), ("reward", lambda v: np.arctanh(2 * v - 1))]
)
def test_values_of_the_players_after_the_mover_become_those_of_the_seats(value, inverse):
    game = make_game("azul", num_players=3)
    states = np.concatenate([positions(game, 2, plies) for plies in (0, 1, 2)])
    seats = states["to_move"].tolist()
    assert sorted(set(seats)) == [0, 1, 2]
    network = Fixed([0.0] * game.num_actions, inverse(np.array([0.9, 0.3, 0.2])))
    agent = NetworkAgent("net", network, make_metadata(game, SMALL, value, {}), 1)
    _, values = agent.evaluate(DecisionBatch(game, states))
    assert values.dtype == np.float32
    by_seat = {0: [0.9, 0.3, 0.2], 1: [0.2, 0.9, 0.3], 2: [0.3, 0.2, 0.9]}
    np.testing.assert_allclose(values, [by_seat[seat] for seat in seats], atol=1e-6)


def test_priors_are_the_softmax_over_the_legal_actions():
    game = make_game("azul")
    logits = np.random.default_rng(1).normal(0, 5, game.num_actions)
    agent = NetworkAgent("net", Fixed(logits, [0.0, 0.0]), make_metadata(game, SMALL, "return", {}), 1)
    decisions = DecisionBatch(game, positions(game, 30, 8))
    priors, values = agent.evaluate(decisions)
    assert priors.dtype == np.float32
    expected = np.where(decisions.mask == 1, np.exp(logits), 0)
    np.testing.assert_allclose(priors, expected / expected.sum(axis=1, keepdims=True), atol=1e-6)
    assert not priors[decisions.mask == 0].any()
    np.testing.assert_allclose(values, 0.5)
    assert agent.act(decisions).tolist() == np.where(decisions.mask == 1, logits, -np.inf).argmax(axis=1).tolist()


def test_a_sampling_agent_draws_in_proportion_and_never_illegally():
    game = make_game("azul")
    logits = np.random.default_rng(2).normal(0, 1.5, game.num_actions)
    states = positions(game, 1, 14).repeat(4000)
    head = make_metadata(game, SMALL, "return", {})
    agent = NetworkAgent("net", Fixed(logits, [0.0, 0.0]), head, 1, NetworkSettings(sample=1))
    priors, _ = agent.evaluate(DecisionBatch(game, states[:1]))
    actions = agent.act(DecisionBatch(game, states))
    shares = np.bincount(actions, minlength=game.num_actions) / len(states)
    assert not shares[priors[0] == 0].any()
    # four standard errors of the share
    assert (np.abs(shares - priors[0]) < 4 * np.sqrt(priors[0] / 4000) + 1e-9).all()
    assert (shares > 0).sum() > 10
    agent.reset(1)
    assert agent.act(DecisionBatch(game, states)).tolist() == actions.tolist()
    agent.reset(2)
    assert agent.act(DecisionBatch(game, states)).tolist() != actions.tolist()


@pytest.mark.parametrize(("word", "place"), [(0, 0), (2**32 - 2, -1)])
def test_the_smallest_and_the_largest_number_draw_the_first_and_the_last_legal_action(word, place, monkeypatch):
    game = make_game("azul")
    decisions = DecisionBatch(game, positions(game, 20, 30))
    assert (decisions.mask[:, [0, -1]].sum(axis=0) < 20).all()
    monkeypatch.setattr(network_agent, "draw", lambda stream, bound: word)
    head = make_metadata(game, SMALL, "return", {})
    agent = NetworkAgent("net", Fixed([0.0] * 180, [0.0, 0.0]), head, 1, NetworkSettings(sample=1))
    assert agent.act(decisions).tolist() == [int(np.flatnonzero(mask)[place]) for mask in decisions.mask]


def test_a_searching_agent_samples_by_visits_or_takes_the_most_visited_and_better():
    game = make_game("azul")
    legal = np.flatnonzero(game.mask(game.new(1)))[:3]
    visits, returns = np.zeros((300, game.num_actions), np.int64), np.zeros((300, game.num_actions))
    visits[:, legal] = [20, 20, 10]
    returns[:, legal] = [0.25, 0.5, 0.75]
    decisions = DecisionBatch(game, positions(game, 300, 0))
    for sample in (0, 1):
        agent = agent_of(game, sims=50, considered=0, sample=sample)
        agent.search = lambda _: (visits, returns)
        counts = np.bincount(agent.act(decisions), minlength=game.num_actions)
        if sample:
            assert (np.abs(counts[legal] - [120, 120, 60]) < 35).all()
            assert counts.sum() == counts[legal].sum()
        else:
            assert counts[legal].tolist() == [0, 300, 0]


@EVERY_GAME
@pytest.mark.parametrize("chance", ["open", "closed"])
def test_a_seed_decides_all_and_every_simulation_counts(name, options, encoding, kind, chance):
    game = make_game(name, encoding=encoding, **options)
    states = positions(game, 6, 10)
    before = states.tobytes()
    decisions = DecisionBatch(game, states)
    settings = {"architecture": Architecture(kind, (8,), 4), "sims": 24, "considered": 0, "chance": chance}
    agent = agent_of(game, seed=7, **settings)
    visits, returns = agent.search(decisions)
    assert states.tobytes() == before
    several = decisions.mask.sum(axis=1) > 1
    assert several.any()
    assert (visits.sum(axis=1) == np.where(several, 24, 1)).all()
    assert not visits[decisions.mask == 0].any()
    assert ((returns >= 0) & (returns <= 1)).all()
    agent.reset(7)
    for again in (agent, agent_of(game, seed=7, **settings)):
        found = again.search(decisions)
        np.testing.assert_array_equal(found[0], visits)
        np.testing.assert_array_equal(found[1], returns)
    assert (agent_of(game, seed=8, **settings).search(decisions)[1] != returns).any()
    agent.reset(7)
    actions = agent.act(decisions)
    assert (visits[np.arange(len(actions)), actions] == visits.max(axis=1)).all()


def test_a_search_follows_the_network():
    game = make_game("azul")
    states = positions(game, 4, 6)
    agent = agent_of(game, sims=40)
    priors, _ = agent.evaluate(DecisionBatch(game, states))
    # with such a weight of exploration visits follow the priors, whatever the leaves are worth
    agent.settings = replace(agent.settings, c=1000.0)
    visits, returns = agent.search(DecisionBatch(game, states))
    np.testing.assert_allclose(visits / 40, priors, atol=0.04)
    means = (visits * returns).sum(axis=1) / 40
    assert ((means > 0) & (means < 1)).all()
    assert np.ptp(means) > 0.01
    sure = NetworkAgent("net", Fixed([0.0] * 180, [3.0, -3.0]), agent.metadata, 1, NetworkSettings(sims=1))
    visits, returns = sure.search(DecisionBatch(game, states))
    # behind the one action that was tried the other player moves, and the network expects much for whoever moves
    np.testing.assert_allclose(returns[visits == 1], 1 / (1 + np.exp(3)), atol=1e-6)


@EVERY_GAME
def test_a_planned_search_plays_what_it_finds_best(name, options, encoding, kind):
    game = make_game(name, encoding=encoding, **options)
    decisions = DecisionBatch(game, positions(game, 6, 10))
    settings = {"architecture": Architecture(kind, (8,), 4), "sims": 12, "considered": 4}
    agent = agent_of(game, seed=7, **settings)
    actions, policy = agent.plan(decisions)
    np.testing.assert_allclose(policy.sum(axis=1), 1, atol=1e-5)
    assert not policy[decisions.mask == 0].any()
    assert decisions.mask[np.arange(len(actions)), actions].all()
    agent.reset(7)
    assert agent.act(decisions).tolist() == actions.tolist()


def test_many_games_are_searched_in_groups(monkeypatch):
    game = make_game("azul")
    decisions = DecisionBatch(game, positions(game, 20, 5))
    whole = agent_of(game, sims=10).search(decisions)
    sizes = []
    search = network_agent.search_with_network

    def noted(game, states, *arguments, **settings):
        sizes.append((len(states), settings["nodes"]))
        return search(game, states, *arguments, **settings)

    monkeypatch.setattr(network_agent, "search_with_network", noted)
    nodes = 1 + 180 + 10 * 129
    monkeypatch.setattr(network_agent, "_TREES_BYTES", 48 * 8 * nodes)
    parts = agent_of(game, sims=10).search(decisions)
    assert sizes == [(8, nodes), (8, nodes), (4, nodes)]
    assert (parts[0].sum(axis=1) == 10).all()
    # the first group is that of the search of all
    np.testing.assert_array_equal(parts[0][:8], whole[0][:8])
    # a tree that may not grow further searches on all the same
    monkeypatch.setattr(network_agent, "_TREES_BYTES", 48 * 300)
    sizes.clear()
    assert (agent_of(game, sims=10).search(decisions)[0].sum(axis=1) == 10).all()
    assert sizes == [(1, 300)] * 20


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"sims": 30, "considered": 0},
        {"sims": 30},
        {"sims": 20, "plies": 5},
        {"sims": 30, "chance": "closed", "considered": 0},
        {"sample": 1},
    ],
)
@EVERY_GAME
def test_nobody_peeks(name, options, encoding, kind, settings):
    game = make_game(name, encoding=encoding, **options)
    states = positions(game, 5, 12)
    others = states.copy()
    determinize_games(others, states["to_move"].astype(np.int64), np.array([11, 22, 33, 44], np.uint32))
    for state, other in zip(states, others, strict=True):
        assert other["random"].tolist() != state["random"].tolist()
        # in Azul only chance is hidden
        assert name == "azul" or other["hands"].tolist() != state["hands"].tolist()
    agents = [agent_of(game, Architecture(kind, (8,), 4), 3, **settings) for _ in range(2)]
    actions = [
        agent.act(DecisionBatch(game, true)).tolist() for agent, true in zip(agents, (states, others), strict=True)
    ]
    assert actions[0] == actions[1]
    for agent in agents:
        agent.reset(4)
    if settings.get("sims"):
        found = [agent.search(DecisionBatch(game, true)) for agent, true in zip(agents, (states, others), strict=True)]
        np.testing.assert_array_equal(found[0][0], found[1][0])
        np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("settings", ["", ",sims=12"])
def test_an_agent_sees_the_form_it_was_trained_on_whatever_the_game_shows(settings, tmp_path):
    games = [make_game("qwirkle", encoding=encoding, board_size=26) for encoding in ("planes", "flat")]
    for index, architecture in enumerate((Architecture("conv", (8,), 4), SMALL)):
        save_lively(tmp_path / f"{index}.safetensors", games[index], architecture)
        states = positions(games[0], 16, 25)
        text = f"net:{tmp_path / f'{index}.safetensors'}{settings}"
        actions = [make_agent(text, game, 1).act(DecisionBatch(game, states)).tolist() for game in games]
        assert actions[0] == actions[1]
        assert len(set(actions[0])) > 3


# --- the text of the agent


def test_the_text_sets_the_agent(file):
    game = make_game("azul")
    agent = make_agent(f"net:{file}", game, 1)
    assert agent.name == f"net:{file}"
    assert agent.settings == NetworkSettings(sims=0, considered=16, c=0.15, plies=0, win=0.5, chance="open", sample=0)
    agent = make_agent(f"net:{file},sims=20,considered=0,c=2,plies=3,win=0.75,chance=closed,sample=1", game, 1)
    assert agent.settings == NetworkSettings(sims=20, considered=0, c=2.0, plies=3, win=0.75, chance="closed", sample=1)
    given = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            network_agent,
            "search_with_network",
            lambda game, states, *_, **settings: given.update(settings) or (np.ones((1, 180)), np.ones((1, 180))),
        )
        agent.act(DecisionBatch(game, positions(game, 1, 3)))
    assert (given["c_puct"], given["closed_loop"], given["win_weight"]) == (2.0, True, 0.75)


@pytest.mark.parametrize(
    ("value", "training", "win"),
    [("return", {}, 0.5), ("reward", {}, 0.0), ("return", {"win_weight": 0.9}, 0.9), ("reward", {"win_weight": 1}, 1)],
)
def test_the_head_says_what_winning_weighs(value, training, win, tmp_path):
    path, game = tmp_path / "a.safetensors", make_game("azul")
    save_lively(path, game, value=value, training=training)
    assert make_agent(f"net:{path},sims=5", game).settings.win == win
    network, head = load_network(path)
    assert NetworkAgent("net", network, head, 1).settings.win == win
    assert make_agent(f"net:{path},win=0.3", game).settings.win == 0.3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "speed=3",
            "there is no setting 'speed'; the settings are sims, seconds, considered, c, plies, win, chance, sample",
        ),
        ("sims", "setting 'sims' must have the form name=value"),
        ("sims=2.5", "sims must be an integer, not '2.5'"),
        ("c=x", "c must be a number, not 'x'"),
        ("sims=-1", "sims must be from 0 to"),
        ("seconds=-1", "seconds must be from 0 to"),
        ("seconds=nan", "seconds must be a number, not 'nan'"),
        ("seconds=soon", "seconds must be a number, not 'soon'"),
        ("c=nan", "c must be a number, not 'nan'"),
        ("win=1.5", "win must be from 0 to 1"),
        ("sample=2", "sample must be from 0 to 1"),
        ("chance=none", "chance must be one of open, closed"),
    ],
)
def test_wrong_settings_are_named(words, message, file):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        make_agent(f"net:{file},{words}", make_game("azul"))
    assert str(caught.value).startswith(f"agent 'net:{file},{words}': ")


def test_names_are_those_of_bundled_networks(file, monkeypatch):
    game = make_game("azul")
    monkeypatch.setattr(network_agent.resources, "files", lambda package: file.parent)
    for text in ("net:small", "net:", "net"):
        with pytest.raises(
            ValueError, match=r"there is no network '(small|)'; there are no bundled networks, and files end"
        ):
            make_agent(text, game)
    (file.parent / "weights").mkdir()
    (file.parent / "weights" / "README.md").touch()
    file.rename(file.parent / "weights" / "small.safetensors")
    assert make_agent("net:small,sims=3", game, 1).act(DecisionBatch(game, positions(game, 2, 4))).shape == (2,)
    with pytest.raises(ValueError, match="there is no network 'big'; the bundled networks are small, and"):
        make_agent("net:big", game)
    with pytest.raises(ValueError, match=r"^agent 'net:x/big': there is no file 'x/big'$"):
        make_agent("net:x/big", game)


def test_all_bundled_networks_play():
    for name in network_agent.bundled_networks():
        _, metadata = load_network(
            network_agent.resources.files(network_agent.__package__) / "weights" / f"{name}.safetensors"
        )
        game = make_game(metadata.game, encoding=metadata.observation, **metadata.options)
        assert len(make_agent(f"net:{name},sims=2", game, 1).act(DecisionBatch(game, positions(game, 3, 4)))) == 3


def test_without_the_extra_the_agent_says_what_it_needs(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ValueError, match=r"needs the extra 'train': pip install 'meeplezoo\[train\]'"):
        make_agent(f"net:{file}", make_game("azul"))


@pytest.mark.parametrize("settings", ["", ",sims=4"])
def test_the_command_line_plays_it(settings, file, capsys):
    arguments = ["evaluate", "azul", f"net:{file}{settings}", "random", "--games", "4", "--seed", "1"]
    assert main([*arguments, "--json", str(file.parent / "first.json")]) == 0
    # a long path is cut in its middle
    assert f"{file.name}{settings}" in capsys.readouterr().out
    assert main([*arguments, "--json", str(file.parent / "second.json")]) == 0
    tables = [json.loads((file.parent / f"{name}.json").read_text()) for name in ("first", "second")]
    assert tables[0]["agents"][0]["games"] == 4
    assert tables[0]["agents"] == tables[1]["agents"]
    assert main(["evaluate", "azul", "net:nowhere", "random", "--games", "4"]) == 2
    assert "there is no network 'nowhere'" in capsys.readouterr().err


# --- time


@pytest.mark.parametrize("considered", [0, 8])
@pytest.mark.parametrize(
    ("limit", "sims", "expected"), [(40.0, 1000, 36), (40.0, 10, 10), (None, 100, 100), (0.5, 9, 1)]
)
def test_a_time_limit_ends_a_search_with_a_network(monkeypatch, considered, limit, sims, expected):
    # every evaluation of leaves takes a second, the first one a hundred more
    clock = Clock()
    for module in ("networks.network_agent", "search.time_limit"):
        monkeypatch.setattr(f"meeplezoo.agents.{module}.time", clock)
    game = make_game("azul")
    agent = agent_of(game, SMALL, sims=sims, considered=considered)
    evaluate, calls = agent.evaluate, []

    def slow(decisions):
        clock.now += 1.0 if calls else 101.0
        calls.append(len(decisions))
        return evaluate(decisions)

    monkeypatch.setattr(agent, "evaluate", slow)
    states = positions(game, 3, 4)
    # a limit for each of three decisions, which are searched side by side
    actions = agent.act(DecisionBatch(game, states, seconds_per_move=None if limit is None else limit / 3))
    assert all(game.mask(state)[action] for state, action in zip(states, actions, strict=True))
    # what loads the kernels, with one game alone, is not counted, and the root is valued once
    searching = [number for number in calls if number == 3]
    assert len(searching) - 1 == pytest.approx(expected, abs=2)
    assert set(calls) <= {1, 3}


class Noted:
    """Searches as `gumbel_search` does, and keeps the visits of what it found."""

    def __init__(self, monkeypatch):
        self.visits = []
        self._search = network_agent.gumbel_search
        monkeypatch.setattr(network_agent, "gumbel_search", self)

    def __call__(self, *arguments, **settings):
        found = self._search(*arguments, **settings)
        self.visits.append(found.visits)
        return found


def timed_search(monkeypatch, seconds_of, limit, states=None, **settings):
    """Return the visits of one search, and the time that it took, by a clock to which evaluations add seconds.

    `seconds_of` says how many an evaluation takes, by its number after the two that come before the search.
    """
    clock = Clock()
    for module in ("networks.network_agent", "search.time_limit"):
        monkeypatch.setattr(f"meeplezoo.agents.{module}.time", clock)
    game = make_game("azul")
    agent = agent_of(game, SMALL, **settings)
    evaluate, noted = agent.evaluate, Noted(monkeypatch)
    states = positions(game, 1, 4) if states is None else states
    calls = []

    def timed(decisions):
        if len(noted.visits) >= 2:
            calls.append(len(decisions))
            clock.now += seconds_of(len(calls))
        else:
            clock.now += 1.0
        return evaluate(decisions)

    monkeypatch.setattr(agent, "evaluate", timed)
    before = []
    load = agent._load_kernels
    monkeypatch.setattr(agent, "_load_kernels", lambda decisions: (load(decisions), before.append(clock.now)))
    actions = agent.act(DecisionBatch(game, states, seconds_per_move=limit))
    assert all(game.mask(state)[action] for state, action in zip(states, actions, strict=True))
    return noted.visits[2:], clock.now - before[0]


@pytest.mark.parametrize(
    "budget", [{"limit": 201 / 0.9, "sims": 10**6}, {"limit": None, "sims": 10**6, "seconds": 201}]
)
def test_the_plan_is_made_for_the_time(monkeypatch, budget):
    # the root takes a second and each simulation another
    (visits,), took = timed_search(monkeypatch, lambda number: 1.0, **budget)
    assert took <= 201
    assert 190 <= visits.sum() <= 200
    counts = -np.sort(-visits[0])
    # sixteen actions in four phases of fifty, each of them with three simulations in the first one
    assert (counts > 0).sum() == 16
    assert counts[15] >= 2
    assert counts[7] > counts[8] >= 2
    assert counts[3] > counts[4]
    assert counts[1] > counts[2] + 15
    assert counts[1] > 2.5 * counts[4]


@pytest.mark.parametrize(("fit", "considered"), [(20, 4), (40, 6), (64, 8), (100, 12), (500, 16)])
def test_with_less_time_fewer_actions_are_considered(monkeypatch, fit, considered):
    (visits,), took = timed_search(monkeypatch, lambda number: 1.0, (1 + fit) / 0.9, sims=10**6)
    assert took <= 1 + fit
    assert visits.sum() >= 0.9 * fit
    assert (visits > 0).sum() == pytest.approx(considered, abs=1)
    counts = -np.sort(-visits[0])
    assert counts[1] > counts[2]


def test_plans_keep_up_with_the_pace(monkeypatch):
    # the first evaluations take ten times as long: as if there was time for five actions, but not for good
    (visits,), took = timed_search(monkeypatch, lambda number: 10.0 if number <= 2 else 1.0, 320 / 0.9, sims=10**6)
    assert took <= 320
    assert (visits > 0).sum() >= 12
    assert visits.sum() > 260
    # the machine becomes three times as slow in the middle: the halves still follow one another
    (visits,), took = timed_search(monkeypatch, lambda number: 1.0 if number <= 100 else 3.0, 201 / 0.9, sims=10**6)
    counts = -np.sort(-visits[0])
    assert took <= 204
    assert counts[1] > counts[2] > counts[4] > counts[8]


@pytest.mark.parametrize("considered", [0, 16])
def test_a_limit_that_is_not_reached_changes_nothing(considered):
    game = make_game("azul")
    states = positions(game, 3, 4)
    free = agent_of(game, SMALL, sims=60, considered=considered)
    for settings, limit in ({}, 10_000.0), ({"seconds": 10_000.0}, None), ({"seconds": 10_000.0}, 20_000.0):
        limited = agent_of(game, SMALL, sims=60, considered=considered, **settings)
        for agent in (free, limited):
            agent.reset(3)
        expected = free.act(DecisionBatch(game, states)).tolist()
        assert limited.act(DecisionBatch(game, states, seconds_per_move=limit)).tolist() == expected
        if considered:
            policies = [
                agent.plan(DecisionBatch(game, states, seconds_per_move=each))[1]
                for agent, each in ((free, None), (limited, limit))
            ]
            np.testing.assert_array_equal(*policies)


def test_games_that_share_their_time_have_trees_of_a_size_for_it(monkeypatch):
    game = make_game("azul")
    states = positions(game, 12, 4)
    visits, took = timed_search(monkeypatch, lambda number: 1.0, 50.0, states, sims=10**6)
    # however many simulations are allowed, the games are searched side by side
    assert [len(found) for found in visits] == [12]
    assert took <= 12 * 50
    assert (visits[0].sum(axis=1) > 500).all()


def test_seconds_alone_stand_for_any_number_of_simulations(file):
    game = make_game("azul")
    assert make_agent(f"net:{file},seconds=0.5", game, 1).settings.sims == 10**6
    both = make_agent(f"net:{file},seconds=0.5,sims=7", game, 1).settings
    assert (both.sims, both.seconds) == (7, 0.5)
    assert make_agent(f"net:{file},seconds=0.001", game, 1).act(DecisionBatch(game, positions(game, 2, 4))).shape == (
        2,
    )
