"""The drawing of one player's Azul board: name and score, pattern lines, wall and floor line."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...view.captions import points, winners
from ...view.stroke_font import letters, text_width
from ...view.svg import Box, element, rectangle
from ...view.svg_theme import (
    CARD,
    CARD_EDGE,
    INK,
    MUTED,
    TURN,
    TURN_TINT,
    WARNING,
    WINNER,
    last_move_mark,
    pill,
    pill_width,
    player_card,
    player_colour,
    space,
)
from .captions import FLOOR_COSTS, floor_cost, floor_pieces, wall_pattern
from .tile_svg import tile

BOARD_HEIGHT = 410.0

_PITCH = 45.0  # from one space to the next
_TILE = 40.0
_LINES_LEFT = 48.0  # of the board's left edge
_WALL_LEFT = _LINES_LEFT + 5 * _PITCH + 30
_ROWS_TOP = 90.0
_FLOOR_TOP = _ROWS_TOP + 5 * _PITCH + 18


def board(position: dict[str, Any], player: int, box: Box, last_move: LastMove | None) -> str:
    """Return the board of a player, drawn into `box` (558 x `BOARD_HEIGHT` units)."""
    to_move, winner = player == position.get("to_move"), player in winners(position)
    parts = [player_card(box, to_move, winner), _heading(position, player, box)]
    if position["phase"] == "tiling" and position["to_move"] == player:
        parts.append(_row_to_tile(position["row"], box))
    state = position["players"][player]
    coloured = position["options"]["wall"] == "coloured"
    for index in range(5):
        parts.append(_line(state["lines"][index], index, box))
        parts.append(_wall_row(state["wall"][index], index, box, coloured))
    parts.append(_floor(state, box))
    if last_move is not None and last_move.player == player:
        parts.append(_destination(last_move.move, box))
    return "".join(parts)


def _heading(position: dict[str, Any], player: int, box: Box) -> str:
    middle = box.y + 35
    colour = player_colour(player == position.get("to_move"), player in winners(position))
    score = str(position["players"][player]["score"])
    right = box.x + box.width - 24
    unit = points(position["players"][player]["score"])
    parts = [
        element("circle", cx=box.x + 36, cy=middle, r=16.5, fill=colour),
        letters(str(player), box.x + 36, middle + 8, 22, "#FFFFFF", bold=True, anchor="middle"),
        letters(f"Player {player}", box.x + 62, middle + 8, 22, INK, bold=True),
        letters(unit, right, middle + 11, 15, MUTED, anchor="end"),
        letters(score, right - text_width(unit, 15) - 9, middle + 11, 36, INK, bold=True, anchor="end"),
    ]
    x = box.x + 62 + text_width(f"Player {player}", 22) + 15
    for text, ink, fill, edge in _tags(position, player):
        parts.append(pill(text, x, middle, 13, ink, fill, edge))
        x += pill_width(text, 13) + 6
    return "".join(parts)


def _tags(position: dict[str, Any], player: int) -> list[tuple[str, str, str, str]]:
    """Return text, ink, fill and edge of the badges beside a player's name."""
    tags = []
    if player in winners(position):
        tags.append(("winner", "#FFFFFF", WINNER, WINNER))
    elif player == position.get("to_move"):
        tags.append(("to move", "#FFFFFF", TURN, TURN))
    if player == position["start"]:
        tags.append(("started", MUTED, CARD, CARD_EDGE))
    if player == position["marker"]:
        tags.append(("has marker" if "result" in position else "starts next", "#5B3480", "#F1E8F8", "#C9AEE0"))
    return tags


def _row_to_tile(row: int, box: Box) -> str:
    y = box.y + _ROWS_TOP + row * _PITCH
    band = Box(box.x + 18, y - 2, _WALL_LEFT + 5 * _PITCH - 15, _PITCH - 1)
    return rectangle(band, 10, fill=TURN_TINT, stroke=TURN, stroke_width=2)


def _line(line: dict[str, Any] | None, index: int, box: Box) -> str:
    """Draw line `index`: its spaces end at the wall, and tiles fill them from there."""
    y = box.y + _ROWS_TOP + index * _PITCH
    full = line is not None and line["count"] == index + 1
    parts = [letters(str(index), box.x + 29, y + 26, 17, MUTED, bold=True, anchor="middle")]
    for place in range(index + 1):
        x = box.x + _LINES_LEFT + (4 - place) * _PITCH
        filled = line is not None and place < line["count"]
        parts.append(tile(line["colour"], x, y, _TILE) if line and filled else space(x, y, _TILE))
    chevron = f"M{box.x + _WALL_LEFT - 21:.2f} {y + 13:.2f} l7 7 l-7 7"
    parts.append(
        element(
            "path",
            d=chevron,
            fill="none",
            stroke=TURN if full else CARD_EDGE,
            stroke_width=4 if full else 2.5,
            stroke_linecap="round",
            stroke_linejoin="round",
        )
    )
    return "".join(parts)


def _wall_row(cells: list[str | None], row: int, box: Box, coloured: bool) -> str:
    parts = []
    for column, cell in enumerate(cells):
        x, y = box.x + _WALL_LEFT + column * _PITCH, box.y + _ROWS_TOP + row * _PITCH
        if row == 0:
            parts.append(letters(str(column), x + _TILE / 2, y - 8, 14, MUTED, bold=True, anchor="middle"))
        if cell is not None:
            parts.append(tile(cell, x, y, _TILE))
            continue
        parts.append(space(x, y, _TILE))
        if coloured:
            parts.append(rectangle(Box(x, y, _TILE, _TILE), _TILE * 0.14, fill=CARD))
            parts.append(tile(wall_pattern(row, column), x, y, _TILE, faded=True))
    return "".join(parts)


def _floor(state: dict[str, Any], box: Box) -> str:
    pieces, y = floor_pieces(state), box.y + _FLOOR_TOP
    rule = f"M{box.x + 24:.2f} {y - 11:.2f} h{box.width - 48:.2f}"
    parts = [element("path", d=rule, stroke=CARD_EDGE, stroke_width=1.2)]
    for place, cost in enumerate(FLOOR_COSTS):
        x = box.x + _LINES_LEFT + place * _PITCH
        parts.append(tile(pieces[place], x, y, _TILE) if place < len(pieces) else space(x, y, _TILE))
        ink = INK if place < len(pieces) else MUTED
        parts.append(letters(f"\N{MINUS SIGN}{cost}", x + _TILE / 2, y + 61, 15, ink, anchor="middle", bold=True))
    total, right = floor_cost(state), box.x + _LINES_LEFT + 7 * _PITCH + 14
    parts.append(letters("Floor line", right, y + 17, 16, MUTED))
    costs = f"costs {total} {points(total)}" if total else "costs nothing"
    parts.append(letters(costs, right, y + 38, 16, WARNING if total else MUTED, bold=total > 0))
    return "".join(parts)


def _destination(move: dict[str, Any], box: Box) -> str:
    rows_top, left = box.y + _ROWS_TOP, box.x + _LINES_LEFT
    if "column" in move:
        x = box.x + _WALL_LEFT + move["column"] * _PITCH
        return last_move_mark(Box(x, rows_top + move["row"] * _PITCH, _TILE, _TILE).grown(3.5), 9)
    if move["line"] == "floor":
        return last_move_mark(Box(left, box.y + _FLOOR_TOP, 7 * _PITCH - 5, _TILE).grown(3.5), 9)
    line = move["line"]
    spaces = Box(left + (4 - line) * _PITCH, rows_top + line * _PITCH, (line + 1) * _PITCH - 5, _TILE)
    return last_move_mark(spaces.grown(3.5), 9)
