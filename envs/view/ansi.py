"""Lines of text with colour codes for the terminal, and which streams obey such codes."""

from __future__ import annotations

import os
import re
from typing import TextIO

STRONG = "1;36"
FAINT = "2"
LAST_MOVE = "35"

_ESCAPE = re.compile("\x1b\\[[0-9;]*m")


def paint(words: str, code: str) -> str:
    """Returns words between the ANSI code and its end."""
    return f"\x1b[{code}m{words}\x1b[0m"


def plain(text: str) -> str:
    """Returns a text without colour codes."""
    return _ESCAPE.sub("", text)


def pad(line: str, width: int) -> str:
    """Returns a line filled up with spaces; colour codes take no room."""
    return line + " " * (width - len(plain(line)))


def join_columns(lines: list[str], colour: bool) -> str:
    """Returns the lines as one text, without spaces at their ends, and without codes unless `colour`."""
    text = "\n".join(line.rstrip() for line in lines)
    return text if colour else plain(text)


def obeys_codes(stream: TextIO | None) -> bool:
    """Returns whether a stream is a terminal that moves its cursor and changes colours as codes tell it to."""
    return stream is not None and not stream.closed and stream.isatty() and os.environ.get("TERM") != "dumb"


def supports_colour(stream: TextIO | None) -> bool:
    """Returns whether text written to `stream` is to hold colour codes: it obeys them, and NO_COLOR is not set."""
    return not os.environ.get("NO_COLOR") and obeys_codes(stream)
