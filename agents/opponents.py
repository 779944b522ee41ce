"""The other seats of a learner's game: agents, given as objects or as texts."""

from collections.abc import Sequence

import numpy as np

from ..envs.engine.random_stream import MAX_SEED
from ..envs.game import Game
from .protocol import Agent, check_agent
from .registry import make_agent, reset_agent

Opponents = str | Agent | Sequence[str | Agent]


def opponent_list(opponents: Opponents) -> list[str | Agent]:
    """Return the opponents as a list: one that plays all other seats, or one for each of them.

    Raises ValueError for what is neither a text nor an agent.
    """
    several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
    given: Sequence[str | Agent] = opponents if several else [opponents]  # type: ignore[assignment, list-item]
    return [str(opponent) if isinstance(opponent, str) else check_agent(opponent) for opponent in given]


def make_opponents(opponents: list[str | Agent], game: Game, random: np.random.Generator) -> list[Agent]:
    """Return the agents, those named by a text made with seeds drawn from `random`.

    Agents given as objects stay what they are, their random streams included. Raises ValueError for a text
    that names no agent.
    """
    return [
        make_agent(opponent, game, seed) if isinstance(opponent, str) else opponent
        for opponent, seed in zip(opponents, _seeds(opponents, random), strict=True)
    ]


def reset_opponents(
    agents: list[Agent], opponents: list[str | Agent], game: Game, random: np.random.Generator
) -> list[Agent]:
    """Return what `make_opponents` would for the same generator, of agents that it made before.

    What takes time to be made, a process of its own or a network, is kept.
    """
    return [
        reset_agent(agent, opponent, game, seed) if isinstance(opponent, str) else opponent
        for agent, opponent, seed in zip(agents, opponents, _seeds(opponents, random), strict=True)
    ]


def _seeds(opponents: list[str | Agent], random: np.random.Generator) -> list[int]:
    # agents given as objects take a seed too, so that the others' do not depend on them
    seeds: list[int] = random.integers(MAX_SEED + 1, size=len(opponents)).tolist()
    return seeds
