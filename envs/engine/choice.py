"""Choices of actions: at random, and the best with ties broken at random."""

import numpy as np

from .compilation import Integer, kernel
from .interface import count_legal, nth_legal
from .random_stream import draw

NO_ACTION = -1


@kernel
def choose_uniform(state: np.void, stream: np.ndarray, mask: np.ndarray) -> Integer:
    """Return a uniformly random legal action, or NO_ACTION. `mask`, int8 [num_actions], is a buffer."""
    count = count_legal(state, mask)
    if count == 0:
        return NO_ACTION
    return nth_legal(state, draw(stream, count), mask)


@kernel
def choose_best(values: np.ndarray, stream: np.ndarray) -> Integer:
    """Return the index of the largest value, ties broken at random; NO_ACTION if all are -inf."""
    best = NO_ACTION
    best_value = -np.inf
    equal = 0
    for index in range(len(values)):
        value = values[index]
        if value > best_value:
            best = index
            best_value = value
            equal = 1
        elif value == best_value and value > -np.inf:
            equal += 1
            if draw(stream, equal) == 0:
                best = index
    return best
