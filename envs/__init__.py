"""Environments: the compiled engine, the games, and their PettingZoo and Gymnasium forms."""

from .batch import GameBatch
from .game import Game, IllegalMove, make_game
from .interfaces.registration import register_games
from .registry import game_names

__all__ = ["Game", "GameBatch", "IllegalMove", "game_names", "make_game"]

register_games()
