"""Text of unknown origin in messages: short, on one line, and without characters that act on a terminal."""

import reprlib
from typing import Any

_LONGEST = 80


def shorten(value: Any, longest: int = _LONGEST) -> str:
    """Return the repr of a value on one line, in at most `longest` characters; what is nested or long is cut first."""
    short = reprlib.Repr()
    short.maxlevel = 4
    short.maxstring = short.maxlong = short.maxother = longest
    try:
        text = short.repr(value)
    except ValueError:
        # Python writes no integers of more than 4,300 digits
        text = f"a {type(value).__name__} too large to write"
    if "\n" in text:
        # numpy's arrays have several lines
        text = " ".join(text.split())
    text = escape_controls(text)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def escape_controls(text: str, keep: str = "") -> str:
    r"""Return a text with its unprintable characters written as escapes such as `\x1b`, but for those of `keep`.

    Names and reasons that come from files and from bots go through this before they reach a terminal.
    """
    if text.isprintable():
        return text
    shown = (each if each.isprintable() or each in keep else repr(each)[1:-1] for each in text)
    return "".join(shown)
