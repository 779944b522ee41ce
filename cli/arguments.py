"""The arguments that the commands share: what they look like, and the game and agents they stand for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .errors import UsageError

if TYPE_CHECKING:
    from ..agents import Agent
    from ..envs import Game


class CommandParser(argparse.ArgumentParser):
    """The parser of one command; wrong arguments raise UsageError instead of ending the process.

    "{game}" in the examples becomes the name of a game when they are shown.
    """

    def __init__(self, command: str, description: str, examples: Sequence[str]) -> None:
        super().__init__(
            prog=f"meeplezoo {command}",
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._examples = examples

    def format_help(self) -> str:
        """Return the help with the examples."""
        from ..envs.registry import game_names

        examples = (example.format(game=game_names()[0]) for example in self._examples)
        return super().format_help() + "\n".join(["", "examples:", *(f"  {example}" for example in examples), ""])

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message}; see {self.prog} --help")

    def read(self, words: list[str]) -> argparse.Namespace:
        """Return the arguments; options may stand before, between and behind the others.

        Raises UsageError if they are wrong, SystemExit after --help.
        """
        return self.parse_intermixed_args(words)

    def add_game(self) -> None:
        """Add GAME and --option."""
        self.add_argument("game", metavar="GAME", help="name of the game, see `meeplezoo games`")
        self.add_argument(
            "--option",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            help="an option of the game, e.g. num_players=3; may be repeated; "
            "num_players follows from the number of agents if it is not given",
        )

    def add_trust(self) -> None:
        """Add --trust."""
        self.add_argument(
            "--trust",
            action="store_true",
            help="read agents ppo:FILE of classes of their own, too, which runs code out of the file",
        )

    def add_seed(self, default: int | None) -> None:
        """Add --seed."""
        text = "a new one every time, which is shown" if default is None else str(default)
        self.add_argument(
            "--seed",
            type=seed,
            default=default,
            metavar="S",
            help=f"seed of all chance and agents (default: {text})",
        )

    def add_games(self, default: int) -> None:
        """Add --games."""
        self.add_argument(
            "--games", type=count, default=default, metavar="N", help=f"number of games (default: {default})"
        )


def count(text: str) -> int:
    """Return an integer of at least 1."""
    if not text.isascii() or not text.isdigit() or int(text[:18]) < 1 or len(text) > 18:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1, not {text!r}")
    return int(text)


def seed(text: str) -> int:
    """Return an integer that is a seed."""
    from ..envs.engine.random_stream import MAX_SEED

    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) > MAX_SEED:
        raise argparse.ArgumentTypeError(f"must be an integer from 0 to {MAX_SEED}, not {text!r}")
    return int(text)


def game_for(name: str, options: list[str], num_agents: int | None) -> Game:
    """Return the game; the number of agents, if known, is that of the players.

    Raises UsageError for an unknown game or option, and if agents and players differ in number.
    """
    from ..envs import make_game
    from ..envs.options import parse
    from ..envs.registry import describe

    try:
        given = parse(name, describe(name).options, options)
        if num_agents is not None:
            num_players = given.setdefault("num_players", num_agents)
            if num_players != num_agents:
                agents = "1 agent is" if num_agents == 1 else f"{num_agents} agents are"
                raise UsageError(f"{agents} given, but num_players is {num_players}")
        return make_game(name, **given)
    except ValueError as error:
        raise UsageError(str(error)) from None


def agents_for(game: Game, names: Sequence[str], seed: int, *, trust: bool = False) -> list[Agent]:
    """Return the agents of the names; UsageError for an unknown one. `trust` is that of `make_agent`."""
    # networks of this size play many times slower with several threads on busy cores; a user's own setting counts
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from ..agents.matches import seat_agents

    try:
        return seat_agents(game, names, seed, trust=trust)
    except ValueError as error:
        raise UsageError(str(error)) from None


def input_file(text: str) -> Path:
    """Return the path of a file to be read; UsageError if it is not there."""
    path = Path(text)
    if not path.exists():
        raise UsageError(f"there is no file {text}")
    if path.is_dir():
        raise UsageError(f"{text} is a folder, not a file")
    return path


def output_file(text: str) -> Path:
    """Return the path of a file to be written; UsageError if a folder or a device is there."""
    path = Path(text)
    if path.is_dir():
        raise UsageError(f"{text} is a folder, not a file")
    if path.exists() and not path.is_file():
        raise UsageError(f"{text} is no ordinary file")
    # the file takes the place of what is there: of what a link points to, not of the link
    return path.resolve() if path.is_symlink() else path


def described(game: Game) -> str:
    """Return the game with all its options as text."""
    return f"{game.name} ({', '.join(f'{name}={value}' for name, value in game.options.items())})"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, like "1 game" or "1,000 games"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun[:-1] + 'ies' if noun == 'ply' else noun + 's'}"
