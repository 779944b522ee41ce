"""Azul's heuristic for one decision: the expected points of a move in this round's tiling.

The value of taking n tiles of a colour to a line is, in points:

- if the line becomes full: the points of its wall tile (A19), after full lines above it are tiled, plus a fraction of
  the bonuses it contributes to (A29), minus the cost of the overflow (A20);
- if it does not: the same points, discounted by the spaces of the line that remain empty;
- a small bonus for the marker besides the cost of its floor space: it gives the right to start the next round.

On the grey wall a line is valued by its best open column. Projected scores only count the tiling and the bonuses.
"""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, kernel
from ..engine.state import RUNNING
from .scoring import COLOUR_BONUS, COLUMN_BONUS, FULL, ROW_BONUS, open_columns, run_length, tile_points
from .state import (
    CENTRE,
    COLOURED,
    FLOOR,
    FLOOR_COST,
    FLOOR_SPACES,
    MARKER_IN_CENTRE,
    NUM_COLOURS,
    NUM_DESTINATIONS,
    NUM_TARGETS,
    SIZE,
    TILING,
)

STARTING_BONUS = 0.5
PARTIAL_LINE = 0.55
SHORT_LINE = 0.1


@kernel
def action_values(state: np.void, values: np.ndarray, scratch: np.ndarray) -> None:
    """Write the value of every legal action of a running game, in points, to float32 [num_actions]."""
    player: Any = np.int64(state["to_move"])
    sources = 2 * int(state["option_num_players"]) + 2
    if state["phase"] == TILING:
        row: Any = np.int64(state["row"])
        columns = open_columns(state, player, row)
        for column in range(SIZE):
            if columns >> column & 1:
                colour = int(state["line_colour"][player, row]) - 1
                values[sources * NUM_TARGETS + column] = wall_value(state, player, row, column, colour)
        return
    for colour in range(NUM_COLOURS):
        for destination in range(NUM_DESTINATIONS):
            target = colour * NUM_DESTINATIONS + destination
            if np.int64(state["targets"][player]) >> target & 1:
                target_value = 0.0 if destination == FLOOR else line_target_value(state, player, destination, colour)
                for source in range(sources):
                    tiles = int(state["sources"][source, colour])
                    if tiles > 0:
                        values[source * NUM_TARGETS + target] = move_value(
                            state, player, source, destination, tiles, target_value
                        )


@kernel
def move_value(
    state: np.void, player: Integer, source: Integer, destination: Integer, tiles: Integer, target_value: float
) -> float:
    """Return the value of taking tiles to a destination; `target_value` is that of the line's wall tile."""
    before = int(state["floor_count"][player])
    after: Integer = before
    value = 0.0
    if source == CENTRE and state["marker"] == MARKER_IN_CENTRE:
        after += 1
        value += STARTING_BONUS
    overflow = tiles
    if destination != FLOOR:
        room = destination + 1 - int(state["line_count"][player, destination])
        overflow = max(0, tiles - room)
        missing = max(0, room - tiles)
        if missing == 0:
            value += target_value
        else:
            # an incomplete line may be completed later; the fewer spaces are empty, the more likely
            value += PARTIAL_LINE * target_value * (tiles / (destination + 1.0)) - SHORT_LINE * missing
    after = min(FLOOR_SPACES, after + overflow)
    before = min(FLOOR_SPACES, before)
    return value - (FLOOR_COST[after] - FLOOR_COST[before])


@kernel
def line_target_value(state: np.void, player: Integer, row: Integer, colour: Integer) -> float:
    """Return the value of the wall tile of a line with a colour; 0 if no column is open for it."""
    if state["option_wall"] == COLOURED:
        return wall_value(state, player, row, (row + colour) % SIZE, colour)
    best = 0.0
    for column in range(SIZE):
        taken = state["column_colours"][player, column] >> colour & 1
        if state["wall"][player, row, column] == 0 and taken == 0:
            best = max(best, wall_value(state, player, row, column, colour))
    return best


@kernel
def wall_value(state: np.void, player: Integer, row: Integer, column: Integer, colour: Integer) -> float:
    """Return the points of a tile on a wall cell, after tiling the full lines above it, plus fractions of bonuses."""
    down_cells: Any = np.int64(state["column_cells"][player, column])
    if state["option_wall"] == COLOURED:
        for above in range(row):
            held = int(state["line_colour"][player, above]) - 1
            full = state["line_count"][player, above] == above + 1
            if full and (held + above) % SIZE == column:
                down_cells |= 1 << above
    across_cells: Any = np.int64(state["row_cells"][player, row])
    across = run_length(across_cells | 1 << column, column)
    down = run_length(down_cells | 1 << row, row)
    in_row: Any = 0
    in_column: Any = 0
    of_colour: Any = 0
    for index in range(SIZE):
        in_row += across_cells >> index & 1
        in_column += down_cells >> index & 1
        of_colour += state["row_colours"][player, index] >> colour & 1
    fractions = ROW_BONUS * in_row + COLUMN_BONUS * in_column + COLOUR_BONUS * of_colour
    return tile_points(across, down) + fractions / (SIZE * 2.0)


@kernel
def projected_scores(state: np.void, scores: np.ndarray) -> None:
    """Write each player's score as if the round and the game ended now, int32 [num_players]."""
    for player in range(int(state["option_num_players"])):
        scores[player] = state["score"][player]
        if state["status"] == RUNNING:
            scores[player] = _projected_score(state, player)


@kernel
def _projected_score(state: np.void, player: Integer) -> Integer:
    """Return a player's score with the full lines tiled, the floor line paid and the bonuses (A17, A20, A29).

    On the grey wall each full line takes the open column with the most points, ignoring that lines above may close
    columns to its colour.
    """
    # the wall as sets of five bits: the cells of each column, and for each colour the rows that have it
    columns: Any = np.int64(0)
    colours: Any = np.int64(0)
    for index in range(SIZE):
        columns |= np.int64(state["column_cells"][player, index]) << (SIZE * index)
        row_colours: Any = np.int64(state["row_colours"][player, index])
        for colour in range(NUM_COLOURS):
            colours |= (row_colours >> colour & 1) << (SIZE * colour + index)
    points: Any = np.int64(state["score"][player])
    bonus: Any = np.int64(0)
    for row in range(SIZE):
        across: Any = np.int64(state["row_cells"][player, row])
        if state["line_count"][player, row] == row + 1:
            colour = int(state["line_colour"][player, row]) - 1
            column, gain = _best_tile(state, player, row, colour, across, columns)
            if column >= 0:
                points += gain
                across |= 1 << column
                columns |= np.int64(1) << (SIZE * column + row)
                colours |= np.int64(1) << (SIZE * colour + row)
        if across == FULL:
            bonus += ROW_BONUS
    for index in range(SIZE):
        if columns >> (SIZE * index) & FULL == FULL:
            bonus += COLUMN_BONUS
        if colours >> (SIZE * index) & FULL == FULL:
            bonus += COLOUR_BONUS
    points -= FLOOR_COST[int(state["floor_count"][player])]
    return max(np.int64(0), points) + bonus


@kernel
def _best_tile(
    state: np.void, player: Integer, row: Integer, colour: Integer, across: Integer, columns: Integer
) -> tuple[Integer, Integer]:
    """Return the best open column for the tile of a full line, -1 if none is open, and its points (A19)."""
    candidates = 1 << (row + colour) % SIZE if state["option_wall"] == COLOURED else open_columns(state, player, row)
    best = -1
    best_gain: Integer = 0
    for column in range(SIZE):
        if candidates >> column & 1:
            down = columns >> (SIZE * column) & FULL
            gain = tile_points(run_length(across | 1 << column, column), run_length(down | 1 << row, row))
            if gain > best_gain:
                best = column
                best_gain = gain
    return best, best_gain
