"""The games of the suite: the one place outside a game's own folder that names it."""

from functools import cache
from importlib import import_module

from .engine.dispatch import register_game
from .spec import GameSpec
from .system.messages import shorten

GAMES = {
    "azul": "azul",
    "qwirkle": "qwirkle",
    "manhattan": "manhattan",
}
"""Name of the game -> its folder in `envs/`, whose package holds a `GAME: GameSpec`."""


def game_names() -> tuple[str, ...]:
    """Return the names of all games."""
    return tuple(GAMES)


def describe(name: str) -> GameSpec:
    """Return the description of a game; ValueError that lists the games if there is none of that name."""
    if not isinstance(name, str) or name not in GAMES:
        raise ValueError(f"there is no game {shorten(name)}; the games are {', '.join(GAMES)}")
    return _load(name)


@cache
def _load(name: str) -> GameSpec:
    spec: GameSpec = import_module(f".{GAMES[name]}", __package__).GAME
    register_game(spec.name, spec.state_dtype, spec.package, spec.kernels, spec.kernel_sources())
    return spec
