"""The distributions of the scores, one row for each agent on the same axis."""

from collections.abc import Sequence
from typing import Any

from .axes import Axis, score_range
from .dot_plot import LONGEST_NAME, TEXT, WIDTH, row_label, scale
from .labels import shortened, text_width
from .markup import chart, group, letters, line, tag
from .wording import decimal, interval, tick

_ROW = 38.0
_HEIGHT = 32.0  # of the highest bin
_TOP = 22.0
_BELOW = 46.0


def scores_chart(results: dict[str, Any]) -> str:
    """Return the chart of all agents' scores; every agent's highest bin has the same height."""
    agents = results["agents"]
    edges = agents[0]["scores"]["edges"]
    names = [shortened(agent["name"], LONGEST_NAME, TEXT) for agent in agents]
    low, high = score_range(edges, [agent["scores"]["counts"] for agent in agents])
    left = 26 + max(text_width(name, TEXT) for name in names) + 16
    axis = Axis(low, high, left, WIDTH - 64)
    bottom = _TOP + _ROW * len(agents) + 6
    parts = [scale(axis, _TOP, bottom, tick, "score at the end (points)")]
    parts.append(letters("mean", WIDTH, 14, class_="tick", text_anchor="end"))
    for index, (agent, name) in enumerate(zip(agents, names, strict=True)):
        base = _TOP + _ROW * (index + 1)
        content = [*row_label(str(index + 1), name, base - 10), *_hill(agent, axis, base)]
        content.append(letters(decimal(agent["mean_score"]), WIDTH, base - 5.5, text_anchor="end"))
        tooltip = f"{agent['name']}: mean score {decimal(agent['mean_score'])} ({interval(agent['score_interval'])})"
        parts.append(group(tooltip, *content))
    return chart(WIDTH, bottom + _BELOW, "Distributions of the scores", *parts)


def _hill(agent: dict[str, Any], axis: Axis, base: float) -> list[str]:
    edges, counts = agent["scores"]["edges"], agent["scores"]["counts"]
    parts = [line(axis.start, base, axis.end, base, class_="guide")]
    if not any(counts):
        parts.append(letters("no game that counts", axis.start + 8, base - 5.5, class_="tick"))
        return parts
    parts.append(tag("path", d=hill_path(edges, counts, axis, base), class_="hill"))
    if agent["mean_score"] is not None:
        x = axis.at(agent["mean_score"])
        parts.append(line(x, base + 3, x, base - _HEIGHT, class_="mean"))
    return parts


def hill_path(edges: Sequence[float], counts: Sequence[int], axis: Axis, base: float) -> str:
    """Return the outline of a histogram as an SVG path; its highest bin has the height of a row."""
    highest = max(counts)
    first = next(index for index, count in enumerate(counts) if count)
    last = max(index for index, count in enumerate(counts) if count)
    steps = [f"M{axis.at(edges[first]):.2f} {base:.2f}"]
    for index in range(first, last + 1):
        steps.append(f"V{base - _HEIGHT * counts[index] / highest:.2f}H{axis.at(edges[index + 1]):.2f}")
    return "".join(steps) + f"V{base:.2f}Z"
