"""The outside notation of all games: moves and positions as JSON objects."""

from typing import Any, NamedTuple

Move = dict[str, Any]
Position = dict[str, Any]


class LastMove(NamedTuple):
    """The move that led to the position shown: who made it, and the move."""

    player: int
    move: Move
