"""Choosing root actions by the Gumbel score (Danihelka et al. 2022); see `agents/search/gumbel_search.py`."""

import numpy as np

from .compilation import Integer, kernel

MAXVISIT_INIT, VALUE_SCALE = 50.0, 1.0
"""A value is scaled by (MAXVISIT_INIT + the largest number of visits at the root) * VALUE_SCALE, as in mctx."""


@kernel
def select_root_actions(
    nodes: np.ndarray,
    seats: np.ndarray,
    root_values: np.ndarray,
    scores: np.ndarray,
    considered_visits: np.ndarray,
    root_actions: np.ndarray,
) -> None:
    """Write each game's best action, by score plus scaled value, among those with the considered number of visits.

    Arguments:
        nodes: `search_tree.node_dtype` [n, capacity], their roots opened.
        seats: int64 [n], the players to move at the roots.
        root_values: float32 [n], the network's values for the seats.
        scores: float64 [n, num_actions], logits plus Gumbel noise.
        considered_visits: int64 [n].
        root_actions: int64 [n], the output.
    """
    for game in range(len(nodes)):
        tree = nodes[game]
        seat = seats[game]
        mixed, most = mixed_value(tree, seat, root_values[game])
        scale = (MAXVISIT_INIT + most) * VALUE_SCALE
        best = -np.inf
        child = tree[0]["first"]
        while child != 0:
            node = tree[child]
            if node["visits"] == considered_visits[game]:
                value = mixed if node["visits"] == 0 else np.float64(node["mean"][seat])
                score = scores[game, node["action"]] + scale * value
                if score > best:
                    best = score
                    root_actions[game] = node["action"]
            child = node["next"]


@kernel
def mixed_value(tree: np.ndarray, seat: Integer, root_value: float) -> tuple[float, Integer]:
    """Return the value of an action at the root without visits, and the largest number of visits.

    This is the "mixed value" of the paper (appendix D): the mean of the network's value of the root, with weight 1, and
    of the visited actions' values weighted by their priors, with the number of visits as total weight.
    """
    total = np.int64(0)
    most = np.int64(0)
    weight = 0.0
    weighted = 0.0
    child = tree[0]["first"]
    while child != 0:
        node = tree[child]
        if node["visits"] > 0:
            total += node["visits"]
            most = max(most, np.int64(node["visits"]))
            weight += np.float64(node["prior"])
            weighted += np.float64(node["prior"]) * np.float64(node["mean"][seat])
        child = node["next"]
    if total == 0:
        return np.float64(root_value), most
    return (root_value + total * weighted / max(weight, 1e-30)) / (1.0 + total), most
