"""Ctrl-C (and SIGTERM) as a request to stop at the next good moment."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..envs.system.signals import handle_signals


class StopRequest:
    """Whether the run has been asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def request(self) -> None:
        """Ask the run to stop."""
        self.requested = True


@contextmanager
def stop_on_signal(request: StopRequest, print_line: Callable[[str], None]) -> Iterator[None]:
    """Turn the first Ctrl-C or SIGTERM into a request; a second one ends the run at once by KeyboardInterrupt."""

    interrupted = False

    def stop() -> None:
        nonlocal interrupted
        if interrupted:
            raise KeyboardInterrupt
        interrupted = True
        request.request()
        print_line(
            "stopping after this iteration; once more to stop at once (what came after the last checkpoint is lost)"
        )

    with handle_signals([signal.SIGINT, signal.SIGTERM], stop):
        yield
