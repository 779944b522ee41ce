"""Minimax search with alpha-beta cutoffs for two players.

Each sample determinizes what the searching seat cannot see and fixes future chance. It is searched as if all that were
known, and the values are averaged (Ginsberg 2001, "GIB: Imperfect Information in a Computationally Challenging Game").
The recursion is a stack of levels; level k is the position after k decisions.
"""

from typing import NamedTuple

import numpy as np

from .compilation import Integer, kernel
from .interface import action_values, apply, determinize, scores_and_ranks
from .random_stream import renew_stream
from .state import RUNNING
from .workspace import Workspace

PURPOSE, COMPILATION_SECONDS = "minimax search", 5

WIN = 1e6
"""The value of a win, in points: more than any margin."""

LEVEL_DTYPE = np.dtype(
    [
        ("low", np.float64),
        ("high", np.float64),
        ("best", np.float64),
        ("count", np.int32),
        ("tried", np.int32),
    ]
)
"""One level of the stack: alpha-beta window, best value so far, number of actions, number of actions tried."""

MINIMAX_SETTINGS = np.dtype(
    [("depth", np.int32), ("width", np.int32), ("samples", np.int32), ("plies", np.int32), ("cutoffs", np.bool_)]
)
"""The settings; see `agents/search/minimax_agent.py`. Without `cutoffs` nothing is pruned; the result is the same."""


class Stack(NamedTuple):
    """The positions on the current path, from the root down."""

    states: np.ndarray
    """record [depth + 1]"""
    levels: np.ndarray
    """`LEVEL_DTYPE` [depth + 1]"""
    actions: np.ndarray
    """int32 [depth + 1, num_actions], the actions of each level, the best by the heuristic first"""


@kernel
def search_minimax(
    root: np.ndarray,
    settings: np.ndarray,
    stream: np.ndarray,
    stack: Stack,
    workspace: Workspace,
    action_means: np.ndarray,
) -> None:
    """Write the value of every action searched, in points of margin for the player to move; -inf for all others.

    Arguments:
        root: record [1], a running game of two players; it is not changed.
        settings: SETTINGS_DTYPE [1]; a width of 0 searches all actions.
        stream: uint32 [4], the search's own.
        action_means: float64 [num_actions], the output.
    """
    states, actions = stack.states, stack.actions
    seat = np.int64(root[0]["to_move"])
    action_means[:] = -np.inf
    width = np.int64(settings[0]["width"])
    # a heuristic may modify its state, and the root must not change
    states[0] = root[0]
    count = _write_by_value(states[0], width, actions[0], workspace)
    for index in range(count):
        action_means[actions[0, index]] = 0.0
    for _ in range(settings[0]["samples"]):
        states[0] = root[0]
        state = states[0]
        renew_stream(state["random"], stream)
        determinize(state, seat)
        for index in range(count):
            # every action with the full window: a mean of bounds would be meaningless
            _play(states, np.int64(0), actions[0, index])
            action_means[actions[0, index]] += _value(seat, settings, stack, workspace)
    for index in range(count):
        action_means[actions[0, index]] /= settings[0]["samples"]


@kernel
def _play(states: np.ndarray, level: Integer, action: Integer) -> None:
    """Put the position after an action on the next level."""
    states[level + 1] = states[level]
    apply(states[level + 1], action)
    states[level + 1]["ply"] += 1


@kernel
def _value(seat: Integer, settings: np.ndarray, stack: Stack, workspace: Workspace) -> float:
    """Return the minimax value of the position on level 1."""
    states, levels = stack.states, stack.levels
    depth = np.int64(settings[0]["depth"])
    width = np.int64(settings[0]["width"])
    plies = np.int64(settings[0]["plies"])
    level = np.int64(1)
    if depth == 1 or states[1]["status"] != RUNNING:
        return _leaf_value(states[1], seat, plies, workspace)
    levels[0]["low"] = -np.inf
    levels[0]["high"] = np.inf
    _open(level, seat, width, stack, workspace)
    while True:
        here = levels[level]
        cut = settings[0]["cutoffs"] and here["low"] >= here["high"]
        if cut or here["tried"] == here["count"]:
            if level == 1:
                return here["best"]
            value = here["best"]
            level -= 1
            _take_value(levels[level], states[level]["to_move"] == seat, value)
            continue
        action = stack.actions[level, here["tried"]]
        here["tried"] += 1
        _play(states, level, action)
        if level + 1 == depth or states[level + 1]["status"] != RUNNING:
            value = _leaf_value(states[level + 1], seat, plies, workspace)
            _take_value(here, states[level]["to_move"] == seat, value)
        else:
            level += 1
            _open(level, seat, width, stack, workspace)


@kernel
def _open(level: Integer, seat: Integer, width: Integer, stack: Stack, workspace: Workspace) -> None:
    """Start a level, with the window of the level above."""
    here, before, state = stack.levels[level], stack.levels[level - 1], stack.states[level]
    here["low"] = before["low"]
    here["high"] = before["high"]
    here["best"] = -np.inf if state["to_move"] == seat else np.inf
    here["count"] = _write_by_value(state, width, stack.actions[level], workspace)
    here["tried"] = 0


@kernel
def _take_value(here: np.void, maximises: bool, value: float) -> None:
    """Report to a level the value of the action that it tried last."""
    if maximises:
        here["best"] = max(here["best"], value)
        here["low"] = max(here["low"], value)
    else:
        here["best"] = min(here["best"], value)
        here["high"] = min(here["high"], value)


@kernel
def _write_by_value(state: np.void, width: Integer, ordered: np.ndarray, workspace: Workspace) -> Integer:
    """Write the best `width` legal actions (0: all) by descending heuristic value, ties by number; return their number.

    `ordered` is int32 [num_actions].
    """
    values = workspace.values
    values[:] = -np.inf
    action_values(state, values, workspace.scratch)
    most = np.int64(len(values)) if width == 0 else min(width, np.int64(len(values)))
    count = np.int64(0)
    for action in range(len(values)):
        value = values[action]
        if value == -np.inf or (count == most and value <= values[ordered[count - 1]]):
            continue
        at = count
        if count < most:
            count += 1
        else:
            at -= 1
        while at > 0 and values[ordered[at - 1]] < value:
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at] = action
    return count


@kernel
def _leaf_value(state: np.void, seat: Integer, plies: Integer, workspace: Workspace) -> float:
    """Play greedily for a limited number of plies, and return the margin of a seat at that point."""
    values, scores, ranks = workspace.values, workspace.scores, workspace.ranks
    played = np.int64(0)
    while state["status"] == RUNNING and played < plies:
        values[:] = -np.inf
        action_values(state, values, workspace.scratch)
        action = np.int64(np.argmax(values))
        if values[action] == -np.inf:
            # a game before its first reset has no legal actions
            break
        apply(state, action)
        state["ply"] += 1
        played += 1
    scores_and_ranks(state, scores, ranks)
    value = float(scores[seat]) - float(scores[1 - seat])
    if state["status"] != RUNNING:
        value += WIN * (ranks[1 - seat] - ranks[seat])
    return value
