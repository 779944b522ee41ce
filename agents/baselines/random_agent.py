"""The agent that plays every legal action with the same probability."""

import numpy as np

from ...envs.engine.masks import choose_from_mask
from ...envs.engine.policies import UNIFORM
from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch
from ..streams import agent_stream, refuse_argument


class RandomAgent:
    """Chooses uniformly among the legal actions."""

    policy = UNIFORM

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.stream = agent_stream(seed)

    def reset(self, seed: int) -> None:
        """Begin anew with another seed."""
        self.stream = agent_stream(seed)

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]."""
        actions = np.empty(len(decisions), np.int64)
        choose_from_mask(decisions.mask, self.stream, actions)
        return actions


def make(game: Game, text: str, argument: str, seed: int) -> RandomAgent:
    """Return the agent; see `registry.make_agent`."""
    refuse_argument(text, argument)
    return RandomAgent(text, seed)
