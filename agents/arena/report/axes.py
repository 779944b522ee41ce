"""Axes: which values a chart shows, where they lie, and the round numbers written along it."""

from collections.abc import Sequence
from math import ceil, floor, log10
from statistics import median
from typing import NamedTuple

from ..statistics import NORMAL_QUANTILE

_ENORMOUS = 4.0  # times the median error
_FARAWAY = 1.0  # times the range of the well-known ratings
_LEAST_MARGIN = 10.0  # Elo

Range = tuple[float, float]


class Axis(NamedTuple):
    """The values from `low` to `high` along the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the pixel of a value; values beyond the axis lie at its ends."""
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start)

    def shows(self, value: float) -> bool:
        """Return whether a value lies on the axis."""
        return self.low <= value <= self.high


def round_ticks(low: float, high: float, at_most: int) -> list[float]:
    """Return the multiples of 1, 2 or 5 times a power of ten from low to high: the densest of at most `at_most`."""
    exponent = floor(log10((high - low) / at_most))
    for step in (factor * 10.0**power for power in (exponent, exponent + 1) for factor in (1, 2, 5)):
        # a hundred-millionth of a step, for ends that are multiples but for rounding
        first, last = ceil(low / step - 1e-8), floor(high / step + 1e-8)
        if last - first < at_most:
            return [round(multiple * step, 12) for multiple in range(first, last + 1)]
    raise AssertionError("fifty times the smallest step is always enough")


def decade_ticks(low: float, high: float) -> list[float]:
    """Return numbers to write along a logarithmic axis from low to high, three or more if possible.

    They are the powers of ten; where these are too few, 2 and 5 times them as well, or else evenly spaced numbers.
    """
    powers = [float(f"1e{exponent}") for exponent in range(floor(log10(low)), ceil(log10(high)) + 1)]
    for factors in ((1,), (1, 2, 5)):
        ticks = [factor * power for power in powers for factor in factors if low <= factor * power <= high]
        if len(ticks) >= 3:
            return ticks
    return round_ticks(low, high, 5)


def rating_range(ratings: Sequence[float], errors: Sequence[float], bar: float = NORMAL_QUANTILE) -> Range:
    """Return the lowest and highest rating to show, so that the well-known agents fill the chart.

    `bar` is how many errors the bars reach to both sides. Agents whose error is enormous beside the median do not
    count with their bars, and with their rating only if it is not further away than the others are spread.
    """
    limit = _ENORMOUS * median(errors)
    known = [(rating, bar * error) for rating, error in zip(ratings, errors, strict=True) if error <= limit]
    low = min(rating - half for rating, half in known)
    high = max(rating + half for rating, half in known)
    reach = _FARAWAY * (high - low)
    near = [rating for rating in ratings if low - reach <= rating <= high + reach]
    low, high = min(low, *near), max(high, *near)
    margin = max(0.05 * (high - low), _LEAST_MARGIN)
    return low - margin, high + margin


def share_range(intervals: Sequence[Sequence[float]], middle: float) -> Range:
    """Return a range of shares around `middle`, the same to both sides, that holds the intervals."""
    farthest = max((abs(bound - middle) for interval in intervals for bound in interval), default=0.0)
    half = 1.15 * max(farthest, 0.01)
    return middle - half, middle + half


def time_range(times: Sequence[float]) -> Range:
    """Return the range of a logarithmic axis of positive times, with room at both ends."""
    low, high = min(times), max(times)
    room = max((high / low) ** 0.08, 1.8)
    return low / room, high * room


def score_range(edges: Sequence[float], counts: Sequence[Sequence[int]]) -> Range:
    """Return the range of scores that occur: from the first to the last bin that anybody's counts fill."""
    filled = [index for index in range(len(edges) - 1) if any(row[index] for row in counts)]
    return (edges[filled[0]], edges[filled[-1] + 1]) if filled else (edges[0], edges[-1])
