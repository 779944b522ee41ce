"""Arrays and numbers that are handed to the Python interfaces: of every type, shape and size."""

import random
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from ...agents import make_agent
from ...envs import Game, GameBatch, game_names, make_game
from ...envs.engine import batch as batch_kernels
from ...envs.engine.dispatch import games_of_types
from ...envs.interfaces.pettingzoo_env import env
from ...envs.interfaces.registration import gymnasium_id
from .cases import Case, FaultFound
from .games import warm_all
from .hostile import NAMES, PYTHON

_GAMES = 4
_DTYPES = ("np.int64", "np.int32", "np.uint8", "np.uint64", "np.int16", "'>i8'", "np.float64", "np.float32", "bool")
_ODD_DTYPES = ("object", "'<U3'", "np.complex128", "'<M8[s]'", "'|V8'")
_NUMBERS = (
    "0",
    "1",
    "3",
    "-1",
    "4",
    "99",
    "a_legal_one",
    "num_actions",
    "10**9",
    "2**31",
    "2**63",
    "2**64",
    "-(2**63)",
)
_FORMS = (
    "A",
    "A",
    "A",
    "A[::-1]",
    "np.repeat(A, 2)[::2]",
    "A.reshape(2, 2)",
    "A.reshape(4, 1)",
    "A[:3]",
    "A[:0]",
    "A.tolist()",
    "tuple(A)",
    "iter(A)",
    "read_only(A)",
    "np.ma.array(A)",
    "A.view(np.recarray)",
    "np.tile(A, 3)",
    "unaligned(A)",
)
_SCALARS = (
    *_NUMBERS,
    *(
        "10**30",
        "None",
        "True",
        "1.0",
        "0.5",
        "nan",
        "inf",
        "1e30",
        "'1'",
        "b'1'",
        "[]",
        "[1]",
        "(1,)",
        "{}",
        "1j",
        "len",
    ),
    *("np.int64(1)", "np.uint8(1)", "np.float64(1)", "np.bool_(True)", "np.array(1)", "np.array([1])", "np.int64(-1)"),
    *("np.uint64(2**64 - 1)", "np.array([[1]])", "np.float32('nan')", "object()", "Unprintable()", "nested(500)"),
    *("[None, 3]", "[1, 2, 3, 4]", "'random'", "'\\x1b[2J'", "np.array('x')", "np.array([])", "range(4)"),
)
_OUTPUTS = (
    "np.zeros((4, SIZE), DTYPE)",
    "np.zeros((4, SIZE - 1), DTYPE)",
    "np.zeros((3, SIZE), DTYPE)",
    "np.zeros(4 * SIZE, DTYPE)",
    "np.zeros((SIZE, 4), DTYPE).T",
    "np.zeros((4, 2 * SIZE), DTYPE)[:, ::2]",
    "np.zeros((4, SIZE), np.float64)",
    "np.zeros((4, SIZE), np.uint8)",
    "np.zeros((4, SIZE), object)",
    "read_only(np.zeros((4, SIZE), DTYPE))",
    "unaligned(np.zeros((4, SIZE), DTYPE))",
    "[[0] * SIZE] * 4",
    "np.broadcast_to(np.zeros(SIZE, DTYPE), (4, SIZE))",
    "7",
)
_CALLS = (
    *("batch.step(ACTIONS)",) * 4,
    *("batch.step(ACTIONS, check=False)",) * 4,
    "batch.step(ACTIONS, check=SCALAR)",
    *("batch.step(legal, mask=MASK)", "batch.step(legal, observation=OBSERVATION)") * 2,
    *("batch.step_subset(ACTIONS, ACTIONS)", "batch.step_subset(ACTIONS, legal)", "batch.step_subset(SCALAR, SCALAR)")
    * 2,
    "batch.step_subset(np.arange(4), ACTIONS)",
    "batch.step_subset(ACTIONS, ACTIONS, check=False)",
    "batch.step_subset(np.arange(4), ACTIONS, check=False)",
    "batch.reset(SCALAR)",
    "batch.reset(ACTIONS)",
    "batch.observe(SCALAR)",
    "batch.observe(ACTIONS)",
    "batch.observe(0, OBSERVATION)",
    "batch.mask(MASK)",
    "batch.random_actions(ACTIONS)",
    "batch.play_out(SCALAR)",
    "GameBatch(game, SCALAR).reset(1)",
    "GameBatch(game, 2, threads=SCALAR).reset(1)",
    "GameBatch(game, 2, rewards=SCALAR).reset(1)",
    "GameBatch(game, 2, auto_reset=SCALAR).reset(1)",
    "game.new(SCALAR)",
    *("game.observe(state, SCALAR)",) * 2,
    "game.move(SCALAR)",
    "game.move(SCALAR, state)",
    "game.action(PLAIN, state)",
    *("game.play_action(state, SCALAR)",) * 2,
    "game.play(state, PLAIN)",
    "game.from_position(game.position(state), SCALAR)",
    "game.from_position(PLAIN)",
    "make_agent('greedy', game, SCALAR)",
    "make_game(SCALAR)",
    "make_game(game.name, num_players=SCALAR)",
    "make_game(game.name, encoding=SCALAR)",
    "turns.step(SCALAR)",
    "turns.reset(SCALAR)",
    "single.step(SCALAR)",
    "single.step(ACTIONS)",
    "single.reset(seed=SCALAR)",
    "vector.step(ACTIONS)",
    "vector.step(SCALAR)",
    "vector.reset(seed=SCALAR)",
    "vector.reset(seed=ACTIONS)",
)
_SLOTS = re.compile(r"\b(ACTIONS|SCALAR|MASK|OBSERVATION|PLAIN)\b")


class Arguments:
    """A call with a hostile argument: done, or refused in a sentence with nothing changed; never a new compilation."""

    # of seeds that are no integers
    refusals = (gymnasium.error.Error,)

    def __init__(self, kept: Path) -> None:
        warm_all()
        self._things = {name: _things(make_game(name)) for name in game_names()}
        for name in game_names():
            for call in (
                "batch.step(legal)",
                "turns.step(a_legal_one)",
                "single.step(a_legal_one)",
                "vector.step(legal)",
            ):
                self._call(name, call)

    def make(self, draw: random.Random) -> Case:
        """Return a call as text."""
        name = draw.choice(game_names())
        call = _SLOTS.sub(lambda slot: _argument(slot[0], draw), draw.choice(_CALLS))
        return Case({"game": name, "call": call}, note=f"{name}: {call[:150]}")

    def run(self, case: Case) -> None:
        """Make the call."""
        self._call(case.words["game"], case.words["call"])

    def _call(self, name: str, call: str) -> None:
        things = self._things[name]
        game, batch = things["game"], things["batch"]
        batch.reset(5)
        things["turns"].reset(seed=1)
        masks = {one: np.atleast_2d(things[one].reset(seed=1)[1]["action_mask"]) for one in ("single", "vector")}
        masks["turns"] = things["turns"].last()[0]["action_mask"][None]
        state = game.new(3)
        masks["game"] = game.mask(state)[None]
        before, compiled = batch.states.tobytes(), _signatures(game)
        # those of the thing that is called
        legal = masks.get(call.partition(".")[0], batch.mask()).argmax(axis=1)
        names = {**things, "legal": legal, "a_legal_one": int(legal[0]), "state": state}
        try:
            eval(call, names)
        except Exception as error:
            if batch.states.tobytes() != before:
                raise FaultFound("a refused call changed the batch", str(error)) from error
            if isinstance(error, AssertionError) and call.startswith("turns."):
                # PettingZoo's way to refuse calls out of order and actions outside the space
                raise ValueError("an assertion of PettingZoo") from error
            raise
        finally:
            if any(found > compiled[kernel] > 0 for kernel, found in _signatures(game).items()):
                raise FaultFound("kernels are compiled once more")
        batch.observe()
        batch.step(batch.random_actions())


def _things(game: Game) -> dict[str, Any]:
    """Return what calls may name."""
    opponents: dict[str, Any] = {"opponents": "random", **game.options}
    return {
        **NAMES,
        "game": game,
        "batch": GameBatch(game, _GAMES),
        "GameBatch": GameBatch,
        "make_game": make_game,
        "make_agent": make_agent,
        "turns": env(game.name, **game.options),
        "single": gymnasium.make(gymnasium_id(game.spec), **opponents).unwrapped,
        "vector": gymnasium.make_vec(gymnasium_id(game.spec), num_envs=_GAMES, **opponents).unwrapped,
        "num_actions": game.num_actions,
        "observation_size": game.observation_size,
        "array": _array,
        "read_only": _read_only,
        "unaligned": _misalign,
    }


def _array(values: Any, dtype: Any) -> np.ndarray:
    """Return an array of the type, or of whatever type holds the values."""
    array = np.array(values)
    try:
        with np.errstate(all="ignore"):
            return array.astype(dtype)
    except (OverflowError, TypeError, ValueError):
        return array


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _misalign(array: np.ndarray) -> np.ndarray:
    """Return the array one byte off where its type would lie."""
    if array.dtype.hasobject:
        return array
    buffer = np.zeros(array.nbytes + 1, np.uint8)
    moved = buffer[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def _signatures(game: Game) -> dict[str, int]:
    """Return for how many types of arguments every kernel has been compiled."""
    return {
        name: sum(game.name in games_of_types(signature) for signature in kernel.signatures)
        for name, kernel in vars(batch_kernels).items()
        if hasattr(kernel, "signatures")
    }


def _argument(slot: str, draw: random.Random) -> str:
    if slot == "SCALAR":
        return draw.choice(_SCALARS)
    if slot == "PLAIN":
        value = draw.choice(PYTHON)
        return str(value["$"]) if isinstance(value, dict) and "$" in value else repr(value)
    if slot == "ACTIONS":
        dtype = draw.choice(_DTYPES if draw.random() < 0.85 else _ODD_DTYPES)
        values = "legal" if draw.random() < 0.5 else f"[{', '.join(draw.choices(_NUMBERS, k=_GAMES))}]"
        whole = f"array({values}, {dtype})"
        return draw.choice(_FORMS).replace("A", whole, 1)
    size, dtype = ("num_actions", "np.int8") if slot == "MASK" else ("observation_size", "np.float32")
    return draw.choice(_OUTPUTS).replace("SIZE", size).replace("DTYPE", dtype)
