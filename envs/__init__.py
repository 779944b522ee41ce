"""Environments: the compiled engine, the games, and their PettingZoo and Gymnasium forms."""

from importlib import import_module
from types import ModuleType

from .batch import GameBatch
from .game import Game, IllegalMove, make_game
from .interfaces.registration import register_games
from .registry import BUILT_IN, game_names

__all__ = ["Game", "GameBatch", "IllegalMove", "game_names", "make_game"]

register_games()

_PETTINGZOO_MODULES = tuple(f"{spec.name}_v{spec.version}" for spec in BUILT_IN.values())


def __getattr__(name: str) -> ModuleType:
    """Return the PettingZoo module of a game, such as `azul_v0`, loaded now: PettingZoo takes a while to import."""
    if name in _PETTINGZOO_MODULES:
        return import_module(f".{name}", __name__)
    known = ", ".join(_PETTINGZOO_MODULES)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its PettingZoo games are {known}")
