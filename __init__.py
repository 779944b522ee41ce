"""Modern tabletop games for reinforcement learning: exact rules, compiled batches, search, training, an arena.

Importing this module loads nothing else: a name is loaded from its module when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agents import make_agent
    from .agents.arena.evaluation import evaluate
    from .envs import Game, GameBatch, IllegalMove, game_names, make_game
    from .envs import make_game as make

__version__ = "0.2.0"

__all__ = [
    "Game",
    "GameBatch",
    "IllegalMove",
    "__version__",
    "evaluate",
    "game_names",
    "make",
    "make_agent",
    "make_game",
]

_PLACES = {
    "Game": (".envs", "Game"),
    "GameBatch": (".envs", "GameBatch"),
    "IllegalMove": (".envs", "IllegalMove"),
    "evaluate": (".agents.arena.evaluation", "evaluate"),
    "game_names": (".envs", "game_names"),
    "make": (".envs", "make_game"),
    "make_agent": (".agents", "make_agent"),
    "make_game": (".envs", "make_game"),
}
_SUBPACKAGES = ("agents", "benchmarks", "cli", "configs", "envs", "training")


def __getattr__(name: str) -> Any:
    """Return one of the names of `__all__` or a subpackage, loaded now (PEP 562); AttributeError lists the names."""
    if name in _SUBPACKAGES:
        return import_module(f".{name}", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__dir__())}")
    module, attribute = _PLACES[name]
    value = globals()[name] = getattr(import_module(module, __name__), attribute)
    return value


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*__all__, *_SUBPACKAGES})
