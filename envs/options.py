"""The options of a game: their names, valid values and defaults.

The options that a game began with are its original ones: every file (record, position, network) has to spell them out,
as it does the number of players. The default of an option that comes later is how the game was before, and older files,
which lack it, are read with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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

    def encode(self, value: Any) -> int:
        """Return the number kept in a record; ValueError that lists the valid values."""
        if not isinstance(value, str) or value not in self.choices:
            raise ValueError(f"option {self.name} must be one of {self.valid}, not {value!r}")
        return self.choices.index(value)

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

    def encode(self, value: Any) -> int:
        """Return the number kept in a record; ValueError that names the valid values."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise ValueError(f"option {self.name} must be one of the {self.valid}, not {value!r}")
        return value

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for: an integer, or the text itself if it is none."""
        try:
            return int(text)
        except ValueError:
            return text


Option = Choice | Number


def with_later_ones(options: tuple[Option, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a file, with the default of each that it lacks and that may be newer than the file."""
    later = (option for option in options if not option.original and option.name != "num_players")
    return {**{option.name: option.default for option in later}, **given}


def complete(game: str, options: tuple[Option, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option in order with its value, given or default; ValueError names the valid ones."""
    known = {option.name: option for option in options}
    for name in given:
        if name not in known:
            raise ValueError(f"{game} has no option {name!r}; it has {', '.join(known)}")
    completed = {option.name: given.get(option.name, option.default) for option in options}
    for name, value in completed.items():
        known[name].encode(value)
    return completed


def parse(game: str, options: tuple[Option, ...], texts: list[str]) -> dict[str, Any]:
    """Return options from texts like "wall=grey"; ValueError if one is not of that form or not known."""
    known = {option.name: option for option in options}
    parsed: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"option {text!r} must have the form name=value")
        if name not in known:
            raise ValueError(f"{game} has no option {name!r}; it has {', '.join(known)}")
        parsed[name] = known[name].parse(value)
    return parsed
