"""The search for a record that no game can reach, bound to a game's rules: `load_bound` runs this once per game."""

from types import ModuleType
from typing import Any

from .compilation import kernel
from .state import RUNNING

rules: ModuleType
validity: ModuleType

PURPOSE, COMPILATION_SECONDS = "checks of saved games", 5

STUCK = -1
"""Instead of the index of a fault: nothing is legal although the game goes on."""


@kernel
def first_fault(states: Any, spare: Any) -> Any:
    """Return the index of the first record that cannot be and its fault, -1 and 0 if all can.

    The fields of `states` are all in their ranges; `spare`, record [1], is room to work in.
    """
    for index in range(len(states)):
        spare[0] = states[index]
        fault = validity.fault(states[index], spare[0])
        if fault == 0 and states[index]["status"] == RUNNING and rules.count_legal(states[index]) == 0:
            fault = STUCK
        if fault != 0:
            return index, fault
    return -1, 0
