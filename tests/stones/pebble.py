"""The later version, where the registry looks for a game."""

from . import PEBBLE as GAME

__all__ = ["GAME"]
