"""Advantages and returns of games in which several players learn: each along its own decisions."""

import numpy as np


def advantages_and_returns(
    rewards: np.ndarray,
    done: np.ndarray,
    movers: np.ndarray,
    learning: np.ndarray,
    values: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return generalised advantages and lambda-returns of T plies of N games (Schulman et al. 2016, arXiv:1506.02438).

    To a player, what comes after its decision is its next one, however many plies of others, and rewards, lie in
    between: with R all that it is paid from a decision on up to the next, V and V' the values at both, and A' the
    next one's advantage, A = R + gamma (V' + gae_lambda A') - V, and V' = A' = 0 if the game ends first. Nothing is
    known about what comes after a player's last decision before the plies run out: it has no advantage of its own,
    and counts as its value V' to the decision before it.

    The return of any player, from any ply on, is R + gamma (V' + gae_lambda A'), R from that ply on and the dash its
    next decision after the ply: at the mover's own decision that is A + V. It is unknown (False) if neither such a
    decision nor the end of the game came.

    Arguments, T plies first:
        rewards: float32 [T, N, players], what each seat is paid in the ply.
        done: bool [T, N], whether the ply ended the game; the next ply is the first of another one.
        movers: int64 [T, N], the seat that decides.
        learning: bool [T, N, players], the seats that learn in the game; others have no values, nor known returns.
        values: float32 [T, N], what the mover expected to be paid; read only where it is learning.

    Returns advantages float32 [T, N] (0 where unknown), whether they are known bool [T, N], returns float32
    [T, N, players] and whether those are known, bool [T, N, players].
    """
    plies, number, players = rewards.shape
    games = np.arange(number)
    ahead, known = np.zeros((number, players), np.float32), np.zeros((number, players), np.bool_)
    advantages, has_advantage = np.zeros((plies, number), np.float32), np.zeros((plies, number), np.bool_)
    returns, has_return = np.empty(rewards.shape, np.float32), np.empty(rewards.shape, np.bool_)
    for ply in range(plies - 1, -1, -1):
        ended, mover, value = done[ply], movers[ply], values[ply]
        ahead[ended], known[ended] = 0.0, learning[ply, ended]
        ahead += rewards[ply]
        returns[ply], has_return[ply] = ahead, known
        after, own = ahead[games, mover], learning[ply, games, mover]
        has_advantage[ply] = own & known[games, mover]
        advantages[ply] = np.where(has_advantage[ply], after - value, 0.0)
        # to all plies before, the mover's future is this decision
        ahead[games, mover] = np.where(own, gamma * (value + gae_lambda * advantages[ply]), after)
        known[games, mover] |= own
    return advantages, has_advantage, returns, has_return
