"""The decisions of the last games, to learn from: a ring in plain arrays."""

from typing import Any

import numpy as np

from ..envs.validation.arrays import check_integer
from .episode_buffer import TrainingSamples
from .state_checks import MOST, check_array, check_keys


class ReplayBuffer:
    """At most `size` decisions, the oldest replaced first.

    | array | dtype | meaning |
    |---|---|---|
    | `observation` | float16 [size, observation_size] | what the player to move sees |
    | `policy` | float16 [size, num_actions] | the target of the policy |
    | `mask` | uint8 [size, num_actions / 8] | the legal actions, one bit each |
    | `returns` | float32 [size, num_players] | the targets of the values, own seat first |
    | `action_values` | float16 [size, num_actions] | the heuristic's values; no columns if nobody asks |
    | `margins` | float32 [size, num_players] | that values are learned beside, in margin scales, own seat first |

    Observations are small multiples of simple fractions: 11 bits tell them apart.
    """

    NAMES = ("observation", "policy", "mask", "returns", "action_values", "margins")

    def __init__(self, size: int, observation_size: int, num_actions: int, num_players: int, heuristic: bool) -> None:
        self._num_actions = num_actions
        self.observation = np.zeros((size, observation_size), np.float16)
        self.policy = np.zeros((size, num_actions), np.float16)
        self.mask = np.zeros((size, -(-num_actions // 8)), np.uint8)
        self.returns = np.zeros((size, num_players), np.float32)
        self.action_values = np.zeros((size, num_actions if heuristic else 0), np.float16)
        self.margins = np.zeros((size, num_players), np.float32)
        self.count = 0
        """Decisions that have ever been added."""

    def __len__(self) -> int:
        return min(self.count, len(self.observation))

    def add(self, lessons: TrainingSamples) -> None:
        """Add the decisions of some lessons."""
        size, new = len(self.observation), len(lessons)
        rows = np.arange(self.count, self.count + new)[-size:]
        places, last = rows % size, rows - self.count
        self.mask[places] = np.packbits(lessons.mask[last] != 0, axis=1)
        for name in ("observation", "policy", "returns", "action_values", "margins"):
            own = getattr(self, name)
            own[places] = getattr(lessons, name)[last, : own.shape[1]]
        self.count += new

    def draw(self, count: int, random: np.random.Generator) -> TrainingSamples:
        """Return decisions drawn at random."""
        return self.take(random.integers(len(self), size=count))

    def take(self, rows: np.ndarray) -> TrainingSamples:
        """Return the decisions in places of the ring."""
        mask = np.unpackbits(self.mask[rows], axis=1, count=self._num_actions).view(np.int8)
        observation, policy, values = (
            getattr(self, name)[rows].astype(np.float32) for name in ("observation", "policy", "action_values")
        )
        return TrainingSamples(observation, policy, mask, self.returns[rows], values, self.margins[rows])

    def get_state(self) -> dict[str, Any]:
        """Return what is in the window, to be written at once: the arrays are not copied."""
        return {"count": self.count, **{name: getattr(self, name)[: len(self)] for name in self.NAMES}}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`; ValueError if it is none of such a window."""
        check_keys(state, ("count", *self.NAMES), "window")
        self.count = check_integer(state["count"], "window/count", 0, MOST)
        for name in self.NAMES:
            own = getattr(self, name)
            own[: len(self)] = check_array(state[name], f"window/{name}", own, len(self))
