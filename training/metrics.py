"""The metrics of a run: one JSON object per line and iteration, validated when they are read."""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from ..envs.system.strict_json import parse_json

_LONGEST_LINE = 2**20
_MOST = 1e15


def row_line(row: Mapping[str, Any]) -> bytes:
    """Return the line of an iteration; numbers that are not finite, which JSON does not have, become null."""
    plain = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }
    return json.dumps(plain, allow_nan=False).encode() + b"\n"


def is_number(value: Any, low: float = 0) -> bool:
    """Return whether a value is a number from `low` to a limit beyond all metrics."""
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= _MOST


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of metrics; an unfinished last line of a killed run is skipped.

    Raises ValueError that names the file, and the line that is not one of an iteration.
    """
    if not path.is_file():
        raise ValueError(f"{path} is not a regular file")
    with path.open("rb") as file:
        for number in count(1):
            line = file.readline(_LONGEST_LINE + 1)
            if len(line) > _LONGEST_LINE:
                raise ValueError(f"{path}: line {number} is longer than {_LONGEST_LINE:,} bytes")
            if not line.endswith(b"\n"):
                return
            try:
                row = _read_row(parse_json(line[:-1]))
            except ValueError as error:
                raise ValueError(f"{path}: line {number} {error}") from None
            yield row


def _read_row(row: Any) -> dict[str, Any]:
    """Return the metrics of an iteration; ValueError if they are not as the trainer writes them."""
    if not isinstance(row, dict):
        raise ValueError("is no JSON object")
    counts = [row.get(name) for name in ("iteration", "decisions")]
    if not all(is_number(one) and isinstance(one, int) for one in counts) or not is_number(row.get("seconds")):
        raise ValueError("lacks the numbers of an iteration")
    results = row.get("evaluation", {})
    if not isinstance(results, dict) or not all(map(_is_result, results.values())):
        raise ValueError("has an evaluation that is none")
    return row


def _is_result(result: Any) -> bool:
    """Return whether the results of an evaluation against one opponent are complete."""
    if not isinstance(result, dict):
        return False
    interval, margin = result.get("interval"), result.get("mean_margin")
    if not isinstance(interval, list) or len(interval) != 2:
        return False
    rates = [result.get("win_rate"), *interval]
    return all(is_number(one) and one <= 1 for one in rates) and is_number(margin, -_MOST)
