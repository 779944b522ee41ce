"""Search trees as flat arrays: each node has links to its first child and its next sibling.

A tree is an array of `node_dtype`, node 0 the root, on a turn of the seat that searches:

| field | meaning |
|---|---|
| `action` | the action that leads to the node; unused for a chance outcome |
| `key` | for a chance outcome: the hash of what the player to move sees |
| `first`, `next` | first child (or chance outcome) and next sibling; 0 is none |
| `visits` | simulations through the node |
| `available` | simulations in which the action was legal and could have been chosen |
| `prior` | the prior of PUCT, relative to its siblings |
| `mean` | mean return of each player |
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .compilation import Integer, kernel
from .workspace import num_returns

MAX_DEPTH = 256
"""Maximum number of nodes on the path of a simulation."""


@cache
def node_dtype(most_players: int) -> np.dtype:
    """Return the dtype of a node in a game for at most this many players: 48 bytes for four."""
    fields: list[Any] = [(name, np.int32) for name in ("action", "first", "next", "visits", "available")]
    means = ("mean", np.float32, num_returns(most_players))
    return np.dtype([*fields, ("prior", np.float32), ("key", np.uint64), means])


class Trees(NamedTuple):
    """The trees of n games that are searched in parallel, and the path of the current simulation in each."""

    nodes: np.ndarray
    """`node_dtype` [n, capacity]"""
    num_nodes: np.ndarray
    """int64 [n], nodes in use; 0 starts a new tree"""
    paths: np.ndarray
    """int32 [n, MAX_DEPTH], nodes from the root to the leaf"""
    depths: np.ndarray
    """int64 [n], nodes of the path"""


def make_trees(nodes: np.ndarray) -> Trees:
    """Return empty trees that use the nodes, `node_dtype` [n, capacity]."""
    n = len(nodes)
    return Trees(nodes, np.zeros(n, np.int64), np.zeros((n, MAX_DEPTH), np.int32), np.zeros(n, np.int64))


@kernel
def clear_node(node: np.void, action: Integer, key: Integer, prior: float) -> None:
    """Reset a node: no children, no visits."""
    node["action"] = action
    node["first"] = 0
    node["next"] = 0
    node["visits"] = 0
    node["available"] = 0
    node["prior"] = prior
    node["key"] = key
    for player in range(len(node["mean"])):
        node["mean"][player] = 0.0


@kernel
def add_child(nodes: np.ndarray, parent: Integer, num_nodes: Integer, action: Integer, prior: float) -> Integer:
    """Add a child in front of its siblings; return the nodes in use."""
    clear_node(nodes[num_nodes], action, np.uint64(0), prior)
    nodes[num_nodes]["next"] = nodes[parent]["first"]
    nodes[parent]["first"] = num_nodes
    return num_nodes + 1


@kernel
def find_chance_child(nodes: np.ndarray, child: Integer, key: Integer) -> Integer:
    """Return the chance outcome of an action with a hash, or 0."""
    outcome = nodes[child]["first"]
    while outcome != 0 and nodes[outcome]["key"] != key:
        outcome = nodes[outcome]["next"]
    return outcome


@kernel
def back_up(nodes: np.ndarray, path: np.ndarray, depth: Integer, returns: np.ndarray) -> None:
    """Add a simulation's returns, float32 [num_returns], to the nodes of its path."""
    for index in range(depth):
        node = nodes[path[index]]
        node["visits"] += 1
        for player in range(len(returns)):
            node["mean"][player] += (returns[player] - node["mean"][player]) / node["visits"]


@kernel
def write_roots(nodes: np.ndarray, seats: np.ndarray, visits: np.ndarray, returns: np.ndarray) -> None:
    """Write the visits, int64 [n, num_actions], and the seats' mean returns, float64, of the actions at n roots.

    nodes: `node_dtype` [n, capacity]; seats: int64 [n].
    """
    visits[:] = 0
    returns[:] = 0.0
    for game in range(len(nodes)):
        child = nodes[game, 0]["first"]
        while child != 0:
            node = nodes[game, child]
            visits[game, node["action"]] = node["visits"]
            returns[game, node["action"]] = node["mean"][seats[game]]
            child = node["next"]


@kernel
def extract_subtree(nodes: np.ndarray, root: Integer, spare: np.ndarray, origins: np.ndarray) -> Integer:
    """Copy the tree below a node to `spare`, where it becomes the root; return the number of nodes.

    spare: `node_dtype` [capacity]; origins: int32 [capacity], a buffer.
    """
    spare[0] = nodes[root]
    spare[0]["next"] = 0
    origins[0] = root
    num_nodes = 1
    index = 0
    while index < num_nodes:
        spare[index]["first"] = 0
        last = 0
        child = nodes[origins[index]]["first"]
        while child != 0:
            spare[num_nodes] = nodes[child]
            spare[num_nodes]["next"] = 0
            origins[num_nodes] = child
            if last == 0:
                spare[index]["first"] = num_nodes
            else:
                spare[last]["next"] = num_nodes
            last = num_nodes
            num_nodes += 1
            child = nodes[child]["next"]
        index += 1
    return num_nodes


def root_statistics(nodes: np.ndarray, seats: np.ndarray, num_actions: Integer) -> tuple[np.ndarray, np.ndarray]:
    """Return the statistics of the actions at the roots: visits, int64 [n, num_actions], and mean returns, float64.

    nodes: `node_dtype` [n, capacity]; seats: int64 [n], the players to move. Both results are 0 without visits.
    """
    visits = np.empty((len(nodes), num_actions), np.int64)
    returns = np.empty((len(nodes), num_actions))
    write_roots(nodes, seats, visits, returns)
    return visits, returns
