"""Where the picked-up tile may go, and what may be picked up: cells and kinds of the current turn (see state.py)."""

import numpy as np

from ..engine.bits import popcount
from ..engine.compilation import Integer, Truth, kernel
from .board import column_of, kinds_anywhere, kinds_at, row_of, run_end, slot_at
from .state import FIRST_COLOUR, FIRST_SHAPE, PLACE, TORUS


@kernel
def along_row(state: np.void) -> Truth:
    """Tell whether the next tile of this turn may go in the row of the tiles placed (Q8 c)."""
    first = np.int64(state["placed"][0])
    second = np.int64(state["placed"][1])
    return state["placed_count"] == 1 or first // TORUS == second // TORUS


@kernel
def along_column(state: np.void) -> Truth:
    """Tell whether the next tile of this turn may go in the column of the tiles placed (Q8 c)."""
    first = np.int64(state["placed"][0])
    second = np.int64(state["placed"][1])
    return state["placed_count"] == 1 or first % TORUS == second % TORUS


@kernel
def end_cell(state: np.void, which: Integer) -> Integer:
    """Return one of the (up to four) cells that another tile of this turn may take, -1 if there is none.

    which: 0 left, 1 right, 2 above, 3 below the run of the tiles placed.
    """
    first = np.int64(state["placed"][0])
    sign = np.int64(2) * (which % 2) - 1
    if which < 2:
        return run_end(state, first, sign, np.int64(0)) if along_row(state) else np.int64(-1)
    return run_end(state, first, np.int64(0), sign) if along_column(state) else np.int64(-1)


@kernel
def opening_cell(state: np.void) -> Integer:
    """Return the cell that the next tile of a strict opening takes (Q4): [0, 0], [1, 0], ..."""
    return np.int64(state["placed_count"])


@kernel
def opening_kinds(state: np.void) -> Integer:
    """Return the kinds that may come next in a strict opening: a set of the largest size stays possible (Q4)."""
    placed = np.int64(0)
    for index in range(state["placed_count"]):
        placed |= 1 << (np.int64(state["board"][state["placed"][index]]) - 1)
    held = np.int64(state["hand_kinds"][state["to_move"]]) | placed
    kinds = np.int64(0)
    for index in range(6):
        of_colour = held & (FIRST_COLOUR << (6 * index))
        if popcount(of_colour) == state["opening_size"] and placed & ~of_colour == 0:
            kinds |= of_colour
        of_shape = held & (FIRST_SHAPE << index)
        if popcount(of_shape) == state["opening_size"] and placed & ~of_shape == 0:
            kinds |= of_shape
    return kinds & ~placed


@kernel
def set_size(kinds: Integer) -> Integer:
    """Return the size of the largest set of different tiles that share a colour or a shape (Q3)."""
    size = np.int64(0)
    for index in range(6):
        size = max(size, popcount(kinds & (FIRST_COLOUR << (6 * index))), popcount(kinds & (FIRST_SHAPE << index)))
    return size


@kernel
def update_fits(state: np.void) -> None:
    """Compute the kinds that may be picked up now if they are in the hand (Q9)."""
    if state["opening_size"] > 0:
        state["fits"] = opening_kinds(state)
    elif state["placed_count"] == 0:
        state["fits"] = kinds_anywhere(state)
    else:
        kinds = np.int64(0)
        for which in range(4):
            cell = end_cell(state, which)
            if cell >= 0:
                kinds |= kinds_at(state, cell)
        state["fits"] = kinds


@kernel
def pickable(state: np.void) -> Integer:
    """Return the kinds that may be picked up now."""
    if state["returned_count"] > 0 or state["picked"] > 0:
        return np.int64(0)
    return np.int64(state["fits"]) & np.int64(state["hand_kinds"][state["to_move"]])


@kernel
def exchangeable(state: np.void) -> Integer:
    """Return the kinds that may be returned now (Q11, Q12)."""
    allowed = state["placed_count"] == 0 and state["picked"] == 0
    if allowed and state["returned_count"] < state["exchange_limit"]:
        return np.int64(state["hand_kinds"][state["to_move"]])
    return np.int64(0)


@kernel
def may_end(state: np.void) -> Truth:
    """Tell whether the turn may end now: after placing or returning, or as a pass (Q10, Q11, Q14)."""
    if state["picked"] > 0:
        return False
    if state["placed_count"] > 0:
        return state["opening_size"] == 0
    return state["returned_count"] > 0 or (pickable(state) == 0 and exchangeable(state) == 0)


@kernel
def may_place(state: np.void, cell: Integer) -> Truth:
    """Tell whether the picked-up tile may be placed on a cell."""
    bit = np.int64(1) << (np.int64(state["picked"]) - 1)
    if state["opening_size"] > 0:
        return cell == opening_cell(state)
    if state["tiles_on_table"] == 0:
        return cell == 0
    if slot_at(state, cell) < 0 or kinds_at(state, cell) & bit == 0:
        return False
    if state["placed_count"] == 0:
        return True
    for which in range(4):
        if end_cell(state, which) == cell:
            return True
    return False


@kernel
def action_of_cell(state: np.void, cell: Integer) -> Integer:
    """Return the action that places the picked-up tile on a cell of the table or next to it."""
    size = np.int64(state["option_board_size"])
    width = np.int64(state["right"]) - np.int64(state["left"]) + 1
    height = np.int64(state["bottom"]) - np.int64(state["top"]) + 1
    x = column_of(state, cell) + (size - width) // 2
    y = row_of(state, cell) + (size - height) // 2
    return PLACE + y * size + x


@kernel
def cell_of_action(state: np.void, action: Integer) -> Integer:
    """Return the cell of a placing action, -1 if it is neither in the table nor next to it."""
    size = np.int64(state["option_board_size"])
    at = action - PLACE
    if at < 0 or at >= size * size:
        return np.int64(-1)
    width = np.int64(state["right"]) - np.int64(state["left"]) + 1
    height = np.int64(state["bottom"]) - np.int64(state["top"]) + 1
    row_of_window = at // size
    x = at - row_of_window * size - (size - width) // 2
    y = row_of_window - (size - height) // 2
    if x < -1 or x > width or y < -1 or y > height:
        return np.int64(-1)
    column = (np.int64(state["left"]) + x + TORUS) % TORUS
    row = (np.int64(state["top"]) + y + TORUS) % TORUS
    return row * TORUS + column


@kernel
def num_candidates(state: np.void) -> Integer:
    """Return the number of cells that the turn allows for a tile of any kind."""
    return np.int64(4) if state["placed_count"] > 0 else np.int64(state["frontier_count"])


@kernel
def candidate(state: np.void, index: Integer) -> Integer:
    """Return one of these cells, of the frontier or, later in a turn, at the ends of its line; -1 for none."""
    if state["placed_count"] > 0:
        return end_cell(state, index)
    return np.int64(state["frontier_cell"][index])


@kernel
def count_places(state: np.void) -> Integer:
    """Return the number of cells for the picked-up tile."""
    if state["opening_size"] > 0 or state["tiles_on_table"] == 0:
        return np.int64(1)
    count = np.int64(0)
    bit = np.int64(1) << (np.int64(state["picked"]) - 1)
    for index in range(num_candidates(state)):
        cell = candidate(state, np.int64(index))
        count += cell >= 0 and kinds_at(state, cell) & bit != 0
    return count


@kernel
def nth_place(state: np.void, n: Integer) -> Integer:
    """Return the n-th cell for the picked-up tile, in the order of the candidates; n must be below the count."""
    if state["opening_size"] > 0:
        return opening_cell(state)
    if state["tiles_on_table"] == 0:
        return np.int64(0)
    bit = np.int64(1) << (np.int64(state["picked"]) - 1)
    for index in range(num_candidates(state)):
        cell = candidate(state, np.int64(index))
        if cell >= 0 and kinds_at(state, cell) & bit != 0:
            if n == 0:
                return cell
            n -= 1
    return np.int64(-1)


@kernel
def mark_places(state: np.void, cells: np.ndarray, first: Integer, value: Integer) -> None:
    """Write a value for each cell that the picked-up tile may take, at index first + the cell's index in the window."""
    shift = first - PLACE
    if state["opening_size"] > 0:
        cells[action_of_cell(state, opening_cell(state)) + shift] = value
    elif state["tiles_on_table"] == 0:
        cells[action_of_cell(state, np.int64(0)) + shift] = value
    else:
        bit = np.int64(1) << (np.int64(state["picked"]) - 1)
        for index in range(num_candidates(state)):
            cell = candidate(state, np.int64(index))
            if cell >= 0 and kinds_at(state, cell) & bit != 0:
                cells[action_of_cell(state, cell) + shift] = value
