"""Choosing root actions by the Gumbel score (Danihelka et al. 2022); see `agents/search/gumbel_search.py`."""

from typing import Any

import numpy as np

from .compilation import kernel


@kernel
def select_root_actions(
    trees: Any,
    seats: Any,
    own: Any,
    scores: Any,
    turns: Any,
    visits_scale: float,
    returns_scale: float,
    root_actions: Any,
) -> None:
    """Write for each game the root's action of the best score plus scaled return among those whose turn it is.

    Arguments:
        trees: `search_trees.node_dtype` [n, pool], their roots opened; seats: int64 [n], who searches.
        own: float32 [n], what the network says that the seat may expect.
        scores: float64 [n, num_actions], logits plus noise.
        turns: int64 [n], how many visits the actions have had whose turn it is.
        visits_scale, returns_scale: as in `gumbel_search`.
        firsts: int64 [n], what is written.
    """
    for game in range(len(trees)):
        nodes = trees[game]
        seat = seats[game]
        mixed, most = mixed_value(nodes, seat, own[game])
        scale = (visits_scale + most) * returns_scale
        best = -np.inf
        child = nodes[0]["first"]
        while child != 0:
            node = nodes[child]
            if node["visits"] == turns[game]:
                worth = mixed if node["visits"] == 0 else np.float64(node["mean"][seat])
                value = scores[game, node["action"]] + scale * worth
                if value > best:
                    best = value
                    root_actions[game] = node["action"]
            child = node["next"]


@kernel
def mixed_value(nodes: Any, seat: Any, own: Any) -> Any:
    """Return what an action at the root without visits is taken to be worth, and the largest number of visits.

    It is the mean of what the network says of the root and of the visited actions' returns, these weighted by their
    priors and counting as many times as there were visits ("mixed value", appendix D of the paper).
    """
    total = np.int64(0)
    most = np.int64(0)
    weight = 0.0
    weighted = 0.0
    child = nodes[0]["first"]
    while child != 0:
        node = nodes[child]
        if node["visits"] > 0:
            total += node["visits"]
            most = max(most, np.int64(node["visits"]))
            weight += np.float64(node["prior"])
            weighted += np.float64(node["prior"]) * np.float64(node["mean"][seat])
        child = node["next"]
    if total == 0:
        return np.float64(own), most
    return (own + total * weighted / max(weight, 1e-30)) / (1.0 + total), most
