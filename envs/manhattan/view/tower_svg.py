"""The colours of the Manhattan table, and the drawing of towers, of their signs and of building cards."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...view.stroke_font import letters, text_width
from ...view.svg import Box, element, number, rectangle
from ..player_view import Card
from ..state import NUM_CARDS
from .captions import COLOUR_LETTERS

CLOTH = "#BCCBD6"
CLOTH_EDGE = "#9FB2C0"
LOT = "#D6E0E7"
BUILT_LOT = "#C6D3DC"
LOT_INK = "#8497A5"
GOLD = "#F5B921"
_GOLD_EDGE = "#8A5F06"


class Paint(NamedTuple):
    """The colours of a building: its three faces, and the text on its front."""

    front: str
    side: str
    roof: str
    ink: str


PAINTS = {  # different in lightness too, for colour-blind readers
    "blue": Paint("#2159C8", "#153C8C", "#7BA3F0", "#FFFFFF"),
    "black": Paint("#2B3038", "#101317", "#69727E", "#FFFFFF"),
    "red": Paint("#DE4238", "#9A211A", "#F58F87", "#FFFFFF"),
    "green": Paint("#4CC57F", "#258A56", "#A3E8BE", "#0C2E1B"),
}
_WINDOW = "#FFF4CC"
_CARD_FACE, _CARD_EDGE, _CARD_LOT, _CARD_MARK = "#FFFFFF", "#8B9AA6", "#DFE6EB", "#E8892B"
_BACK, _BACK_EDGE, _BACK_LIGHT = "#5C6670", "#3A424A", "#8B97A2"
_SIGN_LETTER, _SIGN_NUMBER = 13.0, 18.0
SIGN_HEIGHT = 21.0


def definitions() -> str:
    """Return the drawings that `building_card` refers to; they belong in the `<defs>` of the picture."""
    return "".join(element("g", *_face(card), id=_card_name(card)) for card in [*range(NUM_CARDS), None])


def building_card(card: Card, x: float, y: float, size: float) -> str:
    """Return a card, its upper left corner at `x`, `y`; None is a card face down."""
    return element(
        "use",
        href=f"#{_card_name(card)}",
        transform=f"translate({number(x)} {number(y)}) scale({size / 100:.4f})",
    )


def stack(layers: list[tuple[str, int]], x: float, ground: float, width: float, storey: float) -> str:
    """Return a building seen from the front, slightly from the right and from above.

    `layers` are colours and their storeys from the top down; the front's lower left corner is at `x`,
    `ground`. `width` is that of the front, `storey` the height of one storey.
    """
    deep, high = stack_depth(width)
    parts, base = [], ground
    for colour, storeys in reversed(layers):
        parts.append(_segment(colour, storeys, x, base, width, storey))
        base -= storeys * storey
    roof = [(x, base), (x + deep, base - high), (x + width + deep, base - high), (x + width, base)]
    parts.append(polygon(roof, fill=PAINTS[layers[0][0]].roof))
    return "".join(parts)


def polygon(corners: list[tuple[float, float]], **attributes: str | float) -> str:
    """Return a polygon."""
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    return element("polygon", points=points, **attributes)


def stack_depth(width: float) -> tuple[float, float]:
    """Return the width of the side of a `stack` to the right of its front, and the height of its roof."""
    return width * 0.24, width * 0.15


def _segment(colour: str, storeys: int, x: float, base: float, width: float, storey: float) -> str:
    """Return the storeys of one colour: front, side, windows, and a line between one storey and the next."""
    paint, rise = PAINTS[colour], storeys * storey
    deep, high = stack_depth(width)
    right, back = x + width, x + width + deep
    side = [(right, base), (back, base - high), (back, base - high - rise), (right, base - rise)]
    parts = [
        rectangle(Box(x, base - rise, width, rise), fill=paint.front),
        polygon(side, fill=paint.side),
    ]
    if storey >= 2:
        floors = [
            f"M{number(x)} {number(base - floor * storey)} h{number(width)}l{number(deep)} {number(-high)}"
            for floor in range(1, storeys + 1)
        ]
        parts.append(
            element(
                "path",
                d="".join(floors),
                fill="none",
                stroke="#FFFFFF",
                stroke_opacity=0.4,
                stroke_width=min(1.0, storey / 5),
            )
        )
    if storey >= 4:
        parts.append(_windows(storeys, x, base, width, storey))
    return "".join(parts)


def _windows(storeys: int, x: float, base: float, width: float, storey: float) -> str:
    count = 4 if width >= 24 else 3
    pitch = width / (count + 0.4)
    pane, tall = number(pitch * 0.5), number(storey * 0.42)
    panes = [
        f"M{number(x + (column + 0.45) * pitch)} {number(base - (floor + 0.73) * storey)} h{pane}v{tall}h-{pane}z"
        for floor in range(storeys)
        for column in range(count)
    ]
    return element("path", d="".join(panes), fill=_WINDOW, fill_opacity=0.85)


def sign(colour: str, storeys: int, middle: float, bottom: float) -> str:
    """Return the sign on a roof: the letter of the owner and the number of storeys."""
    letter, count, ink = COLOUR_LETTERS[colour], str(storeys), PAINTS[colour].ink
    width = 16.5 + text_width(letter, _SIGN_LETTER) + text_width(count, _number_size(storeys))
    box = Box(middle - width / 2, bottom - SIGN_HEIGHT, width, SIGN_HEIGHT)
    baseline = box.y + 16.6
    return "".join(
        [
            rectangle(box, 5, fill=PAINTS[colour].front, stroke="#FFFFFF", stroke_width=1.4),
            letters(letter, box.x + 6, baseline, _SIGN_LETTER, ink, bold=True),
            letters(count, box.x + width - 6, baseline, _number_size(storeys), ink, bold=True, anchor="end"),
        ]
    )


def _number_size(storeys: int) -> float:
    """Return the font size of a number: three digits are as wide as two."""
    return _SIGN_NUMBER if storeys < 100 else _SIGN_NUMBER * 0.7


def plate(colour: str, text: str, x: float, y: float, width: float, height: float) -> str:
    """Return a small plate in a colour with a text on it, its upper left corner at `x`, `y`."""
    size = height * 0.83
    return rectangle(Box(x, y, width, height), height * 0.2, fill=PAINTS[colour].front) + letters(
        text, x + width / 2, y + height / 2 + size * 0.35, size, PAINTS[colour].ink, bold=True, anchor="middle"
    )


def colour_plate(colour: str, x: float, y: float, size: float) -> str:
    """Return the square plate with the letter of a colour, its upper left corner at `x`, `y`."""
    return plate(colour, COLOUR_LETTERS[colour], x, y, size, size)


def star(x: float, y: float, radius: float, filled: bool) -> str:
    """Return the mark of the tallest tower; empty if several towers are equally tall."""
    corners = []
    for step in range(10):
        reach, angle = radius * (0.68, 0.3)[step % 2], math.pi * step / 5
        corners.append(f"{number(x + reach * math.sin(angle))} {number(y - reach * math.cos(angle))}")
    disc, ink = (GOLD, _GOLD_EDGE) if filled else ("#FFFFFF", "#B98A22")
    return element("circle", cx=x, cy=y, r=radius, fill=disc, stroke=_GOLD_EDGE, stroke_width=1.2) + element(
        "path", d=f"M{' L'.join(corners)} Z", fill=ink if filled else "none", stroke=ink, stroke_width=0.9
    )


def _card_name(card: Card) -> str:
    return "manhattan-back" if card is None else f"manhattan-card-{card}"


def _face(card: Card) -> list[str]:
    body = Box(1, 1, 98, 98)
    if card is None:
        lines = "M24 76 v-30 h16 v30 M40 76 v-50 h20 v50 M60 76 v-38 h16 v38 M18 76 h64"  # a skyline
        skyline = element("path", d=lines, fill="none", stroke=_BACK_LIGHT, stroke_width=4, stroke_linejoin="round")
        return [rectangle(body, 12, fill=_BACK, stroke=_BACK_EDGE, stroke_width=3), skyline]
    parts = [rectangle(body, 12, fill=_CARD_FACE, stroke=_CARD_EDGE, stroke_width=3)]
    for lot in range(NUM_CARDS):
        row, column = divmod(lot, 3)
        place = Box(12 + column * 26, 12 + row * 26, 24, 24)
        parts.append(rectangle(place, 4, fill=_CARD_MARK if lot == card else _CARD_LOT))
    return parts
