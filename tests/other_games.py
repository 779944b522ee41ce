"""Games of a third party for a while: `stones` for one to six players, `duel` for exactly two (see `stones/`)."""

import sys

import gymnasium
import pytest
import stones
from stones import duel

from meeplezoo.envs.registration import gymnasium_id, register_games
from meeplezoo.envs.registry import GAMES


@pytest.fixture
def other_games(monkeypatch):
    """The registry knows the two games, and so do Gymnasium and PettingZoo's way of importing."""
    for name, module in (("stones", stones), ("duel", duel)):
        monkeypatch.setitem(sys.modules, f"meeplezoo.envs.{name}", module)
        monkeypatch.setitem(GAMES, name, name)
    register_games()
    yield
    for module in (stones, duel):
        del gymnasium.registry[gymnasium_id(module.GAME)]
        del sys.modules[f"meeplezoo.envs.{module.GAME.name}_v0"]
