"""The picture of a Manhattan position: the six cities, the cards and the points on the table, the players."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...system.messages import pluralize
from ...view.captions import player_order
from ...view.stroke_font import letters
from ...view.svg import Box, document, element, rectangle
from ...view.svg_theme import CARD_EDGE, HEADER, INK, MARGIN, MUTED, PAGE, WIDTH, card, header, last_move_mark
from ..player_view import PlayerView, discards, view_position
from ..state import NUM_CARDS
from .captions import (
    counts_title,
    last_move_sentence,
    options_words,
    round_sentence,
    status_sentence,
    tallest_sentence,
    tally_title,
)
from .city_svg import table
from .player_svg import player, player_height
from .tower_svg import building_card, colour_plate, definitions, plate, sign, star
from .towers import Tally, tallest, tally

_GAP = 20.0
_SUPPLY_WIDTH = 290.0
_TABLE_WIDTH = WIDTH - 2 * MARGIN - _GAP - _SUPPLY_WIDTH
_TABLE_HEIGHT = 812.0
_CARD = 36.0
_CARD_PITCH = 43.0


def svg(position: dict[str, Any], last_move: LastMove | None = None, seat: int | None = None) -> str:
    """Return the picture of a Manhattan position as one self-contained SVG document, 1200 units wide.

    `position` is a valid position in JSON notation. The cities are shown from the south seat; the
    storeys of all towers have the same height, which shrinks when a tower outgrows its lot. `last_move` is
    marked. `seat` is the viewer: the own card comes first, other hands are face down, and are counted
    together with the deck. With None player 0 comes first and everything is open. Raises KeyError for a
    position that lacks a key.
    """
    seen = view_position(position, seat)
    table_box = Box(MARGIN, HEADER + 8, _TABLE_WIDTH, _TABLE_HEIGHT)
    supply_box = Box(WIDTH - MARGIN - _SUPPLY_WIDTH, table_box.y, _SUPPLY_WIDTH, _TABLE_HEIGHT)
    lots = _player_boxes(position["options"]["num_players"], table_box.y + _TABLE_HEIGHT + _GAP)
    page_height = lots[0].y + lots[0].height + MARGIN
    status = status_sentence(position, seen)
    parts = [
        rectangle(Box(0, 0, WIDTH, page_height), fill=PAGE),
        header(
            "Manhattan",
            f"{round_sentence(position)}, {options_words(position)}",
            status,
            position.get("result"),
            "",
            None if last_move is None else last_move_sentence(last_move, position),
        ),
        table(position, table_box, last_move),
        _supply(position, seen, seat, supply_box, last_move),
    ]
    for index, box in zip(player_order(position, seat), lots, strict=True):
        parts.append(player(position, seen, index, box, last_move))
    title = f"Manhattan. {round_sentence(position)}. {status}."
    return document(WIDTH, page_height, title, definitions(), "".join(parts))


def _player_boxes(count: int, top: float) -> list[Box]:
    """Return the boxes of the players' cards, side by side."""
    width = (WIDTH - 2 * MARGIN - (count - 1) * _GAP) / count
    return [Box(MARGIN + place * (width + _GAP), top, width, player_height(count)) for place in range(count)]


def _supply(position: dict[str, Any], seen: PlayerView, seat: int | None, box: Box, last_move: LastMove | None) -> str:
    """Return the panel with the cards, counted by kind, and the points of the towers."""
    left, right = box.x + 24, box.x + box.width - 24
    top = box.y + 64
    tally_top = top + 44 + NUM_CARDS * _CARD_PITCH
    parts = [
        card(box),
        letters("Deck", left, box.y + 46, 22, INK, bold=True),
        letters(pluralize(seen.deck_size, "card"), right, box.y + 46, 22, INK, bold=True, anchor="end"),
        _rule(box, top),
        _cards(position, seen, seat, Box(left, top, right - left, tally_top - top), last_move),
        _rule(box, tally_top),
        _tally(position, Box(left, tally_top, right - left, box.y + box.height - tally_top)),
        _legend(left, box.y + box.height - 54),
    ]
    return "".join(parts)


def _rule(box: Box, y: float) -> str:
    return element("path", d=f"M{box.x + 24:.2f} {y:.2f} h{box.width - 48:.2f}", stroke=CARD_EDGE)


def _cards(position: dict[str, Any], seen: PlayerView, seat: int | None, box: Box, last_move: LastMove | None) -> str:
    """Return a row for each kind of card: how many are hidden, and how many are face up."""
    right = box.x + box.width
    middle = box.x + box.width * 0.6
    parts = [
        letters(counts_title(seat), middle + 12, box.y + 26, 14, MUTED, anchor="end"),
        letters("face up", right, box.y + 26, 14, MUTED, anchor="end"),
    ]
    discarded = None if last_move is None else last_move.move.get("discard", last_move.move.get("card"))
    for kind, (hidden, shown) in enumerate(zip(seen.counts, discards(position), strict=True)):
        y = box.y + 38 + kind * _CARD_PITCH
        baseline = y + _CARD / 2 + 6
        parts.append(building_card(kind, box.x, y, _CARD))
        parts.append(letters(str(kind), box.x + _CARD + 16, baseline, 16, MUTED))
        parts.append(_count(hidden, middle, baseline))
        parts.append(_count(shown, right - 16, baseline))
        if kind == discarded:
            parts.append(last_move_mark(Box(right - 37, y + 3, 32, _CARD - 6), 8))
    return "".join(parts)


def _count(count: int, x: float, baseline: float) -> str:
    ink = INK if count else CARD_EDGE
    return letters(str(count), x, baseline, 17, ink, bold=count > 0, anchor="end")


def _tally(position: dict[str, Any], box: Box) -> str:
    """Return a table of the towers' current points, and where the tallest one is."""
    columns = [box.x + offset for offset in (108, 150, 197, box.width)]
    first = tallest(position)
    y = box.y + 32
    parts = [letters(tally_title(position), box.x, y, 17, INK, bold=True)]
    headings = (
        ("towers", "\N{MULTIPLICATION SIGN}1"),
        ("cities", "\N{MULTIPLICATION SIGN}2"),
        ("tallest", "\N{MULTIPLICATION SIGN}3"),
        ("points", ""),
    )
    for (title, factor), right in zip(headings, columns, strict=True):
        parts.append(letters(title, right, y + 26, 12, MUTED, anchor="end"))
        parts.append(letters(factor, right, y + 41, 12, MUTED, anchor="end"))
    y += 38
    for colour, counts in tally(position).items():
        y += 29
        parts.append(_tally_row(colour, counts, box.x, y, columns))
    y += 36
    parts.append(star(box.x + 15, y - 1, 11, first.alone))
    parts.append(letters("Tallest tower", box.x + 40, y, 14, INK, bold=True))
    parts.append(letters(tallest_sentence(first), box.x + 40, y + 20, 13, MUTED))
    return "".join(parts)


def _legend(x: float, y: float) -> str:
    """Return the legend of the signs and plates on the lots, in two lines from `y` down."""
    return "".join(
        [
            sign("blue", 5, x + 15, y + 10),
            letters("owner and height in storeys", x + 40, y + 5, 13, MUTED),
            plate("black", "K2", x + 5, y + 20, 20, 12.5),
            letters("storeys of one colour in it", x + 40, y + 31, 13, MUTED),
        ]
    )


def _tally_row(colour: str, row: Tally, x: float, y: float, columns: list[float]) -> str:
    parts = [colour_plate(colour, x, y - 15, 20), letters(colour, x + 28, y, 14, INK)]
    counts = (row.towers, row.majorities, row.tallest, row.points)
    for count, right in zip(counts, columns, strict=True):
        parts.append(_count(count, right, y))
    return "".join(parts)
