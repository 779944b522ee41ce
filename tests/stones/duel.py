"""The game for exactly two, where the registry looks for a game."""

from . import DUEL as GAME

__all__ = ["GAME"]
