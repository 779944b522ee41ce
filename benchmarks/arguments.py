"""Command lines of the benchmarks, and the JSON that they read: errors are one line."""

import argparse
from pathlib import Path
from typing import Any, NoReturn

from ..cli.arguments import integer, number_up_to, output_file
from ..cli.errors import UsageError
from ..envs.system.files import read_file, shown_path
from ..envs.system.messages import escape_controls
from ..envs.system.strict_json import parse_json

__all__ = ["BenchmarkParser", "integer", "number_up_to", "output_path", "read_json"]

_LONGEST_MESSAGE = 300
_LONGEST_FILE = 64 * 2**20


class BenchmarkParser(argparse.ArgumentParser):
    """A parser that ends the process with 2 and one line if arguments are wrong."""

    def error(self, message: str) -> NoReturn:
        """End the process."""
        shown = escape_controls(message)
        short = shown if len(shown) <= _LONGEST_MESSAGE else f"{shown[:_LONGEST_MESSAGE]}..."
        self.exit(2, f"meeplezoo: error: {short}; see {self.prog} --help\n")


def output_path(text: str) -> Path:
    """Return the path of an argument that names a file to be written; refused before anything is measured."""
    try:
        return output_file(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_json(path: Path, keys: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the JSON object of a file; ValueError, one sentence that names it, if it is none or a key is missing."""
    try:
        content = parse_json(read_file(path, _LONGEST_FILE))
    except ValueError as error:
        raise ValueError(f"{shown_path(path)}: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{shown_path(path)}: must be an object")
    missing = [key for key in keys if key not in content]
    if missing:
        raise ValueError(f"{shown_path(path)}: the key {missing[0]!r} is missing")
    return content
