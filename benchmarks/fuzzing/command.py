"""Command lines, run in this process or in one of their own, their streams caught."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from .cases import CommandResult, FaultFound

SECONDS_TO_WORK = 2.0
"""A command that has taken its arguments and works gets Ctrl-C after this time."""

_READERS = {"open", "read_bytes", "read_text", "read_file"}
"""Functions that wait for files."""


def run_command(
    words: Sequence[str], typed: bytes = b"", interrupt_after: float | None = None, apart: bool = False
) -> CommandResult:
    """Run `meeplezoo WORDS ...` and return how it ended; FaultFound if it waits for a file when it is interrupted.

    Arguments:
        typed: what comes on its standard input.
        interrupt_after: seconds after which it gets Ctrl-C; None for never.
        apart: run it in a process of its own, as a person does.
    """
    return _run_apart(words, typed, interrupt_after) if apart else _run_here(words, typed, interrupt_after)


def _run_here(words: Sequence[str], typed: bytes, interrupt_after: float | None) -> CommandResult:
    from ...cli.main import main

    streams = sys.stdin, sys.stdout, sys.stderr
    environment = dict(os.environ)
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    output, errors = io.BytesIO(), io.BytesIO()
    # kept here too: a stream that nobody holds any more closes what lies under it
    caught = (
        io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8"),
        io.TextIOWrapper(output, encoding="utf-8", write_through=True),
        io.TextIOWrapper(errors, encoding="utf-8", errors="backslashreplace", write_through=True),
    )
    sys.stdin, sys.stdout, sys.stderr = caught
    try:
        with _interrupt_after(interrupt_after) as interrupted_in:
            code = main(list(words))
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.environ.clear()
        os.environ.update(environment)
        if cores:
            # benchmarks keep to one core
            os.sched_setaffinity(0, cores)
    if not _READERS.isdisjoint(interrupted_in):
        raise FaultFound("waits for a file that does not end", " ".join(words))
    ended = CommandResult(_name(words), code, _text(output.getvalue()), _text(errors.getvalue()), bool(interrupted_in))
    del caught
    return ended


def _name(words: Sequence[str]) -> str:
    return words[0] if words and words[0].isidentifier() else ""


@contextmanager
def _interrupt_after(seconds: float | None) -> Iterator[list[str]]:
    """Raise KeyboardInterrupt in this thread after a time; the list then holds the function that was at work."""
    interrupted: list[str] = []
    if seconds is None or not hasattr(signal, "setitimer"):
        yield interrupted
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupted.append("" if frame is None else frame.f_code.co_name)
        raise KeyboardInterrupt

    previous: Any = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield interrupted
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _run_apart(words: Sequence[str], typed: bytes, interrupt_after: float | None) -> CommandResult:
    command = [sys.executable, "-m", f"{__package__.split('.')[0]}.cli", *words]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
    interrupted = False
    try:
        written = process.communicate(typed, None if interrupt_after is None else interrupt_after + 3.0)
    except subprocess.TimeoutExpired:
        interrupted = True
        process.send_signal(signal.SIGINT)
        written = process.communicate()
    except BaseException:
        process.kill()
        raise
    output, errors = written
    return CommandResult(_name(words), process.returncode, _text(output), _text(errors), interrupted)


def _text(written: bytes) -> str:
    return written.decode(errors="replace")
