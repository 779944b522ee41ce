"""The buffers that kernels work in, so that they need no memory of their own."""

from typing import NamedTuple

import numpy as np

from .interface import SCRATCH_SIZE


class Workspace(NamedTuple):
    """Buffers of one thread for one game; what stands in them before and after a call means nothing."""

    mask: np.ndarray
    """int8 [num_actions]"""
    values: np.ndarray
    """float32 [num_actions], of a heuristic"""
    scratch: np.ndarray
    """int64 [SCRATCH_SIZE or more], of a heuristic"""
    child_of_action: np.ndarray
    """int32 [num_actions], the child of a node that each action leads to, 0 for none"""
    observation: np.ndarray
    """float32 [observation_size]"""
    scores: np.ndarray
    """int32 [num_returns]"""
    ranks: np.ndarray
    """int32 [num_returns]"""
    returns: np.ndarray
    """float32 [num_returns]"""


def num_returns(most_players: int) -> int:
    """Return how many returns a node of a search tree has in a game for so many players at most.

    It is an even number, so that the keys of all nodes lie where a processor likes them.
    """
    return most_players + most_players % 2


def make_workspace(num_actions: int, observation_size: int, most_players: int) -> Workspace:
    """Return new buffers for a game."""
    num_players = num_returns(most_players)
    return Workspace(
        mask=np.zeros(num_actions, np.int8),
        values=np.zeros(num_actions, np.float32),
        # without a heuristic the mask stands in it, a byte for each action
        scratch=np.zeros(max(SCRATCH_SIZE, -(-num_actions // 8)), np.int64),
        child_of_action=np.zeros(num_actions, np.int32),
        observation=np.zeros(observation_size, np.float32),
        scores=np.zeros(num_players, np.int32),
        ranks=np.zeros(num_players, np.int32),
        returns=np.zeros(num_players, np.float32),
    )
