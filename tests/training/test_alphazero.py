"""Search and learn: targets, window, imitation, learning, and runs that go on exactly."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("safetensors")

import torch
from tiny_training import assert_same, metrics, train_in

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.engine.rollout import ROLLOUT_SETTINGS, write_returns
from meeplezoo.envs.engine.standing import game_returns
from meeplezoo.training.alphazero import AlphaZeroAlgorithm
from meeplezoo.training.checkpoint import load_checkpoint
from meeplezoo.training.config_reading import make_config
from meeplezoo.training.episode_buffer import EpisodeBuffer, TrainingSamples
from meeplezoo.training.replay_buffer import ReplayBuffer
from meeplezoo.training.run_folder import RunFolder
from meeplezoo.training.self_play_actor import SelfPlayActor

TINY_ZERO = {
    "algorithm": "alphazero",
    "game": "azul",
    "decisions": 1500,
    "games": 8,
    "rollout": 24,
    "minibatch": 64,
    "hidden": [16],
    "shared": True,
    "simulations": 4,
    "considered": 3,
    "window": 800,
    "reuse": 2.0,
    "warm_decisions": 300,
    "warm_epochs": 2,
    "averaging": 0.9,
    "evaluation_interval": 2,
    "evaluation_games": 4,
    "checkpoint_interval": 2,
    "seed": 3,
}


def zero(**changes):
    return make_config({**TINY_ZERO, **changes})


@pytest.mark.parametrize(
    ("name", "options"),
    [("azul", {}), ("azul", {"num_players": 4}), ("qwirkle", {"num_players": 3}), ("manhattan", {})],
)
def test_the_returns_of_a_game_are_those_that_a_search_counts(name, options):
    game = make_game(name, **options)
    batch = GameBatch(game, 40, auto_reset=False)
    batch.reset(2)
    batch.play_out()
    scores, ranks = batch.results()
    # some games that several players win
    scores[:6], ranks[:6] = scores[:6].max(axis=1, keepdims=True), 0
    settings = np.zeros(1, ROLLOUT_SETTINGS)
    settings["win_weight"], settings["margin_scale"] = 0.3, game.spec.margin_scale
    found = game_returns(scores, ranks, 0.3, game.spec.margin_scale)
    np.testing.assert_allclose(found[0], np.full(game.num_players, 0.3 / game.num_players + 0.7 * 0.5))
    workspace = game.make_workspace()
    for index in range(6, 40):
        write_returns(batch.states[index], settings, workspace)
        np.testing.assert_allclose(found[index], workspace.returns[: game.num_players], atol=1e-6)


VALUES = {"change": "reward_minus_score", "settled": "reward_minus_projected_score"}


class FinishedBatch:
    """A batch of which one game ends with known scores."""

    def __init__(self, scores, ranks):
        self.done = np.array([False, True])
        self.outcomes = np.zeros(2, [("scores", np.int32, 4), ("ranks", np.int32, 4)])
        self.outcomes["scores"][1, :3], self.outcomes["ranks"][1, :3] = scores, ranks


def test_targets_mix_the_outcome_with_what_was_expected_own_seat_first():
    game = make_game("azul", num_players=3)
    episodes = EpisodeBuffer(game, 2, win_weight=1.0, outcome_weight=0.75, with_action_values=True)
    size, actions = game.observation_size, game.num_actions
    for seat, expected in ((0, None), (2, np.array([[0.4, 0.0, 0.8]], np.float32))):
        known = (
            np.full((1, size), seat),
            np.eye(1, actions),
            np.ones((1, actions), np.int8),
            np.ones((1, actions)),
            np.array([[0.1, 0.2, 0.3]], np.float32),
            expected,
        )
        episodes.add(np.array([1]), np.array([seat]), *known)
        episodes.add(np.array([0]), np.array([seat]), *known)
    episodes.finish(FinishedBatch([10, 30, 20], [2, 0, 1]))
    samples = episodes.take()
    assert (len(samples), samples.num_games) == (2, 1)
    assert samples.observation[:, 0].tolist() == [0, 2]
    np.testing.assert_allclose(samples.margins, [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2]])
    # player 1 won: seen from seat 0, and mixed with what seat 2 expected of all, from seat 2
    np.testing.assert_allclose(samples.returns[0], [0, 1, 0])
    np.testing.assert_allclose(samples.returns[1], [0.2, 0.1, 0.75], atol=1e-6)
    assert len(episodes.take()) == 0
    assert episodes.get_state()["lengths"].tolist() == [2, 0]


def test_the_replay_buffer_keeps_the_last_decisions():
    buffer = ReplayBuffer(5, 3, 10, 2, True)

    def add(first, count):
        numbers = np.arange(first, first + count, dtype=np.float32)
        mask = (np.arange(10) % 3 == numbers[:, None] % 3).astype(np.int8)
        rows = (np.repeat(numbers[:, None], size, axis=1) for size in (3, 10, 2))
        observation, policy, returns = rows
        buffer.add(TrainingSamples(observation, policy, mask, returns, 2 * policy, 3 * returns))

    add(0, 3)
    assert len(buffer) == 3
    add(3, 4)
    assert (len(buffer), buffer.count) == (5, 7)
    kept = buffer.take(np.arange(5))
    assert kept.observation[:, 0].tolist() == [5, 6, 2, 3, 4]
    assert kept.policy[:, 9].tolist() == kept.returns[:, 1].tolist() == [5, 6, 2, 3, 4]
    assert kept.action_values[:, 9].tolist() == [10, 12, 4, 6, 8]
    assert kept.margins[:, 1].tolist() == [15, 18, 6, 9, 12]
    assert [np.flatnonzero(row)[0] for row in kept.mask] == [2, 0, 2, 0, 1]
    assert kept.mask.shape == (5, 10)
    add(7, 12)
    assert sorted(buffer.take(np.arange(5)).observation[:, 0].tolist()) == [14, 15, 16, 17, 18]
    other = ReplayBuffer(5, 3, 10, 2, True)
    other.set_state(buffer.get_state())
    assert_same(other.get_state(), buffer.get_state())
    drawn = buffer.sample(2000, np.random.default_rng(1)).observation[:, 0]
    assert np.bincount(drawn.astype(int))[14:].min() > 300


def test_imitation_learns_the_agents_moves_and_not_the_random_ones():
    config = zero()
    game = config.make_game()
    agent = make_agent("greedy", game, 1)
    everything = SelfPlayActor(config, game, 8, np.random.SeedSequence(1)).imitate(agent, 0.0, 90)
    some = SelfPlayActor(config, game, 8, np.random.SeedSequence(1)).imitate(make_agent("greedy", game, 1), 0.4, 90)
    assert everything.num_games >= 8
    assert 0.45 < len(some) / some.num_games / (len(everything) / everything.num_games) < 0.75
    for samples in (everything, some):
        assert (samples.policy.sum(axis=1) == 1).all()
        assert (samples.mask[samples.policy == 1] == 1).all()
        assert (samples.mask.sum(axis=1) > 1).all()
        # of two players one has what the other lacks
        assert (np.abs(samples.returns.sum(axis=1) - 1) < 1e-6).all()


def test_searches_teach_improved_policies_of_decisions_that_are_open():
    config = zero()
    game = config.make_game()
    learner = AlphaZeroAlgorithm(config, game)
    (samples,) = learner._play()
    while not samples.num_games:
        (samples,) = learner._play()
    np.testing.assert_allclose(samples.policy.sum(axis=1), 1, atol=0.02)
    assert not samples.policy[samples.mask == 0].any()
    assert (samples.mask.sum(axis=1) > 1).all()
    assert ((samples.returns > 0) & (samples.returns < 1)).all()


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"heuristic": True},
        {"heuristic": True, "heuristic_input": True, "value": "change"},
        {"heuristic": True, "heuristic_input": True, "value": "settled"},
    ],
)
@pytest.mark.parametrize("symmetries", [True, False])
def test_learning_lowers_the_loss(symmetries, form):
    config = zero(symmetries=symmetries, **form, learning_rate=1e-2, warm_agent="minimax:depth=1")
    learner = AlphaZeroAlgorithm(config, make_game("azul"))
    learner.train_iteration(0)
    first = learner._learn(5)
    learner._learn(60)
    last = learner._learn(5)
    assert last["train/policy_loss"] < 0.95 * first["train/policy_loss"]
    assert last["train/value_loss"] < first["train/value_loss"]


def test_what_plays_is_the_running_mean_of_the_weights():
    learner = AlphaZeroAlgorithm(zero(), make_game("azul"))
    learner.train_iteration(0)
    before = [parameter.clone() for parameter in learner.ema_network.parameters()]
    learner._step()
    for old, mean, new in zip(before, learner.ema_network.parameters(), learner.network.parameters(), strict=True):
        torch.testing.assert_close(mean, 0.9 * old + 0.1 * new)
    plain = AlphaZeroAlgorithm(zero(averaging=0.0), make_game("azul"))
    assert plain.ema_network is plain.network


def test_a_resumed_run_equals_one_that_was_not_stopped(tmp_path):
    straight, resumed = (tmp_path / name for name in ("straight", "resumed"))
    straight = train_in(straight, zero(run=str(straight)))
    config = zero(run=str(resumed))
    train_in(resumed, config, stop_after=2)
    resumed = train_in(resumed, config, resume=True)
    assert straight.decisions == resumed.decisions >= 1500
    rows = [metrics(tmp_path / name) for name in ("straight", "resumed")]
    for row in (*rows[0], *rows[1]):
        row.pop("time/playing", None)
        row.pop("time/learning", None)
    assert rows[0] == rows[1]
    game = make_game("azul")
    one, other = (
        load_checkpoint(RunFolder(tmp_path / name).checkpoint, game)["algorithm"] for name in ("straight", "resumed")
    )
    assert_same(one, other)
    agent = make_agent(f"net:{tmp_path / 'resumed' / 'last.safetensors'}", game, 1)
    assert agent.metadata.training["algorithm"] == "alphazero"
    assert agent.metadata.win_weight == 0.5
    assert evaluate(game, [agent, "random"], 4, 1).agents[0].games == 4


@pytest.mark.parametrize("name", ["azul", "qwirkle", "manhattan"])
def test_with_the_heuristic_a_new_network_plays_much_as_it_does(name):
    cells = {"network": "cells", "channels": 4} if name == "qwirkle" else {}
    config = zero(game=name, heuristic=True, **cells)
    game = config.make_game()
    batch = GameBatch(game, 60)
    batch.reset(4)
    for _ in range(25):
        batch.step(batch.random_actions())
    decisions = DecisionBatch(game, batch.states)
    agent = AlphaZeroAlgorithm(config, game).agent("new", 1)
    values = np.where(decisions.mask == 1, decisions.action_values, -np.inf)
    chosen = agent.act(decisions)
    rows = np.arange(60)
    assert (values[rows, chosen] > values.max(axis=1) - 0.1).mean() > 0.9
    # nothing that the seat cannot see
    other = DecisionBatch(game, decisions.determinize(np.array([5, 6, 7, 8], np.uint32)))
    np.testing.assert_array_equal(other.action_values, decisions.action_values)


def test_players_in_threads_give_the_same_games_as_one_after_the_other():
    game = make_game("azul")
    learner = AlphaZeroAlgorithm(zero(players=2), game)
    together = learner._play()
    other = AlphaZeroAlgorithm(zero(players=2), game)
    evaluate_leaves = make_evaluate(other)
    apart = [player.play(evaluate_leaves, 24) for player in other.actors]
    for one, two in zip(together, apart, strict=True):
        assert_same(vars(one), vars(two))
    with pytest.raises(ValueError, match="players must divide games = 8, 3 does not"):
        zero(players=3)


def test_decisions_that_are_not_searched_teach_the_values_alone():
    config = zero(search_share=0.3, win_weight=1.0, outcome_weight=0.5, games=32)
    game = config.make_game()
    learner = AlphaZeroAlgorithm(config, game)
    samples = learner.actors[0].play(make_evaluate(learner), 120)
    assert samples.num_games > 20
    sums = samples.policy.sum(axis=1)
    searched = sums > 0
    np.testing.assert_allclose(sums[searched], 1, atol=1e-2)
    assert searched.mean() == pytest.approx(0.3, abs=0.05)
    # the outcome alone, where nothing was expected
    assert np.isin(samples.returns[~searched], [0, 0.5, 1]).all()
    assert not np.isin(samples.returns[searched], [0, 0.5, 1]).all()
    # a minibatch of such decisions has nothing for the policy
    learner.replay_buffer.add(replace(samples, policy=np.zeros_like(samples.policy)))
    before = learner.network.policy.weight.detach().clone()
    policy_loss, value_loss, _, _ = learner._step().tolist()
    assert policy_loss == 0
    assert value_loss > 0.1
    assert (learner.network.policy.weight - before).abs().max() < 1e-5
    assert AlphaZeroAlgorithm(zero(search_share=0.0), game).train_iteration(1)["time/playing"] > 0


@pytest.mark.parametrize("value", ["change", "settled"])
def test_values_are_learned_beside_the_margin(value):
    game = make_game("azul")
    learner = AlphaZeroAlgorithm(zero(value=value, win_weight=0.0, symmetries=False), game)
    rows = 64
    random = np.random.default_rng(1)
    margins = random.choice([-0.7, 0.7], size=(rows, 2)).astype(np.float32)
    samples = TrainingSamples(
        random.random((rows, game.observation_size), np.float32),
        np.eye(rows, game.num_actions, dtype=np.float32),
        np.ones((rows, game.num_actions), np.int8),
        # all games end as they stand
        (0.5 + 0.5 * np.tanh(margins)).astype(np.float32),
        np.zeros((rows, 0), np.float32),
        margins,
    )
    learner.replay_buffer.add(samples)
    with torch.no_grad():
        learner.network.values.weight.zero_()
    _, value_loss, _, _ = learner._step().tolist()
    # nothing to learn: the loss is the entropy of the targets
    entropy = -(samples.returns * np.log(samples.returns) + (1 - samples.returns) * np.log(1 - samples.returns))
    assert value_loss == pytest.approx(entropy.mean(), abs=1e-3)
    assert learner._metadata(0.0).value == VALUES[value]
    with pytest.raises(ValueError, match="setting value must be one of return, change, settled, not 'margin'"):
        zero(value="margin")


@pytest.mark.parametrize(
    ("name", "options", "form"),
    [
        ("azul", {"num_players": 3}, {}),
        ("qwirkle", {"num_players": 3}, {"network": "cells", "channels": 4}),
        ("manhattan", {"num_players": 4}, {}),
    ],
)
def test_a_network_sees_settled_margins_and_its_values_begin_there(name, options, form):
    config = zero(game=name, options=options, heuristic=True, heuristic_input=True, value="settled", **form)
    game = config.make_game()
    learner = AlphaZeroAlgorithm(config, game)
    batch = GameBatch(game, 30)
    batch.reset(5)
    for _ in range(45):
        batch.step(batch.random_actions())
    decisions = DecisionBatch(game, batch.states)
    margins = decisions.projected_margins
    assert (margins != decisions.margins).any()
    shown = []
    inner = learner.network.network
    hook = inner.register_forward_pre_hook(lambda module, inputs: shown.append(inputs[0].numpy().copy()))
    values = inner.heads.values if form else inner.values
    with torch.no_grad():
        values.weight.zero_()
    _, expected = make_evaluate(learner)(decisions)
    hook.remove()
    np.testing.assert_allclose(expected, 0.5 + 0.5 * np.tanh(margins), atol=1e-6)
    # behind all else, own seat first, as the replay buffer has them
    own_first = np.stack([np.roll(row, -seat) for row, seat in zip(margins, decisions.seats, strict=True)])
    np.testing.assert_allclose(shown[0][:, -game.num_players :], 5 * own_first, rtol=1e-6)


def test_players_share_the_threads_of_torch(monkeypatch):
    learner = AlphaZeroAlgorithm(zero(players=2, threads=2), make_game("azul"))
    seen = []
    monkeypatch.setattr(SelfPlayActor, "play", lambda *arguments: seen.append(torch.get_num_threads()))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        learner._play()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 1]


def test_games_in_bfloat16_are_those_of_a_rounded_network():
    config = zero(precision="bfloat16", heuristic=True, heuristic_input=True, value="settled", averaging=0.0)
    learner = AlphaZeroAlgorithm(config, make_game("azul"))
    learner.train_iteration(0)
    learner.train_iteration(1)
    assert {parameter.dtype for parameter in learner.network.parameters()} == {torch.float32}
    batch = GameBatch(learner.game, 64)
    batch.reset(5)
    for _ in range(20):
        batch.step(batch.random_actions())
    decisions = DecisionBatch(learner.game, batch.states)
    exact = make_evaluate(learner)(decisions)
    learner.network.to(torch.bfloat16)
    rounded = make_evaluate(learner)(decisions)
    for one, other in zip(exact, rounded, strict=True):
        assert other.dtype == np.float32
        np.testing.assert_allclose(other, one, atol=0.03)
        assert (one != other).any()


def make_evaluate(learner):
    from meeplezoo.agents.networks.network_agent import NetworkAgent

    return NetworkAgent("", learner.network, learner._metadata(0.0), 0).evaluate


def test_settings_of_other_algorithms_are_refused():
    with pytest.raises(ValueError, match=r"alphazero has no setting 'gamma'; its settings are algorithm, game"):
        zero(gamma=0.9)
    with pytest.raises(ValueError, match="maskable_ppo has no setting 'simulations'"):
        make_config({"game": "azul", "decisions": 1, "simulations": 3})


def test_qwirkle_learns_with_convolutions():
    config = zero(game="qwirkle", network="cells", channels=4, games=4, rollout=400, warm_decisions=200)
    learner = AlphaZeroAlgorithm(config, config.make_game())
    learner.train_iteration(0)
    assert learner.decisions >= 200
    assert all(torch.isfinite(parameter).all() for parameter in learner.network.parameters())
    states = np.array([learner.game.new(1)])
    assert learner.agent("net", 1).act(DecisionBatch(learner.game, states)).shape == (1,)
