"""SIGINT (Ctrl-C) and SIGTERM during long work: they end it cleanly, and stay ignored if they were."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType


@contextmanager
def handle_signals(numbers: Sequence[int], answer: Callable[[], None]) -> Iterator[None]:
    """Call `answer` in the main thread whenever one of the signals arrives, until the block ends.

    A signal that was ignored when the process started (by nohup, or in the background of a shell without job control)
    stays ignored. Outside the main thread, where Python handles no signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        answer()

    before = {number: signal.getsignal(number) for number in numbers}
    # None is a handler from outside Python, which Python could not restore
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
    """Make SIGTERM raise KeyboardInterrupt, like SIGINT, until the block ends."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with handle_signals([signal.SIGTERM], interrupt):
        yield
