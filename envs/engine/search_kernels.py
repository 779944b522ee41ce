"""Monte-Carlo tree search, bound to one game's rules and playouts: `load_bound` runs this file once per game.

Every simulation deals anew what the searching seat cannot see, chance to come included (Cowling, Powley, Whitehouse
2012, "Information Set Monte Carlo Tree Search"); a node's statistics are those of all deals that led to it, and only
actions legal in the deal at hand are looked at. Each player maximises the own return (max^n).

A tree is an array of `search_trees.node_dtype`. With `closed` chance the children of an action are outcomes, told apart
by what the player to move sees, and have the actions as children; otherwise an action's children are the next
player's actions, whatever chance has brought.
"""

from types import ModuleType
from typing import Any

import numpy as np

from .compilation import kernel
from .random_stream import draw, renew_stream
from .search_trees import add_child, back_up, clear_node, outcome_of
from .state import RUNNING

rules: ModuleType
playouts: ModuleType

PURPOSE, COMPILATION_SECONDS = "tree search", 10

MAX_DEPTH = 256


@kernel
def search(
    root: Any,
    blank: Any,
    seat: int,
    simulations: int,
    nodes: Any,
    used: int,
    settings: Any,
    stream: Any,
    mask: Any,
    slots: Any,
    values: Any,
    scratch: Any,
    observation: Any,
    form: int,
) -> int:
    """Add simulations to the tree of one game and return how many nodes are in use.

    Arguments:
        root: record [1], the game, on the turn of `seat`; it stays as it is.
        blank: record [1], room for the game that is played on.
        nodes: `node_dtype` [pool]; `used` of them are in use, 0 begins a new tree. When the pool is full the tree
            stays as large as it is, and simulations go on in it.
        settings: `playout_kernels.SETTINGS_DTYPE` [1].
        stream: uint32 [4], the search's own.
        mask: int8 [num_actions], slots: int32 [num_actions], values: float32 [num_actions], scratch: int64
            [SCRATCH_SIZE] and observation: float32 [size] in the form: room to work in.
    """
    path = np.zeros(MAX_DEPTH, np.int32)
    players = len(nodes[0]["mean"])
    returns = np.zeros(players, np.float32)
    scores = np.zeros(players, np.int32)
    places = np.zeros(players, np.int32)
    if used == 0:
        clear_node(nodes[0], 0, np.uint64(0), 1.0)
        used = 1
    for _ in range(simulations):
        blank[0] = root[0]
        state = blank[0]
        renew_stream(state["random"], stream)
        rules.redeal(state, seat)
        depth, used = _descend(
            state, np.int64(-1), nodes, used, path, settings, stream, mask, slots, values, scratch, observation, form
        )
        playouts.play_on(state, seat, settings, stream, values, scratch)
        playouts.write_returns(state, settings, scores, places, returns)
        back_up(nodes, path, depth, returns)
    return used


@kernel
def descend_all(
    roots: Any,
    leaves: Any,
    seats: Any,
    firsts: Any,
    trees: Any,
    used: Any,
    paths: Any,
    depths: Any,
    settings: Any,
    streams: Any,
    mask: Any,
    slots: Any,
    values: Any,
    scratch: Any,
    observation: Any,
    form: int,
) -> None:
    """Begin one simulation in each of n games and stop at its leaf, for `back_up_all` to end it.

    roots and leaves: records [n]; seats: int64 [n], who searches; firsts: int64 [n], the action to begin with at the
    root once that is valued, -1 for the search's own choice; trees: `node_dtype` [n, pool]; used: int64 [n],
    written; paths: int32 [n, MAX_DEPTH] and depths: int64 [n], written; streams: uint32 [n, 4]; the rest as in
    `search`, with `network` set.
    """
    for game in range(len(roots)):
        if used[game] == 0:
            clear_node(trees[game][0], 0, np.uint64(0), 1.0)
            used[game] = 1
        leaves[game] = roots[game]
        state = leaves[game]
        renew_stream(state["random"], streams[game])
        rules.redeal(state, seats[game])
        depth, now_used = _descend(
            state,
            firsts[game],
            trees[game],
            used[game],
            paths[game],
            settings,
            streams[game],
            mask,
            slots,
            values,
            scratch,
            observation,
            form,
        )
        depths[game] = depth
        used[game] = now_used


@kernel
def play_on_all(leaves: Any, ahead: Any, seats: Any, settings: Any, streams: Any, values: Any, scratch: Any) -> None:
    """Copy the leaves of n games to `ahead`, records [n], and play on there as the settings say of playouts."""
    for game in range(len(leaves)):
        ahead[game] = leaves[game]
        playouts.play_on(ahead[game], seats[game], settings, streams[game], values, scratch)


@kernel
def back_up_all(
    leaves: Any,
    ahead: Any,
    trees: Any,
    used: Any,
    paths: Any,
    depths: Any,
    settings: Any,
    priors: Any,
    values: Any,
    mask: Any,
) -> None:
    """End the simulations of `descend_all` with what a network says of their leaves.

    ahead: records [n], the positions that were valued, the leaves themselves or what `play_on_all` made of them.
    priors: float32 [n, num_actions], of the player to move at the leaf; values: float32 [n, returns of a node], the
    return that each player may expect, 0 to 1. Games that are over count as they are. mask: int8 [num_actions], room to
    work in.
    """
    players = values.shape[1]
    returns = np.zeros(players, np.float32)
    scores = np.zeros(players, np.int32)
    places = np.zeros(players, np.int32)
    for game in range(len(leaves)):
        state = leaves[game]
        nodes = trees[game]
        if state["over"] == RUNNING:
            leaf = np.int64(paths[game, depths[game] - 1])
            rules.legal_mask(state, mask)
            if nodes[leaf]["first"] == 0 and used[game] + rules.count_legal(state) <= len(nodes):
                for action in range(len(mask)):
                    if mask[action]:
                        used[game] = add_child(nodes, leaf, used[game], action, priors[game, action])
        if ahead[game]["over"] == RUNNING:
            for player in range(players):
                returns[player] = values[game, player]
        else:
            playouts.write_returns(ahead[game], settings, scores, places, returns)
        back_up(nodes, paths[game], depths[game], returns)


@kernel
def seen_before(state: Any, nodes: Any, used: int, observation: Any, form: int) -> int:
    """Return the outcome in a tree with closed chance in which the player to move sees the same, or 0.

    state: record [1]; observation: float32 [size], room to work in.
    """
    key = _seen(state[0], observation, form)
    for index in range(1, used):
        if nodes[index]["key"] == key and nodes[index]["visits"] > 0:
            return index
    return 0


@kernel
def _descend(
    state: Any,
    first: Any,
    nodes: Any,
    used: int,
    path: Any,
    settings: Any,
    stream: Any,
    mask: Any,
    slots: Any,
    values: Any,
    scratch: Any,
    observation: Any,
    form: int,
) -> Any:
    """Play down the tree to a node that is new, or to the end; return the length of the path and the nodes in use."""
    current = 0
    path[0] = 0
    depth = 1
    while state["over"] == RUNNING and depth < MAX_DEPTH - 2:
        # the root is opened at once, unless its priors are still to come from outside
        if nodes[current]["visits"] == 0 and (current != 0 or settings[0]["network"]):
            break
        used, complete = _open_actions(state, nodes, current, used, settings, mask, slots, values, scratch)
        if not complete:
            break
        if current == 0 and first >= 0:
            child = slots[first]
        else:
            child = _select(nodes, current, np.int64(state["to_move"]), mask, settings, stream)
        if child == 0:
            # nothing is legal in a game that has not begun
            break
        # plain Python needs numpy's integers in the rules' bit operations
        rules.apply(state, np.int64(nodes[child]["action"]))
        state["ply"] += 1
        path[depth] = child
        depth += 1
        current = child
        if settings[0]["closed"] and state["over"] == RUNNING:
            key = _seen(state, observation, form)
            outcome = outcome_of(nodes, child, key)
            if outcome == 0:
                if used >= len(nodes):
                    break
                outcome = used
                used += 1
                clear_node(nodes[outcome], 0, key, 1.0)
                nodes[outcome]["next"] = nodes[child]["first"]
                nodes[child]["first"] = outcome
            path[depth] = outcome
            depth += 1
            current = outcome
    return depth, used


@kernel
def _open_actions(
    state: Any, nodes: Any, current: int, used: int, settings: Any, mask: Any, slots: Any, values: Any, scratch: Any
) -> Any:
    """Give the node a child for every legal action; return the nodes in use and whether all have one."""
    rules.legal_mask(state, mask)
    slots[:] = 0
    child = nodes[current]["first"]
    while child != 0:
        slots[nodes[child]["action"]] = child
        child = nodes[child]["next"]
    missing = 0
    for action in range(len(mask)):
        if mask[action] and slots[action] == 0:
            missing += 1
    if missing == 0:
        return used, True
    if used + missing > len(nodes):
        return used, False
    if settings[0]["puct"]:
        playouts.write_priors(state, mask, settings, values, scratch)
    for action in range(len(mask)):
        if mask[action] and slots[action] == 0:
            slots[action] = used
            used = add_child(nodes, current, used, action, values[action] if settings[0]["puct"] else 1.0)
    return used, True


@kernel
def _select(nodes: Any, current: int, player: Any, mask: Any, settings: Any, stream: Any) -> int:
    """Return the child to follow among those whose actions are legal; ties are decided by lot."""
    parent = nodes[current]
    exploration = settings[0]["exploration"]
    puct = settings[0]["puct"]
    # an action nobody has tried is taken to be worth what the node is: trying all first would cost whole searches
    expected = 0.5
    if parent["visits"] > 0:
        expected = parent["mean"][player]
    visits_root = np.sqrt(parent["visits"] + 1.0)
    best = 0
    best_value = -np.inf
    equal = 0
    child = parent["first"]
    while child != 0:
        node = nodes[child]
        if mask[node["action"]]:
            node["available"] += 1
            visits = node["visits"]
            value = expected
            if visits > 0:
                value = node["mean"][player]
            if puct:
                value += exploration * node["prior"] * visits_root / (1.0 + visits)
            elif visits > 0:
                value += exploration * np.sqrt(np.log(node["available"] + 1.0) / visits)
            else:
                value = np.inf
            if value > best_value:
                best = child
                best_value = value
                equal = 1
            elif value == best_value:
                equal += 1
                if draw(stream, equal) == 0:
                    best = child
        child = node["next"]
    return best


@kernel
def _seen(state: Any, observation: Any, form: int) -> Any:
    """Return a hash (FNV-1a over the bits) of what the player to move sees."""
    rules.observe(state, np.int64(state["to_move"]), form, observation)
    bits = observation.view(np.uint32)
    key = np.uint64(0xCBF29CE484222325)
    for index in range(len(bits)):
        if bits[index] != 0:
            key = (key ^ np.uint64(index)) * np.uint64(0x100000001B3)
            key = (key ^ np.uint64(bits[index])) * np.uint64(0x100000001B3)
    return (key ^ np.uint64(state["to_move"])) * np.uint64(0x100000001B3)
