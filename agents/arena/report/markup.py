"""The building of markup that is well-formed as HTML and as XML."""

import re
from xml.sax.saxutils import escape, quoteattr

from ....envs.view.svg import number

# what XML cannot hold, not even as a character reference; and control characters, those among them that turn the
# direction of what follows
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def tag(name: str, *content: str, **attributes: str | float | None) -> str:
    """Return one element around `content`, which is markup already.

    In attribute names a final underscore is dropped and others become hyphens; numbers keep two decimals; None
    leaves the attribute out.
    """
    written = [
        f" {key.removesuffix('_').replace('_', '-')}={quoteattr(clean(number(value)))}"
        for key, value in attributes.items()
        if value is not None
    ]
    # HTML knows no empty elements of the form <rect/> outside SVG, hence always both tags
    return f"<{name}{''.join(written)}>{''.join(content)}</{name}>"


def text(content: str) -> str:
    """Return a text as markup; characters that no page can hold become U+FFFD."""
    return escape(clean(content))


def clean(content: str) -> str:
    """Return a text with U+FFFD for every character that XML forbids or that acts on what is around it."""
    return _FORBIDDEN.sub("\ufffd", content)


def letters(content: str, x: float, y: float, **attributes: str | float | None) -> str:
    """Return an SVG text whose baseline is at `y`."""
    return tag("text", text(content), x=x, y=y, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: str | float | None) -> str:
    """Return an SVG line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def group(tooltip: str, *content: str, **attributes: str | float | None) -> str:
    """Return an SVG group with a tooltip."""
    return tag("g", tag("title", text(tooltip)), *content, **attributes)


def chart(width: float, height: float, description: str, *content: str) -> str:
    """Return an SVG picture, in a box in which it can be scrolled; `description` is for screen readers."""
    view = f"0 0 {number(width)} {number(height)}"
    # viewBox is one of the few attributes with capitals, which keywords keep
    picture = tag("svg", *content, viewBox=view, width=width, height=height, role="img", aria_label=description)
    return scrolled(picture, description)


def scrolled(content: str, label: str) -> str:
    """Return a box of its own for content that may be wider than the page."""
    # focusable, so that the arrow keys can scroll it
    return tag("div", content, class_="scrolled", tabindex="0", role="region", aria_label=label)
