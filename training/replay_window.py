"""The decisions of the last games, to learn from: a ring in plain arrays."""

from typing import Any

import numpy as np


class ReplayWindow:
    """At most `size` decisions, the oldest replaced first.

    | array | dtype | meaning |
    |---|---|---|
    | `observation` | float16 [size, observation_size] | what the player to move sees |
    | `policy` | float16 [size, num_actions] | the target of the policy |
    | `mask` | uint8 [size, num_actions / 8] | the legal actions, one bit each |
    | `returns` | float32 [size, num_players] | the targets of the values, own seat first |

    Observations are small multiples of simple fractions: 11 bits tell them apart.
    """

    NAMES = ("observation", "policy", "mask", "returns")

    def __init__(self, size: int, observation_size: int, num_actions: int, num_players: int) -> None:
        self._num_actions = num_actions
        self.observation = np.zeros((size, observation_size), np.float16)
        self.policy = np.zeros((size, num_actions), np.float16)
        self.mask = np.zeros((size, -(-num_actions // 8)), np.uint8)
        self.returns = np.zeros((size, num_players), np.float32)
        self.count = 0
        """Decisions that have ever been added."""

    def __len__(self) -> int:
        return min(self.count, len(self.observation))

    def add(self, observation: np.ndarray, policy: np.ndarray, mask: np.ndarray, returns: np.ndarray) -> None:
        """Add k decisions: arrays [k, ...] as above, the mask int8 [k, num_actions]."""
        size = len(self.observation)
        rows = np.arange(self.count, self.count + len(observation))[-size:]
        places, last = rows % size, rows - self.count
        self.observation[places] = observation[last]
        self.policy[places] = policy[last]
        self.mask[places] = np.packbits(mask[last] != 0, axis=1)
        self.returns[places] = returns[last]
        self.count += len(observation)

    def draw(self, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return decisions drawn at random: observation float32, policy float32, mask uint8, returns float32."""
        return self.take(random.integers(len(self), size=count))

    def take(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the decisions in places of the ring, as `draw` does."""
        mask = np.unpackbits(self.mask[rows], axis=1, count=self._num_actions)
        observation, policy = self.observation[rows], self.policy[rows]
        return observation.astype(np.float32), policy.astype(np.float32), mask, self.returns[rows]

    def get_state(self) -> dict[str, Any]:
        """Return what is in the window."""
        return {"count": self.count, **{name: getattr(self, name)[: len(self)].copy() for name in self.NAMES}}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`."""
        self.count = state["count"]
        for name in self.NAMES:
            getattr(self, name)[: len(self)] = state[name]
