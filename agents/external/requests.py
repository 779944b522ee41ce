"""What an external bot receives: only what its seat may know, and no seed that would reveal more."""

import hashlib

import numpy as np

from ...envs.engine.random_stream import MAX_SEED
from ...envs.game import Game, as_batch
from ...envs.interfaces.decision_batch import DecisionBatch
from ..streams import agent_stream

_PLIES_TO_WARM = 40


def determinization_stream(seed: int) -> np.ndarray:
    """Return the random stream, uint32 [4], that determinizes states for the agent of a seed."""
    return agent_stream(_hash_seed(seed, "deals"))


def bot_seed(seed: int) -> int:
    """Return the seed that a bot gets for its own use."""
    return _hash_seed(seed, "bot")


def _hash_seed(seed: int, purpose: str) -> int:
    # the seed of an agent may be that of a game: whoever knew it could reproduce the hidden deal
    digest = hashlib.blake2b(f"{purpose} {seed}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") & MAX_SEED


def visible_states(decisions: DecisionBatch, stream: np.ndarray) -> np.ndarray:
    """Return determinized states [n] without the seed of the game."""
    states = decisions.determinize(stream)
    states["seed"] = 0
    return states


def warm_up(game: Game) -> None:
    """Compile or load the kernels that requests need, so that this takes none of the time of a bot."""
    state = game.new(0)
    for _ in range(_PLIES_TO_WARM):
        # a copy: kernels are compiled once for arrays and once for the read-only view of one record
        decisions = DecisionBatch(game, as_batch(state).copy())
        _ = decisions.determinize(agent_stream(0)), decisions.mask, decisions.observation, game.position(state)
        game.play(state, game.legal_moves(state)[0])
