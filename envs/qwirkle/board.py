"""The table: putting tiles down, and which kinds every empty cell beside a tile admits (see state.py).

Cells, kinds and sets of kinds are int64 here.
"""

import numpy as np

from ..engine.bits import nth_bit, popcount
from ..engine.compilation import Integer, Truth, kernel
from .state import ALL_KINDS, FIRST_COLOUR, FIRST_SLOT, NUM_CELLS, TORUS

# the bits 6 * colour of every set of colours
_SPREAD = np.array([sum(1 << (6 * c) for c in range(6) if s >> c & 1) for s in range(64)], np.int64)


@kernel
def step(cell: Integer, right: Integer, down: Integer) -> Integer:
    """Return the cell one step along the row (right -1, 0, 1) or the column (down -1, 0, 1)."""
    if right != 0:
        x = cell % TORUS
        if right > 0:
            return cell + 1 if x + 1 < TORUS else cell + 1 - TORUS
        return cell - 1 if x > 0 else cell - 1 + TORUS
    if down > 0:
        return cell + TORUS if cell + TORUS < NUM_CELLS else cell + TORUS - NUM_CELLS
    return cell - TORUS if cell >= TORUS else cell - TORUS + NUM_CELLS


@kernel
def tile_at(state: np.void, cell: Integer) -> Integer:
    """Return 1 + the kind that lies on a cell, 0 if none does."""
    tile = np.int64(state["board"][cell])
    return tile if tile < FIRST_SLOT else np.int64(0)


@kernel
def slot_at(state: np.void, cell: Integer) -> Integer:
    """Return the slot of the frontier that a cell has, -1 if it is none of the frontier."""
    return np.int64(state["board"][cell]) - FIRST_SLOT


@kernel
def run_end(state: np.void, cell: Integer, right: Integer, down: Integer) -> Integer:
    """Return the first empty cell from a cell on in a direction."""
    cell = step(cell, right, down)
    while tile_at(state, cell) > 0:
        cell = step(cell, right, down)
    return cell


@kernel
def run_length(state: np.void, cell: Integer, right: Integer, down: Integer) -> Integer:
    """Return the length of the run through a tile along the row (1, 0) or the column (0, 1)."""
    length = np.int64(1)
    for sign in (-1, 1):
        at = step(cell, sign * right, sign * down)
        while tile_at(state, at) > 0:
            length += 1
            at = step(at, sign * right, sign * down)
    return length


@kernel
def allowed_kinds(state: np.void, cell: Integer, right: Integer, down: Integer) -> Integer:
    """Return the kinds that an empty cell admits as far as its row (1, 0) or its column (0, 1) goes (Q8 b)."""
    colours = np.int64(0)
    shapes = np.int64(0)
    count = np.int64(0)
    for sign in (-1, 1):
        at = step(cell, sign * right, sign * down)
        tile = tile_at(state, at)
        while tile > 0:
            colours |= 1 << ((tile - 1) // 6)
            shapes |= 1 << ((tile - 1) % 6)
            count += 1
            at = step(at, sign * right, sign * down)
            tile = tile_at(state, at)
    return adjacent_kinds(colours, shapes, count)


@kernel
def adjacent_kinds(colours: Integer, shapes: Integer, count: Integer) -> Integer:
    """Return the kinds that make a line with `count` tiles of these sets (6 bits each) of colours and shapes."""
    if count == 0:
        return np.int64(ALL_KINDS)
    kinds = np.int64(0)
    if colours & (colours - 1) == 0 and popcount(shapes) == count:
        kinds |= (FIRST_COLOUR & ~shapes) << (6 * nth_bit(colours, 0))
    if shapes & (shapes - 1) == 0 and popcount(colours) == count:
        kinds |= _SPREAD[FIRST_COLOUR & ~colours] << nth_bit(shapes, 0)
    return kinds


@kernel
def put_tile(state: np.void, cell: Integer, kind: Integer) -> None:
    """Put a tile on an empty cell and bring extent and frontier up to date; nothing is checked."""
    slot = slot_at(state, cell)
    if slot >= 0:
        _leave_frontier(state, slot)
    state["board"][cell] = 1 + kind
    _extend(state, cell)
    state["tiles_on_table"] += 1
    for sign in (-1, 1):
        end = run_end(state, cell, sign, 0)
        slot = _enter_frontier(state, end)
        state["frontier_row"][slot] = allowed_kinds(state, end, 1, 0)
        end = run_end(state, cell, 0, sign)
        slot = _enter_frontier(state, end)
        state["frontier_column"][slot] = allowed_kinds(state, end, 0, 1)


@kernel
def _leave_frontier(state: np.void, slot: Integer) -> None:
    """Take a slot out of the frontier; the last one moves to its place."""
    last = np.int64(state["frontier_count"]) - 1
    state["frontier_count"] = last
    if slot != last:
        cell = np.int64(state["frontier_cell"][last])
        state["frontier_cell"][slot] = cell
        state["frontier_row"][slot] = state["frontier_row"][last]
        state["frontier_column"][slot] = state["frontier_column"][last]
        state["board"][cell] = FIRST_SLOT + slot


@kernel
def _enter_frontier(state: np.void, cell: Integer) -> Integer:
    """Return the slot of an empty cell beside a tile, a new one, open to all kinds, if it has none yet."""
    slot = slot_at(state, cell)
    if slot >= 0:
        return slot
    slot = np.int64(state["frontier_count"])
    state["frontier_count"] = slot + 1
    state["frontier_cell"][slot] = cell
    state["frontier_row"][slot] = ALL_KINDS
    state["frontier_column"][slot] = ALL_KINDS
    state["board"][cell] = FIRST_SLOT + slot
    return slot


@kernel
def _extend(state: np.void, cell: Integer) -> None:
    if state["tiles_on_table"] == 0:
        return
    x = column_of(state, cell)
    y = row_of(state, cell)
    if x < 0:
        state["left"] -= 1
    elif x > np.int64(state["right"]) - np.int64(state["left"]):
        state["right"] += 1
    if y < 0:
        state["top"] -= 1
    elif y > np.int64(state["bottom"]) - np.int64(state["top"]):
        state["bottom"] += 1


@kernel
def column_of(state: np.void, cell: Integer) -> Integer:
    """Return how far right of the table's left edge a cell in it or beside it lies: -1 .. width."""
    return (cell % TORUS - np.int64(state["left"]) + 1 + TORUS) % TORUS - 1


@kernel
def row_of(state: np.void, cell: Integer) -> Integer:
    """Return how far below the table's upper edge a cell in it or beside it lies: -1 .. height."""
    return (cell // TORUS - np.int64(state["top"]) + 1 + TORUS) % TORUS - 1


@kernel
def fits_on_board(state: np.void, cell: Integer) -> Truth:
    """Tell whether a tile on a cell of the frontier leaves the table within its largest extent (Q15)."""
    largest = np.int64(state["option_board_size"]) - 1
    width = np.int64(state["right"]) - np.int64(state["left"]) + 1
    if width >= largest:
        x = column_of(state, cell)
        if x < 0 or x >= width:
            return False
    height = np.int64(state["bottom"]) - np.int64(state["top"]) + 1
    if height >= largest:
        y = row_of(state, cell)
        if y < 0 or y >= height:
            return False
    return True


@kernel
def kinds_at(state: np.void, cell: Integer) -> Integer:
    """Return the kinds that a cell of the frontier admits in row and column, none where the board ends."""
    if not fits_on_board(state, cell):
        return np.int64(0)
    slot = slot_at(state, cell)
    return np.int64(state["frontier_row"][slot]) & np.int64(state["frontier_column"][slot])


@kernel
def kinds_anywhere(state: np.void) -> Integer:
    """Return the kinds for which there is a cell anywhere on the table."""
    if state["tiles_on_table"] == 0:
        return np.int64(ALL_KINDS)
    kinds = np.int64(0)
    largest = np.int64(state["option_board_size"]) - 1
    tight = np.int64(state["right"]) - np.int64(state["left"]) + 1 >= largest
    tight = tight or np.int64(state["bottom"]) - np.int64(state["top"]) + 1 >= largest
    for slot in range(state["frontier_count"]):
        if tight and not fits_on_board(state, np.int64(state["frontier_cell"][slot])):
            continue
        kinds |= np.int64(state["frontier_row"][slot]) & np.int64(state["frontier_column"][slot])
    return kinds
