"""The arguments that the commands share: what they look like, and the game and agents they stand for."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..envs import Game, make_game
from ..envs.engine.random_stream import MAX_SEED
from ..envs.options import Choice, parse
from ..envs.registry import describe, game_names
from ..envs.spec import GameSpec
from ..envs.system.files import shown_path
from ..envs.system.messages import display_name, display_path, escape_controls, pluralize, shorten
from ..envs.system.number_text import parse_integer, parse_number
from ..envs.view.ansi import supports_colour
from .errors import UsageError

if TYPE_CHECKING:
    from ..agents import Agent
    from ..agents.arena.match_seeds import Secrets


COLOURS = ALWAYS, NEVER, AUTO = "always", "never", "auto"
HUMAN = "human"
"""The agent that is a person, in `meeplezoo play`."""

_LONGEST_MESSAGE = 300
_FEW = 6


class CommandParser(argparse.ArgumentParser):
    """The parser of one command; wrong arguments raise UsageError instead of ending the process.

    `forms` are what may stand behind the command, if one form does not say it all. In the examples "{game}" becomes
    the name of a game, "{option}" one of its options with a value.
    """

    def __init__(self, command: str, description: str, examples: Sequence[str], forms: Sequence[str] = ()) -> None:
        super().__init__(
            prog=f"meeplezoo {command}",
            usage="\n       ".join(f"meeplezoo {command} {form}" for form in forms) or None,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._examples = examples

    def format_help(self) -> str:
        """Return the help with the examples."""
        return super().format_help() + "\n".join(
            ["", "examples:", *(f"  {example}" for example in self.examples()), ""]
        )

    def examples(self) -> list[str]:
        """Return the examples as they are shown."""
        # examples have up to three agents
        game = next((name for name in game_names() if 3 in describe(name).player_counts), game_names()[0])
        options = describe(game).options
        option = next((one for one in options if isinstance(one, Choice)), options[-1])
        value = option.choices[-1] if isinstance(option, Choice) else option.default
        return [example.format(game=game, option=f"{option.name}={value}") for example in self._examples]

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        # of argparse: it repeats words of any length
        shown = escape_controls(message)
        short = shown if len(shown) <= _LONGEST_MESSAGE else f"{shown[:_LONGEST_MESSAGE]}..."
        raise UsageError(f"{short}; see {self.prog} --help")

    def parse(self, argv: list[str]) -> argparse.Namespace:
        """Return the arguments; options may stand before, between and behind the others.

        Raises UsageError if they are wrong, SystemExit after --help.
        """
        return self.parse_intermixed_args(argv)

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

    def add_colour(self) -> None:
        """Add --colour; `wants_colour` says what it means."""
        self.add_argument(
            "--colour",
            "--color",
            choices=COLOURS,
            default=AUTO,
            metavar="WHEN",
            help="always, never or auto: where the terminal can show it and NO_COLOR is not set (default: auto)",
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

    def add_start_seconds(self) -> None:
        """Add --start-seconds."""
        self.add_argument(
            "--start-seconds",
            # agents.agent_settings.MOST_SECONDS
            type=number_up_to(86_400),
            metavar="S",
            help="how long bots of your own have to start, apart from their moves (default: 120)",
        )

    def add_secret(self) -> None:
        """Add --secret."""
        self.add_argument(
            "--secret",
            metavar="FILE",
            help="repeat a match with bots of your own: the file of the secret that it left",
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
    return integer(0, MAX_SEED)(text)


def wants_colour(when: str) -> bool:
    """Return whether standard output gets colour codes; what --colour says counts more than NO_COLOR."""
    return when == ALWAYS or (when == AUTO and supports_colour(sys.stdout))


def game_for(name: str, options: list[str], agents: Sequence[str]) -> Game:
    """Return the game; the number of agents, if there are any, is that of the players.

    Raises UsageError for an unknown game or option, and if agents and players differ in number.
    """
    try:
        spec = describe(name)
        given = parse(name, spec.options, options)
        if agents:
            num_players = given.setdefault("num_players", len(agents))
            if num_players != len(agents):
                raise UsageError(f"{_list_agents(agents)}, but num_players is {shorten(num_players)}")
            if num_players not in spec.player_counts:
                needed = f"{name} needs an agent for each player, {_player_counts(spec)}"
                raise UsageError(f"{needed}, but {_list_agents(agents)}")
        return make_game(name, **given)
    except ValueError as error:
        raise UsageError(str(error)) from None


def secret_for(file: str | None, names: Sequence[str]) -> bytes | None:
    """Return the secret of a match: that of a file, a new one if bots of the user's own take part, else None.

    Raises UsageError if the file holds none, or belongs to a tournament, or the match needs none.
    """
    from ..agents.arena.match_seeds import new_secret
    from ..agents.registry import is_own_bot

    with_bots = any(map(is_own_bot, names))
    if file is None:
        return new_secret() if with_bots else None
    secrets = secrets_of(file)
    if not with_bots:
        raise UsageError("a match without bots of your own follows from its seed alone and takes no --secret")
    if secrets.one is None:
        raise UsageError(f"{file} holds the secrets of a tournament, not that of one match")
    return secrets.one


def secrets_of(file: str) -> Secrets:
    """Return the secrets of a file; UsageError if there are none in it."""
    from ..agents.arena.match_seeds import read_secrets

    try:
        return read_secrets(input_file(file))
    except ValueError as error:
        raise UsageError(str(error)) from None


def write_secret(path: Path, secret: bytes) -> str:
    """Write the secret of a match beside the file of its results; return a sentence that says where it is."""
    from ..agents.arena.match_seeds import add_secret, secret_line

    beside = path.with_name(f"{path.name}.secret")
    beside.unlink(missing_ok=True)
    add_secret(beside, secret_line(secret))
    return f"{display_path(beside)}: the secret that repeats it with --secret"


def describe_secret(secret: bytes | None) -> str:
    """Return what an error says of the secret of the match that it ended."""
    return f" (secret {secret.hex()}: in a file for --secret it repeats the match)" if secret else ""


def agents_for(
    game: Game,
    names: Sequence[str],
    seed: int,
    secret: bytes | None = None,
    start_seconds: float | None = None,
    *,
    trust: bool = False,
) -> list[Agent]:
    """Return the agents of the names; UsageError for an unknown one. `trust` is that of `make_agent`."""
    # networks of this size play many times slower with several threads on busy cores; a user's own setting counts
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from ..agents.arena.match_seeds import MatchSeeds
    from ..agents.arena.matches import make_agents

    refuse_people(names)
    try:
        return make_agents(game, names, MatchSeeds(seed, secret), start_seconds, trust=trust)
    except ValueError as error:
        raise UsageError(str(error)) from None


def refuse_people(names: Iterable[str]) -> None:
    """Raise UsageError if one of the agents is a person."""
    from ..agents import agent_names

    if HUMAN in names:
        raise UsageError(f"{HUMAN} plays in `meeplezoo play` only; the agents are {', '.join(agent_names())}")


def input_file(text: str) -> Path:
    """Return the path of a file to be read; UsageError if there is no regular file."""
    path = _path(text)
    if not path.exists():
        raise UsageError(f"there is no file {shown_path(path)}")
    if path.is_dir():
        raise UsageError(f"{shown_path(path)} is a folder, not a file")
    if not path.is_file():
        raise UsageError(f"{shown_path(path)} is not a regular file")
    return path


def input_folder(text: str) -> Path:
    """Return the path of a folder to be looked into; UsageError if there is none."""
    path = _path(text)
    if not path.exists():
        raise UsageError(f"there is no folder {shown_path(path)}")
    if not path.is_dir():
        raise UsageError(f"{shown_path(path)} is a file, not a folder")
    return path


def output_file(text: str) -> Path:
    """Return the path of a file to be written; UsageError if a folder or a device is there."""
    path = _path(text)
    if path.is_dir():
        raise UsageError(f"{shown_path(path)} is a folder, not a file")
    if path.exists() and not path.is_file():
        raise UsageError(f"{shown_path(path)} is not a regular file")
    # the file takes the place of what is there: of what a link points to, not of the link
    return path.resolve() if path.is_symlink() else path


def _list_agents(agents: Sequence[str]) -> str:
    """Return how many agents are given, and which, like "2 agents are given (greedy, random)"."""
    shown = [*map(display_name, agents[:_FEW]), *["..."][: len(agents) - _FEW]]
    return f"{pluralize(len(agents), 'agent')} {'is' if len(agents) == 1 else 'are'} given ({', '.join(shown)})"


def _player_counts(game: GameSpec) -> str:
    """Return for how many players a game is, like "2 to 4 (2 by default)"."""
    low, high = game.player_counts[0], game.player_counts[-1]
    return f"{low}" if low == high else f"{low} to {high} ({game.default_players} by default)"


def against(names: Sequence[object]) -> str:
    """Return the names of the agents of a game, like "greedy against random"."""
    return " against ".join(map(display_name, names))


def _path(text: str) -> Path:
    """Return the path of a text; UsageError if no file can have that name."""
    path = Path(text)
    try:
        os.stat(path)
    except ValueError:
        raise UsageError(f"{shown_path(path)} cannot be the name of a file") from None
    except OSError as error:
        # what else is wrong is said by whatever reads or writes the file
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{shown_path(path)} is too long a name for a file") from None
    return path


def list_full_names(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return a line for each name in a table that is not the whole text of a bot of the user's own."""
    from ..agents.registry import is_own_bot

    short = dict(zip(names, texts, strict=True))
    return [escape_controls(f"{name}: {text}") for name, text in short.items() if name != text and is_own_bot(text)]


def describe_game(game: Game) -> str:
    """Return the game with all its options as text."""
    return f"{game.name} ({', '.join(f'{name}={value}' for name, value in game.options.items())})"
