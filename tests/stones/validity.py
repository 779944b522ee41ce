"""What the records that the rules can reach have in common."""

import numpy as np

from meeplezoo.envs.engine.compilation import kernel
from meeplezoo.envs.engine.state import RUNNING

from .state import MOST_PLAYERS

FAULTS = (
    "",
    "the stones taken do not make up for the pile",
    "a player who is not in the game has stones or luck",
    "the game is over, but there are stones left, or goes on without any",
)
_STONES, _ABSENT, _OVER = range(1, len(FAULTS))


@kernel
def find_fault(state, spare):
    stones = np.int64(state["stones"])
    for player in range(MOST_PLAYERS):
        stones += state["taken"][player]
        absent = player >= state["option_num_players"]
        if absent and (state["taken"][player] > 0 or state["luck"][player] > 0):
            return _ABSENT
    if stones != state["option_pile"]:
        return _STONES
    if (state["stones"] == 0) == (state["status"] == RUNNING):
        return _OVER
    return 0
