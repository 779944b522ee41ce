"""Tree search over any game: the search kernels bound to its rules."""

from pathlib import Path
from types import ModuleType

import numpy as np

from .description import GameDescription
from .engine import compilation
from .engine.search_kernels import NODE_DTYPE, SETTINGS_DTYPE

__all__ = ["NODE_DTYPE", "SETTINGS_DTYPE", "minimax_kernels", "root_statistics", "search_kernels"]

_bound: dict[tuple[str, str], ModuleType] = {}


def search_kernels(description: GameDescription) -> ModuleType:
    """Return the kernels of Monte-Carlo tree search bound to a game's rules, loaded once."""
    return _bound_kernels("search_kernels", description)


def minimax_kernels(description: GameDescription) -> ModuleType:
    """Return the kernels of minimax search bound to a game's rules, loaded once."""
    return _bound_kernels("minimax_kernels", description)


def _bound_kernels(file: str, description: GameDescription) -> ModuleType:
    key = (file, description.name)
    if key not in _bound:
        path = Path(compilation.__file__).with_name(f"{file}.py")
        rules, greedy = description.module("rules"), description.module("greedy")
        _bound[key] = compilation.load_bound(path, description.name, rules=rules, greedy=greedy)
    return _bound[key]


def root_statistics(nodes: np.ndarray, seat: int, num_actions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return visits int64 [num_actions] and a seat's mean returns float64 [num_actions] of the actions at a root.

    `nodes` is a tree, NODE_DTYPE [pool]; returns are 0 where there are no visits.
    """
    visits = np.zeros(num_actions, np.int64)
    returns = np.zeros(num_actions)
    child = int(nodes[0]["first"])
    while child:
        node = nodes[child]
        visits[node["action"]] = node["visits"]
        returns[node["action"]] = node["total"][seat] / max(1, node["visits"])
        child = int(node["next"])
    return visits, returns
