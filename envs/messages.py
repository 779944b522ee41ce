"""Text of unknown origin in messages: short, on one line, and without characters that act on a terminal."""

import reprlib
from typing import Any

_LONGEST = 80

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxlong = _repr.maxother = _LONGEST
_repr.maxlevel = 4


def shorten(value: Any) -> str:
    """Return the repr of a value in at most 80 characters; what is nested or long is cut before it is written out."""
    try:
        text = _repr.repr(value)
    except ValueError:
        # Python writes no integers of more than 4,300 digits
        text = f"a {type(value).__name__} too large to write"
    if "\n" in text:
        # arrays and tensors are written in rows
        text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def escape_controls(text: str, keep: str = "") -> str:
    r"""Return a text with its unprintable characters written as escapes such as `\x1b`, but for those of `keep`.

    Names and reasons that come from files and from bots go through this before they reach a terminal.
    """
    if text.isprintable():
        return text
    shown = (each if each.isprintable() or each in keep else repr(each)[1:-1] for each in text)
    return "".join(shown)
