"""The picture of a Qwirkle position: the table, the bag and its tiles by kind, the hands of the players."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...system.messages import pluralize
from ...view.captions import player_order, points, winners
from ...view.stroke_font import letters, text_width
from ...view.svg import Box, document, element, rectangle
from ...view.svg_theme import (
    CARD_EDGE,
    HEADER,
    INK,
    MARGIN,
    MUTED,
    PAGE,
    TURN,
    WIDTH,
    WINNER,
    card,
    header,
    pill,
    pill_width,
    player_card,
    player_colour,
    space,
)
from ..player_view import PlayerView, view_move, view_position
from ..state import COLOURS, HAND_SIZE, KINDS, SHAPES
from .board_svg import table, table_height
from .captions import counts_title, last_move_sentence, options_words, status_sentence, turn_sentence
from .tile_svg import TILE_BODY, TILE_INKS, definitions, faded_tile, shape, tile

_GAP = 20.0
_SUPPLY_WIDTH = 290.0
_SUPPLY_HEIGHT = 616.0  # at least; the table is as high
_TABLE_WIDTH = WIDTH - 2 * MARGIN - _GAP - _SUPPLY_WIDTH
_HIGHEST_TABLE = 860.0
_LARGEST_HAND_TILE = 70.0
_LEGEND_HEIGHT = 176.0  # at least


def svg(position: dict[str, Any], last_move: LastMove | None = None, seat: int | None = None) -> str:
    """Return the picture of a Qwirkle position as one self-contained SVG document, 1200 units wide.

    `position` is a valid position in JSON notation. The table has all tiles and one more cell on each
    side; its cells become smaller as it grows. `last_move` is marked. `seat` is the viewer: the own
    hand comes first, other hands and tiles that others return are face down, and are counted together with
    the bag. With None player 0 comes first and everything is open. Raises KeyError for a position that lacks a key.
    """
    seen, move = view_position(position, seat), view_move(last_move, seat)
    height = table_height(position, _TABLE_WIDTH, _SUPPLY_HEIGHT, _HIGHEST_TABLE)
    table_box = Box(MARGIN, HEADER + 8, _TABLE_WIDTH, height)
    supply_box = Box(WIDTH - MARGIN - _SUPPLY_WIDTH, table_box.y, _SUPPLY_WIDTH, height)
    hands = _hand_boxes(position["options"]["num_players"], table_box.y + height + _GAP)
    page_height = hands[0].y + hands[0].height + MARGIN
    parts = [
        rectangle(Box(0, 0, WIDTH, page_height), fill=PAGE),
        header(
            "Qwirkle",
            f"{turn_sentence(position)}, {options_words(position)}",
            status_sentence(position),
            position.get("result"),
            "the turn limit",
            None if move is None else last_move_sentence(move, position),
        ),
        table(position, seen, table_box, move),
        _supply(seen, seat, supply_box),
    ]
    for player, box in zip(player_order(position, seat), hands, strict=True):
        parts.append(_hand(position, seen, player, box))
    title = f"Qwirkle. {turn_sentence(position)}. {status_sentence(position)}."
    return document(WIDTH, page_height, title, definitions(), "".join(parts))


def _hand_boxes(count: int, top: float) -> list[Box]:
    """Return the boxes of the hands, side by side."""
    width = (WIDTH - 2 * MARGIN - (count - 1) * _GAP) / count
    height = 60 + 36 + _hand_pitch(width) + 8
    return [Box(MARGIN + place * (width + _GAP), top, width, height) for place in range(count)]


def _hand_pitch(width: float) -> float:
    """Return the distance from one tile of a hand to the next, on a card of the given width."""
    return min(_LARGEST_HAND_TILE * 1.1, (width - 32) / HAND_SIZE)


def _hand(position: dict[str, Any], seen: PlayerView, player: int, box: Box) -> str:
    """Return a player's card: name, score and hand."""
    to_move, winner = player == position.get("to_move"), player in winners(position)
    tiles, pitch = seen.hands[player], _hand_pitch(box.width)
    size = pitch / 1.1
    middle, right = box.y + 35, box.x + box.width - 20
    score = position["scores"][player]
    unit_x = right - text_width(points(score), 14)
    parts = [
        player_card(box, to_move, winner),
        element("circle", cx=box.x + 33, cy=middle, r=15.5, fill=player_colour(to_move, winner)),
        letters(str(player), box.x + 33, middle + 7.5, 21, "#FFFFFF", bold=True, anchor="middle"),
        letters(f"Player {player}", box.x + 57, middle + 7, 19, INK, bold=True),
        letters(points(score), right, middle + 10, 14, MUTED, anchor="end"),
        letters(str(score), unit_x - 8, middle + 10, 32, INK, bold=True, anchor="end"),
        letters(f"{pluralize(len(tiles), 'tile')} in hand", box.x + 20, box.y + 84, 15, MUTED),
    ]
    if winner or to_move:
        note, colour = ("winner", WINNER) if winner else ("to move", TURN)
        parts.append(pill(note, right - pill_width(note, 13), box.y + 80, 13, "#FFFFFF", colour))
    for place in range(HAND_SIZE):
        x, y = box.x + 18 + place * pitch, box.y + 98
        parts.append(tile(tiles[place], x, y, size) if place < len(tiles) else space(x, y, size))
    return "".join(parts)


def _supply(seen: PlayerView, seat: int | None, box: Box) -> str:
    """Return the panel with the size of the bag, the counts by kind, and the names of colours and shapes."""
    left, right = box.x + 24, box.x + box.width - 24
    legend_height = _LEGEND_HEIGHT + (box.height - _SUPPLY_HEIGHT) * 0.3
    grid = Box(box.x + 20, box.y + 108, box.width - 40, box.height - 108 - legend_height)
    legend_top = grid.y + grid.height
    unseen = "" if seat is None else pluralize(sum(seen.counts.values()), "tile")
    parts = [
        card(box),
        letters("Bag", left, box.y + 46, 22, INK, bold=True),
        letters(pluralize(seen.bag_size, "tile"), right, box.y + 46, 22, INK, bold=True, anchor="end"),
        _rule(box, box.y + 64),
        letters(counts_title(seat), left, box.y + 92, 16, MUTED),
        letters(unseen, right, box.y + 92, 16, MUTED, anchor="end"),
        _counts(seen.counts, grid),
        _rule(box, legend_top + 8),
        _legend(Box(left, legend_top + 20, box.width - 48, legend_height - 34)),
    ]
    return "".join(parts)


def _rule(box: Box, y: float) -> str:
    return element("path", d=f"M{box.x + 24:.2f} {y:.2f} h{box.width - 48:.2f}", stroke=CARD_EDGE)


def _counts(counts: dict[str, int], box: Box) -> str:
    """Return six rows of six tiles, the number of each below it."""
    width, height = box.width / len(SHAPES), box.height / len(COLOURS)
    size = min(width - 6, height - 23)
    parts = []
    for index, kind in enumerate(KINDS):
        row, column = divmod(index, len(SHAPES))
        middle, y = box.x + (column + 0.5) * width, box.y + row * height
        count = counts[kind]
        parts.append((tile if count else faded_tile)(kind, middle - size / 2, y, size))
        ink = INK if count else CARD_EDGE
        parts.append(letters(str(count), middle, y + size + 15, 15, ink, bold=count > 0, anchor="middle"))
    return "".join(parts)


def _legend(box: Box) -> str:
    """Return the names of colours, with the letters on the tiles, and of shapes."""
    step = box.height / len(COLOURS)
    parts = []
    for index, (colour, name) in enumerate(zip(COLOURS, SHAPES, strict=True)):
        y = box.y + (index + 0.5) * step
        field = Box(box.x, y - 10, 20, 20)
        parts.append(rectangle(field, 5, fill=TILE_BODY))
        parts.append(letters(colour[0].upper(), box.x + 10, y + 5, 15, TILE_INKS[colour], bold=True, anchor="middle"))
        parts.append(letters(colour, box.x + 30, y + 5, 15, INK))
        parts.append(shape(name, box.x + box.width / 2 + 12, y, 26, INK))
        parts.append(letters(name, box.x + box.width / 2 + 32, y + 5, 15, INK))
    return "".join(parts)
