"""The set of targets of a player: the colours that the player's pattern lines and floor line accept (A12).

Bit 6 * colour + destination; destinations 0-4 are lines, 5 the floor line, which accepts everything.
"""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, kernel
from .state import NUM_COLOURS, NUM_DESTINATIONS, SIZE

COLOUR_TARGETS = (1 << NUM_DESTINATIONS) - 1
LINE_0 = sum(1 << (NUM_DESTINATIONS * colour) for colour in range(NUM_COLOURS))


@kernel
def mark_line_full(state: np.void, player: Integer, line: Integer) -> None:
    """Update the targets of a full line: it accepts no colour."""
    state["targets"][player] &= ~(LINE_0 << line)


@kernel
def mark_line_colour(state: np.void, player: Integer, line: Integer, colour: Integer) -> None:
    """Update the targets of a partly filled line: it accepts only its colour."""
    state["targets"][player] &= ~(LINE_0 << line) | 1 << (NUM_DESTINATIONS * colour + line)


@kernel
def mark_line_empty(state: np.void, player: Integer, line: Integer) -> None:
    """Update the targets of an empty line: it accepts the colours that its wall row does not have yet."""
    targets = int(state["targets"][player]) & ~(LINE_0 << line)
    for colour in range(NUM_COLOURS):
        if state["row_colours"][player, line] >> colour & 1 == 0:
            targets |= 1 << (NUM_DESTINATIONS * colour + line)
    state["targets"][player] = targets


@kernel
def update_derived_fields(state: np.void) -> None:
    """Compute every derived field of a record from the others (see state.py)."""
    for source in range(len(state["present"])):
        state["present"][source] = 0
        for colour in range(NUM_COLOURS):
            if state["sources"][source, colour] > 0:
                state["present"][source] |= COLOUR_TARGETS << (NUM_DESTINATIONS * colour)
    for player in range(state["option_num_players"]):
        for index in range(SIZE):
            state["row_colours"][player, index] = 0
            state["column_colours"][player, index] = 0
            state["row_cells"][player, index] = 0
            state["column_cells"][player, index] = 0
        for row in range(SIZE):
            for column in range(SIZE):
                if state["wall"][player, row, column] > 0:
                    record_wall_tile(state, player, row, column, int(state["wall"][player, row, column]) - 1)
        state["targets"][player] = (1 << (NUM_DESTINATIONS * NUM_COLOURS)) - 1
        for index in range(SIZE):
            # plain Python needs numpy's integers in bit operations on a record's fields
            line: Any = np.int64(index)
            count = int(state["line_count"][player, line])
            mark_line_empty(state, player, line)
            if count == line + 1:
                mark_line_full(state, player, line)
            elif count > 0:
                mark_line_colour(state, player, line, int(state["line_colour"][player, line]) - 1)


@kernel
def record_wall_tile(state: np.void, player: Integer, row: Integer, column: Integer, colour: Integer) -> None:
    """Add a new wall tile to the derived sets of rows and columns."""
    state["row_colours"][player, row] |= 1 << colour
    state["column_colours"][player, column] |= 1 << colour
    state["row_cells"][player, row] |= 1 << column
    state["column_cells"][player, column] |= 1 << row
