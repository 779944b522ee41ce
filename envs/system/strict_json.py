"""Strict reading of JSON from outside, which rejects everything the standard leaves open; and writing of JSON."""

import json
import math
import re
from typing import Any, NoReturn

from .messages import shorten

_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_DIGITS = 308
"""An integer with this many digits is still below the largest float64."""


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; ValueError with a short reason if programs could read it differently.

    Rejected besides invalid JSON: text that is not UTF-8, half a surrogate pair, duplicate keys, NaN and Infinity,
    numbers too large for a float64, and nesting deeper than Python's stack.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(
            decoded,
            object_pairs_hook=_read_object,
            parse_constant=_refuse_constant,
            parse_float=_read_float,
            parse_int=_read_integer,
        )
        if "\\u" in decoded or not decoded.isascii():
            # an escape can be half a surrogate pair, which cannot be encoded
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    except UnicodeEncodeError:
        raise ValueError("holds half a surrogate pair, which is no character") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise ValueError(f"is not JSON ({error.msg}, {where}column {error.colno})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    return value


def first_difference(expected: Any, given: Any) -> tuple[str, str] | None:
    """Return the key (like ".bag.blue" or ".players[0].floor") and the reason of the first difference, or None.

    Both are JSON data. Types matter: 1, 1.0 and true are equal in Python, but not in JSON.
    """
    if type(expected) is not type(given):
        return "", f"is {shorten(given)}, but must be {shorten(expected)}"
    if isinstance(expected, dict):
        return _first_difference_of_objects(expected, given)
    if isinstance(expected, list) and len(expected) == len(given):
        for place, value in enumerate(expected):
            difference = first_difference(value, given[place])
            if difference is not None:
                return f"[{place}]{difference[0]}", difference[1]
        return None
    return None if expected == given else ("", f"is {shorten(given)}, but must be {shorten(expected)}")


def _first_difference_of_objects(expected: dict[Any, Any], given: dict[Any, Any]) -> tuple[str, str] | None:
    for name, value in expected.items():
        if name not in given:
            return f".{name}", "is missing"
        difference = first_difference(value, given[name])
        if difference is not None:
            return f".{name}{difference[0]}", difference[1]
    for name in given:
        if name not in expected:
            shown = shorten(name)
            return f".{shown[1:-1] if isinstance(name, str) else shown}", "does not belong there"
    return None


def json_bytes(value: Any, **layout: Any) -> bytes:
    """Return a value as JSON in UTF-8; `layout` is what `json.dumps` takes.

    Bytes of a file name that are not UTF-8 (lone surrogates in Python's strings) are written as escapes, so that every
    program can read the text.
    """
    text = json.dumps(value, ensure_ascii=False, **layout)
    return _SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text).encode("utf-8")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        seen = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"has the key {shorten(name)} twice in one object")
            seen.add(name)
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is not a JSON number")


def _read_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        _refuse_number(digits)
    return number


def _read_integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        _refuse_number(digits)
    return int(digits)


def _refuse_number(digits: str) -> NoReturn:
    raise ValueError(f"holds the number {shorten(digits, 40)}, which is too large")
