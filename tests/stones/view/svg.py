"""A position as SVG."""

from meeplezoo.envs.view.svg import Box, document, element, rectangle

from .text import text


def svg(position, last_move=None, seat=None):
    words = text(position, last_move, seat)
    stones = rectangle(Box(10, 30, 10 * position["pile"], 8), fill="grey")
    return document(600, 40, "stones", "", element("text", words, x=10, y=25) + stones)
