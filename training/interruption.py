"""Ctrl-C (and SIGTERM) as a request to stop at the next good moment."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether the run has been asked to stop."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def stop_on_signal(tell: Callable[[str], None]) -> Iterator[StopRequest]:
    """Turn the first Ctrl-C or SIGTERM into a request; a second one ends the run at once by KeyboardInterrupt."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        # Python lets the main thread alone handle signals
        yield request
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if request.asked:
            raise KeyboardInterrupt
        request.asked = True
        tell("stopping after this iteration; once more to stop at once (what came after the last checkpoint is lost)")

    previous = {number: signal.signal(number, handle) for number in STOP_SIGNALS}
    try:
        yield request
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
