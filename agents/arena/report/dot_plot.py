"""Estimates with their intervals, one in a row: the ladder of ratings, and the seats."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .axes import Axis, rating_range, round_ticks, share_range
from .labels import shortened, text_width
from .markup import chart, group, letters, line, tag
from .wording import INTERVAL_ERRORS, decimal, interval, percent, plus_or_minus, tick, whole

WIDTH = 780.0
ROW = 28.0
TEXT = 13.0
_TOP = 8.0
_BELOW = 46.0
LONGEST_NAME = 190.0


class Row(NamedTuple):
    """What stands in one row."""

    rank: str
    name: str
    value: float
    bar: tuple[float, float] | None
    written: str
    tooltip: str


def ladder(results: dict[str, Any]) -> str:
    """Return the chart of the ratings, with bars of 95 %."""
    agents = results["agents"]
    ratings = [agent["rating"] for agent in agents]
    errors = [agent["error"] or 0.0 for agent in agents]
    low, high = rating_range(ratings, errors)
    rows = [
        Row(
            rank=str(place),
            name=agent["name"],
            value=agent["rating"],
            bar=(agent["rating"] - INTERVAL_ERRORS * error, agent["rating"] + INTERVAL_ERRORS * error),
            written=f"{whole(agent['rating'])} {plus_or_minus(agent['error'], 0)}",
            tooltip=f"{agent['name']}: {decimal(agent['rating'])}, 95 % interval {interval(agent['interval'])}",
        )
        for place, (agent, error) in enumerate(zip(agents, errors, strict=True), start=1)
    ]
    title = "rating (Elo)" + (f", {results['anchor']} = 0" if results["anchor"] else "")
    return dot_plot(rows, low, high, tick, title, "Ratings with error bars")


def seats_chart(results: dict[str, Any]) -> str:
    """Return the chart of the win rate from every seat, beside that of no seat effect."""
    even = 1 / results["options"]["num_players"]
    known = [seat for seat in results["seats"] if seat["win_rate"] is not None]
    # a single deal gives no interval
    bars = [seat["interval"] or (seat["win_rate"], seat["win_rate"]) for seat in known]
    low, high = share_range(bars, even)
    rows = [
        Row(
            rank="",
            name=f"seat {seat['seat']}",
            value=seat["win_rate"],
            bar=(bar[0], bar[1]),
            written=percent(seat["win_rate"]),
            tooltip=f"seat {seat['seat']}: {percent(seat['win_rate'])}, "
            f"95 % interval {interval(seat['interval'], scale=100, unit='%')}",
        )
        for seat, bar in zip(known, bars, strict=True)
    ]
    return dot_plot(rows, low, high, _percent_tick, "win rate", "Win rates of the seats", even)


def _percent_tick(share: float) -> str:
    return f"{tick(round(100 * share, 9))}\u00a0%"


def dot_plot(
    rows: Sequence[Row],
    low: float,
    high: float,
    tick_text: Callable[[float], str],
    title: str,
    description: str,
    reference: float | None = None,
) -> str:
    """Return a chart with a dot and its bars for every row.

    Bars and dots beyond `low` and `high` are cut off there and end in an arrow. `reference` is marked by a line.
    """
    names = [shortened(row.name, LONGEST_NAME, TEXT) for row in rows]
    indent = 26.0 if any(row.rank for row in rows) else 0.0
    left = indent + max((text_width(name, TEXT) for name in names), default=0.0) + 16
    right = max((text_width(row.written, TEXT) for row in rows), default=0.0) + 20
    axis = Axis(low, high, left, WIDTH - right)
    bottom = _TOP + ROW * len(rows) + 4
    parts = [scale(axis, _TOP, bottom, tick_text, title)]
    if reference is not None:
        parts.append(line(axis.at(reference), _TOP, axis.at(reference), bottom, class_="reference"))
    for index, (row, name) in enumerate(zip(rows, names, strict=True)):
        middle = _TOP + ROW * (index + 0.5)
        content = [*row_label(row.rank, name, middle), *_bars(row, axis, middle)]
        content.append(letters(row.written, WIDTH, middle + 4.5, text_anchor="end"))
        parts.append(group(row.tooltip, *content))
    return chart(WIDTH, bottom + _BELOW, description, *parts)


def row_label(rank: str, name: str, middle: float) -> list[str]:
    """Return what stands at the left of a row: the rank, if there is one, and the name."""
    if not rank:
        return [letters(name, 0, middle + 4.5)]
    return [letters(rank, 18, middle + 4.5, class_="faint", text_anchor="end"), letters(name, 26, middle + 4.5)]


def scale(axis: Axis, top: float, bottom: float, tick_text: Callable[[float], str], title: str) -> str:
    """Return a horizontal axis: grid lines, their numbers, and its title."""
    parts = [line(axis.start, bottom, axis.end, bottom, class_="axis")]
    for value in round_ticks(axis.low, axis.high, max(int((axis.end - axis.start) / 70), 3)):
        x = axis.at(value)
        parts.append(line(x, top, x, bottom, class_="grid"))
        parts.append(letters(tick_text(value), x, bottom + 17, class_="tick", text_anchor="middle"))
    middle = (axis.start + axis.end) / 2
    wanted = shortened(title, axis.end - axis.start, 12)
    parts.append(letters(wanted, middle, bottom + 37, class_="tick", text_anchor="middle"))
    return tag("g", *parts)


def _bars(row: Row, axis: Axis, y: float) -> list[str]:
    parts = [line(axis.start, y, axis.end, y, class_="guide")]
    if row.bar is not None:
        low, high = row.bar
        parts.append(line(axis.at(low), y, axis.at(high), y, class_="bar"))
        if low < axis.low:
            parts.append(arrow(axis.start, y, -1))
        if high > axis.high:
            parts.append(arrow(axis.end, y, 1))
    if axis.shows(row.value):
        parts.append(tag("circle", cx=axis.at(row.value), cy=y, r=4.5, class_="dot"))
    return parts


def arrow(x: float, y: float, direction: int) -> str:
    """Return the arrow at the end of an axis: there is more to the left (-1) or to the right (1)."""
    back = x - 8 * direction
    return tag("path", d=f"M{x:.2f} {y:.2f}L{back:.2f} {y - 5:.2f}L{back:.2f} {y + 5:.2f}Z", class_="arrow")
