"""The trees of a search as flat arrays: nodes that know their first child and their next sibling.

A tree is an array of `node_dtype`, node 0 the root, on a turn of the seat that searches:

| field | meaning |
|---|---|
| `action` | the action that leads to the node; for an outcome, unused |
| `key` | an outcome's hash of what the player to move sees |
| `first`, `next` | first child (or outcome) and next sibling; 0 is none |
| `visits` | simulations that went through |
| `available` | simulations in which the action was legal where it could have been chosen |
| `prior` | the share of its siblings' priors that selection by PUCT gives it |
| `mean` | mean return of each player |
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .compilation import Integer, kernel
from .workspace import num_returns

MAX_DEPTH = 256
"""Nodes on the path of a simulation, at most."""


@cache
def node_dtype(most_players: int) -> np.dtype:
    """Return the dtype of a node in a game for so many players at most: 48 bytes for four."""
    fields: list[Any] = [(name, np.int32) for name in ("action", "first", "next", "visits", "available")]
    means = ("mean", np.float32, num_returns(most_players))
    return np.dtype([*fields, ("prior", np.float32), ("key", np.uint64), means])


class Trees(NamedTuple):
    """The trees of n games that are searched together, and the path of the simulation under way in each."""

    nodes: np.ndarray
    """`node_dtype` [n, capacity]"""
    num_nodes: np.ndarray
    """int64 [n], nodes in use; 0 begins a new tree"""
    paths: np.ndarray
    """int32 [n, MAX_DEPTH], nodes from the root to the leaf"""
    depths: np.ndarray
    """int64 [n], nodes of the path"""


def make_trees(nodes: np.ndarray) -> Trees:
    """Return new trees in nodes, `node_dtype` [n, capacity]."""
    n = len(nodes)
    return Trees(nodes, np.zeros(n, np.int64), np.zeros((n, MAX_DEPTH), np.int32), np.zeros(n, np.int64))


@kernel
def clear_node(node: np.void, action: Integer, key: Integer, prior: float) -> None:
    """Make a node one without children and visits."""
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
    """Return the outcome of an action with a hash, or 0."""
    outcome = nodes[child]["first"]
    while outcome != 0 and nodes[outcome]["key"] != key:
        outcome = nodes[outcome]["next"]
    return outcome


@kernel
def back_up(nodes: np.ndarray, path: np.ndarray, depth: Integer, returns: np.ndarray) -> None:
    """Add a simulation's returns, float32 [as many as a node has], to the nodes of its path."""
    for index in range(depth):
        node = nodes[path[index]]
        node["visits"] += 1
        for player in range(len(returns)):
            node["mean"][player] += (returns[player] - node["mean"][player]) / node["visits"]


@kernel
def write_roots(nodes: np.ndarray, seats: np.ndarray, visits: np.ndarray, returns: np.ndarray) -> None:
    """Write visits (int64 [n, num_actions]) and a seat's mean returns (float64) of the actions at n roots, else 0.

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
    """Copy the tree below a node to `spare`, where it is the root, and return how many nodes that are.

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
    """Return what trees know of the actions at their roots: nodes `node_dtype` [n, capacity], seats to move int64 [n].

    Returns visits int64 [n, num_actions] and the seats' mean returns float64 [n, num_actions], 0 where not visited.
    """
    visits = np.empty((len(nodes), num_actions), np.int64)
    returns = np.empty((len(nodes), num_actions))
    write_roots(nodes, seats, visits, returns)
    return visits, returns
