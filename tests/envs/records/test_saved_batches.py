"""Files of saved batches: whatever they hold, it is refused in one sentence, or its games can be played on safely."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meeplezoo.envs import Game, GameBatch, make_game
from meeplezoo.envs.engine.rewards import REWARD_SETTINGS, outcome_dtype
from meeplezoo.envs.registry import BUILT_IN, describe

NAMES = tuple(BUILT_IN)
Change = Callable[[np.ndarray], None]

_OUTCOME = outcome_dtype(4)


def games_of(name: str) -> list[Game]:
    """Return the game with each number of players, and with each value of its options of words."""
    spec = describe(name)
    players = [make_game(name, num_players=number) for number in spec.player_counts]
    words = [option for option in spec.options if hasattr(option, "choices")]
    return players + [make_game(name, **{word.name: choice}) for word in words for choice in word.choices]


def saved(game: Game, path: Path, plies: int = 40, **arguments: Any) -> GameBatch:
    batch = GameBatch(game, 6, **arguments)
    batch.reset(3)
    for _ in range(plies):
        batch.step(batch.random_actions())
    batch.save(path)
    return batch


def members(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def load_changed(path: Path, change: Callable[[dict[str, np.ndarray]], Any]) -> GameBatch:
    arrays = members(path)
    change(arrays)
    changed = path.with_name("changed.npz")
    np.savez(changed, **arrays)  # type: ignore[arg-type]
    return GameBatch.load(changed)


def assert_refused(path: Path, change: Callable[[dict[str, np.ndarray]], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        load_changed(path, change)
    message = str(caught.value)
    assert message.startswith(str(path.with_name("changed.npz")))
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300


def records(arrays: dict[str, np.ndarray], name: str, game: Game) -> np.ndarray:
    return arrays[name].view(game.template.dtype)


@pytest.mark.parametrize("name", NAMES)
def test_every_state_that_random_play_reaches_can_be(name: str) -> None:
    for game in games_of(name):
        batch = GameBatch(game, 8, auto_reset=False)
        batch.reset(8)
        while (batch.states["status"] == 0).any():
            game.check_states(batch.states)
            batch.step(batch.random_actions())
        game.check_states(batch.states)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("auto_reset", [True, False])
def test_a_batch_goes_on_from_its_file_alike(name: str, auto_reset: bool, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    for game in games_of(name):
        for plies in (0, 300):
            batch = saved(game, path, plies, rewards="rank", auto_reset=auto_reset, threads=2)
            loaded = GameBatch.load(path)
            assert loaded.threads == 2
            assert loaded.game == game
            for _ in range(60):
                batch.step(batch.random_actions())
                loaded.step(loaded.random_actions())
            for own in ("states", "finals", "outcomes", "settings"):
                assert getattr(loaded, own).tobytes() == getattr(batch, own).tobytes()


def test_a_batch_that_has_not_begun_is_loaded_as_such(tmp_path: Path) -> None:
    GameBatch(make_game(NAMES[0]), 3).save(tmp_path / "games.npz")
    loaded = GameBatch.load(tmp_path / "games.npz")
    with pytest.raises(ValueError, match="have not begun"):
        loaded.random_actions()
    loaded.reset(1)
    assert loaded.play_out() > 0


def with_value(game: Game, field: str, number: int, value: int) -> Callable[[dict[str, np.ndarray]], None]:
    """Return what sets a field, or its last element, of the state of a number."""

    def change(arrays: dict[str, np.ndarray]) -> None:
        values = records(arrays, "states", game)[field]
        values[(number, *(-1 for _ in values.shape[1:]))] = value

    return change


@pytest.mark.parametrize("name", NAMES)
def test_fields_out_of_their_ranges_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    for game in games_of(name)[:2]:
        saved(game, path)
        for field in game.spec.state_fields:
            limits = np.iinfo(np.dtype(field.dtype))
            for value in {int(limits.min), int(limits.max), field.low - 1, field.high + 1}:
                if field.low <= value <= field.high or not limits.min <= value <= limits.max:
                    continue
                sentence = f"states: game 4: {field.name} must be from {field.low} to {field.high}"
                assert_refused(path, with_value(game, field.name, 4, value), sentence)
        for option in game.spec.options:
            sentence = f"states: the states are those of another game: .*{option.name}"
            assert_refused(path, with_value(game, f"option_{option.name}", 1, 30_000), sentence)
        for header, value in (("seed", 2**53), ("to_move", game.num_players), ("status", 3)):
            sentence = f"states: game 0: {header} must be from 0 to {value - 1}, not {value}"
            assert_refused(path, with_value(game, header, 0, value), sentence)


@pytest.mark.parametrize("name", NAMES)
def test_what_positions_refuse_is_refused_although_each_field_is_in_range(name: str) -> None:
    """A state with one value changed is refused, or is one that the reader of positions knows too."""
    random = np.random.default_rng(7)
    refused = accepted = 0
    for game in games_of(name):
        batch = GameBatch(game, 1)
        batch.reset(2)
        for _ in range(60):
            batch.step(batch.random_actions())
            states = batch.states.copy()
            fields = game.spec.state_fields
            field = fields[random.integers(len(fields))]
            values = states[field.name]
            place = tuple(random.integers(length) for length in values.shape)
            values[place] = random.integers(field.low, field.high + 1)
            try:
                game.check_states(states)
            except ValueError:
                refused += 1
                continue
            accepted += 1
            game.from_position(game.position(states[0]), 1)
    assert refused > 100
    assert accepted > 10


@pytest.mark.parametrize("name", NAMES)
def test_finals_are_blank_or_finished_games(name: str, tmp_path: Path) -> None:
    game, path = make_game(name), tmp_path / "games.npz"
    batch = saved(game, path, plies=20)
    assert not batch.finals["ply"].any()

    def with_running(arrays: dict[str, np.ndarray]) -> None:
        records(arrays, "finals", game)[3] = batch.states[3]

    def with_odd(arrays: dict[str, np.ndarray]) -> None:
        records(arrays, "finals", game)["to_move"][5] = 1

    def some_blank(arrays: dict[str, np.ndarray]) -> None:
        records(arrays, "states", game)[1] = game.template[0]

    assert_refused(path, with_running, "finals: game 3 is not over")
    assert_refused(path, with_odd, "finals: game 5")
    assert_refused(path, some_blank, "states: game 1")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda o: o["rewards"].__setitem__((2, 0), np.nan), "rewards must be finite"),
        (lambda o: o["rewards"].__setitem__((2, 1), np.inf), "rewards must be finite"),
        (lambda o: o["scores"].__setitem__((1, 0), 2**30), "scores must be"),
        (lambda o: o["ranks"].__setitem__((1, 0), -1), "ranks must be from 0 to 1"),
        (lambda o: o["ranks"].__setitem__((1, 3), 2), "ranks must be from 0 to 1"),
        (lambda o: o["scores"].__setitem__((1, 3), 2), "scores of players who are not in the game"),
        (lambda o: o.view(np.uint8).reshape(6, -1).__setitem__((0, _OUTCOME.fields["done"][1]), 7), "0 or 1"),
        (lambda o: o["truncated"].__setitem__(0, True), "truncated without being done"),
        (lambda o: o["done"].__setitem__(0, True), "done, but there is no final state"),
    ],
)
def test_outcomes_that_cannot_be_are_refused(change: Change, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    saved(make_game(NAMES[0], num_players=2), path, plies=3)
    assert_refused(path, lambda arrays: change(arrays["outcomes"].view(_OUTCOME)), f"outcomes: .*{sentence}")


@pytest.mark.parametrize(
    ("field", "value"),
    [("check", True), ("auto_reset", False), ("rewards", 1), ("rewards", 77), ("unused", 200)]
    + [("margin_scale", value) for value in (0.0, np.nan, np.inf, -1.0)],
)
def test_settings_that_do_not_fit_are_refused(field: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    saved(make_game(NAMES[0]), path, plies=3)

    def change(arrays: dict[str, np.ndarray]) -> None:
        arrays["settings"].view(REWARD_SETTINGS).reshape(-1)[field][0] = value

    assert_refused(path, change, "settings|no kind of rewards 77")


def with_head(key: str, value: Any) -> Callable[[dict[str, np.ndarray]], None]:
    def change(arrays: dict[str, np.ndarray]) -> None:
        head = json.loads(str(arrays["head"]))
        head[key] = value
        arrays["head"] = np.array(json.dumps(head))

    return change


@pytest.mark.parametrize("key", ["format", "game", "version", "options", "encoding", "threads", "other"])
@pytest.mark.parametrize("value", [None, [], {}, -1, 10**30, "x", 1.5, True, {"name": 1}, {"encoding": "x"}])
def test_heads_that_are_wrong_are_refused(key: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    saved(make_game(NAMES[0]), path, plies=3)
    if (key, value) == ("options", {}):
        # those left out have their defaults, which this game has
        assert load_changed(path, with_head(key, value)).game == make_game(NAMES[0])
        return
    assert_refused(path, with_head(key, value), ".")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "NaN", '{"format": NaN}', "[" * 100_000, '{"a": 1, "a": 2}', "1" * 5000, "\ud800"]
)
def test_heads_that_are_no_json_object_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    saved(make_game(NAMES[0]), path, plies=3)
    assert_refused(path, lambda arrays: arrays.update(head=np.array(text)), ".")


@pytest.mark.parametrize("name", ["head", "states", "finals", "outcomes", "settings", "choice_streams"])
@pytest.mark.parametrize(
    "change",
    [
        lambda array: None,
        lambda array: np.zeros(0, array.dtype),
        lambda array: np.zeros(3, np.float64),
        lambda array: np.array([{"a": 1}], object),
        lambda array: np.array("x"),
        lambda array: array[None],
        lambda array: array.reshape(-1)[:-1],
        lambda array: np.concatenate([array.reshape(-1), array.reshape(-1)]),
        lambda array: np.array(7, np.uint8),
    ],
)
def test_members_that_are_missing_or_of_another_form_are_refused(
    name: str, change: Callable[[np.ndarray], np.ndarray | None], tmp_path: Path
) -> None:
    path = tmp_path / "games.npz"
    saved(make_game(NAMES[0]), path, plies=3)
    arrays = members(path)
    if (changed := change(arrays[name])) is None:
        del arrays[name]
    else:
        arrays[name] = changed
    np.savez(path, **arrays)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"games\.npz (is no file of GameBatch\.save|is damaged)"):
        GameBatch.load(path)


def npy_header(text: str) -> bytes:
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-5, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '|V1000000000', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': [], 'fortran_order': 0, 'shape': 3, }",
        "__import__('os').abort()",
        "-" * 115 + "1",
        "(" * 100,
        "",
    ],
)
def test_headers_that_promise_what_is_not_there_are_refused(header: str, tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    saved(make_game(NAMES[0]), path, plies=3)
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "other.npz", "w") as other:
        for member in whole.namelist():
            other.writestr(member, npy_header(header) if member == "states.npy" else whole.read(member))
    with pytest.raises(ValueError, match=r"other\.npz is (no file of GameBatch\.save|damaged)"):
        GameBatch.load(tmp_path / "other.npz")


def test_compressed_files_are_refused_before_they_unfold(tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    saved(make_game(NAMES[0]), path, plies=3)
    arrays = members(path)
    arrays["states"] = np.zeros(10**8, np.uint8)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"games\.npz is no file of GameBatch\.save: head is compressed or too large"):
        GameBatch.load(path)


def test_other_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        GameBatch.load(tmp_path / "none.npz")
    with pytest.raises(ValueError, match="is not a regular file"):
        GameBatch.load(tmp_path)
    if Path("/dev/zero").exists():
        with pytest.raises(ValueError, match="/dev/zero is not a regular file"):
            GameBatch.load("/dev/zero")
    path = tmp_path / "games.npz"
    for content in (b"", b"PK", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x93NUMPY", b"{}", bytes(1000)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"games\.npz is no file of GameBatch\.save"):
            GameBatch.load(path)


def test_files_cut_off_anywhere_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.npz"
    saved(make_game(NAMES[0]), path, plies=3)
    content = path.read_bytes()
    for length in range(0, len(content), len(content) // 60):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"games\.npz is no file of GameBatch\.save"):
            GameBatch.load(path)


_FUZZING = """
import sys
import numpy as np
from pathlib import Path
from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.envs import GameBatch, game_names, make_game

random, path, loaded = np.random.default_rng(int(sys.argv[2])), Path(sys.argv[1]) / "games.npz", 0


def play(batch):
    mask, observation = batch.mask(), batch.observe()
    twin = batch.clone()
    for _ in range(6):
        batch.step(batch.random_actions(), mask=mask, observation=observation)
    running = batch.states[batch.states["status"] == 0]
    if len(running):
        decisions = DecisionBatch(batch.game, running)
        decisions.action_values, decisions.projected_margins
        make_agent("greedy", batch.game, 1).act(decisions)
    twin.play_out()
    twin.results(), twin.observe(0)
    batch.reset(1)


def change(arrays, dtype):
    name = ("states", "finals", "outcomes", "settings", "choice_streams")[random.choice(5, p=[0.6, 0.1, 0.1, 0.1, 0.1])]
    raw = arrays[name].reshape(-1).view(np.uint8)
    if name in ("states", "finals") and random.random() < 0.7:
        states = raw.view(dtype)
        values = states[dtype.names[random.integers(len(dtype.names))]]
        place = tuple(random.integers(length) for length in values.shape)
        value = random.integers(0, 256) if random.random() < 0.3 else int(values[place]) + random.integers(-2, 3)
        values[place] = np.int64(value % 2**32).astype(values.dtype)
    else:
        for _ in range(random.integers(1, 5)):
            raw[random.integers(len(raw))] = random.integers(256)


for name in game_names():
    for players in make_game(name).spec.player_counts:
        game = make_game(name, num_players=players)
        for plies in (2, 30, 90):
            batch = GameBatch(game, 3, rewards="margin", auto_reset=plies != 90)
            batch.reset(int(random.integers(1000)))
            for _ in range(plies):
                batch.step(batch.random_actions())
            batch.save(path)
            whole = path.read_bytes()
            with np.load(path) as file:
                arrays = {name: file[name] for name in file.files}
            for _ in range(25):
                if random.random() < 0.2:
                    content = bytearray(whole)
                    content[random.integers(len(content))] = random.integers(256)
                    path.write_bytes(content)
                else:
                    changed = {name: array.copy() for name, array in arrays.items()}
                    for _ in range(random.integers(1, 3)):
                        with np.errstate(all="ignore"):
                            change(changed, game.template.dtype)
                    np.savez(path, **changed)
                try:
                    batch = GameBatch.load(path)
                except ValueError:
                    continue
                play(batch)
                loaded += 1
print("loaded", loaded)
"""


def test_games_of_damaged_files_are_refused_or_played(tmp_path: Path) -> None:
    """In a process of its own: what gets through would end it."""
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", _FUZZING, str(tmp_path), "11"],
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout.split()[-1]) > 50
