"""Games of a third party for a while; see `stones/`."""

import sys

import gymnasium
import pytest
import stones
from stones import duel, pebble

from meeplezoo.envs.interfaces.registration import gymnasium_id, register_games
from meeplezoo.envs.registry import GAMES


@pytest.fixture
def other_games(monkeypatch):
    """The registry knows the games, and so do Gymnasium and PettingZoo's way of importing."""
    modules = {"stones": stones, "duel": duel, "pebble": pebble}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, f"meeplezoo.envs.{name}", module)
        monkeypatch.setitem(GAMES, name, name)
    register_games()
    yield
    for module in modules.values():
        del gymnasium.registry[gymnasium_id(module.GAME)]
        del sys.modules[f"meeplezoo.envs.{module.GAME.name}_v0"]
