"""The standard streams of a command: closed or not, full, read to the end or not, in any encoding.

All that a command prints goes through `standard_streams`, whoever prints it: nothing that acts on a terminal gets out
but line ends and colours. Names from files and bots are made one line of limited length where they are put into a
text (`envs.messages.display_name`).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper, UnsupportedOperation
from typing import Any, TextIO, cast

_NAMES = ("standard output", "standard error")
_ORDINARY = re.compile("[ -~\n\t]*")
_SHORT = re.compile("[ -~]{,500}")
_COLOURS = re.compile("(\x1b\\[[0-9;]*m)")


@contextmanager
def standard_streams() -> Iterator[None]:
    """Make sure of the three standard streams until the block ends.

    Those that were closed become the null device. What standard output cannot encode is printed as "?", what standard
    input cannot decode is read as U+FFFD. Errors of standard output are OSErrors that name it (BrokenPipeError if its
    reader has gone away); those of standard error are passed over, since nobody could be told.
    """
    _occupy_descriptors()
    before = sys.stdin, sys.stdout, sys.stderr
    output, errors = (_Guarded(_or_nothing(stream, "w"), name) for stream, name in zip(before[1:], _NAMES, strict=True))
    sys.stdin, sys.stdout, sys.stderr = _or_nothing(before[0], "r"), cast(TextIO, output), cast(TextIO, errors)
    for stream in (sys.stdin, output.stream):
        if isinstance(stream, TextIOWrapper):
            # a stream that has been read from keeps its ways
            with suppress(UnsupportedOperation):
                stream.reconfigure(errors="replace")
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for guarded in (output, errors):
            # what is still to be written is written now; Python would complain at its end about what cannot be
            with suppress(OSError):
                guarded.flush()


def read_line(prompt: str) -> str | None:
    """Return the line that a person types, None at the end of standard input; OSError that names the stream."""
    # `input` itself passes over what goes wrong here
    sys.stdout.flush()
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt) as end:
        # what comes next does not stand behind the prompt
        print()
        if isinstance(end, KeyboardInterrupt):
            raise
        return None
    except OSError as error:
        if isinstance(error, BrokenPipeError) or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, "standard input") from None


def print_error(error: object) -> None:
    """Print what a command ends with as one line on standard error."""
    text = str(error)
    if _SHORT.fullmatch(text):
        # most errors are these, and some come before anything of the games has been imported
        print(f"meeplezoo: error: {text}", file=sys.stderr)
        return
    from ..envs.system.messages import error_line

    print(error_line(text), file=sys.stderr)


class _Guarded:
    """An output stream whose text does not act on a terminal and whose failures are those of `standard_streams`.

    All but writing is that of `stream`.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self.stream = stream
        self._name = name

    def write(self, text: str) -> int:
        """Write a text."""
        self._attempt(lambda: self.stream.write(_without_effects(text)))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write some texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the stream."""
        self._attempt(self.stream.flush)

    def _attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except OSError as error:
            _discard(self.stream)
            if self._name == _NAMES[1]:
                return
            if isinstance(error, BrokenPipeError):
                raise
            raise OSError(error.errno, error.strerror, self._name) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _without_effects(text: str) -> str:
    """Return a text with all characters escaped that act on a terminal, but for line ends and colours."""
    # a carriage return is a write of its own where it is meant: before a line of progress
    if _ORDINARY.fullmatch(text) or text == "\r":
        return text
    # what is imported with it takes a while, and few texts need it
    from ..envs.system.messages import escape_controls

    parts = _COLOURS.split(text)
    parts[::2] = [escape_controls(part, keep="\n\t") for part in parts[::2]]
    return "".join(parts)


def _discard(stream: TextIO) -> None:
    """Let all that is written to a stream from now on, also what waits in its buffers, go nowhere."""
    # a stream of a test or a notebook has no descriptor
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _or_nothing(stream: TextIO | None, mode: str) -> TextIO:
    return cast(TextIO, open(os.devnull, mode, encoding="utf-8")) if stream is None else stream


def _occupy_descriptors() -> None:
    """Open the null device in place of closed standard streams: files opened later must not get their descriptors."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # the lowest free descriptor, which is this one
            opened = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(opened, True)
