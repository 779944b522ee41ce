"""Sentences about an Azul position, for its SVG and its text."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...records.notation import LastMove
from ...view.captions import result_sentence
from ..state import COLOURS, FLOOR_COST

FLOOR_COSTS = tuple(after - before for before, after in pairwise(FLOOR_COST))
"""Points that each space of the floor line costs, from the left."""


def status_sentence(position: dict[str, Any]) -> str:
    """Return who has to do what, or who has won."""
    if "result" in position:
        return result_sentence(position["result"])
    player = position["to_move"]
    if position["phase"] == "tiling":
        row = position["row"]
        colour = position["players"][player]["lines"][row]["colour"]
        return f"Player {player} to move: choose a column for {colour} in row {row}"
    return f"Player {player} to move: take tiles"


def last_move_sentence(last_move: LastMove) -> str:
    """Return the last move in words; the move itself does not say how many tiles it took."""
    player, move = last_move
    if "column" in move:
        return f"Player {player} tiled row {move['row']} at column {move['column']}"
    source = "the centre" if move["source"] == "centre" else f"factory {move['source']}"
    line = "the floor" if move["line"] == "floor" else f"line {move['line']}"
    return f"Player {player} took {move['colour']} from {source} to {line}"


def round_sentence(position: dict[str, Any]) -> str:
    """Return the round, the phase and the kind of wall."""
    options, number = position["options"], position["round"]
    if position["phase"] == "over":
        return f"Ended in round {number} of at most {options['max_rounds']}, {options['wall']} wall"
    return f"Round {number} of at most {options['max_rounds']}, {position['phase']}, {options['wall']} wall"


def marker_sentence(position: dict[str, Any]) -> str:
    """Return who started the round and where the first player's marker is."""
    marker = position["marker"]
    if marker == "centre":
        return f"Player {position['start']} began the round, the marker is in the centre"
    return f"Player {position['start']} began the round, player {marker} has taken the marker"


def floor_pieces(player: dict[str, Any]) -> list[str]:
    """Return the pieces on a floor line from the left: "marker" first, then colours."""
    return (["marker"] if player["marker"] else []) + list(player["floor"])


def floor_cost(player: dict[str, Any]) -> int:
    """Return the points that the pieces on a floor line cost, 0 to 14."""
    return sum(FLOOR_COSTS[: len(floor_pieces(player))])


def wall_pattern(row: int, column: int) -> str:
    """Return the colour that belongs in a cell of the coloured wall."""
    return COLOURS[(column - row) % len(COLOURS)]
