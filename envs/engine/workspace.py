"""The buffers of kernels, which allocate no memory themselves."""

from typing import NamedTuple

import numpy as np

from .interface import SCRATCH_SIZE


class Workspace(NamedTuple):
    """Buffers of one thread for one game; their contents before and after a call have no meaning."""

    mask: np.ndarray
    """int8 [num_actions]"""
    values: np.ndarray
    """float32 [num_actions], of a heuristic"""
    scratch: np.ndarray
    """int64 [SCRATCH_SIZE or more], of a heuristic"""
    child_of_action: np.ndarray
    """int32 [num_actions], the child of the current node for each action, 0 for none"""
    numbers: np.ndarray
    """int16 [observation_size], of an observation"""
    scores: np.ndarray
    """int32 [num_returns]"""
    ranks: np.ndarray
    """int32 [num_returns]"""
    returns: np.ndarray
    """float32 [num_returns]"""


def num_returns(most_players: int) -> int:
    """Return the number of returns in a node of a search tree, in a game for at most this many players.

    It is even, so that the keys of all nodes are aligned.
    """
    return most_players + most_players % 2


def make_workspace(num_actions: int, observation_size: int, most_players: int) -> Workspace:
    """Return new buffers for a game."""
    num_players = num_returns(most_players)
    return Workspace(
        mask=np.zeros(num_actions, np.int8),
        values=np.zeros(num_actions, np.float32),
        # without a heuristic it holds the mask, a byte per action
        scratch=np.zeros(max(SCRATCH_SIZE, -(-num_actions // 8)), np.int64),
        child_of_action=np.zeros(num_actions, np.int32),
        numbers=np.zeros(observation_size, np.int16),
        scores=np.zeros(num_players, np.int32),
        ranks=np.zeros(num_players, np.int32),
        returns=np.zeros(num_players, np.float32),
    )
