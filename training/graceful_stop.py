"""Ctrl-C (and SIGTERM) as a request to stop at the next good moment."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..envs.system.signals import handle_signals


class StopRequest:
    """Whether the run has been asked to stop."""

    def __init__(self) -> None:
        self.asked = False

    def ask(self) -> None:
        """Ask the run to stop."""
        self.asked = True


@contextmanager
def stop_on_signal(request: StopRequest, tell: Callable[[str], None]) -> Iterator[None]:
    """Turn the first Ctrl-C or SIGTERM into a request; a second one ends the run at once by KeyboardInterrupt."""

    signalled = False

    def stop() -> None:
        nonlocal signalled
        if signalled:
            raise KeyboardInterrupt
        signalled = True
        request.ask()
        tell("stopping after this iteration; once more to stop at once (what came after the last checkpoint is lost)")

    with handle_signals([signal.SIGINT, signal.SIGTERM], stop):
        yield
