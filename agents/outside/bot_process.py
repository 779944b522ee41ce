"""A bot's process: lines go in, lines come out, within a time; nothing of it is left behind."""

import contextlib
import math
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence

from .answers import shortened

SECONDS_TO_LEAVE = 2.0
"""How long a process has after its last line; then it is killed."""

_SECONDS_TO_END = 1.0
_CHUNK = 1 << 16
_KEPT_ERRORS = 4096
_LONGEST_LINE = 1 << 24


class BotProcess:
    """A running program that is sent lines and answers with lines; what it writes to stderr is passed on.

    Arguments:
        command: the program and its arguments.
        goodbye: the last line, sent when this object is collected or Python ends.
        environment: variables that the program gets beside those of this process.

    Raises OSError if the program cannot be started. It leads a process group of its own: all that it starts ends
    with it, and Ctrl-C in the terminal does not reach it.
    """

    def __init__(self, command: Sequence[str], goodbye: bytes, environment: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        variables = {**os.environ, **environment}
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=variables, start_new_session=True
        )
        self._owner = os.getpid()
        self._end = weakref.finalize(self, _part, self._process, goodbye, self._owner)
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._input, self._output, self._errors = (stream.fileno() for stream in streams if stream is not None)
        self._poll = select.poll()
        for number in (self._input, self._output, self._errors):
            os.set_blocking(number, False)
        for number in (self._output, self._errors):
            self._poll.register(number, select.POLLIN)
        self._received = bytearray()
        self._last_errors = b""

    @property
    def is_own(self) -> bool:
        """Tell whether this process started the program; a fork only holds copies of its pipes."""
        return self._owner == os.getpid()

    def exchange(self, line: bytes, seconds: float | None) -> bytes:
        """Send one line and return the next one that comes, both without their ends; None for any time.

        Raises TimeoutError if none has come in time, EOFError with a sentence if none will come.
        """
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        unsent = memoryview(line + b"\n")
        while True:
            unsent = unsent[self._write(unsent) :]
            end = -1 if unsent else self._received.find(b"\n")
            if end >= 0:
                answer = bytes(self._received[:end])
                del self._received[: end + 1]
                return answer
            if len(self._received) > _LONGEST_LINE:
                raise EOFError("the program wrote a line without an end")
            if time.monotonic() >= deadline:
                raise TimeoutError
            self._wait(deadline, sending=len(unsent) > 0)

    def kill(self) -> None:
        """End the program, and all that it has started, at once."""
        self._end.detach()
        _kill(self._process)

    def _write(self, line: memoryview) -> int:
        """Write what the pipe takes; return the number of bytes."""
        try:
            return os.write(self._input, line) if line else 0
        except BlockingIOError:
            return 0
        except OSError:
            raise EOFError(self._ending()) from None

    def _wait(self, deadline: float, sending: bool) -> None:
        """Read what comes, at once or until the deadline; return also when the pipe takes more of a line."""
        if sending:
            self._poll.register(self._input, select.POLLOUT)
        left = None if deadline == math.inf else math.ceil(1000 * max(0.0, deadline - time.monotonic()))
        events = self._poll.poll(left)
        if sending:
            self._poll.unregister(self._input)
        for number, _ in events:
            if number == self._errors and not self._read_errors():
                self._poll.unregister(number)
            elif number == self._output:
                chunk = os.read(number, _CHUNK)
                if not chunk:
                    raise EOFError(self._ending())
                self._received += chunk

    def _read_errors(self) -> bool:
        """Read from stderr once and pass it on; False if there is nothing more."""
        try:
            chunk = os.read(self._errors, _CHUNK)
        except BlockingIOError:
            return False
        self._last_errors = (self._last_errors + chunk)[-_KEPT_ERRORS:]
        _pass_on(chunk)
        return bool(chunk)

    def _ending(self) -> str:
        """Return a sentence on how the program has ended."""
        try:
            code = self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return "the program closed its input or output"
        while self._read_errors():
            pass
        how = f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"
        name = signal.strsignal(-code) if code < 0 else None
        lines = self._last_errors.decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"the program {how}{f' ({name})' if name else ''}{f': {shortened(last)}' if last else ''}"


def _part(process: "subprocess.Popen[bytes]", goodbye: bytes, owner: int) -> None:
    """Send the last line and wait a while for the process to leave."""
    if os.getpid() != owner:
        return
    try:
        _, errors = process.communicate(goodbye + b"\n", SECONDS_TO_LEAVE)
    except subprocess.TimeoutExpired as late:
        errors = late.stderr or b""
    _kill(process)
    _pass_on(errors)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # the group may be empty already; of a group of dead processes some systems say that it may not be signalled
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _pass_on(errors: bytes) -> None:
    # whoever reads this process's stderr may have gone; that is no reason to stop playing
    with contextlib.suppress(OSError, ValueError):
        if errors and sys.stderr is not None:
            sys.stderr.write(errors.decode(errors="replace"))
            sys.stderr.flush()
