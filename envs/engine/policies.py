"""Policies that play inside kernels: the agents `random` and `greedy` as opponents of a learner."""

import numpy as np

from .choice import choose_best, choose_uniform
from .compilation import Integer, kernel
from .interface import action_values

UNIFORM, GREEDY = 0, 1
OUTSIDE = -1
"""Stands for an agent that does not play inside kernels."""


@kernel
def choose_by_policy(
    policy: Integer, state: np.void, stream: np.ndarray, mask: np.ndarray, values: np.ndarray, scratch: np.ndarray
) -> Integer:
    """Return a legal action, or NO_ACTION if there is none; `mask`, `values` and `scratch` as in `Workspace`."""
    if policy == UNIFORM:
        return choose_uniform(state, stream, mask)
    values[:] = -np.inf
    action_values(state, values, scratch)
    return choose_best(values, stream)
