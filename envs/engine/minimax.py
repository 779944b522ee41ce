"""Minimax search with alpha-beta cutoffs for two players, bound to one game's rules: `load_bound` runs this file once
per game.

Depth counts decisions, and whoever is to move maximises or minimises, so that turns may have several decisions. The
actions of a position are tried in the order of the game's heuristic, the best `width` alone; at the depth limit both
players go on greedily before the standing counts (Shannon 1950, "Programming a Computer for Playing Chess"; Knuth,
Moore 1975, "An Analysis of Alpha-Beta Pruning").

Every sample deals anew what the searching seat cannot see and fixes the chance to come; it is searched as if all that
were known, and the values are averaged (Ginsberg 2001, "GIB: Imperfect Information in a Computationally Challenging
Game"). The recursion is a stack of levels; level k is the position after k decisions.
"""

from types import ModuleType
from typing import Any

import numpy as np

from .compilation import kernel
from .random_stream import renew_stream
from .state import RUNNING

rules: ModuleType
greedy: ModuleType

PURPOSE, COMPILATION_SECONDS = "minimax search", 5

WIN = 1e6
"""What a won game is worth, in points: more than any margin."""

LEVEL_DTYPE = np.dtype(
    [
        ("low", np.float64),
        ("high", np.float64),
        ("best", np.float64),
        ("count", np.int32),
        ("tried", np.int32),
    ]
)
"""One level of the stack: the window of values that matter, the best value so far, actions there are and tried."""

SETTINGS_DTYPE = np.dtype(
    [("depth", np.int32), ("width", np.int32), ("samples", np.int32), ("plies", np.int32), ("cutoffs", np.bool_)]
)
"""How to search; see `agents/search/minimax_agent.py`. Without `cutoffs` nothing is pruned, with the same result."""


@kernel
def search(
    root: Any,
    seat: int,
    settings: Any,
    stream: Any,
    states: Any,
    levels: Any,
    actions: Any,
    values: Any,
    scratch: Any,
    worth: Any,
) -> None:
    """Write the value of every action that is looked at, in points of margin for `seat`; -inf for the others.

    Arguments:
        root: record [1], a running game of two players on the turn of `seat`; it stays as it is.
        settings: SETTINGS_DTYPE [1]; a width of 0 looks at all actions.
        stream: uint32 [4], the search's own.
        states: record [depth + 1], levels: LEVEL_DTYPE [depth + 1], actions: int32 [depth + 1, num_actions],
            values: float32 [num_actions], scratch: int64 [SCRATCH_SIZE]: room to work in.
        worth: float64 [num_actions], what is written.
    """
    worth[:] = -np.inf
    width = np.int64(settings[0]["width"])
    # a heuristic may try things out on its state, and the root has to stay as it is
    states[0] = root[0]
    count = _write_ordered(states[0], width, values, scratch, actions[0])
    for index in range(count):
        worth[actions[0, index]] = 0.0
    for _ in range(settings[0]["samples"]):
        states[0] = root[0]
        state = states[0]
        renew_stream(state["random"], stream)
        rules.determinize(state, seat)
        for index in range(count):
            # every action with the full window: a mean of bounds would say nothing
            _play(states, np.int64(0), actions[0, index])
            worth[actions[0, index]] += _value(seat, settings, states, levels, actions, values, scratch)
    for index in range(count):
        worth[actions[0, index]] /= settings[0]["samples"]


@kernel
def _play(states: Any, level: Any, action: Any) -> None:
    """Put the position after an action on the next level."""
    states[level + 1] = states[level]
    rules.apply(states[level + 1], action)
    states[level + 1]["ply"] += 1


@kernel
def _value(seat: int, settings: Any, states: Any, levels: Any, actions: Any, values: Any, scratch: Any) -> float:
    """Return the minimax value of the position on level 1."""
    depth = np.int64(settings[0]["depth"])
    width = np.int64(settings[0]["width"])
    plies = np.int64(settings[0]["plies"])
    level = np.int64(1)
    if depth == 1 or states[1]["status"] != RUNNING:
        return _leaf_value(states[1], seat, plies, values, scratch)
    levels[0]["low"] = -np.inf
    levels[0]["high"] = np.inf
    _open(states, levels, level, seat, width, actions, values, scratch)
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
        action = actions[level, here["tried"]]
        here["tried"] += 1
        _play(states, level, action)
        if level + 1 == depth or states[level + 1]["status"] != RUNNING:
            value = _leaf_value(states[level + 1], seat, plies, values, scratch)
            _take_value(here, states[level]["to_move"] == seat, value)
        else:
            level += 1
            _open(states, levels, level, seat, width, actions, values, scratch)


@kernel
def _open(states: Any, levels: Any, level: Any, seat: int, width: Any, actions: Any, values: Any, scratch: Any) -> None:
    """Begin a level, with the window of the level before."""
    here = levels[level]
    here["low"] = levels[level - 1]["low"]
    here["high"] = levels[level - 1]["high"]
    here["best"] = -np.inf if states[level]["to_move"] == seat else np.inf
    here["count"] = _write_ordered(states[level], width, values, scratch, actions[level])
    here["tried"] = 0


@kernel
def _take_value(here: Any, maximises: bool, value: float) -> None:
    """Let a level know the value of the action that it tried last."""
    if maximises:
        here["best"] = max(here["best"], value)
        here["low"] = max(here["low"], value)
    else:
        here["best"] = min(here["best"], value)
        here["high"] = min(here["high"], value)


@kernel
def _write_ordered(state: Any, width: Any, values: Any, scratch: Any, ordered: Any) -> Any:
    """Write the best `width` legal actions (0: all) by falling value of the heuristic, ties by number; return how many.

    `ordered` is int32 [num_actions].
    """
    values[:] = -np.inf
    greedy.action_values(state, values, scratch)
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
def _leaf_value(state: Any, seat: int, plies: Any, values: Any, scratch: Any) -> float:
    """Play on greedily, at most some decisions, and return the margin of a seat as the game then stands."""
    played = np.int64(0)
    while state["status"] == RUNNING and played < plies:
        values[:] = -np.inf
        greedy.action_values(state, values, scratch)
        action = np.int64(np.argmax(values))
        if values[action] == -np.inf:
            # nothing is legal in a game that has not begun
            break
        rules.apply(state, action)
        state["ply"] += 1
        played += 1
    scores = np.zeros(2, np.int32)
    ranks = np.zeros(2, np.int32)
    rules.result(state, scores, ranks)
    value = float(scores[seat]) - float(scores[1 - seat])
    if state["status"] != RUNNING:
        value += WIN * (ranks[1 - seat] - ranks[seat])
    return value
