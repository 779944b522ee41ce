"""The picture of an Azul position: the table with factories and centre, the supply, the players' boards."""

from __future__ import annotations

import math
from typing import Any

from ...records.notation import LastMove
from ...view.captions import player_order
from ...view.stroke_font import letters
from ...view.svg import Box, document, element, rectangle
from ...view.svg_theme import CARD_EDGE, HEADER, INK, MARGIN, MUTED, PAGE, WIDTH, card, header, last_move_mark
from ..state import COLOURS
from .board_svg import BOARD_HEIGHT, board
from .captions import last_move_sentence, round_sentence, status_sentence
from .tile_svg import CLOTH, CLOTH_EDGE, CLOTH_INK, CLOTH_LIGHT, LAST_MOVE_ON_CLOTH, definitions, tile

_GAP = 20.0
_SUPPLY_WIDTH = 290.0  # beside the table
_BOARD_WIDTH = (WIDTH - 2 * MARGIN - _GAP) / 2
_TABLE_HEIGHT = {2: 460.0, 3: 440.0, 4: 520.0}  # by number of players
_PLATE = {2: 61.0, 3: 60.0, 4: 56.0}  # radius of a factory, by number of players
_CENTRE_COLUMNS = {2: 8, 3: 11, 4: 10}
_CENTRE_SHIFT = {2: -1.0, 3: 2.0, 4: 12.0}  # downwards, away from the nearest factories


def svg(position: dict[str, Any], last_move: LastMove | None = None, seat: int | None = None) -> str:
    """Return the picture of an Azul position as one self-contained SVG document, 1200 units wide.

    `position` is a valid position in JSON notation. `last_move` is marked at its source and its
    destination. `seat` is the player whose board comes first (None: player 0); Azul hides nothing, so it has
    no other effect. Raises KeyError for a position that lacks a key.
    """
    count = len(position["players"])
    table, supply, boards = _layout(count)
    height = boards[-1].y + BOARD_HEIGHT + MARGIN
    parts = [
        rectangle(Box(0, 0, WIDTH, height), fill=PAGE),
        header(
            "Azul",
            round_sentence(position),
            status_sentence(position),
            position.get("result"),
            "the round limit",
            None if last_move is None else last_move_sentence(last_move),
        ),
        _table(position, table, last_move),
        _supply(position, supply),
    ]
    for player, box in zip(player_order(position, seat), boards, strict=True):
        parts.append(board(position, player, box, last_move))
    title = f"Azul. {round_sentence(position)}. {status_sentence(position)}."
    return document(WIDTH, height, title, definitions(), "".join(parts))


def _layout(count: int) -> tuple[Box, Box, list[Box]]:
    """Return the boxes of table, supply and boards.

    There are two boards per row. With three players the supply takes the place of a fourth board and the table
    the full width; otherwise the supply is beside the table.
    """
    top, height = HEADER + 8, _TABLE_HEIGHT[count]
    boxes = [
        Box(
            MARGIN + place % 2 * (_BOARD_WIDTH + _GAP),
            top + height + _GAP + place // 2 * (BOARD_HEIGHT + _GAP),
            _BOARD_WIDTH,
            BOARD_HEIGHT,
        )
        for place in range(4)
    ]
    width = WIDTH - 2 * MARGIN
    if count == 3:
        return Box(MARGIN, top, width, height), boxes[3], boxes[:3]
    table = Box(MARGIN, top, width - _GAP - _SUPPLY_WIDTH, height)
    supply = Box(table.x + table.width + _GAP, top, _SUPPLY_WIDTH, height)
    return table, supply, boxes[:count]


def _table(position: dict[str, Any], box: Box, last_move: LastMove | None) -> str:
    factories = position["factories"]
    radius = _PLATE[len(position["players"])]
    source = last_move.move.get("source") if last_move is not None else None
    centres = _ring(len(factories), box.grown(-radius - 20))
    parts = [rectangle(box, 26, fill=CLOTH), _centre(position, box, source == "centre")]
    for index, (x, y) in enumerate(centres):
        parts.append(_plate(factories[index], index, x, y, radius, source == index))
    return "".join(parts)


def _ring(count: int, box: Box) -> list[tuple[float, float]]:
    """Return `count` equally spaced points on the ellipse in `box`, clockwise from the top."""
    steps = 720
    middle_x, middle_y = box.x + box.width / 2, box.y + box.height / 2
    points = [
        (
            middle_x + box.width / 2 * math.sin(2 * math.pi * step / steps),
            middle_y - box.height / 2 * math.cos(2 * math.pi * step / steps),
        )
        for step in range(steps)
    ]
    lengths = [0.0]
    for step in range(steps):
        lengths.append(lengths[-1] + math.dist(points[step], points[(step + 1) % steps]))
    chosen, step = [], 0
    for index in range(count):
        while lengths[step] < lengths[-1] * index / count:
            step += 1
        chosen.append(points[step])
    return chosen


def _plate(tiles: list[str], index: int, x: float, y: float, radius: float, marked: bool) -> str:
    """Return a factory as a round plate with its number at the lower edge."""
    parts = [
        element("circle", cx=x, cy=y + 4, r=radius, fill="#000000", fill_opacity=0.25),
        element("circle", cx=x, cy=y, r=radius, fill="#FBF7EE", stroke="#C9D6D8", stroke_width=2),
        element("circle", cx=x, cy=y, r=radius - 7, fill="none", stroke="#8FB3BD", stroke_width=1.6),
    ]
    size, step = radius * 0.6, radius * 0.65
    for place, colour in enumerate(tiles):
        row, column = divmod(place, 2)
        left, top = x - step / 2 - size / 2 + column * step, y - step / 2 - size / 2 + row * step
        parts.append(tile(colour, left, top, size))
    if not tiles:
        parts.append(element("circle", cx=x, cy=y, r=radius * 0.45, fill="#EFE9DC"))
    if marked:
        parts.append(last_move_mark(Box(x, y, 0, 0).grown(radius + 5), radius + 5, LAST_MOVE_ON_CLOTH))
    lower_edge = y + radius - 1
    parts.append(element("circle", cx=x, cy=lower_edge, r=13, fill=CLOTH, stroke="#C9D6D8", stroke_width=1.6))
    parts.append(letters(str(index), x, lower_edge + 6, 17, "#FFFFFF", bold=True, anchor="middle"))
    return "".join(parts)


def _centre(position: dict[str, Any], box: Box, marked: bool) -> str:
    """Return the pool in the centre of the table; the marker comes first while it is there."""
    pieces = (["marker"] if position["marker"] == "centre" else []) + position["centre"]
    count = len(position["players"])
    columns, size, step = _CENTRE_COLUMNS[count], 34.0, 38.0
    rows_used = -(-len(pieces) // columns)
    rows = max(2, rows_used)
    width, height = columns * step + 24, rows * step + 44
    middle = box.y + box.height / 2 + _CENTRE_SHIFT[count]
    pool = Box(box.x + (box.width - width) / 2, middle - height / 2, width, height)
    parts = [
        rectangle(pool, 24, fill=CLOTH_LIGHT, stroke=CLOTH_EDGE, stroke_width=1.5),
        letters("Centre", pool.x + pool.width / 2, pool.y + 24, 16, CLOTH_INK, anchor="middle"),
    ]
    top = pool.y + 34 + (rows - rows_used) * step / 2
    for place, kind in enumerate(pieces):
        row, column = divmod(place, columns)
        in_row = min(columns, len(pieces) - row * columns)
        left = pool.x + (width - in_row * step) / 2 + (step - size) / 2
        parts.append(tile(kind, left + column * step, top + row * step, size))
    if marked:
        parts.append(last_move_mark(pool.grown(5), 28, LAST_MOVE_ON_CLOTH))
    return "".join(parts)


def _supply(position: dict[str, Any], box: Box) -> str:
    """Return the panel with the tiles in the bag and in the lid, which also names the colours."""
    lid_x = box.x + box.width - 28
    bag_x = lid_x - box.width * 0.235
    parts = [
        card(box),
        letters("Tiles", box.x + 24, box.y + 42, 18, MUTED),
        letters("bag", bag_x, box.y + 42, 18, MUTED, anchor="end"),
        letters("lid", lid_x, box.y + 42, 18, MUTED, anchor="end"),
    ]
    step = (box.height - 56 - 112) / 5
    for index, colour in enumerate(COLOURS):
        y = box.y + 56 + (index + 0.5) * step
        parts.append(tile(colour, box.x + 24, y - 17, 34))
        parts.append(letters(colour, box.x + 70, y + 6, 18, INK))
        parts.append(letters(str(position["bag"][colour]), bag_x, y + 7, 20, INK, bold=True, anchor="end"))
        parts.append(letters(str(position["lid"][colour]), lid_x, y + 7, 20, INK, bold=True, anchor="end"))
    y = box.y + box.height - 112
    parts.append(element("path", d=f"M{box.x + 24:.2f} {y + 2:.2f} h{box.width - 48:.2f}", stroke=CARD_EDGE))
    parts.append(letters("all", box.x + 70, y + 28, 18, MUTED))
    for x, name in ((bag_x, "bag"), (lid_x, "lid")):
        parts.append(letters(str(sum(position[name].values())), x, y + 28, 20, MUTED, bold=True, anchor="end"))
    return "".join(parts) + _marker_note(position, box)


def _marker_note(position: dict[str, Any], box: Box) -> str:
    y, marker = box.y + box.height - 66, position["marker"]
    place = "in the centre" if marker == "centre" else f"taken by player {marker}"
    return (
        element("path", d=f"M{box.x + 24:.2f} {y:.2f} h{box.width - 48:.2f}", stroke=CARD_EDGE)
        + tile("marker", box.x + 24, y + 15, 34)
        + letters("First-player marker", box.x + 70, y + 28, 16, MUTED)
        + letters(place, box.x + 70, y + 49, 16, INK, bold=True)
    )
