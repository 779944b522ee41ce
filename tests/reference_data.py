"""Reading the compressed positions and games that other programs made for these tests."""

import json
import lzma
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def read_lines(name: str) -> list[dict[str, Any]]:
    with lzma.open(DATA / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def cases(game: str) -> list[dict[str, Any]]:
    name = f"{game}-cases.jsonl.xz"
    # a game that lacks them fails in one test, not while the tests are collected
    return read_lines(name) if (DATA / name).is_file() else []


def golden_files(game: str) -> list[str]:
    return sorted(f"golden/{path.name}" for path in (DATA / "golden").glob(f"{game}-*.jsonl.xz"))


def move_key(move: dict[str, Any]) -> str:
    return json.dumps(move, sort_keys=True)
