"""The outside notation of moves and positions as JSON objects: what a game has to say, and a plain form of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..engine.state import Field
from .position_validation import check_integer, check_list, check_object

Options = dict[str, Any]
Move = dict[str, Any]
Position = dict[str, Any]


class LastMove(NamedTuple):
    """The move that led to the position shown: who made it, and the move."""

    player: int
    move: Move


@dataclass(frozen=True)
class Notation:
    """How a game writes and reads its moves and positions.

    phases: the phases of a running game; the first key of a position says which it is.
    move: (options, action, state) -> the move of an action; without a state what depends on it is left out.
    action: (options, move, state) -> the action of a move; ValueError that names the key if there is none.
    position: (options, state) -> the game's own keys of a position, "phase" and "to_move" before them.
    fill: (options, own, phase, state): fills a record, whose `status` and `to_move` are set, from the game's own keys
        of a position; ValueError that names the key if it cannot be. `phase` is "over" in a finished game.
    ending_error: (state) -> why a finished game cannot have ended so, None if it can.
    chance_free: (before, after) -> what chance did not decide of a position, one move after another.
    """

    phases: tuple[str, ...]
    move: Callable[[Options, int, np.void | None], Move]
    action: Callable[[Options, Any, np.void | None], int]
    position: Callable[[Options, np.void], Position]
    fill: Callable[[Options, Position, str, np.void], None]
    ending_error: Callable[[np.void], str | None] = lambda state: None
    chance_free: Callable[[Position, Position], Position] = lambda before, after: after


def plain_notation(fields: Sequence[Field], num_actions: int, move_key: str = "action") -> Notation:
    """Return the notation of a game whose positions are the fields of its record, as numbers and lists of them.

    A move is one number, that of its action, under the key `move_key`. Nothing but the ranges of the fields is checked
    when a position is read.
    """

    def action(options: Options, move: Any, state: np.void | None) -> int:
        return check_integer(check_object(move, "move", [move_key])[move_key], move_key, 0, num_actions - 1)

    def position(options: Options, state: np.void) -> Position:
        written = {field.name: state[field.name].tolist() for field in fields}
        return {"phase": "play", "to_move": int(state["to_move"]), **written}

    def fill(options: Options, own: Position, phase: str, state: np.void) -> None:
        check_object(own, "position", [field.name for field in fields])
        for field in fields:
            state[field.name] = _read_numbers(own[field.name], field.name, field, field.shape)

    return Notation(("play",), lambda options, action, state: {move_key: action}, action, position, fill)


def _read_numbers(value: Any, key: str, field: Field, shape: tuple[int, ...]) -> Any:
    """Return nested lists of a shape, in which every number is in the field's range."""
    if not shape:
        return check_integer(value, key, field.low, field.high)
    parts = enumerate(check_list(value, key, length=shape[0]))
    return [_read_numbers(part, f"{key}[{index}]", field, shape[1:]) for index, part in parts]
