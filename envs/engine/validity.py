"""Find records that no game can reach."""

import numpy as np

from .compilation import Integer, kernel
from .interface import count_legal, find_fault
from .state import RUNNING

PURPOSE, COMPILATION_SECONDS = "checks of saved games", 5

STUCK = -1
"""Returned instead of the index of a fault: a running game without legal actions."""


@kernel
def find_first_fault(states: np.ndarray, copy: np.ndarray, mask: np.ndarray) -> tuple[int, Integer]:
    """Return the index of the first invalid record and its fault; -1 and 0 if all are valid.

    All fields of `states` are in their ranges; `copy`, record [1], and `mask`, int8 [num_actions], are buffers.
    """
    for index in range(len(states)):
        copy[0] = states[index]
        fault = find_fault(states[index], copy[0])
        if fault == 0 and states[index]["status"] == RUNNING and count_legal(states[index], mask) == 0:
            fault = STUCK
        if fault != 0:
            return index, fault
    return -1, 0
