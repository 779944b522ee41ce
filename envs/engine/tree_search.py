"""Monte-Carlo tree search over the record of any game.

Every simulation determinizes what the searching seat cannot see, future chance included (Cowling, Powley, Whitehouse
2012, "Information Set Monte Carlo Tree Search"). The statistics of a node are over all determinizations that led to it;
only actions legal in the current one are considered. Each player maximizes the player's own return (max^n).

A tree is an array of `search_tree.node_dtype`. In a closed loop the children of an action are chance outcomes,
distinguished by what the player to move sees; their children are actions. In an open loop the children of an action are
the next player's actions, whatever the outcome of chance.
"""

from typing import NamedTuple

import numpy as np

from .compilation import Integer, kernel
from .interface import apply, count_legal, determinize, legal_mask, observe
from .random_stream import draw, renew_stream
from .rollout import rollout, write_priors, write_returns
from .search_tree import MAX_DEPTH, Trees, add_child, back_up, clear_node, find_chance_child
from .state import RUNNING
from .workspace import Workspace

PURPOSE, COMPILATION_SECONDS = "tree search", 15


class Search(NamedTuple):
    """What the searches of n games share."""

    settings: np.ndarray
    """`rollout.ROLLOUT_SETTINGS` [1]"""
    streams: np.ndarray
    """uint32 [n, 4], the random streams of the searches"""
    workspace: Workspace


@kernel
def search_games(roots: np.ndarray, leaves: np.ndarray, trees: Trees, num_simulations: Integer, search: Search) -> None:
    """Add simulations that end in rollouts to the trees of n games.

    Arguments:
        roots: record [n], running games, searched for the player to move; they are not changed.
        leaves: record [n], a buffer.
        trees: a full tree does not grow, but simulations continue in it.
    """
    settings, workspace = search.settings, search.workspace
    for game in range(len(roots)):
        seat = np.int64(roots[game]["to_move"])
        for _ in range(num_simulations):
            _descend(game, roots, leaves, -1, trees, search)
            rollout(leaves[game], seat, settings, search.streams[game], workspace)
            write_returns(leaves[game], settings, workspace)
            back_up(trees.nodes[game], trees.paths[game], trees.depths[game], workspace.returns)


@kernel
def descend_games(
    roots: np.ndarray, leaves: np.ndarray, root_actions: np.ndarray, trees: Trees, search: Search
) -> None:
    """Start one simulation in each of n games and stop at its leaf; `back_up_games` completes it.

    Arguments:
        roots, leaves: record [n]; the leaves are written.
        root_actions: int64 [n], the action to start with at an expanded root, -1 for the search's own choice.
        trees: paths and depths are written.
        search: its setting `network` is true.
    """
    for game in range(len(roots)):
        _descend(game, roots, leaves, root_actions[game], trees, search)


@kernel
def roll_out_games(roots: np.ndarray, leaves: np.ndarray, rollout_states: np.ndarray, search: Search) -> None:
    """Copy the leaves of n games to `rollout_states`, record [n], and roll out from there by the settings."""
    for game in range(len(leaves)):
        rollout_states[game] = leaves[game]
        seat = np.int64(roots[game]["to_move"])
        rollout(rollout_states[game], seat, search.settings, search.streams[game], search.workspace)


@kernel
def back_up_games(
    leaves: np.ndarray, rollout_states: np.ndarray, trees: Trees, priors: np.ndarray, values: np.ndarray, search: Search
) -> None:
    """Complete the simulations of `descend_games` with a network's priors and values of their leaves.

    Arguments:
        rollout_states: record [n], the positions that were valued: the leaves, or the results of `roll_out_games`.
            Finished games are valued by their result.
        priors: float32 [n, num_actions], of the player to move at the leaf.
        values: float32 [n, num_players or more], the expected return of each player, 0 to 1.
    """
    mask, returns = search.workspace.mask, search.workspace.returns
    for game in range(len(leaves)):
        state = leaves[game]
        nodes = trees.nodes[game]
        if state["status"] == RUNNING:
            leaf = np.int64(trees.paths[game, trees.depths[game] - 1])
            if nodes[leaf]["first"] == 0 and trees.num_nodes[game] + count_legal(state, mask) <= len(nodes):
                legal_mask(state, mask)
                for action in range(len(mask)):
                    if mask[action]:
                        trees.num_nodes[game] = add_child(
                            nodes, leaf, trees.num_nodes[game], action, priors[game, action]
                        )
        if rollout_states[game]["status"] == RUNNING:
            for player in range(len(returns)):
                returns[player] = values[game, player]
        else:
            write_returns(rollout_states[game], search.settings, search.workspace)
        back_up(nodes, trees.paths[game], trees.depths[game], returns)


@kernel
def find_observation_node(
    root: np.ndarray, nodes: np.ndarray, num_nodes: Integer, layout: Integer, numbers: np.ndarray
) -> Integer:
    """Return the chance outcome in a closed-loop tree in which the player to move sees the same, or 0.

    `root` is record [1]; `numbers`, int16 [observation_size], is a buffer.
    """
    key = _hash_observation(root[0], layout, numbers)
    for index in range(1, num_nodes):
        if nodes[index]["key"] == key and nodes[index]["visits"] > 0:
            return index
    return 0


@kernel
def _descend(
    game: Integer, roots: np.ndarray, leaves: np.ndarray, root_action: Integer, trees: Trees, search: Search
) -> None:
    """Determinize a root and descend its tree to a new node, or to the end of the game; write path and depth."""
    nodes, path, stream = trees.nodes[game], trees.paths[game], search.streams[game]
    settings, workspace = search.settings, search.workspace
    num_nodes: Integer = trees.num_nodes[game]
    if num_nodes == 0:
        clear_node(nodes[0], 0, np.uint64(0), 1.0)
        num_nodes = 1
    leaves[game] = roots[game]
    state = leaves[game]
    renew_stream(state["random"], stream)
    determinize(state, state["to_move"])
    current: Integer = 0
    path[0] = 0
    depth = 1
    while state["status"] == RUNNING and depth < MAX_DEPTH - 2:
        # expand the root now, unless its priors come from a network later
        if nodes[current]["visits"] == 0 and (current != 0 or settings[0]["network"]):
            break
        num_nodes, complete = _open_actions(state, nodes, current, num_nodes, settings, workspace)
        if not complete:
            break
        if current == 0 and root_action >= 0:
            child: Integer = np.int64(workspace.child_of_action[root_action])
        else:
            child = _select(nodes, current, np.int64(state["to_move"]), settings, stream, workspace.mask)
        if child == 0:
            # a game before its first reset has no legal actions
            break
        apply(state, nodes[child]["action"])
        state["ply"] += 1
        path[depth] = child
        depth += 1
        current = child
        if settings[0]["closed_loop"] and state["status"] == RUNNING:
            key = _hash_observation(state, settings[0]["layout"], workspace.numbers)
            current, num_nodes = _open_outcome(nodes, child, num_nodes, key)
            if current == 0:
                break
            path[depth] = current
            depth += 1
    trees.depths[game] = depth
    trees.num_nodes[game] = num_nodes


@kernel
def _open_outcome(nodes: np.ndarray, child: Integer, num_nodes: Integer, key: Integer) -> tuple[Integer, Integer]:
    """Return the chance outcome of an action, a new one if needed, 0 if there is no room; and the nodes in use."""
    outcome = find_chance_child(nodes, child, key)
    if outcome == 0 and num_nodes < len(nodes):
        outcome = num_nodes
        num_nodes += 1
        clear_node(nodes[outcome], 0, key, 1.0)
        nodes[outcome]["next"] = nodes[child]["first"]
        nodes[child]["first"] = outcome
    return outcome, num_nodes


@kernel
def _open_actions(
    state: np.void, nodes: np.ndarray, current: Integer, num_nodes: Integer, settings: np.ndarray, workspace: Workspace
) -> tuple[Integer, bool]:
    """Give the node a child for every legal action; return the nodes in use and whether there was room for all.

    The mask and the child of each action are in the workspace.
    """
    mask, child_of_action = workspace.mask, workspace.child_of_action
    legal_mask(state, mask)
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
        write_priors(state, settings, workspace)
    for action in range(len(mask)):
        if mask[action] and child_of_action[action] == 0:
            child_of_action[action] = num_nodes
            prior = workspace.values[action] if settings[0]["puct"] else 1.0
            num_nodes = add_child(nodes, current, num_nodes, action, prior)
    return num_nodes, True


@kernel
def _select(
    nodes: np.ndarray, current: Integer, player: Integer, settings: np.ndarray, stream: np.ndarray, mask: np.ndarray
) -> Integer:
    """Return the child to follow among those whose actions are legal; ties are broken at random."""
    parent = nodes[current]
    c_puct = settings[0]["c_puct"]
    puct = settings[0]["puct"]
    # an untried action gets the value of the node: trying all of them first would take whole searches
    expected = 0.5
    if parent["visits"] > 0:
        expected = parent["mean"][player]
    root_of_visits = np.sqrt(parent["visits"] + 1.0)
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
                value += c_puct * node["prior"] * root_of_visits / (1.0 + visits)
            elif visits > 0:
                value += c_puct * np.sqrt(np.log(node["available"] + 1.0) / visits)
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
def _hash_observation(state: np.void, layout: Integer, numbers: np.ndarray) -> Integer:
    """Return a hash (FNV-1a over the numbers) of what the player to move sees."""
    observe(state, state["to_move"], layout, numbers)
    key = np.uint64(0xCBF29CE484222325)
    for index in range(len(numbers)):
        if numbers[index] != 0:
            key = (key ^ np.uint64(index)) * np.uint64(0x100000001B3)
            key = (key ^ np.uint64(numbers[index])) * np.uint64(0x100000001B3)
    return (key ^ np.uint64(state["to_move"])) * np.uint64(0x100000001B3)
