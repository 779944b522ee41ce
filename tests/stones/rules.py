"""The rules, as kernels on one record; action a takes a + 1 stones."""

import numpy as np

from meeplezoo.envs.engine.compilation import kernel
from meeplezoo.envs.engine.random_stream import draw
from meeplezoo.envs.engine.state import ENDED, RUNNING

from .observation import observe
from .state import FIRST_LIMIT, LAST_POINTS, MOST_LUCK, NUM_ACTIONS

__all__ = [
    "apply",
    "count_legal",
    "determinize",
    "is_legal",
    "legal_mask",
    "nth_legal",
    "observe",
    "reset",
    "scores_and_ranks",
]


@kernel
def reset(state):
    state["stones"] = state["option_pile"]
    for player in range(state["option_num_players"]):
        state["luck"][player] = draw(state["random"], MOST_LUCK + 1)


@kernel
def count_legal(state):
    limit = np.int64(FIRST_LIMIT)
    if state["last_take"] > 0:
        limit = min(np.int64(NUM_ACTIONS), np.int64(state["last_take"]) + 1)
    return min(limit, np.int64(state["stones"]))


@kernel
def nth_legal(state, n):
    return n


@kernel
def is_legal(state, action):
    return state["status"] == RUNNING and 0 <= action < count_legal(state)


@kernel
def legal_mask(state, mask):
    for action in range(NUM_ACTIONS):
        mask[action] = action < count_legal(state)


@kernel
def apply(state, action):
    player = np.int64(state["to_move"])
    state["stones"] -= action + 1
    state["taken"][player] += action + 1
    state["last_take"] = action + 1
    if state["stones"] == 0:
        state["status"] = ENDED
    else:
        state["to_move"] = (player + 1) % np.int64(state["option_num_players"])


@kernel
def write_scores(state, scores):
    for player in range(np.int64(state["option_num_players"])):
        scores[player] = np.int64(state["taken"][player]) + np.int64(state["luck"][player])
        if state["status"] != RUNNING and player == state["to_move"]:
            scores[player] += LAST_POINTS


@kernel
def scores_and_ranks(state, scores, ranks):
    players = np.int64(state["option_num_players"])
    write_scores(state, scores)
    for player in range(players):
        ranks[player] = 0
        for other in range(players):
            ranks[player] += scores[other] > scores[player]
    if players == 1:
        ranks[0] = state["last_take"] != 1


@kernel
def determinize(state, seat):
    for player in range(state["option_num_players"]):
        if player != seat:
            state["luck"][player] = draw(state["random"], MOST_LUCK + 1)
