"""Hostile values: what a reader meets when a file, a program or a person does not mean well.

Every list holds values that are wrong nearly everywhere; which of them a reader takes is for it to say.
"""

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import yaml

MARKER = "CODE-RAN"
"""The file that appears in the working folder if code out of an input has run."""

PICKLE = f"cbuiltins\nopen\n(V{MARKER}\nVw\ntR.".encode()
"""A pickle that makes the marker when it is read."""


@dataclass(frozen=True)
class Raw:
    """Text that is written into a JSON or YAML file as it stands, where a value would be."""

    text: str


TEXTS = (
    "",
    " ",
    "0",
    "-1",
    "nan",
    "true",
    "null",
    "\x00",
    "\x1b[2J\x1b[31m",
    "\r\n",
    "a\nb",
    "\x9b31m",
    "\u202eabc",
    "\u2028",
    "\U0001f600",
    "e\u0301",
    "\ufeff",
    "a" * 5000,
    "{}",
    "%s%n",
    "{game}",
    "../../x",
    "/dev/zero",
    "/dev/null/x",
    "~",
    "__class__",
    base64.b64encode(PICKLE).decode(),
)
"""No absolute paths at which a file could be made: some of these name the files that a command writes."""

NUMBERS: tuple[Any, ...] = (
    0,
    1,
    -1,
    2,
    3,
    7,
    99,
    255,
    256,
    -129,
    32767,
    32768,
    30000,
    65536,
    2**31 - 1,
    2**31,
    -(2**31) - 1,
    2**53,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**12,
    10**18,
    10**400,
    -(10**400),
    0.0,
    -0.0,
    0.5,
    1.0,
    2.0,
    -1.5,
    1e-320,
    1e38,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
)
_PLAIN: tuple[Any, ...] = (*NUMBERS, *TEXTS, None, True, False, [], {}, [[]], [0], {"": 0}, ["a", 1], [None] * 3000)


def _nest(opening: str, closing: str, depth: int) -> Raw:
    return Raw(opening * depth + closing * depth)


JSON: tuple[Any, ...] = (
    *_PLAIN,
    _nest("[", "]", 1000),
    _nest("[", "]", 100_000),
    Raw('{"a":' * 1000 + "0" + "}" * 1000),
    Raw("9" * 5000),
    Raw("1e400"),
    Raw("-1e400"),
    Raw("1" + "0" * 400 + ".5"),
    Raw("01"),
    Raw('"\\ud800"'),
    Raw('"\\u0000"'),
    Raw('{"a":1,"a":2}'),
    Raw("'a'"),
    Raw("0x10"),
    Raw(""),
    Raw("/* */ 1"),
    Raw("\x00"),
)

_LAUGHS = "[&a [x,x,x,x,x,x,x,x,x]" + "".join(
    f", &{after} [{','.join([f'*{before}'] * 9)}]" for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
YAML: tuple[Any, ...] = (
    *_PLAIN,
    _nest("[", "]", 1000),
    _nest("[", "]", 100_000),
    _nest("{a: ", "}", 1000),
    Raw(f"{_LAUGHS}]"),
    Raw("&a [*a]"),
    Raw("&a {k: *a}"),
    Raw("*unknown"),
    Raw("!!int ''"),
    Raw("!!int x"),
    Raw("!!float ''"),
    Raw("!!float x"),
    Raw("!!bool x"),
    Raw("!!timestamp x"),
    Raw("2001-13-45"),
    Raw("2001-12-14t21:59:43.10-99:00"),
    Raw("2001-01-01"),
    Raw("!!binary '*'"),
    Raw("!!binary aGVsbG8="),
    Raw("!!set {a, b}"),
    Raw("!!omap [a: 1]"),
    Raw("!!pairs [a: 1]"),
    Raw("!!null x"),
    Raw("!!str 1"),
    Raw("!!seq {}"),
    Raw("!!map []"),
    Raw(f"!!python/object/apply:builtins.open [{MARKER}, w]"),
    Raw("!!python/name:os.system"),
    Raw("!unknown x"),
    Raw("{[1, 2]: 3}"),
    Raw("{{a: 1}: 3}"),
    Raw("{a: 1, a: 2}"),
    Raw("{1: 2}"),
    Raw("{null: 2}"),
    Raw("{<<: 1}"),
    Raw("{<<: [{a: 1}, 2]}"),
    Raw("9" * 5000),
    Raw("0x" + "f" * 5000),
    Raw("0o777"),
    Raw("0b" + "1" * 20),
    Raw("190:20:30"),
    Raw("1_000"),
    Raw("1e400"),
    Raw("1" + "0" * 400 + ".5"),
    Raw(".nan"),
    Raw("-.inf"),
    Raw('"\\uD800"'),
    Raw('"\\0"'),
    Raw("|\n  x"),
    Raw("%TAG"),
    Raw("---"),
    Raw("? x"),
)


def _expression(text: str) -> dict[str, str]:
    return {"$": text}


EXPRESSIONS = (
    "nested(500)",
    "nested(5000)",
    "nested_object(500)",
    "10**5000",
    "np.int64(1)",
    "np.uint8(0)",
    "np.float64(1)",
    "np.bool_(True)",
    "np.array(1)",
    "np.array([1])",
    "np.array([])",
    "np.zeros((2, 2))",
    "np.array('x')",
    "np.datetime64('NaT')",
    "(1, 2)",
    "b'x'",
    "{1, 2}",
    "range(3)",
    "1j",
    "Decimal('NaN')",
    "Fraction(1, 2)",
    "object()",
    "int",
    "len",
    "...",
    "Unprintable()",
    "'\\ud800'",
    "{1: 2}",
    "{None: 2}",
    "{(1, 2): 3}",
)
PYTHON: tuple[Any, ...] = (*_PLAIN, *map(_expression, EXPRESSIONS))


class Unprintable:
    """A value whose repr raises."""

    def __repr__(self) -> str:
        raise RuntimeError("this value has no repr")


def _nest_value(wrap: Callable[[Any], Any], depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = wrap(value)
    return value


NAMES: dict[str, Any] = {
    "np": np,
    "nan": float("nan"),
    "inf": float("inf"),
    "nested": lambda depth: _nest_value(lambda value: [value], depth),
    "nested_object": lambda depth: _nest_value(lambda value: {"a": value}, depth),
    "Decimal": Decimal,
    "Fraction": Fraction,
    "Unprintable": Unprintable,
}
"""What expressions may name besides Python's own functions."""


def python_value(plain: Any) -> Any:
    """Return JSON data as Python values, every {"$": EXPRESSION} evaluated."""
    if isinstance(plain, dict):
        if plain.keys() == {"$"}:
            return eval(plain["$"], dict(NAMES))
        return {name: python_value(value) for name, value in plain.items()}
    return [python_value(value) for value in plain] if isinstance(plain, list) else plain


def to_json(value: Any) -> str:
    """Return JSON data as text, `Raw` as it stands."""
    raws: list[str] = []

    def stand_in(raw: Any) -> str:
        raws.append(raw.text)
        return f"RAW{len(raws) - 1}RAW"

    return _put_in(json.dumps(value, default=stand_in), '"RAW([0-9]+)RAW"', raws)


def to_yaml(value: Any) -> str:
    """Return plain data as YAML, `Raw` as it stands."""
    raws: list[str] = []

    def plain(part: Any) -> Any:
        if isinstance(part, Raw):
            raws.append(part.text)
            return f"RAW{len(raws) - 1}RAW"
        if isinstance(part, dict):
            return {plain(name): plain(member) for name, member in part.items()}
        return [plain(member) for member in part] if isinstance(part, list) else part

    text = yaml.safe_dump(plain(value), sort_keys=False, default_flow_style=None, allow_unicode=True, width=1000)
    return _put_in(text, "RAW([0-9]+)RAW", raws)


def _put_in(text: str, pattern: str, raws: list[str]) -> str:
    return re.sub(pattern, lambda found: raws[int(found[1])], text) if raws else text
