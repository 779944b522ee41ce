"""Tree search over any game: the search kernels bound to its rules."""

from pathlib import Path
from types import ModuleType

import numpy as np

from .engine import compilation
from .engine.rollout import SETTINGS_DTYPE
from .engine.search_tree import node_dtype, write_roots
from .spec import GameSpec

__all__ = [
    "SETTINGS_DTYPE",
    "game_returns",
    "minimax_kernels",
    "node_dtype",
    "playout_kernels",
    "root_statistics",
    "search_kernels",
]

_loaded: dict[tuple[str, str], ModuleType] = {}


def search_kernels(spec: GameSpec) -> ModuleType:
    """Return the kernels of Monte-Carlo tree search bound to a game's rules, loaded once."""
    return _bound("tree_search", spec, playouts=playout_kernels(spec))


def playout_kernels(spec: GameSpec) -> ModuleType:
    """Return the kernels of playouts bound to a game's rules and heuristic, loaded once."""
    return _bound("rollout", spec, greedy=spec.module("heuristic"))


def minimax_kernels(spec: GameSpec) -> ModuleType:
    """Return the kernels of minimax search bound to a game's rules and heuristic, loaded once."""
    return _bound("minimax", spec, greedy=spec.module("heuristic"))


def _bound(file: str, spec: GameSpec, **others: ModuleType) -> ModuleType:
    key = (file, spec.name)
    if key not in _loaded:
        path = Path(compilation.__file__).with_name(f"{file}.py")
        _loaded[key] = compilation.load_bound(path, spec.name, rules=spec.module("rules"), **others)
    return _loaded[key]


def root_statistics(trees: np.ndarray, seats: np.ndarray, num_actions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what trees, `node_dtype` [n, pool], know of the actions at their roots, on turns of `seats`, int64 [n].

    Returns visits int64 [n, num_actions] and the seats' mean returns float64 [n, num_actions], 0 where not visited.
    """
    visits = np.empty((len(trees), num_actions), np.int64)
    returns = np.empty((len(trees), num_actions))
    write_roots(trees, seats, visits, returns)
    return visits, returns


def game_returns(spec: GameSpec, scores: np.ndarray, ranks: np.ndarray, win_weight: float) -> np.ndarray:
    """Return what n finished games are worth to each player, from 0 to 1, as a search counts it: float64 [n, players].

    scores, places: integers [n, players]. The share of the win weighs `win_weight`, the squashed margin the rest.
    """
    won = ranks == 0
    # whoever plays alone may not have won
    share = won / np.maximum(won.sum(axis=1, keepdims=True), 1)
    others = np.repeat(scores[:, None, :], scores.shape[1], axis=1).astype(np.float64)
    others[:, np.arange(scores.shape[1]), np.arange(scores.shape[1])] = -np.inf if scores.shape[1] > 1 else 0.0
    margin = (scores - others.max(axis=2)) / spec.margin_scale
    returns: np.ndarray = win_weight * share + (1 - win_weight) * (0.5 + 0.5 * np.tanh(margin))
    return returns
