"""The drawing of the Qwirkle table: the tiles on it with their coordinates, and the turn in progress."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...view.stroke_font import letters, text_width
from ...view.svg import Box, element, number, rectangle
from ...view.svg_theme import INK, TURN, last_move_mark
from ..player_view import Kind, PlayerView, window
from .tile_svg import CLOTH, CLOTH_CELL, CLOTH_EDGE, CLOTH_INK, CLOTH_LIGHT, tile

_GUTTER = 36.0  # around the cells, for the coordinates
_TRAY = 66.0  # height of the strip that shows the turn in progress
_TRAY_MARGIN = 12.0
_TRAY_TILE = 42.0
_LARGEST_CELL = 76.0
_TILE = 0.92  # of a cell
_LABEL = 13.0


def table_height(position: dict[str, Any], width: float, lowest: float, highest: float) -> float:
    """Return the height of the table for a width, between the two bounds."""
    columns, rows = window(position)
    cell = min(_LARGEST_CELL, (width - 2 * _GUTTER) / len(columns))
    return min(highest, max(lowest, cell * len(rows) + 2 * _GUTTER + _TRAY + _TRAY_MARGIN))


def table(position: dict[str, Any], seen: PlayerView, box: Box, last_move: LastMove | None) -> str:
    """Return the table drawn into `box`; its cells are as large as the box allows."""
    columns, rows = window(position)
    width, height = box.width - 2 * _GUTTER, box.height - 2 * _GUTTER - _TRAY - _TRAY_MARGIN
    cell = min(_LARGEST_CELL, width / len(columns), height / len(rows))
    left = box.x + (box.width - cell * len(columns)) / 2
    top = box.y + _GUTTER + (height - cell * len(rows)) / 2
    boxes = {
        (x, y): Box(left + column * cell, top + row * cell, cell, cell)
        for row, y in enumerate(rows)
        for column, x in enumerate(columns)
    }
    parts = [
        rectangle(box, 26, fill=CLOTH, stroke=CLOTH_EDGE, stroke_width=1.5),
        _empty_cells(list(boxes.values())),
        _coordinates(boxes, columns, rows, cell),
    ]
    for item in position["board"]:
        place = boxes[tuple(item["at"])].grown(-cell * (1 - _TILE) / 2)
        parts.append(tile(item["tile"], place.x, place.y, place.width))
    if not position["board"]:
        place = boxes[0, 0]
        parts.append(letters("first tile", place.x + cell / 2, place.y + cell / 2 + 4, 12, CLOTH_INK, anchor="middle"))
    placed = [boxes[tuple(at)] for at in position["turn"]["placed"]]
    parts += [_ring(place) for place in placed]
    if last_move is not None and "place" in last_move.move:
        parts.append(_last_tile_mark(boxes[tuple(last_move.move["place"])]))
    parts += [_badge(place, count) for count, place in enumerate(placed, start=1)]
    inner = box.grown(-_TRAY_MARGIN)
    tray = inner._replace(y=inner.y + inner.height - _TRAY, height=_TRAY)
    return "".join(parts) + _tray(position, seen, tray, last_move)


def _empty_cells(boxes: list[Box]) -> str:
    """Return all cells as one path, whose stroke rounds the corners."""
    inset = boxes[0].width * 0.1
    side = number(boxes[0].width - 2 * inset)
    cells = [f"M{number(place.x + inset)} {number(place.y + inset)}h{side}v{side}h-{side}z" for place in boxes]
    return element(
        "path", d="".join(cells), fill=CLOTH_CELL, stroke=CLOTH_CELL, stroke_width=inset, stroke_linejoin="round"
    )


def _coordinates(boxes: dict[tuple[int, int], Box], columns: range, rows: range, cell: float) -> str:
    """Return the numbers along all four edges, as many as fit."""
    step = next(step for step in (1, 2, 5, 10) if step * cell >= 27)
    first, last = boxes[columns[0], rows[0]], boxes[columns[-1], rows[-1]]
    parts = []
    for x in columns:
        if x % step == 0:
            middle = boxes[x, rows[0]].x + cell / 2
            for y in (first.y - 8, last.y + cell + 17):
                parts.append(_coordinate(x, middle, y, "middle"))
    for y in rows:
        if y % step == 0:
            baseline = boxes[columns[0], y].y + cell / 2 + _LABEL * 0.35
            parts.append(_coordinate(y, first.x - 9, baseline, "end"))
            parts.append(_coordinate(y, last.x + cell + 9, baseline, "start"))
    return "".join(parts)


def _coordinate(value: int, x: float, y: float, anchor: str) -> str:
    text = str(value).replace("-", "\N{MINUS SIGN}")
    return letters(text, x, y, _LABEL, CLOTH_INK, bold=value == 0, anchor=anchor)


def _ring(place: Box) -> str:
    """Return the ring around a tile of the current turn."""
    size = place.width
    return rectangle(place.grown(-size * 0.03), size * 0.17, fill="none", stroke=TURN, stroke_width=size * 0.07)


def _badge(place: Box, count: int) -> str:
    """Return the number of a tile in the current turn, at its upper right corner."""
    x, y = place.x + place.width * 0.9, place.y + place.width * 0.1
    radius = max(8.5, place.width * 0.15)
    disc = element("circle", cx=x, cy=y, r=radius, fill=TURN, stroke=CLOTH_LIGHT, stroke_width=radius * 0.18)
    return disc + letters(str(count), x, y + radius * 0.48, radius * 1.4, "#FFFFFF", bold=True, anchor="middle")


def _last_tile_mark(place: Box) -> str:
    frame = place.grown(place.width * 0.05)
    halo = rectangle(frame, place.width * 0.2, fill="none", stroke=CLOTH_LIGHT, stroke_width=5)
    return halo + last_move_mark(frame, place.width * 0.2)


def _tray(position: dict[str, Any], seen: PlayerView, box: Box, last_move: LastMove | None) -> str:
    """Return the strip that shows the current turn of the player to move."""
    parts = [rectangle(box, 16, fill=CLOTH_LIGHT, stroke=CLOTH_EDGE, stroke_width=1.5)]
    x, baseline = box.x + 20, box.y + box.height / 2 + 6
    if "result" in position:
        return "".join(parts) + letters("The game is over", x, baseline, 17, CLOTH_INK)
    title = f"Turn of player {position['to_move']}"
    parts.append(letters(title, x, baseline, 17, TURN, bold=True))
    x += text_width(title, 17) + 30
    turn = position["turn"]
    laid = {tuple(item["at"]): item["tile"] for item in position["board"]}
    picked = [] if turn["picked"] is None else [turn["picked"]]
    groups: list[tuple[str, list[Kind], str]] = [
        ("placed", [laid[tuple(at)] for at in turn["placed"]], "place"),
        ("picked up", picked, "pick"),
        ("laid aside", seen.returned, "return"),
    ]
    for name, tiles, move in groups:
        if tiles:
            marked = last_move is not None and move in last_move.move and move != "place"
            parts.append(_group(name, tiles, x, box, marked))
            x += _group_width(name, len(tiles))
    if not any(tiles for _, tiles, _ in groups):
        parts.append(letters("nothing picked up, placed or laid aside yet", x, baseline, 16, CLOTH_INK))
    return "".join(parts)


def _group(name: str, tiles: list[Kind], x: float, box: Box, marked: bool) -> str:
    middle = box.y + box.height / 2
    parts = [letters(name, x, middle + 6, 16, INK)]
    first = x + text_width(name, 16) + 16
    for index, kind in enumerate(tiles):
        parts.append(tile(kind, first + index * (_TRAY_TILE + 4), middle - _TRAY_TILE / 2, _TRAY_TILE))
    if marked:
        width = len(tiles) * (_TRAY_TILE + 4) - 4
        parts.append(last_move_mark(Box(first, middle - _TRAY_TILE / 2, width, _TRAY_TILE).grown(4), 10))
    return "".join(parts)


def _group_width(name: str, count: int) -> float:
    return text_width(name, 16) + 16 + count * (_TRAY_TILE + 4) + 24
