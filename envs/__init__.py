"""Environments: the compiled engine, the games, and their PettingZoo and Gymnasium forms."""

from types import ModuleType

from .batch import GameBatch
from .game import Game, IllegalMove, make_game
from .interfaces.registration import register_games
from .registry import game_names

__all__ = ["Game", "GameBatch", "IllegalMove", "game_names", "make_game"]

_pettingzoo_modules = register_games()


def __getattr__(name: str) -> ModuleType:
    """Return the PettingZoo module of a game: its name and version, as in `from meeplezoo.envs import chess_v0`."""
    if name in _pettingzoo_modules:
        return _pettingzoo_modules[name]
    known = ", ".join(_pettingzoo_modules)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; its PettingZoo games are {known}")
