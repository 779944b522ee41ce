"""Playouts, priors and returns of a tree search, bound to one game's rules and heuristic by `load_bound`."""

from types import ModuleType
from typing import Any

import numpy as np

from .compilation import kernel
from .random_stream import draw, next_word
from .state import RUNNING

rules: ModuleType
greedy: ModuleType

PURPOSE, COMPILATION_SECONDS = "playouts", 5

SETTINGS_DTYPE = np.dtype(
    [
        ("exploration", np.float32),
        ("puct", np.bool_),
        ("closed", np.bool_),
        ("network", np.bool_),
        ("temperature", np.float32),
        ("playout_plies", np.int32),
        ("greedy_share", np.float32),
        ("win_weight", np.float32),
        ("margin_scale", np.float32),
    ]
)
"""How to search; see `agents/search/mcts_agent.py`. `network`: leaves are valued from outside, the root too."""


@kernel
def rollout(state: Any, seat: int, settings: Any, stream: Any, values: Any, scratch: Any) -> None:
    """Play on from a leaf, some plies or to the end: a share of the decisions greedily, the others at random.

    After those plies it goes on until `seat` begins a turn: what a game stands at says something only if all have had
    their turns.
    """
    share = np.uint64(settings[0]["greedy_share"] * np.float32(4294967296.0))
    plies = 0
    before = np.int64(seat)
    while state["status"] == RUNNING and (
        plies < settings[0]["playout_plies"] or before == seat or state["to_move"] != seat
    ):
        before = np.int64(state["to_move"])
        if share > 0 and next_word(stream) < share:
            action = _greedy_action(state, stream, values, scratch)
        else:
            action = _random_action(state, stream)
        if action < 0:
            # nothing is legal in a game that has not begun
            return
        rules.apply(state, np.int64(action))
        state["ply"] += 1
        plies += 1


@kernel
def _random_action(state: Any, stream: Any) -> int:
    count = rules.count_legal(state)
    return -1 if count == 0 else rules.nth_legal(state, draw(stream, count))


@kernel
def _greedy_action(state: Any, stream: Any, values: Any, scratch: Any) -> int:
    values[:] = -np.inf
    greedy.action_values(state, values, scratch)
    best = -1
    equal = 0
    best_value = -np.inf
    for action in range(len(values)):
        value = values[action]
        if value > best_value:
            best = action
            best_value = value
            equal = 1
        elif value == best_value and value > -np.inf:
            equal += 1
            if draw(stream, equal) == 0:
                best = action
    return best


@kernel
def write_returns(state: Any, settings: Any, scores: Any, ranks: Any, returns: Any) -> None:
    """Write each player's return, from 0 to 1: the share of the win, mixed with the margin, as the game stands."""
    players = np.int64(state["option_num_players"])
    rules.result(state, scores, ranks)
    winners = 0
    for player in range(players):
        if ranks[player] == 0:
            winners += 1
    weight = settings[0]["win_weight"]
    if state["status"] == RUNNING:
        # who leads in the middle of a game says less than by how much
        weight = np.float32(0.0)
    for player in range(players):
        best_other = np.int64(0) if players == 1 else np.int64(-(2**40))
        for other in range(players):
            if other != player and scores[other] > best_other:
                best_other = scores[other]
        margin = (scores[player] - best_other) / settings[0]["margin_scale"]
        share = 1.0 / winners if ranks[player] == 0 else 0.0
        returns[player] = weight * share + (1.0 - weight) * (0.5 + 0.5 * np.tanh(margin))


@kernel
def write_priors(state: Any, mask: Any, settings: Any, values: Any, scratch: Any) -> None:
    """Write the softmax of the heuristic's values over the legal actions."""
    values[:] = -np.inf
    greedy.action_values(state, values, scratch)
    best = -np.inf
    for action in range(len(mask)):
        if mask[action] and values[action] > best:
            best = values[action]
    total = 0.0
    for action in range(len(mask)):
        if mask[action]:
            values[action] = np.exp((values[action] - best) / settings[0]["temperature"])
            total += values[action]
    for action in range(len(mask)):
        if mask[action]:
            values[action] /= total
