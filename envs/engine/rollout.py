"""Rollouts, priors and returns of a tree search."""

import numpy as np

from .choice import NO_ACTION, choose_best, choose_uniform
from .compilation import Integer, kernel
from .interface import action_values, apply, scores_and_ranks
from .random_stream import next_word
from .standing import write_returns_of
from .state import RUNNING
from .workspace import Workspace

PURPOSE, COMPILATION_SECONDS = "rollouts", 5

ROLLOUT_SETTINGS = np.dtype(
    [
        ("c_puct", np.float32),
        ("puct", np.bool_),
        ("closed_loop", np.bool_),
        ("network", np.bool_),
        ("layout", np.uint8),
        ("temperature", np.float32),
        ("rollout_plies", np.int32),
        ("greedy_prob", np.float32),
        ("win_weight", np.float32),
        ("margin_scale", np.float32),
    ]
)
"""The settings of a search; see `agents/search/mcts_agent.py`. `network`: a network values the leaves and the root."""


@kernel
def rollout(state: np.void, seat: Integer, settings: np.ndarray, stream: np.ndarray, workspace: Workspace) -> None:
    """Play from a leaf for some plies or to the end: each decision is greedy with a probability, else random.

    After those plies, continue until `seat` begins a turn: scores are comparable only after all had their turns.
    """
    threshold = np.uint64(settings[0]["greedy_prob"] * np.float32(4294967296.0))
    plies = 0
    before = np.int64(seat)
    while state["status"] == RUNNING and (
        plies < settings[0]["rollout_plies"] or before == seat or state["to_move"] != seat
    ):
        before = np.int64(state["to_move"])
        if threshold > 0 and next_word(stream) < threshold:
            workspace.values[:] = -np.inf
            action_values(state, workspace.values, workspace.scratch)
            action = choose_best(workspace.values, stream)
        else:
            action = choose_uniform(state, stream, workspace.mask)
        if action == NO_ACTION:
            # a game before its first reset has no legal actions
            return
        apply(state, action)
        state["ply"] += 1
        plies += 1


@kernel
def write_returns(state: np.void, settings: np.ndarray, workspace: Workspace) -> None:
    """Write each player's return, 0 to 1, to `workspace.returns`: the win fraction mixed with the squashed margin.

    In a running game only the margin counts: it says more than who leads.
    """
    num_players = np.int64(state["option_num_players"])
    scores, ranks = workspace.scores, workspace.ranks
    scores_and_ranks(state, scores, ranks)
    weight = settings[0]["win_weight"]
    if state["status"] == RUNNING:
        weight = np.float32(0.0)
    write_returns_of(scores, ranks, num_players, weight, settings[0]["margin_scale"], workspace.returns)


@kernel
def write_priors(state: np.void, settings: np.ndarray, workspace: Workspace) -> None:
    """Write the softmax of the heuristic over the legal actions of `workspace.mask` to `workspace.values`."""
    mask, values = workspace.mask, workspace.values
    values[:] = -np.inf
    action_values(state, values, workspace.scratch)
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
