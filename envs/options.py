"""The options of a game: their names, valid values and defaults."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .messages import shorten
from .number_text import parse_integer


@dataclass(frozen=True)
class Choice:
    """An option that is one of some words; a record holds the index of the word."""

    name: str
    choices: tuple[str, ...]
    default: str
    meaning: str

    @property
    def valid(self) -> str:
        """Return the valid values as text."""
        return ", ".join(self.choices)

    def encode(self, value: Any) -> int:
        """Return the number kept in a record; ValueError that lists the valid values."""
        if not isinstance(value, str) or value not in self.choices:
            raise ValueError(f"option {self.name} must be one of {self.valid}, not {shorten(value)}")
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

    @property
    def valid(self) -> str:
        """Return the valid values as text."""
        return f"integers from {self.low} to {self.high}"

    def encode(self, value: Any) -> int:
        """Return the number kept in a record; ValueError that names the valid values."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise ValueError(f"option {self.name} must be one of the {self.valid}, not {shorten(value)}")
        return value

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


def complete(game: str, options: tuple[Option, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return every option in order with its value, given or default; ValueError names the valid ones."""
    check_names(game, options, given)
    known = {option.name: option for option in options}
    completed = {option.name: given.get(option.name, option.default) for option in options}
    for name, value in completed.items():
        known[name].encode(value)
    return completed


def parse(game: str, options: tuple[Option, ...], texts: list[str]) -> dict[str, Any]:
    """Return options from texts like "wall=grey"; ValueError if one is not of that form, not known, or there twice."""
    known = {option.name: option for option in options}
    parsed: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"option {shorten(text)} must have the form name=value")
        if name not in known:
            raise ValueError(f"{game} has no option {shorten(name)}; it has {', '.join(known)}")
        if name in parsed:
            raise ValueError(f"option {name} is given twice")
        parsed[name] = known[name].parse(value)
    return parsed
