"""The arguments that the commands share: what they look like, and the game and agents they stand for."""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .errors import UsageError

if TYPE_CHECKING:
    from ..agents import Agent
    from ..envs import Game

_LONGEST_MESSAGE = 300


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
        from ..envs.messages import escape_controls

        # of argparse: it repeats words of any length
        short = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}..."
        raise UsageError(f"{escape_controls(short)}; see {self.prog} --help")

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

    def add_games(self, default: int, most: int) -> None:
        """Add --games."""
        self.add_argument(
            "--games",
            type=integer(1, most),
            default=default,
            metavar="N",
            help=f"number of games, at most {most:,} (default: {default})",
        )


def integer(low: int, high: int) -> Callable[[str], int]:
    """Return what reads an argument that is an integer from low to high."""

    def read(text: str) -> int:
        from ..envs.messages import shorten
        from ..envs.number_text import parse_integer

        try:
            value = parse_integer(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be an integer from {low:,} to {high:,}, not {shorten(text)}")
        return value

    return read


def number_up_to(high: int) -> Callable[[str], float]:
    """Return what reads an argument that is a number above 0, at most `high`."""

    def read(text: str) -> float:
        from ..envs.messages import shorten
        from ..envs.number_text import parse_number

        try:
            value = parse_number(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= high:
            raise argparse.ArgumentTypeError(f"must be a number above 0, at most {high:,}, not {shorten(text)}")
        return value

    return read


def seed(text: str) -> int:
    """Return an integer that is a seed."""
    from ..envs.engine.random_stream import MAX_SEED

    return integer(0, MAX_SEED)(text)


def game_for(name: str, options: list[str], num_agents: int | None) -> Game:
    """Return the game; the number of agents, if known, is that of the players.

    Raises UsageError for an unknown game or option, and if agents and players differ in number.
    """
    from ..envs import make_game
    from ..envs.messages import shorten
    from ..envs.options import parse
    from ..envs.registry import describe

    try:
        given = parse(name, describe(name).options, options)
        if num_agents is not None:
            num_players = given.setdefault("num_players", num_agents)
            if num_players != num_agents:
                agents = "1 agent is" if num_agents == 1 else f"{num_agents} agents are"
                raise UsageError(f"{agents} given, but num_players is {shorten(num_players)}")
        return make_game(name, **given)
    except ValueError as error:
        raise UsageError(str(error)) from None


def agents_for(game: Game, names: Sequence[str], seed: int) -> list[Agent]:
    """Return the agents of the names; UsageError for an unknown one."""
    # networks of this size play many times slower with several threads on busy cores; a user's own setting counts
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from ..agents.matches import seat_agents

    try:
        return seat_agents(game, names, seed)
    except ValueError as error:
        raise UsageError(str(error)) from None


def input_file(text: str) -> Path:
    """Return the path of a file to be read; UsageError if there is no regular file."""
    path = _path(text)
    if not path.exists():
        raise UsageError(f"there is no file {_shown(path)}")
    if path.is_dir():
        raise UsageError(f"{_shown(path)} is a folder, not a file")
    if not path.is_file():
        raise UsageError(f"{_shown(path)} is not a regular file")
    return path


def output_file(text: str) -> Path:
    """Return the path of a file to be written; UsageError if a folder or a device is there."""
    path = _path(text)
    if path.is_dir():
        raise UsageError(f"{_shown(path)} is a folder, not a file")
    if path.exists() and not path.is_file():
        raise UsageError(f"{_shown(path)} is not a regular file")
    # the file takes the place of what is there: of what a link points to, not of the link
    return path.resolve() if path.is_symlink() else path


def _path(text: str) -> Path:
    """Return the path of a text; UsageError if no file can have that name."""
    path = Path(text)
    try:
        os.stat(path)
    except ValueError:
        raise UsageError(f"{_shown(path)} cannot be the name of a file") from None
    except OSError as error:
        # what else is wrong is said by whatever reads or writes the file
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{_shown(path)} is too long a name for a file") from None
    return path


def _shown(path: Path) -> str:
    from ..envs.files import shown_path

    return shown_path(path)


def described(game: Game) -> str:
    """Return the game with all its options as text."""
    return f"{game.name} ({', '.join(f'{name}={value}' for name, value in game.options.items())})"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, like "1 game" or "1,000 games"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun[:-1] + 'ies' if noun == 'ply' else noun + 's'}"
