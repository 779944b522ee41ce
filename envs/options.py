"""The options of a game: their names, valid values and defaults.

The options that a game began with are its original ones: every file (record, position, network) has to spell them out,
as it does the number of players. The default of an option that comes later is how the game was before, and older files,
which lack it, are read with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .system.messages import shorten
from .system.number_text import parse_integer
from .validation.arguments import check_choice, parse_pairs
from .validation.arrays import plain_integer


@dataclass(frozen=True)
class Choice:
    """An option that is one of some words; a record holds the index of the word."""

    name: str
    choices: tuple[str, ...]
    default: str
    meaning: str
    original: bool = False
    """Whether the game has had it from the beginning, so that files have to spell it out."""

    @property
    def valid(self) -> str:
        """Return the valid values as text."""
        return ", ".join(self.choices)

    def check(self, value: Any) -> str:
        """Return the value as Python's str; ValueError that lists the valid values."""
        return check_choice(value, f"option {self.name}", self.choices)

    def encode(self, value: Any) -> int:
        """Return the number kept in a record; ValueError that lists the valid values."""
        return self.choices.index(self.check(value))

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for (on the command line, in a config)."""
        return text


@dataclass(frozen=True)
class Number:
    """An option that is an integer from `low` to `high`; a record holds it as it is."""

    name: str
    low: int
    high: int
    default: int
    meaning: str
    original: bool = False
    """Whether the game has had it from the beginning, so that files have to spell it out."""

    @property
    def valid(self) -> str:
        """Return the valid values as text."""
        return f"integers from {self.low} to {self.high}"

    def check(self, value: Any) -> int:
        """Return the value, any library's integer, as Python's int; ValueError that names the valid values."""
        number = plain_integer(value)
        if number is None or not self.low <= number <= self.high:
            raise ValueError(f"option {self.name} must be one of the {self.valid}, not {shorten(value)}")
        return number

    def encode(self, value: Any) -> int:
        """Return the number kept in a record; ValueError that names the valid values."""
        return self.check(value)

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for: an integer, or the text itself if it is none."""
        try:
            return parse_integer(text)
        except ValueError:
            return text


Option = Choice | Number


def check_names(game: str, options: tuple[Option, ...], given: Iterable[Any]) -> None:
    """Raise ValueError that lists the options of a game if a name is not one of them.

    Data from files goes through this before it becomes arguments of `make_game`, which has further ones.
    """
    known = [option.name for option in options]
    for name in given:
        if name not in known:
            raise ValueError(f"{game} has no option {shorten(name)}; it has {', '.join(known)}")


def with_later_ones(options: tuple[Option, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a file, with the default of each that it lacks and that may be newer than the file."""
    later = (option for option in options if not option.original and option.name != "num_players")
    return {**{option.name: option.default for option in later}, **given}


def complete(game: str, options: tuple[Option, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option in order with its value, given or default, as a plain int or str, so that JSON takes it.

    Raises ValueError, which names the valid ones, for unknown names and values.
    """
    check_names(game, options, given)
    return {option.name: option.check(given.get(option.name, option.default)) for option in options}


def parse(game: str, options: tuple[Option, ...], texts: list[str]) -> dict[str, Any]:
    """Return options from texts like "wall=grey"; ValueError if one is not of that form, not known, or there twice."""
    parsers = {option.name: option.parse for option in options}
    return parse_pairs(
        texts, "option", parsers, lambda name: f"{game} has no option {name}; it has {', '.join(parsers)}"
    )
