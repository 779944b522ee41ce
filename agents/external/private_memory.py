"""Keep the bots of this process from reading its memory."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_CLOSED, _OPEN = 0, 1

_lock = threading.Lock()
_reasons = 0
_was_open = False


@contextmanager
def private_memory() -> Iterator[None]:
    """Close this process's memory for a while, see `close_memory`."""
    close_memory()
    try:
        yield
    finally:
        open_memory()


def close_memory() -> None:
    """Close `/proc/PID/mem`, `/proc/PID/environ` and ptrace to all but root, where the system can: on Linux.

    Core dumps and attached profilers and debuggers are closed with it. Every call needs one of `open_memory`.
    """
    global _reasons, _was_open
    with _lock:
        _reasons += 1
        if _reasons == 1:
            _was_open = _prctl(_PR_GET_DUMPABLE, 0) == _OPEN
            if _was_open:
                _prctl(_PR_SET_DUMPABLE, _CLOSED)


def open_memory() -> None:
    """Take one `close_memory` back; the last one opens the memory again if it was open before."""
    global _reasons
    with _lock:
        _reasons -= 1
        if _reasons == 0 and _was_open:
            _prctl(_PR_SET_DUMPABLE, _OPEN)


def _prctl(option: int, argument: int) -> int:
    """Return the answer of the system; -1 if it knows no such attribute of a process."""
    if sys.platform != "linux":
        return -1
    try:
        import ctypes
    except ImportError:
        return -1
    return int(ctypes.CDLL(None).prctl(option, argument, 0, 0, 0))
