"""How a game shows its positions, and the plain way for games without one: their keys in a frame."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..records.notation import LastMove, Position
from .ansi import LAST_MOVE, STRONG, join_columns, paint
from .captions import result_sentence
from .stroke_font import letters
from .svg import Box, document, rectangle
from .svg_theme import HEADER, INK, MARGIN, MUTED, PAGE, WIDTH, card, header, space

_COMMON = ("game", "options", "phase", "to_move", "result")
_CELL = 56.0
_LINE = 34.0
_PADDING = 24.0
_EMPTY = "\N{MIDDLE DOT}"


@dataclass(frozen=True)
class PositionView:
    """A game's pictures and texts of a position.

    svg: (position, last_move, seat) -> one self-contained SVG document, 1200 units wide.
    text: (position, last_move, seat, colour) -> lines of text without a line break at the end; with `colour` they hold
        ANSI codes.

    `position` is a valid one, `seat` the player whose side of the table it is seen from; what others hide from that
    player is not shown. None shows everything.
    """

    svg: Callable[[Position, LastMove | None, int | None], str]
    text: Callable[[Position, LastMove | None, int | None, bool], str]


def plain_view() -> PositionView:
    """Return what shows every key of a position, whoever looks on: for games in which nothing is hidden."""
    return PositionView(_svg, _text)


def _text(position: Position, last_move: LastMove | None, seat: int | None, colour: bool) -> str:
    lines = [_title(position), paint(_status(position), STRONG)]
    if last_move is not None:
        lines.append(paint(f"Last move: {_describe_move(last_move)}", LAST_MOVE))
    for key, rows in _sections(position):
        width = max(len(cell) for row in rows for cell in row)
        lines += ["", _words(key), *("  " + " ".join(cell.rjust(width) for cell in row) for row in rows)]
    return join_columns(lines, colour)


def _svg(position: Position, last_move: LastMove | None, seat: int | None) -> str:
    parts, top = [], HEADER
    for key, rows in _sections(position):
        is_table = len(rows) > 1
        height = 2 * _PADDING + _LINE + len(rows) * (_CELL if is_table else _LINE)
        box = Box(MARGIN, top, WIDTH - 2 * MARGIN, height)
        parts += [card(box), letters(_words(key), box.x + _PADDING, top + _PADDING + 14, 20, MUTED)]
        below = box._replace(x=box.x + _PADDING, y=top + _PADDING + _LINE)
        parts.append(_table(rows, below) if is_table else letters(" ".join(rows[0]), below.x, below.y + 22, 24, INK))
        top += height + 20
    height = top - 20 + MARGIN
    heading = header(
        _title(position),
        _words(position["phase"]),
        _status(position),
        position.get("result"),
        "a limit",
        None if last_move is None else _describe_move(last_move),
    )
    page = rectangle(Box(0, 0, WIDTH, height), fill=PAGE)
    return document(WIDTH, height, f"{_title(position)}. {_status(position)}.", "", page + heading + "".join(parts))


def _table(rows: list[list[str]], box: Box) -> str:
    size = min(_CELL, box.width / max(map(len, rows)))
    parts = []
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            x, y = box.x + size * column, box.y + _CELL * row
            parts.append(space(x, y, size))
            parts.append(letters(cell, x + size * 0.5, y + size * 0.62, size * 0.4, INK, anchor="middle"))
    return "".join(parts)


def _sections(position: Position) -> list[tuple[str, list[list[str]]]]:
    """Return the game's own keys with their values as rows of words: tables have several."""
    return [(key, _rows(value)) for key, value in position.items() if key not in _COMMON]


def _rows(value: Any) -> list[list[str]]:
    if isinstance(value, list) and value and all(isinstance(row, list) and row for row in value):
        return [[_EMPTY if cell in (0, None, "") else str(cell) for cell in row] for row in value]
    if isinstance(value, dict) and value:
        return [[f"{_words(key)}: {part}" for key, part in value.items()]]
    if isinstance(value, list) and value:
        return [[str(part) for part in value]]
    return [["none" if value in (None, [], {}) else str(value)]]


def _title(position: Position) -> str:
    return _words(position["game"]).title()


def _words(key: str) -> str:
    return key.replace("_", " ")


def _status(position: Position) -> str:
    if "result" in position:
        return result_sentence(position["result"])
    return f"Player {position['to_move']} to move"


def _describe_move(last_move: LastMove) -> str:
    move = ", ".join(f"{_words(key)} {value}" for key, value in last_move.move.items())
    return f"Player {last_move.player}: {move}"
