"""Labels of charts: how wide they are, how long names are cut, and where they stand without collisions."""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....envs.view.svg import Box

_NARROW = frozenset("fijlrtI.,:;'|!()[]/ -")
_WIDE = frozenset("mwMW@%…")
_GAP = 9.0  # between a point and its label
_RINGS = 9  # lines of text that a label may stand off its point


class Label(NamedTuple):
    """A label at its place; `box` is what it covers, `anchor` SVG's text-anchor at (x, y) on the baseline."""

    x: float
    y: float
    anchor: str
    box: Box
    led: bool
    """Whether it stands so far off its point that a line has to lead there."""


def text_width(content: str, size: float) -> float:
    """Return a width that a text does not exceed in common sans-serif fonts, in pixels for a size in pixels."""
    return size * sum(_width_in_ems(character) for character in content)


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


def shortened(name: str, width: float, size: float) -> str:
    """Return a name that fits into `width`, with an ellipsis for its middle: names often differ at their end."""
    if text_width(name, size) <= width:
        return name
    for kept in range(len(name) - 1, 1, -1):
        tail = kept // 2
        cut = f"{name[: kept - tail].rstrip()}…{name[len(name) - tail :].lstrip()}"
        if text_width(cut, size) <= width:
            return cut
    return "…"


def place_labels(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    plot: Box,
    taken: Sequence[Box] = (),
) -> list[Label]:
    """Return a label for every point, the first ones next to their points, none outside of the plot.

    Labels keep off the points, off each other and off what is `taken`; if that is impossible, they cover as
    little as they can. `height` is that of a line of text; all in pixels.
    """
    obstacles = [Box(x - 5, y - 5, 10, 10) for x, y in points] + list(taken)
    labels = []
    for (x, y), width in zip(points, widths, strict=True):
        best: Label | None = None
        least = float("inf")
        for label in _candidates(x, y, width, height):
            covered = 0.0 if _contains(plot, label.box) else 1e6
            covered += sum(_overlap(label.box, obstacle) for obstacle in obstacles)
            if covered < least:
                best, least = label, covered
            if covered == 0:
                break
        assert best is not None
        obstacles.append(best.box)
        labels.append(best)
    return labels


def _candidates(x: float, y: float, width: float, height: float) -> Iterator[Label]:
    """Yield places around a point, the best first."""
    sides = {"start": (x + _GAP, 0.0), "end": (x - _GAP, width)}
    for step in range(_RINGS):
        for sign in (-1, 1) if step else (0,):
            beside = y + sign * step * 0.8 * height
            for anchor, (at, before) in sides.items():
                yield _label(at, beside, anchor, Box(at - before, beside - height / 2, width, height), step)
            if step:
                straight = beside + sign * 0.3 * height
                yield _label(x, straight, "middle", Box(x - width / 2, straight - height / 2, width, height), step)


def _label(x: float, middle: float, anchor: str, box: Box, step: int) -> Label:
    led = step >= 2 or (step == 1 and anchor != "middle")
    # a baseline 0.3 lines below the middle centres small letters
    return Label(x, middle + 0.3 * box.height, anchor, box, led)


def _contains(outer: Box, inner: Box) -> bool:
    return (
        outer.x <= inner.x
        and outer.y <= inner.y
        and inner.x + inner.width <= outer.x + outer.width
        and inner.y + inner.height <= outer.y + outer.height
    )


def _overlap(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(width, 0.0) * max(height, 0.0)
