"""One named part of a game's observation vector."""

from dataclasses import dataclass, replace
from math import prod

import numpy as np


@dataclass(frozen=True)
class ObservationField:
    """A part of an observation: its name, shape, meaning, largest value (the smallest is 0), and scale.

    A game's kernel writes whole numbers. The value is the number times the scale, one for all of them or one for each.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    high: float = 1.0
    scale: float | tuple[float, ...] = 1.0

    @property
    def size(self) -> int:
        """Return how many numbers it has."""
        return prod(self.shape)

    @property
    def scales(self) -> np.ndarray:
        """Return the scale of each number, float32 [size]."""
        return np.broadcast_to(np.array(self.scale, np.float32), self.size)

    def of(self, owner: str) -> "ObservationField":
        """Return the same field of a named player."""
        return replace(self, name=f"{owner}: {self.name}")
