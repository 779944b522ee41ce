"""Generalised advantage estimation for games of several learning players, each along its own decisions."""

import numpy as np


def compute_gae(
    rewards: np.ndarray,
    done: np.ndarray,
    movers: np.ndarray,
    learning: np.ndarray,
    values: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return generalised advantages and lambda-returns of T plies of N games (Schulman et al. 2016, arXiv:1506.02438).

    Let t be a decision of a player and t' > t its next one; the plies in between are those of others. With r_k the
    reward of the player in ply k and V_t its value at t:

        A_t = sum of r_k for t <= k < t'  +  gamma * (V_t' + gae_lambda * A_t')  -  V_t

    with V_t' = A_t' = 0 if the game ends first. If the rollout ends first, A_t is unknown, and V_t serves only the
    decision before it. The lambda-return of a player at any ply k, with t' its next decision after k:

        G_k = sum of r_j for k <= j < t'  +  gamma * (V_t' + gae_lambda * A_t')

    so that G_t = A_t + V_t at its own decisions. It is unknown if neither t' nor the end of the game is in the rollout.

    Arguments:
        rewards: float32 [T, N, players], of each seat in the ply.
        done: bool [T, N], whether the ply ended the game; the next ply is the first of another game.
        movers: int64 [T, N], the seat that decides.
        learning: bool [T, N, players], the seats that learn; others have neither values nor known returns.
        values: float32 [T, N], of the mover; read only where it is learning.

    Returns advantages float32 [T, N] (0 where unknown), has_advantage bool [T, N], returns float32 [T, N, players] and
    has_return bool [T, N, players].
    """
    num_steps, num_games, players = rewards.shape
    games = np.arange(num_games)
    future, known = np.zeros((num_games, players), np.float32), np.zeros((num_games, players), np.bool_)
    advantages, has_advantage = np.zeros((num_steps, num_games), np.float32), np.zeros((num_steps, num_games), np.bool_)
    returns, has_return = np.empty(rewards.shape, np.float32), np.empty(rewards.shape, np.bool_)
    for step in range(num_steps - 1, -1, -1):
        episode_end, mover, value = done[step], movers[step], values[step]
        future[episode_end], known[episode_end] = 0.0, learning[step, episode_end]
        future += rewards[step]
        returns[step], has_return[step] = future, known
        mover_future, is_learning = future[games, mover], learning[step, games, mover]
        has_advantage[step] = is_learning & known[games, mover]
        advantages[step] = np.where(has_advantage[step], mover_future - value, 0.0)
        # for all earlier steps, the future of the mover is this decision
        future[games, mover] = np.where(is_learning, gamma * (value + gae_lambda * advantages[step]), mover_future)
        known[games, mover] |= is_learning
    return advantages, has_advantage, returns, has_return
