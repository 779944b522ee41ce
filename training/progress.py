"""The progress line of a long command: overwritten in a terminal, one line per evaluation elsewhere."""

import shutil
import sys
from collections.abc import Callable
from typing import TextIO

from ..envs.system.messages import cut_middle, display_width, escape_controls
from ..envs.view.ansi import obeys_codes


class ProgressLine:
    """Writes how far something has come; `stream` is stdout if it is None.

    A stream that can no longer be written to (its reader has gone away, its disk is full) does not end what is told
    about: the error is kept in `error`, `on_error` is called, and nothing more is written.
    """

    def __init__(self, stream: TextIO | None = None, on_error: Callable[[], None] | None = None) -> None:
        self.error: OSError | None = None
        self._stream = sys.stdout if stream is None else stream
        self._on_error = on_error
        self._live = obeys_codes(self._stream)
        self._width = 0

    def show(self, text: str, *, keep: bool) -> None:
        """Show a line in place of the one before; `keep` leaves it standing.

        Without a terminal only lines to keep are written.
        """
        text = escape_controls(text)
        if self._live:
            if not keep:
                # a line that the terminal breaks in two cannot be overwritten
                text = cut_middle(text, max(4, shutil.get_terminal_size().columns - 1))
            width = display_width(text)
            blanks = " " * (self._width - width)
            self._width = 0 if keep else width
            self._write("\r", f"{text}{blanks}" + ("\n" if keep else ""))
        elif keep:
            self._write(text + "\n")

    def update(self, text: str) -> None:
        """Show a line in place of the one before; without a terminal it is one of its own."""
        self.show(text, keep=not self._live)

    def end(self) -> None:
        """Leave the last line standing: what comes next is written below it."""
        if self._width:
            self._width = 0
            self._write("\n")

    def print(self, text: str) -> None:
        """Write a line of its own; signal handlers may call this."""
        self.show(text, keep=True)

    def _write(self, *texts: str) -> None:
        # standard output that was closed before the process started is None
        if self._stream is None or self.error is not None:
            return
        try:
            for text in texts:
                self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            self.error = error
            if self._on_error is not None:
                self._on_error()
        except RuntimeError:
            # a signal has come in the middle of a write to this stream, which takes no second one; the text waits in
            # its buffer
            pass


def format_duration(seconds: float) -> str:
    """Return a time as 0:42, 12:05 or 3:10:00."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
