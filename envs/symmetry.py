"""What may be exchanged in a game without changing it, for augmenting training data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

Drawn = TypeVar("Drawn")
Policies = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Symmetry(Generic[Drawn]):
    """The symmetries of a game with its options.

    order: (options) -> the number of symmetries.
    draw: (options, n, random) -> n symmetries, each drawn uniformly from all, in a form of the game's own.
    apply: (options, layout, symmetries, observation, policies) -> new arrays, in which every row is that of the
        position under its symmetry. observation: float32 [n, observation_size], as the player to move sees it;
        policies: any numbers by action, as masks are, each [n, num_actions].
    """

    order: Callable[[dict[str, Any]], int]
    draw: Callable[[dict[str, Any], int, np.random.Generator], Drawn]
    apply: Callable[[dict[str, Any], str, Drawn, np.ndarray, Policies], tuple[np.ndarray, Policies]]

    def transform(
        self,
        options: dict[str, Any],
        layout: str,
        observation: np.ndarray,
        policies: Policies,
        random: np.random.Generator,
    ) -> tuple[np.ndarray, Policies]:
        """Return every row under a random symmetry of its own; see `apply`."""
        return self.apply(options, layout, self.draw(options, len(observation), random), observation, policies)


def no_symmetry() -> Symmetry[None]:
    """Return what a game has in which nothing can be exchanged."""
    return Symmetry(
        order=lambda options: 1,
        draw=lambda options, n, random: None,
        apply=lambda options, layout, symmetries, observation, policies: (
            observation.copy(),
            tuple(policy.copy() for policy in policies),
        ),
    )


def take_groups(numbers: np.ndarray, origins: np.ndarray) -> np.ndarray:
    """Return numbers [n, m * k] with the m groups of k in each row taken from other ones, origins int64 [n, m]."""
    n, m = origins.shape
    from_all = origins + m * np.arange(n)[:, None]
    return numbers.reshape(n * m, numbers.shape[1] // m).take(from_all.ravel(), axis=0).reshape(numbers.shape)
