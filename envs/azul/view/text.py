"""An Azul position as plain text for the terminal."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...view.ansi import FAINT, LAST_MOVE, STRONG, join_columns, pad, paint
from ...view.captions import player_order, points
from ..state import COLOURS
from .captions import (
    FLOOR_COSTS,
    floor_cost,
    floor_pieces,
    last_move_sentence,
    marker_sentence,
    round_sentence,
    status_sentence,
    wall_pattern,
)

_LETTERS = {"blue": "B", "yellow": "Y", "red": "R", "black": "K", "white": "W", "marker": "1"}
_CODES = {  # letter on a background of the tile's colour
    "blue": "1;97;44",
    "yellow": "1;30;103",
    "red": "1;97;41",
    "black": "1;97;100",
    "white": "1;36;107",
    "marker": "1;97;45",
}
_EMPTY = "\N{MIDDLE DOT}"
_BOARD_WIDTH = 38
_BOARD_GAP = 4


def text(
    position: dict[str, Any], last_move: LastMove | None = None, seat: int | None = None, colour: bool = False
) -> str:
    """Return an Azul position as lines of text, at most 80 columns wide, without a line break at the end.

    `position` is a valid position in JSON notation, `seat` the player whose board comes first (None: player
    0). With `colour` the text has ANSI codes and is otherwise the same. Tiles are B, Y, R, K
    (black), W, the marker of the first player is 1; small letters show what belongs in an empty cell of the
    coloured wall. Raises KeyError for a position that lacks a key.
    """
    lines = [f"Azul. {round_sentence(position)}", paint(status_sentence(position), STRONG)]
    if "result" in position and position["result"]["truncated"]:
        lines.append("Cut off by the round limit")
    if last_move is not None:
        lines.append(paint(f"Last move: {last_move_sentence(last_move)}", LAST_MOVE))
    lines += [marker_sentence(position), "", *_table(position), ""]
    boards = [_board(position, player) for player in player_order(position, seat)]
    for left in range(0, len(boards), 2):
        lines += [*_side_by_side(boards[left : left + 2]), ""]
    lines.append("  ".join(f"{_tile(name)} {name}" for name in COLOURS) + f"  {_tile('marker')} first-player marker")
    return join_columns(lines, colour)


def _table(position: dict[str, Any]) -> list[str]:
    """Return the lines of factories, centre, bag and lid."""
    factories = [
        f"{index}: " + pad(" ".join(_tile(name) for name in tiles) or _EMPTY, 7)
        for index, tiles in enumerate(position["factories"])
    ]
    lines = []
    for first in range(0, len(factories), 5):
        title = "Factories" if first == 0 else ""
        lines.append(pad(title, 11) + "   ".join(factories[first : first + 5]))
    pieces = (["marker"] if position["marker"] == "centre" else []) + position["centre"]
    lines.append(pad("Centre", 11) + (" ".join(_tile(name) for name in pieces) or _EMPTY))
    for name in ("bag", "lid"):
        counts = position[name]
        tiles = "  ".join(f"{_tile(colour)} {counts[colour]:2}" for colour in COLOURS)
        lines.append(f"{pad(name.capitalize(), 11)}{tiles}   {sum(counts.values())} in all")
    return lines


def _board(position: dict[str, Any], player: int) -> list[str]:
    """Return the eight lines of a player's board."""
    state = position["players"][player]
    coloured = position["options"]["wall"] == "coloured"
    tiling = position["phase"] == "tiling" and position["to_move"] == player
    lines = [_heading(position, player), " " * 20 + paint("0 1 2 3 4", FAINT)]
    for row in range(5):
        name = f"line {row}"
        mark = paint(">", STRONG) if tiling and row == position["row"] else "|"
        line = _pattern_line(state["lines"][row], row)
        lines.append(f"{name} {line} {mark}  {_wall_row(state['wall'][row], row, coloured)}")
    pieces = floor_pieces(state)
    spaces = [_tile(name) for name in pieces] + [_EMPTY] * (len(FLOOR_COSTS) - len(pieces))
    cost = floor_cost(state)
    lines.append(f"floor  {' '.join(spaces)}  " + (f"costs {cost}" if cost else "costs nothing"))
    return lines


def _heading(position: dict[str, Any], player: int) -> str:
    score = position["players"][player]["score"]
    heading = f"Player {player}: {score} {points(score)}"
    if "result" in position:
        return paint(f"{heading}, winner", STRONG) if player in position["result"]["winners"] else heading
    return paint(f"{heading}, to move", STRONG) if player == position["to_move"] else heading


def _pattern_line(line: dict[str, Any] | None, row: int) -> str:
    """Return nine columns of text, the tiles at the right as on the board."""
    count = 0 if line is None else line["count"]
    tiles = [] if line is None else [_tile(line["colour"])] * count
    return " ".join([" "] * (4 - row) + [_EMPTY] * (row + 1 - count) + tiles)


def _wall_row(cells: list[str | None], row: int, coloured: bool) -> str:
    shown = []
    for column, cell in enumerate(cells):
        if cell is not None:
            shown.append(_tile(cell))
        elif coloured:
            shown.append(paint(_LETTERS[wall_pattern(row, column)].lower(), FAINT))
        else:
            shown.append(_EMPTY)
    return " ".join(shown)


def _side_by_side(boards: list[list[str]]) -> list[str]:
    width = _BOARD_WIDTH + _BOARD_GAP
    return ["".join(pad(line, width) for line in row) for row in zip(*boards, strict=True)]


def _tile(kind: str) -> str:
    return paint(_LETTERS[kind], _CODES[kind])
