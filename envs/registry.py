"""The games of the suite: the one place outside a game's own folder that names it."""

from functools import cache
from importlib import import_module

from .description import GameDescription
from .messages import shorten

GAMES = {
    "azul": "azul",
    "qwirkle": "qwirkle",
    "manhattan": "manhattan",
}
"""Name of the game -> its folder in `envs/`, whose package holds a `GAME: GameDescription`."""


def game_names() -> tuple[str, ...]:
    """Return the names of all games."""
    return tuple(GAMES)


@cache
def describe(name: str) -> GameDescription:
    """Return the description of a game; ValueError that lists the games if there is none of that name."""
    if name not in GAMES:
        raise ValueError(f"there is no game {shorten(name)}; the games are {', '.join(GAMES)}")
    description: GameDescription = import_module(f".{GAMES[name]}", __package__).GAME
    return description
