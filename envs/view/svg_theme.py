"""What the pictures of all games look like: the palette, the header of the page, cards, pills and marks."""

from __future__ import annotations

from typing import Any

from .stroke_font import letters, text_width
from .svg import Box, rectangle

WIDTH = 1200.0
MARGIN = 32.0
HEADER = 108.0  # height

PAGE = "#F3ECDF"
CARD = "#FFFDF8"
CARD_EDGE = "#DCCFBA"
INK = "#26313B"
MUTED = "#746C62"
SPACE = "#EFE7D9"
SPACE_EDGE = "#D8CBB5"
TURN = "#0F7F7A"
TURN_TINT = "#DDF0EC"
WINNER = "#B7791F"
WINNER_TINT = "#FBEFD2"
LAST_MOVE = "#E0218A"
WARNING = "#A12C22"


def header(
    title: str, below: str, status: str, result: dict[str, Any] | None, limit: str, last_move: str | None
) -> str:
    """Returns the upper `HEADER` units of a page.

    `below` stands below the title, `status` in a pill at the right, above `last_move` (a sentence, if there
    was a move). `result` is the position's; where the game was cut off, `limit` names what cut it off.
    """
    right = WIDTH - MARGIN
    parts = [
        letters(title, MARGIN, 62, 50, INK, bold=True),
        letters(below, MARGIN, 94, 17, MUTED),
        pill(status, right - pill_width(status, 21), 46, 21, "#FFFFFF", TURN if result is None else WINNER),
    ]
    if result is not None and result["truncated"]:
        note = f"cut off by {limit}"
        x = right - pill_width(status, 21) - pill_width(note, 17) - 12
        parts.append(pill(note, x, 46, 17, WARNING, CARD, WARNING))
    if last_move is not None:
        x = right - text_width(last_move, 17)
        parts.append(last_move_mark(Box(x - 34, 81, 20, 16), 5))
        parts.append(letters(last_move, right, 94, 17, LAST_MOVE, bold=True, anchor="end"))
    return "".join(parts)


def card(box: Box, edge: str = CARD_EDGE, edge_width: float = 1.5) -> str:
    """Returns an empty card on the page."""
    shadow = rectangle(box._replace(y=box.y + 3), 18, fill="#000000", fill_opacity=0.07)
    return shadow + rectangle(box, 18, fill=CARD, stroke=edge, stroke_width=edge_width)


def player_card(box: Box, to_move: bool, winner: bool) -> str:
    """Returns a player's empty card; a band of 50 units at its top waits for the heading."""
    edge, width, tint = CARD_EDGE, 1.5, "none"
    if winner:
        edge, width, tint = WINNER, 4, WINNER_TINT
    elif to_move:
        edge, width, tint = TURN, 4, TURN_TINT
    heading = Box(box.x + 10, box.y + 10, box.width - 20, 50)
    return card(box, edge, width) + rectangle(heading, 11, fill=tint)


def player_colour(to_move: bool, winner: bool) -> str:
    """Returns the colour of a player's sign."""
    return WINNER if winner else TURN if to_move else INK


def pill(text: str, x: float, y: float, size: float, ink: str, fill: str, edge: str = "none") -> str:
    """Returns a text in a rounded field whose left edge is at `x` and whose middle is at `y`."""
    field = Box(x, y - size * 0.85, pill_width(text, size), size * 1.7)
    return rectangle(field, size * 0.85, fill=fill, stroke=edge, stroke_width=1.5) + letters(
        text, x + size * 0.8, y + size * 0.34, size, ink, bold=True
    )


def pill_width(text: str, size: float) -> float:
    """Returns the width of a `pill`."""
    return text_width(text, size) + 1.6 * size


def space(x: float, y: float, size: float) -> str:
    """Returns an empty space for a tile."""
    return rectangle(Box(x, y, size, size).grown(-1), size * 0.14, fill=SPACE, stroke=SPACE_EDGE, stroke_width=1.2)


def last_move_mark(box: Box, radius: float, colour: str = LAST_MOVE) -> str:
    """Returns the dashed frame around a place that the last move touched."""
    return rectangle(
        box,
        radius,
        fill="none",
        stroke=colour,
        stroke_width=3,
        stroke_dasharray="9 5",
        stroke_linecap="round",
    )
