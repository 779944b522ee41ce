"""Azul's tiling, the end of the game and its result, as kernels on one record (see state.py)."""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, Truth, kernel
from ..engine.state import ENDED, TRUNCATED
from .placement import mark_line_empty, record_wall_tile
from .state import COLOURED, FLOOR_COST, FLOOR_SPACES, MARKER_IN_CENTRE, NUM_COLOURS, SIZE, TILING

FULL = (1 << SIZE) - 1
ROW_BONUS, COLUMN_BONUS, COLOUR_BONUS = 2, 7, 10


@kernel
def open_columns(state: np.void, player: Integer, row: Integer) -> Integer:
    """Return the set of columns (5 bits) that are open for the colour of a full line of the grey wall (A22)."""
    colour = int(state["line_colour"][player, row]) - 1
    columns = 0
    if state["row_colours"][player, row] >> colour & 1 == 0:
        for column in range(SIZE):
            if state["column_colours"][player, column] >> colour & 1 == 0:
                columns |= 1 << column
    return columns & ~int(state["row_cells"][player, row])


@kernel
def pending_column_choices(state: np.void) -> Integer:
    """Return the set of columns (5 bits) from which the tiling player has to choose."""
    player: Any = np.int64(state["to_move"])
    row: Any = np.int64(state["row"])
    return open_columns(state, player, row)


@kernel
def tile_from(state: np.void, player: Integer, row: Integer) -> Truth:
    """Tile from a player's row on until all players are done, or one has to choose a column (A16, A23).

    Return True if a new round must be dealt; False if a column must be chosen or the game is over.
    """
    while True:
        for line in range(row, SIZE):
            if state["line_count"][player, line] == line + 1 and _tile_line(state, player, line):
                state["phase"] = TILING
                state["to_move"] = player
                state["row"] = line
                return False
        _pay_floor(state, player)
        row = 0
        player = 0 if player + 1 == state["option_num_players"] else player + 1
        if player == state["start"]:
            return _end_round(state)


@kernel
def _tile_line(state: np.void, player: Integer, row: Integer) -> Truth:
    """Tile a full line if there is no choice; return True if a column must be chosen."""
    if state["option_wall"] == COLOURED:
        colour = int(state["line_colour"][player, row]) - 1
        tile_line_at(state, player, row, (colour + row) % SIZE)
        return False
    columns = open_columns(state, player, row)
    if columns == 0:
        _drop_line(state, player, row)
        return False
    if columns & (columns - 1) != 0:
        return True
    for column in range(SIZE):
        if columns >> column & 1:
            tile_line_at(state, player, row, column)
    return False


@kernel
def tile_line_at(state: np.void, player: Integer, row: Integer, column: Integer) -> None:
    """Move one tile of a full line to a wall cell, score it, and put the other tiles into the lid (A17, A19)."""
    colour = int(state["line_colour"][player, row]) - 1
    state["wall"][player, row, column] = 1 + colour
    record_wall_tile(state, player, row, column, colour)
    state["lid"][colour] += row
    across_cells: Any = np.int64(state["row_cells"][player, row])
    down_cells: Any = np.int64(state["column_cells"][player, column])
    across = run_length(across_cells, column)
    down = run_length(down_cells, row)
    state["score"][player] += tile_points(across, down)
    _empty_line(state, player, row)


@kernel
def run_length(cells: Integer, at: Integer) -> Integer:
    """Return the length of the unbroken run through a filled cell of a line of five (a set of 5 bits)."""
    length = 1
    below = at - 1
    while below >= 0 and cells >> below & 1:
        length += 1
        below -= 1
    above = at + 1
    while above < SIZE and cells >> above & 1:
        length += 1
        above += 1
    return length


@kernel
def tile_points(across: Integer, down: Integer) -> Integer:
    """Return the points of a tile from the lengths of the runs through it (A19)."""
    if across == 1 and down == 1:
        return 1
    return (across if across > 1 else 0) + (down if down > 1 else 0)


@kernel
def _drop_line(state: np.void, player: Integer, row: Integer) -> None:
    """Move a full line without an open column to the floor line (A23)."""
    colour = int(state["line_colour"][player, row]) - 1
    overflow = min(row + 1, FLOOR_SPACES - int(state["floor_count"][player]))
    state["floor_count"][player] += overflow
    state["floor"][player, colour] += overflow
    state["lid"][colour] += row + 1 - overflow
    _empty_line(state, player, row)


@kernel
def _empty_line(state: np.void, player: Integer, row: Integer) -> None:
    state["line_count"][player, row] = 0
    state["line_colour"][player, row] = 0
    mark_line_empty(state, player, row)


@kernel
def _pay_floor(state: np.void, player: Integer) -> None:
    """Subtract the cost of the floor line and empty it into the lid (A20)."""
    cost = FLOOR_COST[int(state["floor_count"][player])]
    state["score"][player] = max(0, int(state["score"][player]) - cost)
    state["floor_count"][player] = 0
    state["floor_marker"][player] = 0
    for colour in range(NUM_COLOURS):
        state["lid"][colour] += state["floor"][player, colour]
        state["floor"][player, colour] = 0


@kernel
def _end_round(state: np.void) -> Truth:
    """End the game (A26-A29) or begin the next round (A21); return True if it must be dealt."""
    complete: Truth = False
    for player in range(state["option_num_players"]):
        complete = complete or complete_rows(state, player) > 0
    tiles_left = 0
    for colour in range(NUM_COLOURS):
        tiles_left += state["bag"][colour] + state["lid"][colour]
    if not complete and tiles_left > 0 and state["round"] < state["option_max_rounds"]:
        state["round"] += 1
        if state["marker"] != MARKER_IN_CENTRE:
            state["start"] = state["marker"]
        return True
    truncated = not complete and state["round"] >= state["option_max_rounds"]
    state["status"] = TRUNCATED if truncated else ENDED
    for player in range(state["option_num_players"]):
        state["score"][player] += bonus(state, player)
    return False


@kernel
def complete_rows(state: np.void, player: Integer) -> Integer:
    """Return the number of complete rows on a player's wall."""
    rows = 0
    for row in range(SIZE):
        rows += state["row_cells"][player, row] == FULL
    return rows


@kernel
def bonus(state: np.void, player: Integer) -> Integer:
    """Return the final bonus for complete rows, columns and colours (A29)."""
    points = 0
    everywhere = FULL
    for index in range(SIZE):
        everywhere &= int(state["row_colours"][player, index])
        if state["row_cells"][player, index] == FULL:
            points += ROW_BONUS
        if state["column_cells"][player, index] == FULL:
            points += COLUMN_BONUS
    for colour in range(NUM_COLOURS):
        if everywhere >> colour & 1:
            points += COLOUR_BONUS
    return points


@kernel
def scores_and_ranks(state: np.void, scores: np.ndarray, ranks: np.ndarray) -> None:
    """Write scores and ranks, int32 [num_players] (A30); rank 0 wins, and tied players share the better rank."""
    players = state["option_num_players"]
    for player in range(players):
        scores[player] = state["score"][player]
        ranks[player] = 0
        for other in range(players):
            lead: Integer = int(state["score"][other]) - int(state["score"][player])
            if lead == 0:
                lead = complete_rows(state, other) - complete_rows(state, player)
            ranks[player] += lead > 0
