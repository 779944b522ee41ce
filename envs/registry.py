"""The games: those of the suite, and those of other packages, which are found by their entry points.

A package adds a game by one entry point of the group `meeplezoo.games`, in its own pyproject.toml:

    [project.entry-points."meeplezoo.games"]
    chess = "chess_for_meeplezoo:GAME"

Its name is the game's, its value a `GameSpec`, or a module that has one as `GAME`. Nothing of the package is imported
before the game is asked for.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from .azul import GAME as AZUL
from .engine.dispatch import register_game
from .manhattan import GAME as MANHATTAN
from .qwirkle import GAME as QWIRKLE
from .spec import GameSpec
from .system.messages import escape_controls, shorten

GROUP = "meeplezoo.games"
BUILT_IN = {spec.name: spec for spec in (AZUL, QWIRKLE, MANHATTAN)}
"""The games of the suite by name."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST_REASON = 500

_loaded: dict[str, GameSpec] = {}
_listeners: list[Callable[[GameSpec], None]] = []


def game_names() -> tuple[str, ...]:
    """Return the names of all games, those of the suite first."""
    return (*BUILT_IN, *sorted(_entries().keys() - BUILT_IN.keys()))


def describe(name: str) -> GameSpec:
    """Return the description of a game.

    Raises ValueError that lists the games if there is none of that name, or that names the distribution which a game
    of another package comes from if it cannot be loaded.
    """
    if not isinstance(name, str) or name not in game_names():
        raise ValueError(f"there is no game {shorten(name)}; the games are {', '.join(game_names())}")
    if name not in _loaded:
        spec = BUILT_IN[name] if name in BUILT_IN else _load(name)
        register_game(spec.name, spec.state_dtype, spec.kernels)
        for listener in _listeners:
            listener(spec)
        _loaded[name] = spec
    return _loaded[name]


def load_games() -> tuple[list[GameSpec], list[str]]:
    """Return the descriptions of all games that can be loaded, and one sentence for each of the others.

    A game whose package is being imported at this moment is left out of both; it is loaded when it is asked for.
    """
    specs, reasons = [], []
    for name, entries in _entries().items():
        if name in BUILT_IN:
            reasons.append(f"the game {name} of {_origins(entries)} is left out: meeplezoo has a game of that name")
    for name in game_names():
        try:
            if name in BUILT_IN or not any(map(_is_being_imported, _entries()[name])):
                specs.append(describe(name))
        except ValueError as error:
            reasons.append(str(error))
    return specs, reasons


def on_load(listener: Callable[[GameSpec], None]) -> None:
    """Call a function with every game that has been loaded, and with every other one when it is."""
    if listener not in _listeners:
        _listeners.append(listener)
    for spec in _loaded.values():
        listener(spec)


def find_games_again() -> None:
    """Look for the games of other packages anew, as after one has been installed."""
    _entries.cache_clear()
    _loaded.clear()


@cache
def _entries() -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points of other packages' games by name; several for one name are a clash."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=GROUP):
        found[entry.name] = (*found.get(entry.name, ()), entry)
    return found


def _load(name: str) -> GameSpec:
    entries = _entries()[name]
    if len(entries) > 1:
        raise ValueError(f"the game {name} comes from {_origins(entries)}: only one of them may be installed")
    try:
        return _check(entries[0].load(), name)
    except Exception as error:  # whatever another package raises is told in one sentence that names it
        reason = escape_controls(" ".join(f"{type(error).__name__}: {error}".split()))[:_LONGEST_REASON]
        raise ValueError(f"the game {name} of {_origins(entries)} cannot be loaded: {reason}") from error


def _check(loaded: Any, name: str) -> GameSpec:
    spec = getattr(loaded, "GAME", None) if isinstance(loaded, ModuleType) else loaded
    if not isinstance(spec, GameSpec):
        raise TypeError("the entry point leads to no GameSpec, and to no module with one as GAME")
    if not _NAME.fullmatch(name):
        raise ValueError("the name of a game has small letters, digits and underscores alone")
    if spec.name != name:
        raise ValueError(f"the entry point is called {name}, but the game {shorten(spec.name)}")
    return spec


def _is_being_imported(entry: EntryPoint) -> bool:
    module = sys.modules.get(entry.module)
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def _origins(entries: tuple[EntryPoint, ...]) -> str:
    """Return the distributions that entry points come from, as text."""
    names = [f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package" for entry in entries]
    return " and ".join(names)
