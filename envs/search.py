"""Tree search over any game: the search kernels bound to its rules."""

from pathlib import Path
from types import ModuleType

import numpy as np

from .description import GameDescription
from .engine import compilation
from .engine.playout_kernels import SETTINGS_DTYPE
from .engine.search_kernels import NODE_DTYPE

__all__ = ["NODE_DTYPE", "SETTINGS_DTYPE", "minimax_kernels", "playout_kernels", "root_statistics", "search_kernels"]

_loaded: dict[tuple[str, str], ModuleType] = {}


def search_kernels(description: GameDescription) -> ModuleType:
    """Return the kernels of Monte-Carlo tree search bound to a game's rules, loaded once."""
    return _bound("search_kernels", description, playouts=playout_kernels(description))


def playout_kernels(description: GameDescription) -> ModuleType:
    """Return the kernels of playouts bound to a game's rules and heuristic, loaded once."""
    return _bound("playout_kernels", description, greedy=description.module("greedy"))


def minimax_kernels(description: GameDescription) -> ModuleType:
    """Return the kernels of minimax search bound to a game's rules and heuristic, loaded once."""
    return _bound("minimax_kernels", description, greedy=description.module("greedy"))


def _bound(file: str, description: GameDescription, **others: ModuleType) -> ModuleType:
    key = (file, description.name)
    if key not in _loaded:
        path = Path(compilation.__file__).with_name(f"{file}.py")
        _loaded[key] = compilation.load_bound(path, description.name, rules=description.module("rules"), **others)
    return _loaded[key]


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
        returns[node["action"]] = node["mean"][seat]
        child = int(node["next"])
    return visits, returns
