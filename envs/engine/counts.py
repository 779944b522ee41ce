"""Items that are kept as counts by kind: the tiles of a bag, the cards of a deck."""

import numpy as np

from .compilation import Integer, kernel
from .random_stream import draw


@kernel
def draw_from_counts(stream: np.ndarray, counts: np.ndarray, total: Integer) -> Integer:
    """Return the kind of one of `total` items drawn from counts, all equally likely; the counts stay as they are."""
    left = draw(stream, total)
    kind = 0
    while left >= counts[kind]:
        left -= counts[kind]
        kind += 1
    return kind
