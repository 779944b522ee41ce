"""Timing a piece of work that makes decisions."""

import time
from collections.abc import Callable

REPEATS = 5
SECONDS = 0.4


def decisions_per_second(work: Callable[[], int]) -> float:
    """Return the median over some repeats of the decisions per second of `work`, which returns how many it made.

    The work is run once before, so that nothing is compiled while the clock runs, and then often enough that a
    repeat takes a few tenths of a second.
    """
    work()
    begin = time.perf_counter()
    work()
    once = time.perf_counter() - begin
    runs = max(1, round(SECONDS / once))
    rates = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        decisions = sum(work() for _ in range(runs))
        rates.append(decisions / (time.perf_counter() - begin))
    return sorted(rates)[REPEATS // 2]
