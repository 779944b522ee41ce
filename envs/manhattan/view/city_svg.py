"""The drawing of the Manhattan table: six cities with their towers, and the seats around them."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...view.captions import winners
from ...view.stroke_font import letters, text_width
from ...view.svg import Box, element, number, rectangle
from ...view.svg_theme import CARD, CARD_EDGE, INK, MUTED, last_move_mark, player_colour
from ..state import CITIES, NUM_LOTS
from .captions import COLOUR_LETTERS, city_title
from .tower_svg import (
    BUILT_LOT,
    CLOTH,
    CLOTH_EDGE,
    LOT,
    LOT_INK,
    PAINTS,
    SIGN_HEIGHT,
    colour_plate,
    plate,
    polygon,
    sign,
    stack,
    stack_depth,
    star,
)
from .towers import (
    Tallest,
    height,
    layers,
    lot_of_card,
    majority,
    player_colours,
    seat_name,
    tallest,
    towers_by_colour,
)

_EDGE = 44.0  # the strip in which the seats are named
_GAP = 14.0
_PADDING = 10.0
_HEADING = 42.0
_FOOTER = 36.0
_LOT_GAP = 4.0
_HIGHEST_STOREY = 8.0
_FRONT = 32.0  # width of a tower
_GROUND = 8.0  # from a tower's foot to the edge of its lot
_SHARE_WIDTH, _SHARE_HEIGHT, _SHARE_GAP = 20.0, 12.5, 1.0
_STAR = 8.0


def table(position: dict[str, Any], box: Box, last_move: LastMove | None) -> str:
    """Return the table drawn into `box`."""
    first = tallest(position)
    parts = [rectangle(box, 26, fill=CLOTH, stroke=CLOTH_EDGE, stroke_width=1.5), _seats(position, box)]
    width = (box.width - 2 * _EDGE - 2 * _GAP) / 3
    high = (box.height - 2 * _EDGE - _GAP) / 2
    marked = None
    if last_move is not None and "city" in last_move.move:
        marked = last_move.move["city"], lot_of_card(position, last_move.player, last_move.move["card"])
    for index, city in enumerate(CITIES):
        row, column = divmod(index, 3)
        place = Box(box.x + _EDGE + column * (width + _GAP), box.y + _EDGE + row * (high + _GAP), width, high)
        parts.append(_city(position, city, place, first))
        if marked is not None and marked[0] == city:
            parts.append(_last_lot_mark(_lots(place)[marked[1]]))
    return "".join(parts)


def _seats(position: dict[str, Any], box: Box) -> str:
    """Return the names of the players at the edges where they sit, facing each player."""
    middle_x, middle_y = box.x + box.width / 2, box.y + box.height / 2
    lots = {
        "south": (middle_x, box.y + box.height - _EDGE / 2, 0),
        "west": (box.x + _EDGE / 2, middle_y, 90),
        "north": (middle_x, box.y + _EDGE / 2, 0),
        "east": (box.x + box.width - _EDGE / 2, middle_y, -90),
    }
    parts = []
    for player in range(position["options"]["num_players"]):
        x, y, angle = lots[seat_name(position, player)]
        turn = f"translate({number(x)} {number(y)}) rotate({angle})"
        parts.append(element("g", _seat(position, player), transform=turn))
    return "".join(parts)


def _seat(position: dict[str, Any], player: int) -> str:
    """Return the name of a player, its middle at 0, 0."""
    name, seat, colours = f"Player {player}", seat_name(position, player), player_colours(position, player)
    plates = len(colours) * 21.0
    width = 24 + 8 + text_width(name, 15) + 10 + plates + 7 + text_width(seat, 15)
    to_move, winner = player == position.get("to_move"), player in winners(position)
    x, ink = -width / 2, player_colour(to_move, winner)
    field = Box(x - 6, -15, width + 20, 30)
    parts = [
        rectangle(field, 15, fill=CARD, stroke=ink if to_move or winner else CARD_EDGE, stroke_width=1.5),
        element("circle", cx=x + 10, cy=0, r=11, fill=ink),
        letters(str(player), x + 10, 5.5, 15, "#FFFFFF", bold=True, anchor="middle"),
        letters(name, x + 29, 5.2, 15, INK, bold=True),
    ]
    x += 29 + text_width(name, 15) + 10
    parts += [colour_plate(colour, x + place * 21, -9, 18) for place, colour in enumerate(colours)]
    return "".join(parts) + letters(seat, x + plates + 5, 5.2, 15, MUTED)


def _lots(city: Box) -> list[Box]:
    """Return the positions of the nine lots of a city."""
    width = (city.width - 2 * _PADDING + _LOT_GAP) / 3
    high = (city.height - _HEADING - _FOOTER + _LOT_GAP) / 3
    return [
        Box(
            city.x + _PADDING + lot % 3 * width,
            city.y + _HEADING + lot // 3 * high,
            width - _LOT_GAP,
            high - _LOT_GAP,
        )
        for lot in range(NUM_LOTS)
    ]


def _city(position: dict[str, Any], city: str, box: Box, first: Tallest) -> str:
    holder = majority(position, city)
    right, baseline = box.x + box.width - _PADDING, box.y + 28
    parts = [
        rectangle(box._replace(y=box.y + 3), 14, fill="#000000", fill_opacity=0.08),
        rectangle(box, 14, fill=CARD, stroke=CLOTH_EDGE, stroke_width=1),
        letters(city_title(city), box.x + _PADDING + 2, baseline, 20, INK, bold=True),
    ]
    if holder is None:
        parts.append(letters("no majority", right, baseline - 1, 13, MUTED, anchor="end"))
    else:
        width = text_width(f"{holder} majority", 13) + 14
        field = Box(right - width, box.y + 12, width, 21)
        parts.append(rectangle(field, 10.5, fill=PAINTS[holder].front))
        parts.append(
            letters(f"{holder} majority", right - 7, baseline - 1, 13, PAINTS[holder].ink, bold=True, anchor="end")
        )
    lots = _lots(box)
    storey = min(_HIGHEST_STOREY, _tower_room(lots[0]) / max(1, first.height))
    for lot, place in enumerate(lots):
        mark = None if (city, lot) not in first.lots else first.alone
        parts.append(_lot(position["cities"][city][lot], lot, place, storey, mark))
    footer = Box(box.x + _PADDING, box.y + box.height - _FOOTER, box.width - 2 * _PADDING, _FOOTER)
    return "".join(parts) + _tower_counts(towers_by_colour(position, city), holder, footer)


def _tower_counts(counts: dict[str, int], holder: str | None, box: Box) -> str:
    """Return the number of towers of each colour in a city."""
    middle = box.y + box.height / 2 + 1
    parts = [letters("towers", box.x + 2, middle + 5, 13, MUTED)]
    first, pitch = box.x + 56, (box.width - 56) / 4
    for place, (colour, count) in enumerate(counts.items()):
        x = first + place * pitch
        parts.append(colour_plate(colour, x, middle - 9, 18))
        ink = INK if count else LOT_INK
        parts.append(letters(str(count), x + 24, middle + 5.5, 16, ink, bold=colour == holder))
    return "".join(parts)


def _tower_room(lot: Box) -> float:
    """Return the height available in a lot for the storeys of a tower."""
    return lot.height - _GROUND - stack_depth(_FRONT)[1] - SIGN_HEIGHT - 10


def _lot(tower: dict[str, Any] | None, lot: int, box: Box, storey: float, tallest: bool | None) -> str:
    """Return a lot with its number and its tower.

    `storey` is the height of one storey; `tallest` is true for the tallest tower, false for one of several equally
    tall ones, None for others.
    """
    right = box.x + box.width
    lot_number = letters(str(lot), right - 6, box.y + box.height - 6, 12, LOT_INK, anchor="end")
    if tower is None:
        return rectangle(box, 7, fill=LOT) + lot_number
    x, ground, deep = box.x + 6, box.y + box.height - _GROUND, stack_depth(_FRONT)[0]
    storeys, owner = height(tower), tower["owner"]
    roof = ground - storeys * storey - stack_depth(_FRONT)[1]
    middle = x + (_FRONT + deep) / 2
    parts = [
        rectangle(box, 7, fill=BUILT_LOT),
        lot_number,
        _shadow(x, ground),
        stack(layers(tower), x, ground, _FRONT, storey),
        sign(owner, storeys, middle, roof - 2),
    ]
    if len(layers(tower)) > 1:
        parts.append(_fractions(layers(tower), right - _SHARE_WIDTH - 2, box.y + box.height - 18))
    if tallest is not None:
        parts.append(star(right - 11, box.y + 9.4, _STAR, tallest))
    return "".join(parts)


def _shadow(x: float, ground: float) -> str:
    deep, high = stack_depth(_FRONT)
    front, right = ground + 3, x + _FRONT + deep
    corners = [(x - 2, front), (x + _FRONT + 2, front), (right + 6, ground - high), (right - 8, ground - high)]
    return polygon(corners, fill="#000000", fill_opacity=0.16)


def _fractions(fractions: list[tuple[str, int]], x: float, bottom: float) -> str:
    """Return the storeys of each colour in a tower, the owner's on top."""
    parts = []
    for place, (colour, count) in enumerate(reversed(fractions)):
        y = bottom - (place + 1) * (_SHARE_HEIGHT + _SHARE_GAP)
        parts.append(plate(colour, f"{COLOUR_LETTERS[colour]}{count}", x, y, _SHARE_WIDTH, _SHARE_HEIGHT))
    return "".join(parts)


def _last_lot_mark(lot: Box) -> str:
    frame = lot.grown(1)
    halo = rectangle(frame, 8, fill="none", stroke=CARD, stroke_width=5)
    return halo + last_move_mark(frame, 8)
