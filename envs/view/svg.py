"""What the pictures of all games share: boxes, and the building of SVG text."""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

_COLOUR = re.compile("#[0-9A-Fa-f]{6}")


def element(tag: str, *content: str, **attributes: str | float) -> str:
    """Returns one SVG element; underscores in attribute names become hyphens, numbers keep two decimals."""
    written = "".join(f" {key.replace('_', '-')}={quoteattr(number(value))}" for key, value in attributes.items())
    return f"<{tag}{written}>{''.join(content)}</{tag}>" if content else f"<{tag}{written}/>"


def number(value: str | float) -> str:
    """Returns a coordinate with at most two decimals and no trailing zeros; strings pass unchanged."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def rectangle(box: Box, corner: float = 0, **attributes: str | float) -> str:
    """Returns a rectangle, its corners rounded with the radius `corner` (in the units of the picture)."""
    return element("rect", x=box.x, y=box.y, width=box.width, height=box.height, rx=corner, **attributes)


def document(width: float, height: float, title: str, definitions: str, content: str) -> str:
    """Returns a complete SVG document of the given size, with a title for screen readers."""
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}"'
        f' viewBox="0 0 {number(width)} {number(height)}" role="img">'
    )
    return f"{opening}<title>{escape(title)}</title><defs>{definitions}</defs>{content}</svg>"


def fade(drawing: str, background: str, opacity: float) -> str:
    """Returns a drawing as if it were this opaque as a whole, over a background of one colour, like "#FFFDF8".

    Its colours are mixed instead of made transparent: not every program draws transparent groups as a whole.
    """

    def mix(colour: re.Match[str]) -> str:
        pairs = ((int(colour[0][at : at + 2], 16), int(background[at : at + 2], 16)) for at in (1, 3, 5))
        return "#" + "".join(f"{round(opacity * over + (1 - opacity) * under):02X}" for over, under in pairs)

    return _COLOUR.sub(mix, drawing)


class Box(NamedTuple):
    """A rectangle of a picture: upper left corner, width and height."""

    x: float
    y: float
    width: float
    height: float

    def grown(self, margin: float) -> Box:
        """Returns the box with `margin` added on all four sides (taken away if negative)."""
        return Box(self.x - margin, self.y - margin, self.width + 2 * margin, self.height + 2 * margin)
