"""Read settings from YAML texts and files, and from `key=value` overrides.

The supported part of YAML 1.2 is: mappings with strings as keys, lists, strings, numbers, true, false and null. All
else is refused in one sentence, above all what can expand a short text (anchors and aliases) and what could create
objects (tags). Words that older versions of YAML read as other types are strings: `yes`, `010`,
`1:30`, `2020-01-01`. Integers may have underscores between their digits.
"""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import yaml

from ..envs.system.files import read_file
from ..envs.system.messages import shorten

MOST_BYTES = 256 * 1024
"""Of a text: far more than any settings take, and read in a second or two."""
_DEEPEST = 20
_MOST_DIGITS = 30
_PLAIN: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_PLAIN |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*(_[0-9]+)*)")
# 3e-4 is a number, as YAML 1.2 has it
_FLOAT = re.compile(r"[-+]?((\.[0-9]+|[0-9]+(_[0-9]+)*\.[0-9]*)([eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a YAML file; ValueError that names it if it holds none, OSError if it cannot be read."""
    return parse_settings(read_file(path, MOST_BYTES), str(path))


def parse_settings(text: str | bytes, source: str) -> dict[str, Any]:
    """Return the settings of a YAML text; ValueError that names the source if it is none."""
    content = _parse(text, f"config {source}")
    if not isinstance(content, Mapping):
        raise ValueError(f"config {source} must be a mapping of settings to values")
    return dict(content)


def parse_overrides(overrides: list[str]) -> dict[str, Any]:
    """Return the settings of texts like "learning_rate=3e-4", their values read as YAML."""
    settings = {}
    for text in overrides:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"override {shorten(text)} must have the form key=value")
        settings[name.strip()] = _parse(value, f"override {shorten(text)}")
    return settings


def write_settings(settings: Mapping[str, Any]) -> str:
    """Return a YAML text that `parse_settings` reads as the same settings."""
    return yaml.dump(
        dict(settings), Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=100, allow_unicode=True
    )


class _Dumper(yaml.SafeDumper):
    """Quotes strings that this module would read as numbers, and writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return that nothing is written as a reference to what stands elsewhere."""
        return True


_Dumper.yaml_implicit_resolvers = {
    first: list(found) for first, found in yaml.SafeDumper.yaml_implicit_resolvers.items()
}
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(f"^({_INTEGER.pattern}|{_FLOAT.pattern})$"), list("-+.0123456789")
)


def _parse(text: str | bytes, where: str) -> Any:
    """Return the value of a YAML text; ValueError, one short sentence that begins with `where`, if it has none."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"{where} is longer than {MOST_BYTES:,} bytes")
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        return _Reader(decoded).document()
    except UnicodeDecodeError:
        raise ValueError(f"{where} is no text file: it is not UTF-8") from None
    except ValueError:
        raise ValueError(f"{where} is no valid YAML (an escape or a version that there is not)") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"
        raise ValueError(f"{where} is no valid YAML ({error.problem}{place})") from None
    except yaml.YAMLError as error:
        # a character that may not stand in YAML
        reason = " ".join(str(getattr(error, "reason", error)).split())
        raise ValueError(f"{where} is no valid YAML ({reason})") from None
    except _Refused as reason:
        raise ValueError(f"{where} {reason}") from None


class _Refused(Exception):
    """What is wrong with a text that is YAML."""


class _Reader:
    """Makes a value of the events of one YAML document."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)
        self._depth = 0

    def document(self) -> Any:
        """Return the value of the only document; None if there is none."""
        next(self._events)
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            return None
        value = self._value(next(self._events))
        next(self._events)
        if not isinstance(next(self._events), yaml.StreamEndEvent):
            raise _Refused("holds more than one document")
        return value

    def _value(self, event: yaml.Event) -> Any:
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor is not None:
            _refuse(event, f"an anchor or alias, {shorten(anchor)}, which is not read here: write it out")
        if tag is not None:
            _refuse(event, f"a tag, {shorten(tag)}, which is not read here: write plain values")
        if isinstance(event, yaml.ScalarEvent):
            if _SURROGATE.search(event.value):
                _refuse(event, "half a character, which is no text")
            return _plain_value(event) if event.style is None else event.value
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Refused(f"is nested more than {_DEEPEST} levels deep")
        value = self._mapping() if isinstance(event, yaml.MappingStartEvent) else self._list()
        self._depth -= 1
        return value

    def _list(self) -> list[Any]:
        values = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            values.append(self._value(event))
        return values

    def _mapping(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._value(event)
            if not isinstance(key, str):
                _refuse(event, f"the key {shorten(key)}, which is no text")
            if key in values:
                _refuse(event, f"the key {shorten(key)} twice in one mapping")
            values[key] = self._value(next(self._events))
        return values


def _plain_value(event: yaml.ScalarEvent) -> Any:
    """Return what a scalar without quotes stands for."""
    text = event.value
    if text in _PLAIN:
        return _PLAIN[text]
    if _INTEGER.fullmatch(text):
        if len(text) > _MOST_DIGITS:
            _refuse(event, f"the number {shorten(text)}, which is too large")
        return int(text)
    if _NOT_FINITE.fullmatch(text):
        _refuse(event, f"{text}, which is not a finite number")
    if not _FLOAT.fullmatch(text):
        return text
    number = float(text)
    if not math.isfinite(number):
        _refuse(event, f"the number {shorten(text)}, which is too large")
    return number


def _refuse(event: yaml.Event, what: str) -> NoReturn:
    mark = event.start_mark
    place = "" if mark is None else f" (line {mark.line + 1}, column {mark.column + 1})"
    raise _Refused(f"holds {what}{place}")
