"""The colours of the Qwirkle table, and the drawing of tiles."""

from __future__ import annotations

import math

from ...view.stroke_font import letters
from ...view.svg import Box, element, fade, number, rectangle
from ...view.svg_theme import CARD
from ..state import KINDS

CLOTH = "#C7D6CB"
CLOTH_EDGE = "#A9BDAF"
CLOTH_LIGHT = "#E4ECE4"
CLOTH_CELL = "#D5E1D7"
CLOTH_INK = "#4E6355"

TILE_INKS = {  # as different in lightness as six bright colours can be, for colour-blind readers
    "red": "#EE4540",
    "orange": "#FF9A2E",
    "yellow": "#FFE45C",
    "green": "#36CC85",
    "blue": "#57B2FF",
    "purple": "#AA5EE8",
}
TILE_BODY = "#22262E"
_BODY_EDGE, _BODY_SHADE = "#434B57", "#0B0D10"
_BACK, _BACK_EDGE, _BACK_SHADE = "#5C6670", "#77828C", "#3A424A"


def definitions() -> str:
    """Return the drawings that `tile` refers to; they belong in the `<defs>` of the picture."""
    return "".join(element("g", *_face(kind), id=_name(kind)) for kind in KINDS) + element(
        "g", _body(_BACK, _BACK_EDGE, _BACK_SHADE), _back(), id=_name(None)
    )


def tile(kind: str | None, x: float, y: float, size: float) -> str:
    """Return a tile, its upper left corner at `x`, `y`; None is a tile face down."""
    return element("use", href=f"#{_name(kind)}", transform=_transform(x, y, size))


def faded_tile(kind: str, x: float, y: float, size: float) -> str:
    """Return a tile that is hardly seen, for a card."""
    return element("g", fade("".join(_face(kind)), CARD, 0.18), transform=_transform(x, y, size))


def _transform(x: float, y: float, size: float) -> str:
    return f"translate({number(x + size / 2)} {number(y + size / 2)}) scale({size / 100:.4f})"


def shape(name: str, x: float, y: float, size: float, colour: str) -> str:
    """Return a shape without a tile, its middle at `x`, `y`; `size` is that of the tile it would fit on."""
    return element(
        "path",
        d=_OUTLINES[name],
        transform=f"translate({number(x)} {number(y)}) scale({size / 100:.4f})",
        fill=colour,
        stroke=colour,
        stroke_width=5,
        stroke_linejoin="round",
    )


def _name(kind: str | None) -> str:
    return "qwirkle-back" if kind is None else f"qwirkle-{kind.replace(' ', '-')}"


def _face(kind: str) -> tuple[str, str, str]:
    """Return body, shape and letter of a tile; the letter names the colour for colour-blind readers."""
    colour, name = kind.split(" ")
    ink = TILE_INKS[colour]
    return (
        _body(TILE_BODY, _BODY_EDGE, _BODY_SHADE),
        shape(name, -1.5, -3, 98, ink),
        letters(colour[0].upper(), 42, 41, 26, ink, bold=True, anchor="end"),
    )


def _body(colour: str, edge: str, shade: str) -> str:
    return rectangle(Box(-48, -46, 96, 96), 17, fill=shade) + rectangle(
        Box(-47, -48, 94, 94), 16, fill=colour, stroke=edge, stroke_width=2
    )


def _back() -> str:
    return rectangle(Box(-34, -35, 68, 68), 9, fill="none", stroke=_BACK_EDGE, stroke_width=3)


def _star() -> str:
    """Return a star with five points, slightly below the middle, where it looks centred."""
    corners = []
    for step in range(10):
        radius, angle = (37.0, 18.0)[step % 2], math.pi * step / 5
        corners.append(f"{number(radius * math.sin(angle))} {number(3 - radius * math.cos(angle))}")
    return f"M{' L'.join(corners)} Z"


def _cross() -> str:
    """Return a cross: two bars of equal length, from corner to corner."""
    quarter, path = [(0.0, -11.0), (15.0, -26.0), (26.0, -15.0)], []
    for _ in range(4):
        path += [f"{number(x)} {number(y)}" for x, y in quarter]
        quarter = [(-y, x) for x, y in quarter]
    return f"M{' L'.join(path)} Z"


_OUTLINES = {
    "circle": "M-29 0 a29 29 0 1 1 58 0 a29 29 0 1 1 -58 0 Z",
    "cross": _cross(),
    "diamond": "M0 -34 L34 0 L0 34 L-34 0 Z",
    "square": "M-23 -23 h46 v46 h-46 Z",
    "star": _star(),
    "clover": "M-9 -9 a14 14 0 1 1 18 0 a14 14 0 1 1 0 18 a14 14 0 1 1 -18 0 a14 14 0 1 1 0 -18 Z",
}
