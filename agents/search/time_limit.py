"""Searches that end in time: for a limit that an agent is told, or for one that it sets itself."""

import math
import time
from collections.abc import Iterator

from ...envs.interfaces.decision_batch import DecisionBatch

TIME_FRACTION = 0.9
"""What a search takes of a time limit; the rest is for what comes before and after it."""


def deadline_of(decisions: DecisionBatch, index: int, began: float, count: int = 1) -> float:
    """Return when the search of one decision has to end if that of the first began at `began`; inf without a limit.

    With a `count` it is the search of so many decisions side by side, that begin with one.

    Both are times of `time.perf_counter`, in seconds. Time that an earlier decision took too much is taken from the
    later ones; what it left is not given to them.
    """
    limit = decisions.seconds_per_move
    if limit is None:
        return math.inf
    now = time.perf_counter()
    left = began + len(decisions) * limit - now
    return now + TIME_FRACTION * count * min(limit, left / (len(decisions) - index))


class Pace:
    """The pace of a work of equal pieces that begins now, against an end, a time of `time.perf_counter`.

    Without an end (inf) the clock is not looked at.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._began = 0.0 if deadline == math.inf else time.perf_counter()

    def fitting(self, done: int) -> float:
        """Return how many more pieces fit before the end if they take as long as those that are done, at least one."""
        if self._deadline == math.inf:
            return math.inf
        now = time.perf_counter()
        return (self._deadline - now) * done / max(now - self._began, 1e-9)


def chunks(number: int, most: int, deadline: float) -> Iterator[int]:
    """Yield how much of a work of `number` equal pieces to do next, until it is done or no piece fits any more.

    With an end, a time of `time.perf_counter`, the first portion is one piece and none has more than `most`; without
    one (inf) all is one portion, and the clock is not looked at.
    """
    if deadline == math.inf:
        yield number
        return
    pace = Pace(deadline)
    done, chunk = 0, 1
    while done < number:
        chunk = min(chunk, number - done)
        yield chunk
        done += chunk
        fitting = pace.fitting(done)
        if fitting < 1:
            return
        # half of what fits, since the pace so far is not the pace to come
        chunk = max(1, min(most, int(fitting / 2)))
