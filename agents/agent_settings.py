"""Settings of agents: what values are valid, and the text behind an agent's name, like "sims=200,leaf=random"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..envs.system.messages import shorten
from ..envs.system.number_text import parse_integer, parse_number
from ..envs.validation.arguments import check_choice, parse_pairs
from ..envs.validation.arrays import plain_integer

MOST_SECONDS = 86_400
"""A day: more than any decision may take."""

CHANCES = ("open", "closed")
"""How a tree search treats chance: without and with nodes for its events."""

_LONGEST_TEXT = 200


@dataclass(frozen=True)
class Integers:
    """A setting that is an integer from `low` to `high`; `note` says what its size means."""

    low: int
    high: int
    note: str = ""

    def parse(self, name: str, text: str) -> int:
        """Return the value of a text; ValueError if it is no integer."""
        try:
            return parse_integer(text)
        except ValueError:
            raise ValueError(f"{name} must be an integer, not {shorten(text)}") from None

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError if the value is none of these."""
        number = plain_integer(value)
        if number is None:
            raise ValueError(f"{name} must be an integer, not {shorten(value)}")
        if not self.low <= number <= self.high:
            note = f" ({self.note})" if self.note else ""
            raise ValueError(f"{name} must be from {self.low:,} to {self.high:,}{note}, not {shorten(value)}")


@dataclass(frozen=True)
class Numbers:
    """A setting that is a number from `low` to `high`."""

    low: float
    high: float

    def parse(self, name: str, text: str) -> float:
        """Return the value of a text; ValueError if it is no finite number."""
        try:
            return parse_number(text)
        except ValueError:
            raise ValueError(f"{name} must be a number, not {shorten(text)}") from None

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError if the value is none of these."""
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise ValueError(f"{name} must be a number, not {shorten(value)}")
        # written so that nan is refused too
        if not self.low <= value <= self.high:
            raise ValueError(f"{name} must be from {self.low:,g} to {self.high:,}, not {shorten(value)}")


@dataclass(frozen=True)
class Words:
    """A setting that is one of some words."""

    words: tuple[str, ...]

    def parse(self, name: str, text: str) -> str:
        """Return the text."""
        return text

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError if the value is none of these."""
        check_choice(value, name, self.words)


Valid = Mapping[str, Integers | Numbers | Words]
"""The valid values of every setting of a kind of agent."""


def agent_error(text: str, reason: object) -> ValueError:
    """Return the error of an agent that cannot be made, to be raised: its text, a long one cut, and the reason."""
    return ValueError(f"agent {shorten(text, _LONGEST_TEXT)}: {reason}")


def check_settings(settings: Any, valid: Valid) -> None:
    """Raise ValueError, one sentence, if an attribute of some settings is none of the valid values."""
    for name, values in valid.items():
        values.check(name, getattr(settings, name))


def read_settings(parts: Sequence[str], valid: Valid) -> dict[str, Any]:
    """Return the settings of parts like "sims=200"; ValueError, one sentence, if one is wrong or there twice."""
    parsers = {name: partial(_parse_value, name, values) for name, values in valid.items()}
    there_are = f"the settings are {', '.join(valid)}"
    return parse_pairs(parts, "setting", parsers, lambda name: f"there is no setting {name}; {there_are}")


def _parse_value(name: str, values: Integers | Numbers | Words, text: str) -> Any:
    value = values.parse(name, text)
    values.check(name, value)
    return value
