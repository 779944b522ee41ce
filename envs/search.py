"""Tree search over any game: the search kernels bound to its rules."""

from pathlib import Path
from types import ModuleType

from .description import GameDescription
from .engine import compilation
from .engine.search_kernels import NODE_DTYPE, SETTINGS_DTYPE

__all__ = ["NODE_DTYPE", "SETTINGS_DTYPE", "search_kernels"]

_bound: dict[str, ModuleType] = {}


def search_kernels(description: GameDescription) -> ModuleType:
    """Return the search kernels bound to a game's rules, loaded once."""
    if description.name not in _bound:
        path = Path(compilation.__file__).with_name("search_kernels.py")
        rules, greedy = description.module("rules"), description.module("greedy")
        _bound[description.name] = compilation.load_bound(path, description.name, rules=rules, greedy=greedy)
    return _bound[description.name]
