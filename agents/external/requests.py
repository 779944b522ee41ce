"""What a bot of the user's own is shown: nothing that its seat may not know, and no seed that would tell it."""

import hashlib

import numpy as np

from ...envs.engine.random_stream import MAX_SEED
from ...envs.game import Game, as_batch
from ...envs.interfaces.decision_batch import DecisionBatch
from ..streams import agent_stream

_PLIES_TO_WARM = 40


def dealing_stream(seed: int) -> np.ndarray:
    """Return the stream, uint32[4], from which all that is hidden is dealt anew for the agent of a seed."""
    return agent_stream(_hashed(seed, "deals"))


def told_seed(seed: int) -> int:
    """Return the seed that a bot is told for its own use."""
    return _hashed(seed, "bot")


def _hashed(seed: int, purpose: str) -> int:
    # an agent's seed may be that of a game, or of the next one's: whoever knew it could deal that game again
    digest = hashlib.blake2b(f"{purpose} {seed}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") & MAX_SEED


def shown_states(decisions: DecisionBatch, stream: np.ndarray) -> np.ndarray:
    """Return records [n] in which all that is hidden is dealt anew from the stream, and without the game's seed."""
    states = decisions.determinize(stream)
    states["seed"] = 0
    return states


def warm_up(game: Game) -> None:
    """Compile or load whatever shows decisions of the game, so that no bot's time is spent on it."""
    state = game.new(0)
    for _ in range(_PLIES_TO_WARM):
        # a copy: kernels are compiled once for arrays and once for the read-only view of one record
        decisions = DecisionBatch(game, as_batch(state).copy())
        _ = decisions.determinize(agent_stream(0)), decisions.mask, decisions.observation, game.position(state)
        game.play(state, game.legal_moves(state)[0])
