"""The heuristic: stones are points, and so are the last ones."""

import numpy as np

from meeplezoo.envs.engine.compilation import kernel

from .rules import count_legal, write_scores
from .state import LAST_POINTS


@kernel
def action_values(state, values, scratch):
    stones = np.int64(state["stones"])
    for action in range(count_legal(state)):
        values[action] = action + 1
        if action + 1 == stones:
            values[action] += LAST_POINTS


@kernel
def projected_scores(state, scores):
    write_scores(state, scores)
