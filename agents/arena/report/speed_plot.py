"""Speed against strength: every agent's time a move and rating, and the front of the best for their time."""

from collections.abc import Sequence
from itertools import pairwise
from math import log10
from typing import Any

from ....envs.view.svg import Box
from .axes import Axis, decade_ticks, pareto_front, rating_range, round_ticks, time_range
from .dot_plot import LONGEST_NAME, TEXT, WIDTH, arrow
from .labels import Label, place_labels, shortened, text_width
from .markup import chart, group, letters, line, tag
from .wording import decimal, milliseconds, tick

Point = tuple[float, float]

_PLOT = Box(62, 12, WIDTH - 62 - 12, 300)
_LINE = 15.0  # height of a label


def timed_agents(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the agents whose time a move is known; the others cannot stand on a logarithmic axis."""
    return [agent for agent in results["agents"] if agent["milliseconds_per_move"]]


def speed_chart(results: dict[str, Any]) -> str:
    """Return the chart of `timed_agents`, of which there is at least one; their front is a line in steps."""
    agents = timed_agents(results)
    times = [agent["milliseconds_per_move"] for agent in agents]
    ratings = [agent["rating"] for agent in agents]
    low, high = (log10(time) for time in time_range(times))
    across = Axis(low, high, _PLOT.x, _PLOT.x + _PLOT.width)
    # downwards on the page is upwards on the axis
    errors = [agent["error"] or 0.0 for agent in agents]
    up = Axis(*rating_range(ratings, errors, bar=0), _PLOT.y + _PLOT.height, _PLOT.y)
    points = [(across.at(log10(time)), up.at(rating)) for time, rating in zip(times, ratings, strict=True)]
    front = pareto_front(times, ratings)
    corners = front_corners([points[index] for index in front], across.end)
    names = [shortened(agent["name"], LONGEST_NAME, TEXT) for agent in agents]
    labels = place_labels(points, [text_width(name, TEXT) for name in names], _LINE, _PLOT, boxes_along(corners))
    path = "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in corners)
    parts = [_grid(across, up), tag("path", d=path, class_="front")]
    for index, (agent, point, label) in enumerate(zip(agents, points, labels, strict=True)):
        tooltip = f"{agent['name']}: {milliseconds(times[index])} ms a move, rating {decimal(ratings[index])}"
        mark = _mark(point, up, ratings[index], index in front)
        written = letters(names[index], label.x, label.y, text_anchor=label.anchor)
        parts.append(group(tooltip, *_leader(point, label), mark, written))
    return chart(WIDTH, _PLOT.y + _PLOT.height + 46, "Rating against time a move", *parts)


def front_corners(points: Sequence[Point], end: float) -> list[Point]:
    """Return the corners of the line through the points of a front, in order of x: the best so far, up to `end`."""
    corners = [points[0]]
    for x, y in points[1:]:
        corners += [(x, corners[-1][1]), (x, y)]
    return [*corners, (end, corners[-1][1])]


def boxes_along(corners: Sequence[Point]) -> list[Box]:
    """Return thin boxes around the lines from corner to corner, which are all level or upright."""
    boxes = []
    for (x1, y1), (x2, y2) in pairwise(corners):
        boxes.append(Box(min(x1, x2), min(y1, y2), abs(x2 - x1), abs(y2 - y1)).grown(2))
    return boxes


def _grid(across: Axis, up: Axis) -> str:
    bottom = _PLOT.y + _PLOT.height
    parts = [line(across.start, bottom, across.end, bottom, class_="axis")]
    for time in decade_ticks(10**across.low, 10**across.high):
        x = across.at(log10(time))
        parts.append(line(x, _PLOT.y, x, bottom, class_="grid"))
        parts.append(letters(tick(time), x, bottom + 17, class_="tick", text_anchor="middle"))
    for rating in round_ticks(up.low, up.high, 8):
        y = up.at(rating)
        parts.append(line(across.start, y, across.end, y, class_="grid"))
        parts.append(letters(tick(rating), across.start - 8, y + 4, class_="tick", text_anchor="end"))
    title = "time a move (milliseconds, logarithmic)"
    parts.append(letters(title, (across.start + across.end) / 2, bottom + 37, class_="tick", text_anchor="middle"))
    turned = f"translate(12 {_PLOT.y + _PLOT.height / 2:.2f}) rotate(-90)"
    parts.append(letters("rating (Elo)", 0, 0, class_="tick", text_anchor="middle", transform=turned))
    return tag("g", *parts)


def _mark(point: Point, up: Axis, rating: float, on_front: bool) -> str:
    """Return the dot of an agent, or an arrow where its rating lies beyond the axis."""
    x, y = point
    if up.shows(rating):
        return tag("circle", cx=x, cy=y, r=4.5, class_="dot" if on_front else "dot hollow")
    tip = arrow(0, 0, 1 if rating > up.high else -1)
    return tag("g", tip, transform=f"translate({x:.2f} {y:.2f}) rotate(-90)")


def _leader(point: Point, label: Label) -> list[str]:
    """Return the thin line from a point to a label that stands off it."""
    if not label.led:
        return []
    (x, y), box = point, label.box
    if box.x <= x <= box.x + box.width:
        return [line(x, y, x, box.y if box.y > y else box.y + box.height, class_="leader")]
    edge = box.x - 2 if x < box.x else box.x + box.width + 2
    return [line(x, y, edge, box.y + box.height / 2, class_="leader")]
