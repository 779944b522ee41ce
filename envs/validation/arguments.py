"""Checks of arguments that are words, numbers or absent, the same everywhere."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..system.messages import shorten


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Return the value if it is one of the choices; ValueError that lists them for anything else."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shorten(value)}")
    return str(value)


def check_positive(value: Any, name: str, most: float) -> float:
    """Return a number above 0, at most `most`; ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise ValueError(f"{name} must be a number above 0, at most {most:,}, not {shorten(value)}")
    return value


def parse_pairs(
    texts: Iterable[str], noun: str, parsers: Mapping[str, Callable[[str], Any]], unknown: Callable[[str], str]
) -> dict[str, Any]:
    """Return the values of strings like "name=value", each parsed by the parser of its name.

    `unknown` makes the message for a name without a parser. Raises ValueError for such a name, for a string in another
    format, and for a repeated name.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if name not in parsers:
            raise ValueError(unknown(shorten(name)))
        if not equals:
            raise ValueError(f"{noun} {shorten(text)} must have the form name=value")
        if name in values:
            raise ValueError(f"{noun} {name} is given twice")
        values[name] = parsers[name](value)
    return values


def name_options(options: Any) -> str:
    """Return the `options` of a reset as text, "" for None and for an empty dict."""
    if options is None or (isinstance(options, Mapping) and not options):
        return ""
    return ", ".join(map(str, options)) if isinstance(options, Mapping) else shorten(options)


def refuse_options(options: Any) -> None:
    """Raise ValueError if the `options` of a reset are not empty."""
    names = name_options(options)
    if names:
        raise ValueError(f"reset takes no options, not {names}; those of a game are given when the environment is made")
