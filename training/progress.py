"""The progress line of a training run: overwritten in a terminal, one line per evaluation elsewhere."""

import sys
from typing import TextIO


class ProgressLine:
    """Writes how far a run has come; `stream` is stdout if it is None."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._live = self._stream.isatty()
        self._width = 0

    def show(self, text: str, *, keep: bool) -> None:
        """Show a line in place of the one before; `keep` leaves it standing.

        Without a terminal only lines to keep are written.
        """
        if self._live:
            self._stream.write("\r" + text.ljust(self._width) + ("\n" if keep else ""))
            self._width = 0 if keep else len(text)
        elif keep:
            self._stream.write(text + "\n")
        self._stream.flush()

    def say(self, text: str) -> None:
        """Write a line of its own."""
        self.show(text, keep=True)


def duration(seconds: float) -> str:
    """Return a time as 0:42, 12:05 or 3:10:00."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
