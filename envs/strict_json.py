"""The one door for JSON from outside: what the standard leaves open is refused, in one sentence; and for writing it."""

import json
import math
from typing import Any, NoReturn

from .messages import shorten


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; ValueError, one short sentence, if it is none that every program reads alike.

    Refused besides what is no JSON: text that is not UTF-8, a key that stands twice in an object, NaN and Infinity,
    numbers too large for a float64, integers of more than 4,300 digits, and nesting deeper than Python's stack.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(
            decoded, object_pairs_hook=_read_object, parse_constant=_refuse_constant, parse_float=_read_float
        )
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON ({error.msg}, line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def json_bytes(value: Any, **layout: Any) -> bytes:
    """Return a value as JSON in UTF-8; `layout` is what `json.dumps` takes.

    What of a file's name is not UTF-8 (a lone surrogate in Python's strings) becomes the escape that JSON has for it.
    """
    return json.dumps(value, ensure_ascii=False, **layout).encode("utf-8", "backslashreplace")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"has the key {shorten(max(names, key=names.count))} twice in one object")
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is not a JSON number")


def _read_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"holds the number {shorten(digits)}, which is too large")
    return number
