"""What one seat sees of a Qwirkle position."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from ..records.notation import LastMove
from .state import COPIES, KINDS

Kind = str | None  # a tile as in the JSON notation; None is face down


class PlayerView(NamedTuple):
    """The parts of a position that may be hidden, as one seat sees them."""

    hands: list[list[Kind]]
    returned: list[Kind]
    bag_size: int
    counts: dict[str, int]
    """By kind: the tiles in the bag or, for a seat, all tiles that it does not see."""


def view_position(position: dict[str, Any], seat: int | None) -> PlayerView:
    """Return what `seat` sees of a valid position in JSON notation (None: everything).

    Hands and returned tiles are sorted by colour, then shape. A seat does not see other hands, the bag and
    tiles that others return; everybody sees a picked-up tile.
    """
    hands = [_sort(hand) for hand in position["hands"]]
    returned = _sort(position["turn"]["returned"])
    bag = position["bag"]
    bag_size = sum(bag.values())
    if seat is None:
        return PlayerView(hands, returned, bag_size, {kind: bag.get(kind, 0) for kind in KINDS})
    hands = [hand if player == seat else _hide_tiles(hand) for player, hand in enumerate(hands)]
    if position.get("to_move") != seat:
        returned = _hide_tiles(returned)
    lying = [item["tile"] for item in position["board"]]
    seen = Counter([*lying, *hands[seat], *returned, position["turn"]["picked"]])
    return PlayerView(hands, returned, bag_size, {kind: COPIES - seen[kind] for kind in KINDS})


def view_move(last_move: LastMove | None, seat: int | None) -> LastMove | None:
    """Return a move as `seat` sees it: a tile that another player returns is None."""
    if last_move is None or seat in (None, last_move.player) or "return" not in last_move.move:
        return last_move
    return LastMove(last_move.player, {"return": None})


def window(position: dict[str, Any]) -> tuple[range, range]:
    """Return the columns and rows to show: those with tiles, and one more on each side."""
    cells = [item["at"] for item in position["board"]] or [[0, 0]]
    columns, rows = [x for x, _ in cells], [y for _, y in cells]
    return range(min(columns) - 1, max(columns) + 2), range(min(rows) - 1, max(rows) + 2)


def _sort(tiles: list[str]) -> list[Kind]:
    return sorted(tiles, key=KINDS.index)


def _hide_tiles(tiles: list[Kind]) -> list[Kind]:
    return [None] * len(tiles)
