"""Labels of charts: how wide they are, and where they stand without collisions."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....envs.view.svg import Box

_NARROW = frozenset("fijlrtI.,:;'|!()[]/ -")
_WIDE = frozenset("mwMW@%…")
_GAP = 9.0  # between a point and its label
_RINGS = 9  # lines of text that a label may stand off its point

Point = tuple[float, float]


class Label(NamedTuple):
    """The place of a label: the box that it covers, and the side of the box at which its text begins (SVG)."""

    anchor: str
    box: Box
    is_far: bool
    """Whether it stands so far off its point that a line has to lead there."""

    @property
    def x(self) -> float:
        """The x coordinate of SVG's text anchor."""
        return self.box.x + self.box.width * {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]

    @property
    def baseline(self) -> float:
        """The y coordinate at which small letters stand in the middle of the box."""
        return self.box.y + 0.8 * self.box.height

    def leader_end(self, x: float, y: float) -> Point:
        """Return the end of the line that leads from a point to the label."""
        box = self.box
        end = min(max(x, box.x - 2), box.x + box.width + 2)
        return end, min(max(y, box.y), box.y + box.height) if end == x else box.y + box.height / 2


def text_width(content: str, size: float) -> float:
    """Return a width that a text does not exceed in common sans-serif fonts, in pixels for a size in pixels."""
    return size * sum(map(_width_in_ems, content))


def _width_in_ems(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in _NARROW:
        return 0.39
    if character in _WIDE:
        return 0.98
    return 0.7 if character.isupper() else 0.61


def place_labels(
    points: Sequence[Point], widths: Sequence[float], height: float, plot: Box, taken: Sequence[Box] = ()
) -> list[Label]:
    """Return a label for every point, the first ones next to their points, none outside of the plot.

    Labels keep off the points, off each other and off what is `taken`; if that is impossible, they cover as
    little as they can. `height` is that of a line of text; all in pixels.
    """
    obstacles = [Box(x - 5, y - 8, 10, 16) for x, y in points] + list(taken)
    labels: list[Label] = []

    def cost(label: Label) -> float:
        # rounded: a place that is free must not lose to a later one by an error of the last digit
        outside = round(height * label.box.width - _overlap(label.box, plot), 6)
        return 1e6 * outside + sum(_overlap(label.box, obstacle) for obstacle in obstacles)

    for (x, y), width in zip(points, widths, strict=True):
        best = min(_candidates(x, y, width, height), key=cost)
        obstacles.append(best.box)
        labels.append(best)
    return labels


def _candidates(x: float, y: float, width: float, height: float) -> Iterator[Label]:
    """Yield places around a point, the best first."""
    for step in range(_RINGS):
        for sign in (-1, 1) if step else (0,):
            top = y + sign * step * 0.8 * height - height / 2
            yield Label("start", Box(x + _GAP, top, width, height), step >= 1)
            yield Label("end", Box(x - _GAP - width, top, width, height), step >= 1)
            if step:
                yield Label("middle", Box(x - width / 2, top + sign * 0.3 * height, width, height), step >= 2)


def _overlap(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(width, 0.0) * max(height, 0.0)
