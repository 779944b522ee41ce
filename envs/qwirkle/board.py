"""The table: placing tiles, and the kinds that every empty cell next to a tile allows (see state.py).

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
    """Return 1 + the kind on a cell, 0 if it is empty."""
    tile = np.int64(state["board"][cell])
    return tile if tile < FIRST_SLOT else np.int64(0)


@kernel
def slot_at(state: np.void, cell: Integer) -> Integer:
    """Return the slot of a cell in the frontier, -1 if it is not in the frontier."""
    return np.int64(state["board"][cell]) - FIRST_SLOT


@kernel
def run_end(state: np.void, cell: Integer, right: Integer, down: Integer) -> Integer:
    """Return the first empty cell in a direction, starting at a cell."""
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
    """Return the kinds that the row (1, 0) or the column (0, 1) of an empty cell allows (Q8 b)."""
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
    """Place a tile on an empty cell and update extent and frontier; nothing is checked."""
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
    """Remove a slot from the frontier; the last slot takes its place."""
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
    """Return the slot of an empty cell next to a tile; a new slot allows all kinds."""
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
    """Return the distance from the table's left edge to a cell in the table or next to it: -1 .. width."""
    return (cell % TORUS - np.int64(state["left"]) + 1 + TORUS) % TORUS - 1


@kernel
def row_of(state: np.void, cell: Integer) -> Integer:
    """Return the distance from the table's upper edge to a cell in the table or next to it: -1 .. height."""
    return (cell // TORUS - np.int64(state["top"]) + 1 + TORUS) % TORUS - 1


@kernel
def fits_on_board(state: np.void, cell: Integer) -> Truth:
    """Tell whether the table stays within its largest size with a tile on a cell of the frontier (Q15)."""
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
    """Return the kinds that a cell of the frontier allows, none outside the board."""
    if not fits_on_board(state, cell):
        return np.int64(0)
    slot = slot_at(state, cell)
    return np.int64(state["frontier_row"][slot]) & np.int64(state["frontier_column"][slot])


@kernel
def kinds_anywhere(state: np.void) -> Integer:
    """Return the kinds that some cell of the frontier allows."""
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
