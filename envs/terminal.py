"""Lines of text with colour codes for the terminal."""

from __future__ import annotations

import re

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


def joined(lines: list[str], colour: bool) -> str:
    """Returns the lines as one text, without spaces at their ends, and without codes unless `colour`."""
    text = "\n".join(line.rstrip() for line in lines)
    return text if colour else plain(text)
