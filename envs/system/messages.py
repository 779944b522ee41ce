"""Untrusted text in messages: short, on one line, and without control characters."""

import reprlib
import shlex
import unicodedata
from typing import Any

_LONGEST = 80
_LONGEST_NAME = 60
_LONGEST_ERROR = 1000


def shorten(value: Any, longest: int = _LONGEST) -> str:
    """Return the repr of a value on one line, in at most `longest` characters; nested parts are shortened first."""
    short = reprlib.Repr()
    short.maxlevel = 4
    short.maxstring = short.maxlong = short.maxother = longest
    try:
        text = short.repr(value)
    except ValueError:
        # Python does not print integers of more than 4,300 digits
        text = f"a {type(value).__name__} too large to write"
    if "\n" in text:
        # numpy's arrays have several lines
        text = " ".join(text.split())
    text = escape_controls(text)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def escape_controls(text: str, keep: str = "") -> str:
    r"""Return a text with its unprintable characters, except those in `keep`, written as escapes such as `\x1b`.

    Use it for names and reasons from files and bots before they reach a terminal.
    """
    if text.isprintable():
        return text
    shown = (each if each.isprintable() or each in keep else repr(each)[1:-1] for each in text)
    return "".join(shown)


def pluralize(number: int, noun: str) -> str:
    """Return a number with its noun, like "1 game", "1,000 games", "2 plies" or "3 passes"."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith(("ch", "s", "sh", "x")):
        return f"{number:,} {noun}es"
    is_consonant_y = noun.endswith("y") and noun[-2:-1] not in tuple("aeiou")
    return f"{number:,} {noun[:-1]}ies" if is_consonant_y else f"{number:,} {noun}s"


def display_width(text: str) -> int:
    """Return the width of a text in terminal columns: two for East Asian wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_columns(each) for each in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut_middle(text: str, width: int, ellipsis: str = "...") -> str:
    """Return a text in at most `width` columns, shortened in the middle: names often differ at the end."""
    # characters without width count too: a letter may have any number of combining marks
    sizes = [max(1, _columns(each)) for each in text]
    if sum(sizes) <= width:
        return text
    kept = width - len(ellipsis)
    head, tail = _count_fitting(sizes, kept - kept // 2), _count_fitting(sizes[::-1], kept // 2)
    return f"{text[:head]}{ellipsis}{text[len(text) - tail :]}"


def _count_fitting(sizes: list[int], width: int) -> int:
    """Return how many of the first sizes fit into a width."""
    total = 0
    for count, size in enumerate(sizes):
        total += size
        if total > width:
            return count
    return len(sizes)


def display_name(name: object) -> str:
    """Return a name from a file, a bot or a user for printing: one line of at most 60 columns."""
    return cut_middle(escape_controls(str(name)), _LONGEST_NAME)


def display_path(path: object, *, quoted: bool = False) -> str:
    """Return a path or the name of an agent as one line of any length; `quoted` for use in a shell."""
    return escape_controls(shlex.quote(str(path)) if quoted else str(path))


def error_line(error: object) -> str:
    """Return an error as the last line of a command, "meeplezoo: error: ...", with limited length."""
    return f"meeplezoo: error: {cut_middle(escape_controls(str(error)), _LONGEST_ERROR)}"
