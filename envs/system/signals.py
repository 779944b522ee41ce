"""SIGINT (Ctrl-C) and SIGTERM while something long runs: they end it in good order, and stay ignored where they are."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType


@contextmanager
def handle_signals(numbers: Sequence[int], answer: Callable[[], None]) -> Iterator[None]:
    """Call `answer` in the main thread whenever one of the signals comes, until the block ends.

    A signal that the process was started to ignore (by nohup, or in the background of a shell without job control)
    stays ignored. Outside the main thread, where Python handles no signals, nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        answer()

    before = {number: signal.getsignal(number) for number in numbers}
    # None is a handler that Python does not know and could not put back
    handled = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for number in handled:
            signal.signal(number, handle)
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)


@contextmanager
def interrupt_on_terminate() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt, as SIGINT does, until the block ends."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with handle_signals([signal.SIGTERM], interrupt):
        yield
