"""Changes to bytes, texts and nested data; every one returns what has become of it and says in a note what it did."""

import base64
import copy
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from .hostile import NUMBERS, PICKLE, TEXTS, Raw, to_json

Path = tuple[str | int, ...]
Changed = tuple[Any, str]

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_PICKLED = ":serialized:"
"""The key under which Stable-Baselines3 keeps pickles in JSON."""
_ENDS = 300
"""Bytes at the beginning and end of a file that are hit more often: heads and directories lie there."""


def several(draw: random.Random) -> int:
    """Return how many changes to make: mostly one, which is the easiest to understand."""
    return draw.choice((1, 1, 1, 1, 1, 1, 2, 2, 3, 6))


def change_bytes(data: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Return bytes with one part flipped, cut, repeated, inserted, zeroed or drawn anew."""
    place = _place(len(data), draw)
    length = min(draw.choice((1, 1, 2, 4, 8, 16, 100, 1000)), max(1, len(data) - place))
    part, end = data[place : place + length], data[place + length :]
    start = data[:place]
    kind = draw.choice(("flip", "set", "cut off", "remove", "repeat", "insert", "zero", "draw", "end", "empty"))
    if kind == "flip":
        flipped = bytes([byte ^ (1 << draw.randrange(8)) for byte in part[:1]])
        return start + flipped + data[place + 1 :], f"bit of byte {place} flipped"
    if kind == "set":
        byte = draw.choice((0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x0A, 0x1B))
        return start + bytes([byte]) + data[place + 1 :], f"byte {place} set to {byte}"
    if kind == "cut off":
        return start, f"cut off at byte {place}"
    if kind == "remove":
        return start + end, f"{length} bytes removed at {place}"
    if kind == "repeat":
        return start + part * draw.choice((2, 3, 50)) + end, f"{length} bytes repeated at {place}"
    if kind == "insert":
        return start + draw.randbytes(length) + part + end, f"{length} bytes inserted at {place}"
    if kind == "zero":
        return start + bytes(length) + end, f"{length} bytes zeroed at {place}"
    if kind == "draw":
        return start + draw.randbytes(length) + end, f"{length} bytes drawn at {place}"
    if kind == "end":
        return data + draw.choice((b"\n", b"\x00", b" ", b"{}", draw.randbytes(20))), "something added at the end"
    return draw.choice((b"", b"\n", b"\x00", b"{}", b"[]", b"null", draw.randbytes(50))), "replaced as a whole"


def _place(size: int, draw: random.Random) -> int:
    if size > 2 * _ENDS and draw.random() < 0.6:
        return draw.choice((draw.randrange(_ENDS), size - 1 - draw.randrange(_ENDS)))
    return draw.randrange(size) if size else 0


def change_text(text: str, draw: random.Random) -> tuple[str, str]:
    """Return a text with a number or word of it replaced, or characters changed, moved or added."""
    numbers = list(_NUMBER.finditer(text))
    if numbers and draw.random() < 0.5:
        found, number = draw.choice(numbers), format_number(draw.choice(NUMBERS))
        return text[: found.start()] + number + text[found.end() :], f"{found[0]} replaced by {_short(number)}"
    kind = draw.choice(("replace", "insert", "remove", "repeat", "case", "word", "whole"))
    place = draw.randrange(len(text)) if text else 0
    end = place + draw.choice((1, 1, 1, 3, 10))
    hostile = draw.choice(TEXTS)
    if kind == "replace":
        return text[:place] + hostile + text[end:], f"{text[place:end]!r} replaced by {_short(hostile)}"
    if kind == "insert":
        return text[:place] + hostile + text[place:], f"{_short(hostile)} inserted at {place}"
    if kind == "remove":
        return text[:place] + text[end:], f"{text[place:end]!r} removed"
    if kind == "repeat":
        times = draw.choice((2, 3, 200))
        return text[:place] + text[place:end] * times + text[end:], f"{text[place:end]!r} repeated"
    if kind == "case":
        return text.swapcase(), "capitals changed"
    if kind == "word":
        words = re.split(r"(\W+)", text)
        draw.shuffle(words)
        return "".join(words), "words shuffled"
    return hostile, f"replaced by {_short(hostile)}"


def format_number(number: Any) -> str:
    """Return a number as a person would type it."""
    return repr(number)


def change_tree(value: Any, draw: random.Random, hostile: Sequence[Any]) -> Changed:
    """Return nested data with one part replaced, removed, renamed, repeated or exchanged with another one."""
    value = copy.deepcopy(value)
    paths = _paths(value)
    path = _draw_path(paths, draw)
    part = _part(value, path)
    where = format_path(path)
    inner = _inner_json(part)
    if inner is not None and draw.random() < 0.9:
        changed, note = change_tree(inner, draw, hostile)
        return _with(value, path, to_json(changed)), f"in the JSON at {where}: {note}"
    if path and path[-1] == _PICKLED and draw.random() < 0.7:
        return _replace(value, path, base64.b64encode(PICKLE).decode())
    changes: list[Callable[[], Changed]] = [lambda: _replace(value, path, draw.choice(hostile))] * 5
    if path:
        changes += [lambda: _remove(value, path), lambda: _exchange(value, path, draw.choice(paths))]
        changes.append(lambda: _with_note(value, path, [part], f"{where} put into a list"))
    if isinstance(part, dict) and part:
        name = draw.choice(list(part))
        changes.append(lambda: _rename_key(value, path, name, draw))
        if any(isinstance(one, Raw) for one in hostile):
            # texts may say a key twice, Python's dictionaries cannot
            changes.append(lambda: _duplicate_key(value, path, name))
        extra = {**part, draw.choice(("extra", "", "__class__", "\x1b[2J")): draw.choice(hostile)}
        changes.append(lambda: _with_note(value, path, extra, f"a key added at {where}"))
    if isinstance(part, list) and part:
        changes.append(lambda: _with_note(value, path, part * draw.choice((2, 300)), f"list {where} repeated"))
        changes.append(lambda: _with_note(value, path, part[:-1], f"list {where} shortened"))
        changes.append(lambda: _with_note(value, path, part[::-1], f"list {where} turned round"))
    if isinstance(part, int | float) and not isinstance(part, bool):
        near = draw.choice((part + 1, part - 1, -part, _as_float(part), str(part), bool(part), part * 1000))
        changes += [lambda: _replace(value, path, near)] * 4
    if isinstance(part, str):
        changes += [lambda: _with_note(value, path, *_text_at(part, where, draw))] * 3
    return draw.choice(changes)()


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def format_path(path: Path) -> str:
    """Return a path as ".bag.blue" or ".players[0]", "all" for the whole."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path) or "all"


def _paths(value: Any) -> list[Path]:
    """Return the paths of all parts, the whole first; what lies behind the first 20,000 is left out."""
    found: list[Path] = []
    left: list[tuple[Path, Any]] = [((), value)]
    while left and len(found) < 20_000:
        path, part = left.pop()
        found.append(path)
        if isinstance(part, dict) and "$" not in part:
            left.extend(((*path, name), member) for name, member in part.items())
        elif isinstance(part, list):
            left.extend(((*path, place), member) for place, member in enumerate(part))
    return found


def _draw_path(paths: list[Path], draw: random.Random) -> Path:
    """Return one of the paths: one near the root as often as one anywhere, where most are."""
    if draw.random() < 0.5:
        depth = draw.choice((0, 1, 1, 1, 2, 2, 3))
        near = [path for path in paths if len(path) == depth]
        if near:
            return draw.choice(near)
    return draw.choice(paths)


def _part(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _with(value: Any, path: Path, part: Any) -> Any:
    if not path:
        return part
    _part(value, path[:-1])[path[-1]] = part
    return value


def _with_note(value: Any, path: Path, part: Any, note: str) -> Changed:
    return _with(value, path, part), note


def _replace(value: Any, path: Path, part: Any) -> Changed:
    return _with(value, path, copy.deepcopy(part)), f"{format_path(path)} replaced by {_short(part)}"


def _remove(value: Any, path: Path) -> Changed:
    del _part(value, path[:-1])[path[-1]]
    return value, f"{format_path(path)} removed"


def _exchange(value: Any, path: Path, other: Path) -> Changed:
    shorter = min(len(path), len(other))
    if path[:shorter] == other[:shorter]:
        return _remove(value, path)
    one, two = _part(value, path), _part(value, other)
    _with(value, path, two)
    return _with(value, other, one), f"{format_path(path)} and {format_path(other)} exchanged"


def _duplicate_key(value: Any, path: Path, name: Any) -> Changed:
    part = _part(value, path)
    try:
        text = to_json(part)
        double = f"{text[:-1]}, {json.dumps(name)}: {to_json(part[name])}}}"
    except (TypeError, ValueError):
        return _remove(value, (*path, name))
    return _with(value, path, Raw(double)), f"key {name!r} twice in {format_path(path)}"


def _rename_key(value: Any, path: Path, name: Any, draw: random.Random) -> Changed:
    part = _part(value, path)
    other = draw.choice((f"{name} ", str(name).upper(), str(name)[:-1], *TEXTS))
    renamed = {other if key == name else key: member for key, member in part.items()}
    return _with(value, path, renamed), f"key {name!r} in {format_path(path)} renamed to {_short(other)}"


def _text_at(text: str, where: str, draw: random.Random) -> tuple[str, str]:
    changed, note = change_text(text, draw)
    return changed, f"{where}: {note}"


def _inner_json(part: Any) -> Any:
    if not isinstance(part, str) or not part.startswith("{"):
        return None
    try:
        return json.loads(part)
    except (ValueError, RecursionError):
        return None


def _short(value: Any) -> str:
    text = value.text if isinstance(value, Raw) else repr(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"
