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
from .search_tree import add_child, back_up, clear_node, find_chance_child
from .state import RUNNING

rules: ModuleType
playouts: ModuleType

PURPOSE, COMPILATION_SECONDS = "tree search", 10

MAX_DEPTH = 256


@kernel
def search(
    root: Any,
    template: Any,
    seat: int,
    simulations: int,
    nodes: Any,
    num_nodes: int,
    settings: Any,
    stream: Any,
    mask: Any,
    child_of_action: Any,
    values: Any,
    scratch: Any,
    observation: Any,
    encoding: int,
) -> int:
    """Add simulations to the tree of one game and return how many nodes are in use.

    Arguments:
        root: record [1], the game, on the turn of `seat`; it stays as it is.
        blank: record [1], room for the game that is played on.
        nodes: `node_dtype` [pool]; `num_nodes` of them are in use, 0 begins a new tree. When the pool is full the tree
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
    ranks = np.zeros(players, np.int32)
    if num_nodes == 0:
        clear_node(nodes[0], 0, np.uint64(0), 1.0)
        num_nodes = 1
    for _ in range(simulations):
        template[0] = root[0]
        state = template[0]
        renew_stream(state["random"], stream)
        rules.determinize(state, seat)
        depth, num_nodes = _descend(
            state,
            np.int64(-1),
            nodes,
            num_nodes,
            path,
            settings,
            stream,
            mask,
            child_of_action,
            values,
            scratch,
            observation,
            encoding,
        )
        playouts.rollout(state, seat, settings, stream, values, scratch)
        playouts.write_returns(state, settings, scores, ranks, returns)
        back_up(nodes, path, depth, returns)
    return num_nodes


@kernel
def descend_all(
    roots: Any,
    leaves: Any,
    seats: Any,
    root_actions: Any,
    trees: Any,
    num_nodes: Any,
    paths: Any,
    depths: Any,
    settings: Any,
    streams: Any,
    mask: Any,
    child_of_action: Any,
    values: Any,
    scratch: Any,
    observation: Any,
    encoding: int,
) -> None:
    """Begin one simulation in each of n games and stop at its leaf, for `back_up_all` to end it.

    roots and leaves: records [n]; seats: int64 [n], who searches; firsts: int64 [n], the action to begin with at the
    root once that is valued, -1 for the search's own choice; trees: `node_dtype` [n, pool]; used: int64 [n],
    written; paths: int32 [n, MAX_DEPTH] and depths: int64 [n], written; streams: uint32 [n, 4]; the rest as in
    `search`, with `network` set.
    """
    for game in range(len(roots)):
        if num_nodes[game] == 0:
            clear_node(trees[game][0], 0, np.uint64(0), 1.0)
            num_nodes[game] = 1
        leaves[game] = roots[game]
        state = leaves[game]
        renew_stream(state["random"], streams[game])
        rules.determinize(state, seats[game])
        depth, now_used = _descend(
            state,
            root_actions[game],
            trees[game],
            num_nodes[game],
            paths[game],
            settings,
            streams[game],
            mask,
            child_of_action,
            values,
            scratch,
            observation,
            encoding,
        )
        depths[game] = depth
        num_nodes[game] = now_used


@kernel
def rollout_all(
    leaves: Any, rollout_states: Any, seats: Any, settings: Any, streams: Any, values: Any, scratch: Any
) -> None:
    """Copy the leaves of n games to `rollout_states`, records [n], and roll out there as the settings say."""
    for game in range(len(leaves)):
        rollout_states[game] = leaves[game]
        playouts.rollout(rollout_states[game], seats[game], settings, streams[game], values, scratch)


@kernel
def back_up_all(
    leaves: Any,
    rollout_states: Any,
    trees: Any,
    num_nodes: Any,
    paths: Any,
    depths: Any,
    settings: Any,
    priors: Any,
    values: Any,
    mask: Any,
) -> None:
    """End the simulations of `descend_all` with what a network says of their leaves.

    ahead: records [n], the positions that were valued, the leaves themselves or what `rollout_all` made of them.
    priors: float32 [n, num_actions], of the player to move at the leaf; values: float32 [n, returns of a node], the
    return that each player may expect, 0 to 1. Games that are over count as they are. mask: int8 [num_actions], room to
    work in.
    """
    players = values.shape[1]
    returns = np.zeros(players, np.float32)
    scores = np.zeros(players, np.int32)
    ranks = np.zeros(players, np.int32)
    for game in range(len(leaves)):
        state = leaves[game]
        nodes = trees[game]
        if state["status"] == RUNNING:
            leaf = np.int64(paths[game, depths[game] - 1])
            rules.legal_mask(state, mask)
            if nodes[leaf]["first"] == 0 and num_nodes[game] + rules.count_legal(state) <= len(nodes):
                for action in range(len(mask)):
                    if mask[action]:
                        num_nodes[game] = add_child(nodes, leaf, num_nodes[game], action, priors[game, action])
        if rollout_states[game]["status"] == RUNNING:
            for player in range(players):
                returns[player] = values[game, player]
        else:
            playouts.write_returns(rollout_states[game], settings, scores, ranks, returns)
        back_up(nodes, paths[game], depths[game], returns)


@kernel
def find_observation_node(state: Any, nodes: Any, num_nodes: int, observation: Any, encoding: int) -> int:
    """Return the outcome in a tree with closed chance in which the player to move sees the same, or 0.

    state: record [1]; observation: float32 [size], room to work in.
    """
    key = _seen(state[0], observation, encoding)
    for index in range(1, num_nodes):
        if nodes[index]["key"] == key and nodes[index]["visits"] > 0:
            return index
    return 0


@kernel
def _descend(
    state: Any,
    first: Any,
    nodes: Any,
    num_nodes: int,
    path: Any,
    settings: Any,
    stream: Any,
    mask: Any,
    child_of_action: Any,
    values: Any,
    scratch: Any,
    observation: Any,
    encoding: int,
) -> Any:
    """Play down the tree to a node that is new, or to the end; return the length of the path and the nodes in use."""
    current = 0
    path[0] = 0
    depth = 1
    while state["status"] == RUNNING and depth < MAX_DEPTH - 2:
        # the root is opened at once, unless its priors are still to come from outside
        if nodes[current]["visits"] == 0 and (current != 0 or settings[0]["network"]):
            break
        num_nodes, complete = _open_actions(
            state, nodes, current, num_nodes, settings, mask, child_of_action, values, scratch
        )
        if not complete:
            break
        if current == 0 and first >= 0:
            child = child_of_action[first]
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
        if settings[0]["closed"] and state["status"] == RUNNING:
            key = _seen(state, observation, encoding)
            outcome = find_chance_child(nodes, child, key)
            if outcome == 0:
                if num_nodes >= len(nodes):
                    break
                outcome = num_nodes
                num_nodes += 1
                clear_node(nodes[outcome], 0, key, 1.0)
                nodes[outcome]["next"] = nodes[child]["first"]
                nodes[child]["first"] = outcome
            path[depth] = outcome
            depth += 1
            current = outcome
    return depth, num_nodes


@kernel
def _open_actions(
    state: Any,
    nodes: Any,
    current: int,
    num_nodes: int,
    settings: Any,
    mask: Any,
    child_of_action: Any,
    values: Any,
    scratch: Any,
) -> Any:
    """Give the node a child for every legal action; return the nodes in use and whether all have one."""
    rules.legal_mask(state, mask)
    child_of_action[:] = 0
    child = nodes[current]["first"]
    while child != 0:
        child_of_action[nodes[child]["action"]] = child
        child = nodes[child]["next"]
    missing = 0
    for action in range(len(mask)):
        if mask[action] and child_of_action[action] == 0:
            missing += 1
    if missing == 0:
        return num_nodes, True
    if num_nodes + missing > len(nodes):
        return num_nodes, False
    if settings[0]["puct"]:
        playouts.write_priors(state, mask, settings, values, scratch)
    for action in range(len(mask)):
        if mask[action] and child_of_action[action] == 0:
            child_of_action[action] = num_nodes
            num_nodes = add_child(nodes, current, num_nodes, action, values[action] if settings[0]["puct"] else 1.0)
    return num_nodes, True


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
def _seen(state: Any, observation: Any, encoding: int) -> Any:
    """Return a hash (FNV-1a over the bits) of what the player to move sees."""
    rules.observe(state, np.int64(state["to_move"]), encoding, observation)
    bits = observation.view(np.uint32)
    key = np.uint64(0xCBF29CE484222325)
    for index in range(len(bits)):
        if bits[index] != 0:
            key = (key ^ np.uint64(index)) * np.uint64(0x100000001B3)
            key = (key ^ np.uint64(bits[index])) * np.uint64(0x100000001B3)
    return (key ^ np.uint64(state["to_move"])) * np.uint64(0x100000001B3)
