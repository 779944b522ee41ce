"""Rewards at the end of a game, from the scores and ranks of its players.

| name | reward of a player |
|---|---|
| `outcome` | winner +1, others -1 / (n - 1); tied winners split it, so that the sum is 0 |
| `margin` | (own score - best other score) / the game's margin scale |
| `rank` | from +1 (first) to -1 (last) in equal steps; tied players share the mean of their ranks |

A single player wins or loses against the rules: `outcome` and `rank` are +1 for rank 0 and -1 otherwise, and the
best other score is 0.
"""

from functools import cache
from typing import Any

import numpy as np

from .compilation import kernel
from .standing import margin_of

REWARDS = ("outcome", "margin", "rank")
OUTCOME, MARGIN, RANK = 0, 1, 2

REWARD_SETTINGS = np.dtype(
    [("check", "?"), ("auto_reset", "?"), ("rewards", "u1"), ("unused", "u1"), ("margin_scale", "<f4")], align=True
)
"""How a batch steps: whether to check actions and to reset finished games, index into REWARDS, scale of `margin`."""


@cache
def outcome_dtype(most_players: int) -> np.dtype:
    """Return the dtype of a step's results, for at most this many players.

    It has rewards per player, and for the step that ends a game scores, ranks, `done` and `truncated`.
    """
    fields: list[Any] = [("rewards", "<f4", (most_players,))]
    fields += [("scores", "<i4", (most_players,)), ("ranks", "<i4", (most_players,))]
    # the last bytes are a field: numpy leaves padding undefined when it copies
    return np.dtype([*fields, ("done", "?"), ("truncated", "?"), ("unused", "u1", (2,))], align=True)


@kernel
def write_rewards(
    scores: np.ndarray, ranks: np.ndarray, num_players: int, kind: int, margin_scale: float, rewards: np.ndarray
) -> None:
    """Write the rewards of a finished game, float32 [num_players], from scores and ranks, int32 [num_players]."""
    for player in range(num_players):
        if kind == OUTCOME:
            rewards[player] = _outcome(ranks, num_players, player)
        elif kind == MARGIN:
            rewards[player] = margin_of(scores, player, num_players) / margin_scale
        else:
            rewards[player] = _rank(ranks, num_players, player)


@kernel
def _outcome(ranks: np.ndarray, num_players: int, player: int) -> float:
    if ranks[player] > 0:
        return -1.0 / max(num_players - 1, 1)
    winners = 0
    for other in range(num_players):
        winners += ranks[other] == 0
    return (1.0 - (winners - 1.0) / max(num_players - 1.0, 1.0)) / winners


@kernel
def _rank(ranks: np.ndarray, num_players: int, player: int) -> float:
    sharing = 0
    for other in range(num_players):
        sharing += ranks[other] == ranks[player]
    mean_rank = ranks[player] + (sharing - 1) / 2
    return 1.0 - 2.0 * mean_rank / max(num_players - 1, 1)
