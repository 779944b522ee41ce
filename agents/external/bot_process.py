"""The process of a bot: exchange lines with it under a time limit, and leave nothing of it behind."""

import codecs
import contextlib
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from .prints import Prints
from .private_memory import close_memory, open_memory
from .replies import truncate

SECONDS_TO_EXIT = 2.0
"""How long a process may take to exit after its last line; then it is killed."""

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_NEEDED = ("fork", "killpg", "set_blocking", "getppid")
_SECONDS_TO_START = 30.0
_SECONDS_TO_END = 1.0
_SECONDS_TO_KILL = 10.0
_LONGEST_WAIT = 3600.0
_CHUNK = 1 << 16
_MOST_CHUNKS = 64
_KEPT_ERRORS = 4096
_LONGEST_LINE = 1 << 24

# poll holds no file that a fork would share, and knows no highest one
_Selector: type[selectors.BaseSelector] = getattr(selectors, "PollSelector", selectors.SelectSelector)


class BotProcess:
    """A running program that answers lines with lines; its stderr is forwarded.

    Arguments:
        command: the program and its arguments.
        goodbye: the last line, sent when this object is collected or Python exits.
        environment: variables that are added to those of this process.
        prints: what shows its stderr.

    Raises OSError if the program cannot be started. A `supervisor` between the two kills all descendants of the
    program with it and keeps Ctrl-C in the terminal away from it. While it runs, it cannot read the memory of this
    process, where the system supports that.
    """

    def __init__(
        self, command: Sequence[str], goodbye: bytes, environment: Mapping[str, str], prints: Prints | None = None
    ) -> None:
        if not all(hasattr(os, name) for name in _NEEDED):
            raise OSError("bots of your own need a POSIX system, such as Linux or macOS")
        self._owner = os.getpid()
        # before any process exists that could read it
        close_memory()
        try:
            self._streams = _Streams(command, environment, prints or Prints(command[0]))
        except BaseException:
            open_memory()
            raise
        self._end = weakref.finalize(self, _shut_down, self._streams, goodbye, self._owner)
        try:
            self._streams.wait_for_start()
        except BaseException:
            self.kill()
            raise
        self._received = bytearray()

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
            unsent = unsent[self._streams.write(unsent) :]
            end = -1 if unsent else self._received.find(b"\n")
            if end >= 0:
                reply = bytes(self._received[:end])
                del self._received[: end + 1]
                return reply
            if len(self._received) > _LONGEST_LINE:
                raise EOFError("the program wrote a line without an end")
            if time.monotonic() >= deadline:
                raise TimeoutError
            self._received += self._streams.read(deadline, sending=len(unsent) > 0)

    def kill(self) -> None:
        """End the program, and all that it has started, at once."""
        if self._end.detach():
            self._streams.end()


class _Streams:
    """The supervisor of a program, the program's streams, and the socket on which the supervisor tells of it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], prints: Prints) -> None:
        self._control, given = socket.socketpair()
        argv = [
            sys.executable or "python3",
            "-I",
            "-S",
            str(_SUPERVISOR),
            str(given.fileno()),
            str(os.getpid()),
            *command,
        ]
        try:
            self._supervisor = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, **environment},
                pass_fds=[given.fileno()],
                start_new_session=True,
            )
        except BaseException:
            self._control.close()
            raise
        finally:
            given.close()
        process = self._supervisor
        self._files = [file for file in (process.stdin, process.stdout, process.stderr) if file is not None]
        self._input, self._output, self._errors = (file.fileno() for file in self._files)
        for number in (self._input, self._output, self._errors):
            os.set_blocking(number, False)
        self._selector = _Selector()
        for number in (self._output, self._errors):
            self._selector.register(number, selectors.EVENT_READ)
        self._prints = prints
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._last_errors = b""

    def wait_for_start(self) -> None:
        """Return when the program runs; OSError if it cannot be started."""
        status, _, number = self._read_status(_SECONDS_TO_START).partition(" ")
        if status == "failed":
            raise OSError(int(number), os.strerror(int(number)))
        if status != "started":
            raise OSError(f"{_SUPERVISOR.name} does not run")

    def _read_status(self, seconds: float) -> str:
        """Return the next line of the supervisor; nothing if none comes in time."""
        self._control.settimeout(seconds)
        line = b""
        with contextlib.suppress(OSError):
            while not line.endswith(b"\n") and (byte := self._control.recv(1)):
                line += byte
        return line.decode().rstrip("\n")

    def write(self, line: memoryview) -> int:
        """Write what the pipe takes; return the number of bytes."""
        try:
            return os.write(self._input, line) if line else 0
        except BlockingIOError:
            return 0
        except OSError:
            raise EOFError(self._ending()) from None

    def read(self, deadline: float, sending: bool) -> bytes:
        """Return what comes, at once or until the deadline, or nothing when the pipe takes more of a line.

        Raises EOFError, a sentence, if the program has closed its output.
        """
        if sending:
            self._selector.register(self._input, selectors.EVENT_WRITE)
        events = self._selector.select(min(_LONGEST_WAIT, max(0.0, deadline - time.monotonic())))
        if sending:
            self._selector.unregister(self._input)
        chunk = b""
        for key, _ in events:
            if key.fd == self._errors and not self._read_errors():
                self._selector.unregister(key.fd)
            elif key.fd == self._output:
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    raise EOFError(self._ending())
        return chunk

    def _read_errors(self) -> bool:
        """Read from stderr once and pass it on; False if there is nothing more."""
        try:
            chunk = os.read(self._errors, _CHUNK)
        except BlockingIOError:
            return False
        self._last_errors = (self._last_errors + chunk)[-_KEPT_ERRORS:]
        self._prints.show(self._decoder.decode(chunk, final=not chunk))
        return bool(chunk)

    def _ending(self) -> str:
        """Return a sentence on how the program has ended."""
        status, _, number = self._read_status(_SECONDS_TO_END).partition(" ")
        if status != "ended":
            return "the program closed its input or output"
        code = int(number)
        for _ in range(_MOST_CHUNKS):
            if not self._read_errors():
                break
        how = f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"
        name = signal.strsignal(-code) if code < 0 else None
        lines = self._last_errors.decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"the program {how}{f' ({name})' if name else ''}{f': {truncate(last)}' if last else ''}"

    def shut_down(self, goodbye: bytes) -> None:
        """Send the last line, close the input, and wait for the program to exit."""
        deadline = time.monotonic() + SECONDS_TO_EXIT
        unsent = memoryview(goodbye + b"\n")
        with contextlib.suppress(EOFError):
            while unsent and time.monotonic() < deadline:
                unsent = unsent[self.write(unsent) :]
                self.read(deadline if unsent else 0.0, sending=len(unsent) > 0)
            self._files[0].close()
            while time.monotonic() < deadline:
                self.read(deadline, sending=False)
        # it may close its output first and leave later
        self._read_status(max(0.0, deadline - time.monotonic()))

    def end(self) -> None:
        """Let the supervisor kill the program and all that it has started."""
        self._control.close()
        try:
            self._supervisor.wait(_SECONDS_TO_KILL)
        except subprocess.TimeoutExpired:
            # stopped by its bot, which does not outlive it
            self._supervisor.kill()
            self._supervisor.wait()
        self._selector.close()
        for file in self._files:
            file.close()
        open_memory()


def _shut_down(streams: _Streams, goodbye: bytes, owner: int) -> None:
    if os.getpid() == owner:
        streams.shut_down(goodbye)
        streams.end()
