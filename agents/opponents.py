"""The other seats of a learner's game: agents, given as objects or as texts."""

from collections.abc import Sequence

import numpy as np

from ..envs.engine.random_stream import MAX_SEED
from ..envs.game import Game
from ..envs.interfaces.agent import Agent, check_agent
from .registry import make_agent, reset_agent

Opponents = str | Agent | Sequence[str | Agent]


class NamedOpponents:
    """One opponent that plays all other seats, or one for each of them: an `OpponentSource`.

    Agents given as objects stay what they are, their random streams included. Raises ValueError for what is neither a
    text nor an agent.
    """

    def __init__(self, opponents: Opponents) -> None:
        several = opponents if isinstance(opponents, Sequence) and not isinstance(opponents, str) else [opponents]
        self._given = [str(one) if isinstance(one, str) else check_agent(one) for one in several]

    def make_opponents(self, game: Game, random: np.random.Generator) -> list[Agent]:
        """Return the agents, those named by a text made with seeds drawn from `random`.

        Raises ValueError for a text that names no agent.
        """
        return [
            make_agent(opponent, game, seed) if isinstance(opponent, str) else opponent
            for opponent, seed in zip(self._given, self._draw_seeds(random), strict=True)
        ]

    def reset_opponents(self, agents: list[Agent], game: Game, random: np.random.Generator) -> list[Agent]:
        """Return what `make_opponents` would for the same generator, of agents that it made before.

        What takes time to be made, a process of its own or a network, is kept.
        """
        return [
            reset_agent(agent, opponent, game, seed) if isinstance(opponent, str) else opponent
            for agent, opponent, seed in zip(agents, self._given, self._draw_seeds(random), strict=True)
        ]

    def _draw_seeds(self, random: np.random.Generator) -> list[int]:
        # agents given as objects take a seed too, so that the others' do not depend on them
        seeds: list[int] = random.integers(MAX_SEED + 1, size=len(self._given)).tolist()
        return seeds
