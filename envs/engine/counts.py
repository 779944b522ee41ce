"""Items stored as counts by kind: the tiles of a bag, the cards of a deck."""

import numpy as np

from .compilation import Integer, kernel
from .random_stream import draw


@kernel
def draw_from_counts(stream: np.ndarray, counts: np.ndarray, total: Integer) -> Integer:
    """Draw one of `total` items uniformly and return its kind; the counts do not change."""
    left = draw(stream, total)
    kind = 0
    while left >= counts[kind]:
        left -= counts[kind]
        kind += 1
    return kind
