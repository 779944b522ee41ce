"""Inputs of the fuzzer: what they are, how they are kept in a file, and what a format has to offer."""

import base64
import json
import random
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

_FORMAT = "meeplezoo-fuzz/1"
PIPE = "|"


@dataclass(frozen=True)
class Case:
    """One input.

    words: what the target is called with, JSON data (Python values as expressions, see `hostile.python_value`).
    files: files of the folder that it runs in, by their paths; a path that ends with "/" is an empty folder, one that
        ends with "|" a pipe that nobody writes to.
    note: how it differs from a valid one.
    """

    words: Any
    files: dict[str, bytes] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class CommandResult:
    """How a command ended: its exit code and what it wrote; `interrupted`: it was sent Ctrl-C by the fuzzer."""

    command: str
    code: int
    output: str
    errors: str
    interrupted: bool = False


class FaultFound(Exception):
    """What a target raises when it finds a fault that is no exception: a sentence that says which, and details."""

    def __init__(self, reason: str, details: str = "") -> None:
        super().__init__(reason)
        self.details = details


class Target(Protocol):
    """A format at work.

    Made with the folder in which inputs that take long to make are kept, and the folder it runs in as the working
    folder. `refusals` are the types of exceptions that a refused input may raise besides ValueError and OSError.
    """

    refusals: tuple[type[BaseException], ...]

    def make(self, draw: random.Random) -> Case:
        """Return an input, the same one for the same draws."""
        ...

    def run(self, case: Case) -> CommandResult | None:
        """Read an input whose files lie in the working folder, and use what was read; raise if it is refused."""
        ...


@dataclass(frozen=True)
class Format:
    """A format: its name, its class as "module:NAME", and how many of 20,000 inputs are of it."""

    name: str
    target: str
    weight: int

    def open(self, kept: Path) -> Target:
        """Return the format at work."""
        module, _, name = self.target.partition(":")
        target: Target = getattr(import_module(module), name)(kept)
        return target


def make_case(target: Target, name: str, seed: int, index: int) -> Case:
    """Return input `index` of a format, which follows from the seed alone."""
    return target.make(random.Random(f"{seed} {name} {index}"))


def write_case(path: Path, format_name: str, case: Case, about: dict[str, Any]) -> None:
    """Write an input to a file, with what is known about it."""
    files = {name: base64.b64encode(content).decode() for name, content in case.files.items()}
    content = {"format": _FORMAT, "of": format_name, "about": about, "note": case.note}
    text = json.dumps({**content, "words": case.words, "files": files}, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def read_case(path: Path) -> tuple[str, Case]:
    """Return the name of the format and the input of a file of `write_case`; ValueError if it is none."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"{path} is no kept input of the fuzzer")
    files = {name: base64.b64decode(text) for name, text in content["files"].items()}
    return content["of"], Case(content["words"], files, content["note"])
