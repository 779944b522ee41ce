"""The charts of the report as data: what stands where, in the pixels of an SVG picture of `WIDTH`."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log10
from typing import Any, NamedTuple

from ....envs.system.messages import cut_middle
from ....envs.view.svg import Box
from .axes import Axis, Range, decade_ticks, rating_range, round_ticks, score_range, share_range, time_range
from .formatting import tick
from .labels import Label, Point, place_labels, text_width

WIDTH = 780.0
_NAME_COLUMNS = 24
_TEXT_SIZE = 13.0
_LINE_HEIGHT = 15.0
_HIGHEST_BIN = 32.0

Agent = dict[str, Any]
Ticks = list[tuple[float, str]]
"""Pixels along an axis and the numbers written there."""


class RowAxis(NamedTuple):
    """The horizontal axis that all rows of a chart share."""

    axis: Axis
    ticks: Ticks


class Mark(NamedTuple):
    """One agent in a scatter plot."""

    agent: Agent
    point: Point
    label: Label
    on_front: bool
    beyond: int
    """1 or -1 if the rating lies above or below the axis, else 0."""


class ScatterPlot(NamedTuple):
    """Agents by the logarithm of their time and by their rating; `front` has the corners of the Pareto front."""

    across: Axis
    time_ticks: Ticks
    up: Axis
    rating_ticks: Ticks
    front: list[Point]
    marks: list[Mark]


def short_name(name: str) -> str:
    """Return a name as the charts write it."""
    return cut_middle(name, _NAME_COLUMNS, "…")


def rating_axis(agents: list[Agent]) -> RowAxis:
    """Return the axis of the ladder."""
    return _row_axis(_names(agents), 120, rating_range(*_ratings(agents)))


def seat_axis(seats: list[dict[str, Any]], num_players: int) -> RowAxis:
    """Return the axis of the seats' win rates, around the rate without an effect of the seat."""
    # a single deal gives no interval
    intervals = [seat["interval"] or [seat["win_rate"]] for seat in seats]
    fractions = share_range(intervals, 1 / num_players)
    return _row_axis(["seat 0"], 64, fractions, lambda fraction: tick(round(100 * fraction, 9)) + "\N{NO-BREAK SPACE}%")


def score_axis(agents: list[Agent]) -> RowAxis:
    """Return the axis of the distributions of the scores."""
    scores = [agent["scores"] for agent in agents]
    return _row_axis(_names(agents), 64, score_range(scores[0]["edges"], [each["counts"] for each in scores]))


def _row_axis(names: list[str], right: float, values: Range, write: Callable[[float], str] = tick) -> RowAxis:
    """Return an axis with room for ranks and names before it, and `right` pixels for numbers behind it."""
    left = 26 + max(text_width(name, _TEXT_SIZE) for name in names) + 16
    axis = Axis(*values, left, WIDTH - right)
    ticks = round_ticks(*values, max(int((axis.end - axis.start) / 70), 3))
    return RowAxis(axis, [(axis.at(value), write(value)) for value in ticks])


def _names(agents: list[Agent]) -> list[str]:
    return [short_name(agent["name"]) for agent in agents]


def _ratings(agents: list[Agent]) -> tuple[list[float], list[float]]:
    return [agent["rating"] for agent in agents], [agent["error"] or 0.0 for agent in agents]


def outline_histogram(edges: Sequence[float], counts: Sequence[int], axis: Axis) -> list[Point]:
    """Return the corners of a histogram that stands on y = 0, without its empty ends."""
    filled = [index for index, count in enumerate(counts) if count]
    if not filled:
        return []
    corners = [(axis.at(edges[filled[0]]), 0.0)]
    for index in range(filled[0], filled[-1] + 1):
        y = -_HIGHEST_BIN * counts[index] / max(counts)
        corners += [(axis.at(edges[index]), y), (axis.at(edges[index + 1]), y)]
    return [*corners, (corners[-1][0], 0.0)]


def speed_plot(agents: list[Agent]) -> ScatterPlot:
    """Return ratings against the time a move, on a logarithmic axis; every agent must have a time."""
    box = Box(62, 12, WIDTH - 62 - 12, 300)
    times = [agent["milliseconds_per_move"] for agent in agents]
    ratings, errors = _ratings(agents)
    shortest, longest = time_range(times)
    across = Axis(log10(shortest), log10(longest), box.x, box.x + box.width)
    # downwards in the picture is upwards on the axis
    up = Axis(*rating_range(ratings, errors, bar=0), box.y + box.height, box.y)
    points = [(across.at(log10(time)), up.at(rating)) for time, rating in zip(times, ratings, strict=True)]
    best = pareto_front(times, ratings)
    front = front_corners([points[index] for index in best], across.end)
    widths = [text_width(name, _TEXT_SIZE) for name in _names(agents)]
    labels = place_labels(points, widths, _LINE_HEIGHT, box, boxes_along(front))
    marks = [
        Mark(agent, points[index], labels[index], index in best, (rating > up.high) - (rating < up.low))
        for index, (agent, rating) in enumerate(zip(agents, ratings, strict=True))
    ]
    time_ticks = [(across.at(log10(time)), tick(time)) for time in decade_ticks(shortest, longest)]
    rating_ticks = [(up.at(rating), tick(rating)) for rating in round_ticks(up.low, up.high, 8)]
    return ScatterPlot(across, time_ticks, up, rating_ticks, front, marks)


def pareto_front(costs: Sequence[float], values: Sequence[float]) -> list[int]:
    """Return the indices of what nothing else beats: cheaper or as cheap and better or as good, and not the same.

    In order of cost; equals are all on the front or none of them.
    """
    points = list(zip(costs, values, strict=True))
    front = [
        index
        for index, (cost, value) in enumerate(points)
        if not any(c <= cost and v >= value and (c, v) != (cost, value) for c, v in points)
    ]
    return sorted(front, key=lambda index: points[index])


def front_corners(points: Sequence[Point], end: float) -> list[Point]:
    """Return the corners of the line in steps through the points of a front, in order of x, up to `end`."""
    corners = [points[0]]
    for x, y in [*points[1:], (end, points[-1][1])]:
        corners += [(x, corners[-1][1]), (x, y)]
    return corners[:-1]


def boxes_along(corners: Sequence[Point]) -> list[Box]:
    """Return thin boxes around the lines from corner to corner, which are all level or upright."""
    return [
        Box(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1)).grown(2) for (x1, y1), (x2, y2) in pairwise(corners)
    ]
