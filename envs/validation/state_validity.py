"""Whether records are reachable states of a game: everything that kernels rely on without checks."""

from typing import TYPE_CHECKING

import numpy as np

from ..engine.state import HEADER, RUNNING, Field
from ..engine.validity import STUCK, find_first_fault

if TYPE_CHECKING:
    from ..game import Game


def check_states(game: "Game", states: np.ndarray, name: str, games: np.ndarray | None = None) -> None:
    """Raise ValueError with a one-sentence reason for the first of the records [n] that the game cannot reach.

    The options are already known to be those of the game (`Game.door`). The message starts with `name` and has the
    number of the record, or its number in `games`, int64 [n], if given.
    """
    numbers = np.arange(len(states)) if games is None else games
    ranges = [*HEADER, *game.spec.state_fields, Field("to_move", "u1", game.num_players - 1), game.spec.marker]
    for field in ranges:
        _check_range(states, field, name, numbers)
    index, fault = find_first_fault(states, game.template.copy(), np.empty(game.num_actions, np.int8))
    if index >= 0:
        stuck = "nothing is legal in it, although it is not over"
        reason = stuck if fault == STUCK else game.spec.kernels().faults[fault]
        raise ValueError(f"{name}: game {numbers[index]} cannot be: {reason}")
    notation = game.spec.notation()
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
