"""Checkpoints: what comes back, what is refused before it does harm, and that no code runs out of them."""

import hashlib
import io
import math
import os
import pickle
import random
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from tiny_training import assert_same, tiny, train_tiny

from meeplezoo.training.algorithm import check_finite, make_algorithm
from meeplezoo.training.checkpoint import load_checkpoint, random_states, set_random_states
from meeplezoo.training.checkpoint_file import read_tree, write_tree
from meeplezoo.training.command import train_command
from meeplezoo.training.run_folder import RunFolder

KINDS = {
    "maskable_ppo": {"games": 4, "rollout": 16, "minibatch": 32, "snapshot_interval": 1},
    "ppo": {"games": 4, "rollout": 16, "minibatch": 32, "snapshot_interval": 1, "share_league": 1.0},
    "alphazero": {
        "games": 4,
        "rollout": 4,
        "minibatch": 8,
        "window": 300,
        "warm_decisions": 40,
        "simulations": 2,
        "considered": 2,
        "averaging": 0.5,
        "heuristic": True,
        "players": 2,
    },
}


@pytest.fixture(scope="module", params=list(KINDS))
def run(request, tmp_path_factory):
    """A run of each algorithm, after its first iterations, as its folder and config."""
    path = tmp_path_factory.mktemp("runs") / request.param
    settings = {"algorithm": request.param, **KINDS[request.param], "decisions": 100, "evaluation_games": 2}
    train_tiny(path, stop_after=2, **settings)
    return RunFolder(path), tiny(run=str(path), **settings)


def content_of(folder):
    """Return all that lies in a folder, by its path."""
    return {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}


def one_error(capsys):
    error = capsys.readouterr().err
    assert error.startswith("meeplezoo: error: ")
    assert error.count("\n") == 1
    assert len(error) < 500
    return error


# --- the file


TREE = {
    "integers": [0, -5, 2**53, -(2**127)],
    "numbers": [1.5, math.inf, -math.inf, 0.1],
    "others": [None, True, False, "text", {}, []],
    "arrays": {
        kind: np.arange(6).reshape(2, 3).astype(kind)
        for kind in ("float16", "float32", "float64", "int8", "uint8", "int32", "uint32", "int64", "uint64", "bool")
    },
    "none": np.zeros((0, 3)),
    "parts": np.arange(12).reshape(3, 4)[:, ::2],
    "tensors": [torch.arange(4.0).reshape(2, 2).T, torch.tensor(7.0), torch.tensor([1, 2], dtype=torch.uint8)],
}


def test_a_tree_comes_back_as_it_was(tmp_path):
    path = tmp_path / "file"
    write_tree(path, TREE)
    assert_same(read_tree(path), TREE)
    first = path.read_bytes()
    write_tree(path, TREE)
    assert path.read_bytes() == first
    # behind the first line it is a file that others read, too
    from safetensors.numpy import load

    np.testing.assert_array_equal(load(first.partition(b"\n")[2])["arrays/float16"], TREE["arrays"]["float16"])


@pytest.mark.parametrize(
    "value", [{1: 2}, {"$array": 1}, (1, 2), b"x", object(), np.zeros(1, "i4,f4"), np.array(["x"]), 1j]
)
def test_other_things_are_not_kept(tmp_path, value):
    with pytest.raises(TypeError, match="cannot be kept"):
        write_tree(tmp_path / "file", {"a": value})
    assert list(tmp_path.iterdir()) == []


def sealed(payload, head=b"meeplezoo-checkpoint/4"):
    """Return a file with a right checksum."""
    return head + b" " + hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload


def packed(header, data=b""):
    return sealed(len(header).to_bytes(8, "little") + header + data)


TREE_OF = b'{"__metadata__": {"meeplezoo_checkpoint": "%s"}%s}'
ARRAY = b', "a": {"dtype": "%s", "shape": %s, "data_offsets": %s}'


@pytest.mark.parametrize(
    "content",
    [
        sealed(b""),
        sealed(b"1234567"),
        sealed((2**63).to_bytes(8, "little")),
        packed(b"{}"),
        packed(b"[1]"),
        packed(b"[" * 50_000),
        packed(b'{"__metadata__": {"meeplezoo_checkpoint": {}}}'),
        packed(TREE_OF % (b"[]", b"")),
        packed(TREE_OF % (b'{\\"a\\": NaN}', b"")),
        packed(TREE_OF % (b'{\\"a\\": {\\"$array\\": \\"b\\"}}', b"")),
        packed(TREE_OF % (b'{\\"a\\": {\\"$integer\\": \\"x\\"}}', b"")),
        packed(TREE_OF % (b'{\\"a\\": ' + 40 * b"[" + 40 * b"]" + b"}", b"")),
        packed(TREE_OF % (b"{}", ARRAY % (b"F32", b"[2]", b"[0, 4]")), bytes(8)),
        packed(TREE_OF % (b"{}", ARRAY % (b"F32", b"[3]", b"[0, 12]")), bytes(8)),
        packed(TREE_OF % (b"{}", ARRAY % (b"F32", b"[2]", b"[-8, 0]")), bytes(8)),
        packed(TREE_OF % (b"{}", ARRAY % (b"F32", b"[99999999999999999999, 0]", b"[0, 0]"))),
        packed(TREE_OF % (b"{}", ARRAY % (b"O", b"[1]", b"[0, 8]")), bytes(8)),
        packed(TREE_OF % (b"{}", ARRAY % (b"BOOL", b"[1]", b"[0, 1]")), b"\x02"),
        packed(TREE_OF % (b"{}", b', "a": 3')),
    ],
)
def test_a_right_checksum_makes_no_checkpoint(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is damaged: ") as caught:
        read_tree(path)
    assert "\n" not in str(caught.value)


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch '{self.mark}'",)


def saved_by_torch(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


@pytest.mark.parametrize("head", [b"meeplezoo-checkpoint/3", b"meeplezoo-checkpoint/4", b""])
def test_no_code_runs_out_of_a_checkpoint(run, tmp_path, capsys, head):
    folder, _ = run
    mark = tmp_path / "mark"
    whole = folder.checkpoint.read_bytes()
    try:
        for payload in (pickle.dumps(Bomb(mark)), saved_by_torch({"game": Bomb(mark)}), saved_by_torch(Bomb(mark))):
            folder.checkpoint.write_bytes(sealed(payload, head) if head else payload)
            before = content_of(folder)
            assert train_command(None, [], str(folder.path)) == 1
            one_error(capsys)
            assert content_of(folder) == before
    finally:
        folder.checkpoint.write_bytes(whole)
    assert not mark.exists()
    # it would
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()


# --- states


def changed(value):
    """Yield values that are not of the form of a value, or mean nothing."""
    yield from (None, "x", [[]])
    if isinstance(value, np.ndarray | torch.Tensor):
        other = torch.cat if isinstance(value, torch.Tensor) else np.concatenate
        if value.ndim:
            yield other([value, value, value])
        if isinstance(value, np.ndarray):
            yield value.astype(np.float32 if value.dtype == np.float64 else np.float64)
            whole = value.copy()
        else:
            yield value.double()
            whole = value.clone()
        if "float" in str(value.dtype) and 0 not in value.shape:
            whole[(0,) * value.ndim] = math.nan
            yield whole
    elif isinstance(value, bool | int):
        yield from (-1, 1.5)
    elif isinstance(value, float):
        yield from (math.nan, math.inf, -1e30)
    elif isinstance(value, dict):
        yield from ({**value, "more": 1}, {name: value[name] for name in list(value)[1:]} if value else None)
    elif isinstance(value, list):
        yield from ([*value, 1], value[:-1] if value else None)


def variants(value):
    """Yield copies of a nested value that differ in one place, and where that is."""
    for other in changed(value):
        yield "", other
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        for place, other in variants(part):
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = other
            yield f"/{key}{place}", copy


def refusal(take, state, place):
    """Return the one line with which a state is refused that differs in some place."""
    try:
        take(state)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"what is changed at {place} is taken")


def test_every_part_of_a_state_is_looked_at(run):
    folder, config = run
    state = read_tree(folder.checkpoint)["algorithm"]
    learner = make_algorithm(config, config.make_game())
    number = 0
    for place, other in variants(state):
        assert re.fullmatch(".{10,300}", refusal(learner.set_state, other, place))
        number += 1
    assert number > 100
    learner.set_state(state)
    assert_same(learner.get_state(), state)


def test_states_of_random_generators_are_looked_at(run):
    folder, _ = run
    states = read_tree(folder.checkpoint)["random"]
    before = random_states()
    for place, other in variants(states):
        if place.startswith("/cuda"):
            continue
        assert re.fullmatch(".{10,300}", refusal(set_random_states, other, place))
    for name, value in (("place", 625), ("words", np.zeros(624, np.uint32)), ("has_gauss", 2)):
        with pytest.raises(ValueError, match=f"random/numpy/{name}"):
            set_random_states({**states, "numpy": {**states["numpy"], name: value}})
    assert_same(random_states(), before)

    def draw():
        return [random.gauss(), np.random.normal(), float(torch.rand(1))]  # noqa: NPY002

    # both keep the second of a pair for the next time
    draw()
    kept = random_states()
    drawn = draw()
    set_random_states(kept)
    assert draw() == drawn


def test_numbers_of_places_are_in_range(run):
    """Seats, opponents and counters are indices: a wrong one would reach into other memory."""
    folder, config = run
    learner = make_algorithm(config, config.make_game())

    def with_array(path, change):
        state = read_tree(folder.checkpoint)["algorithm"]
        *names, last = path.split("/")
        part = state
        for name in names:
            part = part[int(name) if isinstance(part, list) else name]
        part[last] = part[last].copy()
        change(part[last])
        return state

    game = config.make_game()

    def spoil(field, value):
        def change(raw):
            raw.view(game.template.dtype)[field][1] = value

        return change

    def put(value):
        def change(array):
            array.flat[0] = value

        return change

    games = {
        "maskable_ppo": "env/opponent_batch/states",
        "ppo": "collector/states",
        "alphazero": "actors/0/batch/states",
    }
    cases = [(games[config.algorithm], spoil(field, 9)) for field in ("option_num_players", "to_move", "status")]
    cases += {
        "maskable_ppo": [
            ("env/opponent_batch/seats", put(7)),
            ("env/opponent_batch/opponent_of", put(99)),
            ("env/lengths", put(-1)),
        ],
        "ppo": [
            ("collector/seats", put(99)),
            ("collector/seats", put(-2)),
            ("league/wins", put(1e9)),
            ("league/games", put(0)),
        ],
        "alphazero": [("actors/1/episodes/seats", put(5)), ("actors/1/episodes/lengths", put(-1))],
    }[config.algorithm]
    for path, change in cases:
        assert path.split("/")[0] in refusal(learner.set_state, with_array(path, change), path)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"progress": {"iteration": -1}}, "progress/iteration must be from 0"),
        ({"progress": {"iteration": True}}, "progress/iteration must be an integer"),
        ({"progress": {"seconds": math.nan}}, "progress/seconds must be a number"),
        ({"progress": {"best": [2.0, 0.0]}}, "progress/best must be a number"),
        ({"progress": {"best": [0.5]}}, "progress/best must be a list of 2"),
        ({"progress": {"more": 1}}, "progress should not have a part 'more'"),
        ({"game": {"name": "chess"}}, "it is of a game with the name 'chess'"),
        ({"game": {"options": {"num_players": 3}}}, "with {'num_players': 3}, not of azul with {'num_players': 2}"),
        ({"game": {"options": {"wings": 2}}}, "azul has no option 'wings'"),
        ({"game": {"options": [1]}}, "game/options must be a mapping"),
        ({"config": {"hidden": [17]}}, r"it is of a run with hidden=\(17,\), not \(16,\)"),
        ({"config": {"seed": 6}}, "it is of a run with seed=6, not 5"),
        ({"config": {"seed": "x"}}, "setting seed must be an integer"),
        ({"config": {"algorithm": "magic"}}, "setting algorithm must be one of"),
        ({"algorithm": 3}, "algorithm must be a mapping, not 3"),
        ({"random": {}}, "random has no part 'torch'"),
        ({"more": 1}, "it should not have a part 'more'"),
    ],
)
def test_checkpoints_of_other_runs_are_refused_and_change_nothing(run, capsys, part, message):
    folder, _ = run
    whole = folder.checkpoint.read_bytes()
    content = read_tree(folder.checkpoint)
    for name, value in part.items():
        mergeable = isinstance(value, dict) and value and isinstance(content.get(name), dict)
        content[name] = {**content[name], **value} if mergeable else value
    write_tree(folder.checkpoint, content)
    before = content_of(folder)
    try:
        # also what may be changed is not written before the checkpoint is known to fit
        assert train_command(None, ["decisions=5000"], str(folder.path)) == 1
        error = one_error(capsys)
        assert f"checkpoint {folder.checkpoint} does not fit: " in error
        assert re.search(message, error)
        assert content_of(folder) == before
    finally:
        folder.checkpoint.write_bytes(whole)


def test_a_part_that_is_missing_is_named(run, tmp_path):
    folder, config = run
    content = read_tree(folder.checkpoint)
    for name in list(content):
        write_tree(tmp_path / "file", {other: value for other, value in content.items() if other != name})
        with pytest.raises(ValueError, match=f"it has no part '{name}'"):
            load_checkpoint(tmp_path / "file", config.make_game())


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_devices_and_folders_are_no_checkpoints(tmp_path):
    for path in (Path("/dev/zero"), tmp_path):
        with pytest.raises(ValueError, match="is not a regular file"):
            read_tree(path)


def test_weights_that_are_not_finite_end_a_run():
    network = torch.nn.Linear(2, 2)
    check_finite(network)
    with torch.no_grad():
        network.weight[0, 0] = math.inf
    with pytest.raises(ValueError, match=r"learning has diverged.*smaller learning_rate"):
        check_finite(network)
