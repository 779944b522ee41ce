"""The colours of the Azul table, and the drawing of tiles."""

from __future__ import annotations

from ...view.stroke_font import letters
from ...view.svg import Box, element, fade, number, rectangle
from ...view.svg_theme import CARD

CLOTH = "#1F3C4D"
CLOTH_LIGHT = "#2C5166"
CLOTH_EDGE = "#3F6A80"
CLOTH_INK = "#DCE8EC"
LAST_MOVE_ON_CLOTH = "#FF7DC1"

_FACES = {  # body, edge, motif
    "blue": ("#2A6FC4", "#1B4F92", "#CFE4FB"),
    "yellow": ("#F2B632", "#C68A12", "#7A4B06"),
    "red": ("#CF3F35", "#99271F", "#FFDDD6"),
    "black": ("#30343C", "#15181D", "#A9C4CC"),
    "white": ("#FFFFFF", "#AEBFC4", "#1E8A93"),
}


def definitions() -> str:
    """Return the drawings that `tile` refers to; they belong in the `<defs>` of the picture."""
    parts = [element("g", _marker(), id="azul-tile-marker")]
    for colour in _FACES:
        drawing = _face(colour) + _motif(colour)
        parts.append(element("g", drawing, id=f"azul-tile-{colour}"))
        parts.append(element("g", fade(drawing, CARD, 0.25), id=f"azul-faded-{colour}"))
    return "".join(parts)


def tile(kind: str, x: float, y: float, size: float, faded: bool = False) -> str:
    """Return a tile of a colour, or the "marker", with its upper left corner at `x`, `y`; a faded one is for cards."""
    return element(
        "use",
        href=f"#azul-{'faded' if faded else 'tile'}-{kind}",
        transform=f"translate({number(x + size / 2)} {number(y + size / 2)}) scale({number(size / 100)})",
    )


def _face(colour: str) -> str:
    body, edge, _ = _FACES[colour]
    return rectangle(Box(-47, -47, 94, 94), 14, fill=body, stroke=edge, stroke_width=5) + rectangle(
        Box(-38, -38, 76, 76), 8, fill="none", stroke="#FFFFFF", stroke_width=2.5, stroke_opacity=0.35
    )


def _motif(colour: str) -> str:
    """Each colour has a figure of its own, so that tiles can be told apart without seeing colours."""
    ink = _FACES[colour][2]
    if colour == "blue":
        ring = element("circle", r=21, fill="none", stroke=ink, stroke_width=8)
        return ring + element("circle", r=7.5, fill=ink)
    if colour == "yellow":
        return element("path", d="M0 -29 L29 0 L0 29 L-29 0 Z", fill=ink) + element(
            "path", d="M0 -11 L11 0 L0 11 L-11 0 Z", fill=_FACES[colour][0]
        )
    if colour == "red":
        return element("path", d="M-20 -20 L20 20 M20 -20 L-20 20", stroke=ink, stroke_width=13, stroke_linecap="round")
    if colour == "black":
        bars = "M-24 -17 h48 M-24 0 h48 M-24 17 h48"
        return element("path", d=bars, stroke=ink, stroke_width=8, stroke_linecap="round")
    petal = "M0 0 C-11 -10 -8 -24 0 -31 C8 -24 11 -10 0 0 Z"
    return "".join(element("path", d=petal, fill=ink, transform=f"rotate({turn})") for turn in (0, 90, 180, 270))


def _marker() -> str:
    disc = element("circle", r=46, fill="#F7F1E3", stroke="#7B4EA3", stroke_width=9)
    return disc + letters("1", 0, 25, 72, "#5B3480", bold=True, anchor="middle")
