"""One named part of a game's observation vector."""

from dataclasses import dataclass, replace
from math import prod


@dataclass(frozen=True)
class ObservationField:
    """A part of the flat float32 observation: its name, shape, meaning and largest value (the smallest is 0)."""

    name: str
    shape: tuple[int, ...]
    meaning: str
    high: float = 1.0

    @property
    def size(self) -> int:
        """Return the number of floats."""
        return prod(self.shape)

    def of(self, owner: str) -> "ObservationField":
        """Return the same field of a named player."""
        return replace(self, name=f"{owner}: {self.name}")
