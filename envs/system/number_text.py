"""Parsing of numbers that people type, stricter than Python's own."""

import math
import re

_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_LONGEST = 40


def parse_integer(text: str) -> int:
    """Return the integer of a text like "1000" or "-3"; ValueError for any other text.

    Python's `int` also accepts blanks, underscores and the digits of all scripts, which are typing errors here.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError("is no integer of at most 18 digits")
    return int(text)


def parse_number(text: str) -> float:
    """Return the finite number of a text like "0.5" or "1e-3"; ValueError for any other text, as `parse_integer`."""
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        raise ValueError("is no number")
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("is no finite number")
    return number
