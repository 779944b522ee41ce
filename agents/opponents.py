"""The other seats of a learner's game: agents, given as objects or as texts."""

from collections.abc import Sequence

import numpy as np

from ..envs.engine.random_stream import MAX_SEED
from ..envs.game import Game
from .protocol import Agent
from .registry import make_agent

Opponents = str | Agent | Sequence[str | Agent]


def opponent_list(opponents: Opponents) -> list[str | Agent]:
    """Return the opponents as a list: one that plays all other seats, or one for each of them."""
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        return list(opponents)
    return [opponents]


def make_opponents(opponents: list[str | Agent], game: Game, random: np.random.Generator) -> list[Agent]:
    """Return the agents, those named by a text made anew with seeds drawn from `random`.

    Agents given as objects stay what they are, their random streams included. Raises ValueError for a text
    that names no agent.
    """
    seeds = random.integers(MAX_SEED + 1, size=len(opponents)).tolist()
    return [
        make_agent(opponent, game, seed) if isinstance(opponent, str) else opponent
        for opponent, seed in zip(opponents, seeds, strict=True)
    ]
