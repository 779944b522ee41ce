"""The search for a record that no game can reach."""

import numpy as np

from .compilation import Integer, kernel
from .interface import count_legal, find_fault
from .state import RUNNING

PURPOSE, COMPILATION_SECONDS = "checks of saved games", 5

STUCK = -1
"""Instead of the index of a fault: nothing is legal although the game goes on."""


@kernel
def find_first_fault(states: np.ndarray, copy: np.ndarray, mask: np.ndarray) -> tuple[int, Integer]:
    """Return the index of the first record that cannot be and its fault, -1 and 0 if all can.

    The fields of `states` are all in their ranges; `copy`, record [1], and `mask`, int8 [num_actions], are buffers.
    """
    for index in range(len(states)):
        copy[0] = states[index]
        fault = find_fault(states[index], copy[0])
        if fault == 0 and states[index]["status"] == RUNNING and count_legal(states[index], mask) == 0:
            fault = STUCK
        if fault != 0:
            return index, fault
    return -1, 0
