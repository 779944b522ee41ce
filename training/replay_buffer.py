"""A ring buffer of the decisions of the last games."""

from typing import Any

import numpy as np

from ..envs.validation.arrays import check_integer
from .episode_buffer import TrainingSamples
from .state_checks import MOST, check_array, check_keys


class ReplayBuffer:
    """At most `capacity` decisions, the oldest replaced first; players are listed from the mover on.

    | array | dtype | meaning |
    |---|---|---|
    | `observation` | float16 [capacity, observation_size] | of the mover |
    | `policy` | float16 [capacity, num_actions] | the policy target |
    | `mask` | uint8 [capacity, num_actions / 8] | the legal actions, one bit each |
    | `returns` | float32 [capacity, num_players] | the value target |
    | `action_values` | float16 [capacity, num_actions] | heuristic values; no columns without `heuristic` |
    | `margins` | float32 [capacity, num_players] | current or projected margins, in margin scales |

    Observations are small multiples of simple fractions, which float16 holds well enough.
    """

    NAMES = ("observation", "policy", "mask", "returns", "action_values", "margins")

    def __init__(
        self, capacity: int, observation_size: int, num_actions: int, num_players: int, heuristic: bool
    ) -> None:
        self._num_actions = num_actions
        self.observation = np.zeros((capacity, observation_size), np.float16)
        self.policy = np.zeros((capacity, num_actions), np.float16)
        self.mask = np.zeros((capacity, -(-num_actions // 8)), np.uint8)
        self.returns = np.zeros((capacity, num_players), np.float32)
        self.action_values = np.zeros((capacity, num_actions if heuristic else 0), np.float16)
        self.margins = np.zeros((capacity, num_players), np.float32)
        self.count = 0
        """Decisions added so far."""

    def __len__(self) -> int:
        return min(self.count, len(self.observation))

    def add(self, samples: TrainingSamples) -> None:
        """Add decisions."""
        capacity, new = len(self.observation), len(samples)
        rows = np.arange(self.count, self.count + new)[-capacity:]
        slots, last = rows % capacity, rows - self.count
        self.mask[slots] = np.packbits(samples.mask[last] != 0, axis=1)
        for name in ("observation", "policy", "returns", "action_values", "margins"):
            array = getattr(self, name)
            array[slots] = getattr(samples, name)[last, : array.shape[1]]
        self.count += new

    def sample(self, count: int, random: np.random.Generator) -> TrainingSamples:
        """Return decisions sampled uniformly with replacement."""
        return self.take(random.integers(len(self), size=count))

    def take(self, rows: np.ndarray) -> TrainingSamples:
        """Return the decisions in some rows of the buffer."""
        mask = np.unpackbits(self.mask[rows], axis=1, count=self._num_actions).view(np.int8)
        observation, policy, values = (
            getattr(self, name)[rows].astype(np.float32) for name in ("observation", "policy", "action_values")
        )
        return TrainingSamples(observation, policy, mask, self.returns[rows], values, self.margins[rows])

    def get_state(self) -> dict[str, Any]:
        """Return the content without copying it: write it before more is added."""
        return {"count": self.count, **{name: getattr(self, name)[: len(self)] for name in self.NAMES}}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`; ValueError if it does not fit."""
        check_keys(state, ("count", *self.NAMES), "replay_buffer")
        self.count = check_integer(state["count"], "replay_buffer/count", 0, MOST)
        for name in self.NAMES:
            array = getattr(self, name)
            array[: len(self)] = check_array(state[name], f"replay_buffer/{name}", array, len(self))
