"""Tables of text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ..envs.system.messages import display_width


def align(rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> list[str]:
    """Return rows of cells, all equally many, as lines in columns; those of `left` begin, the others end together."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - display_width(cell))
            cells.append(cell + blanks if number in left else blanks + cell)
        lines.append("  ".join(cells).rstrip())
    return lines
