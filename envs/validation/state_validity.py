"""Whether records are states that a game can reach: all that kernels rely on without looking."""

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from ..engine import compilation
from ..engine.state import HEADER, RUNNING, UNUSED, Field
from ..spec import GameSpec

if TYPE_CHECKING:
    from ..game import Game

_bound: dict[str, ModuleType] = {}


def _kernels(spec: GameSpec) -> ModuleType:
    """Return the kernels bound to a game's rules and its faults, loaded once."""
    if spec.name not in _bound:
        path = Path(compilation.__file__).with_name("validity.py")
        rules, validity = spec.module("rules"), spec.module("validity")
        _bound[spec.name] = compilation.load_bound(path, spec.name, rules=rules, validity=validity)
    return _bound[spec.name]


def check_states(game: "Game", states: np.ndarray, name: str, games: np.ndarray | None = None) -> None:
    """Raise ValueError, one sentence, for the first of the records [n] of a game that it cannot reach.

    The options are those of the game already (`Game.door`). The sentence begins with `name` and gives the number of the
    record, that in `games` (int64 [n]) if there is one.
    """
    numbers = np.arange(len(states)) if games is None else games
    ranges = [*HEADER, *game.spec.state_fields, Field("to_move", "u1", game.num_players - 1)]
    if UNUSED in (states.dtype.names or ()):
        ranges.append(Field(UNUSED, "u1", 0))
    for field in ranges:
        _check_range(states, field, name, numbers)
    kernels, faults = _kernels(game.spec), game.spec.module("validity").FAULTS
    index, fault = kernels.first_fault(states, game.template.copy())
    if index >= 0:
        reason = "nothing is legal in it, although it is not over" if fault == kernels.STUCK else faults[fault]
        raise ValueError(f"{name}: game {numbers[index]} cannot be: {reason}")
    notation = game.spec.module("notation")
    for index in np.flatnonzero(states["status"] != RUNNING).tolist():
        ending = notation.ending_error(states[index])
        if ending:
            raise ValueError(f"{name}: game {numbers[index]} cannot be: {ending}")


def _check_range(states: np.ndarray, field: Field, name: str, numbers: np.ndarray) -> None:
    values = states[field.name]
    if values.size and (values.max() > field.high or values.min() < field.low):
        wrong = ((values < field.low) | (values > field.high)).reshape(len(states), -1)
        index = int(np.argmax(wrong.any(axis=1)))
        value = values.reshape(len(states), -1)[index][wrong[index]][0]
        allowed = f"must be from {field.low} to {field.high}, not {value}"
        raise ValueError(f"{name}: game {numbers[index]}: {field.name} {allowed}")
