"""Who plays the other seats of a learner's game, as the single-agent environments take them."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from ..game import Game
from .agent import Agent, check_agent


@runtime_checkable
class OpponentSource(Protocol):
    """Makes the opponents of an environment, one for all other seats or one for each, and resets them."""

    def make_opponents(self, game: Game, random: np.random.Generator) -> list[Agent]:
        """Return the opponents of an environment that has just been made."""
        ...

    def reset_opponents(self, agents: list[Agent], game: Game, random: np.random.Generator) -> list[Agent]:
        """Return the opponents after a reset with a seed: those that were made before, or others in their places."""
        ...


class FixedOpponents:
    """The same agents from beginning to end; a reset with a seed leaves their random streams alone.

    Raises ValueError for what is no agent.
    """

    def __init__(self, opponents: Agent | Sequence[Agent]) -> None:
        several = opponents if isinstance(opponents, Sequence) and not isinstance(opponents, str) else [opponents]
        self._agents = [check_agent(opponent) for opponent in several]

    def make_opponents(self, game: Game, random: np.random.Generator) -> list[Agent]:
        """Return the agents."""
        return self._agents

    def reset_opponents(self, agents: list[Agent], game: Game, random: np.random.Generator) -> list[Agent]:
        """Return the agents."""
        return agents
