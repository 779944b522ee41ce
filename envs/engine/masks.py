"""Kernels on action masks, the same for every game."""

import numpy as np

from .compilation import kernel
from .random_stream import draw


@kernel
def choose_from_mask(mask: np.ndarray, stream: np.ndarray, actions: np.ndarray) -> None:
    """Choose a uniformly random action of each row of a mask, int8 [n, num_actions]; -1 where there is none."""
    for index in range(len(mask)):
        count = 0
        for action in range(mask.shape[1]):
            # no sum of the mask: in plain Python it would be an int8 too
            if mask[index, action]:
                count += 1
        chosen = -1
        if count > 0:
            left = draw(stream, count)
            while left >= 0:
                chosen += 1
                left -= mask[index, chosen]
        actions[index] = chosen
