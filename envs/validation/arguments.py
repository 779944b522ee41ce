"""Arguments that are words or numbers, or that should not be there: checked alike everywhere."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..system.messages import shorten


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Return a text that is one of the choices; ValueError that lists them for anything else."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shorten(value)}")
    return str(value)


def check_positive(value: Any, name: str, most: float) -> float:
    """Return a number above 0, at most `most`; ValueError, one sentence, for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise ValueError(f"{name} must be a number above 0, at most {most:,}, not {shorten(value)}")
    return value


def name_options(options: Any) -> str:
    """Return what the `options` of a reset hold as text, "" for None and for an empty dict."""
    if options is None or (isinstance(options, Mapping) and not options):
        return ""
    return ", ".join(map(str, options)) if isinstance(options, Mapping) else shorten(options)


def refuse_options(options: Any) -> None:
    """Raise ValueError if `options` of a reset hold anything."""
    names = name_options(options)
    if names:
        raise ValueError(f"reset takes no options, not {names}; those of a game are given when the environment is made")
