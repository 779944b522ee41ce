"""What a bot prints: shown on stderr as it comes, without characters that act on a terminal, and not without end."""

import contextlib
import sys

from ...envs.system.messages import display_name, escape_controls

MOST_BYTES = 1 << 16


class Prints:
    """Shows the first 64 KB that the processes of one bot print, then says once that there is more."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left = MOST_BYTES

    def show(self, text: str) -> None:
        """Show a piece of text, or what still fits."""
        if not text or self._left < 0:
            return
        shown = text.encode(errors="replace")[: self._left].decode(errors="ignore")
        self._left -= len(text.encode(errors="replace"))
        shown = escape_controls(shown.replace("\r\n", "\n"), keep="\n\t")
        if self._left < 0:
            shown += f"\n(more output of {display_name(self._name)} is not shown)\n"
        # whoever reads this process's stderr may have gone; that is no reason to stop playing
        with contextlib.suppress(OSError, ValueError):
            if sys.stderr is not None:
                sys.stderr.write(shown)
                sys.stderr.flush()
