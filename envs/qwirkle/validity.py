"""Invariants of Qwirkle's reachable records, as a kernel on one record (see state.py)."""

import numpy as np

from ..engine.bits import popcount
from ..engine.compilation import Integer, Truth, kernel
from ..engine.state import RUNNING
from .board import allowed_kinds, run_end, slot_at, step, tile_at
from .placement import set_size, update_fits
from .state import COPIES, FIRST_SLOT, HAND_SIZE, NUM_CELLS, NUM_KINDS, STRICT, TORUS

FAULTS = (
    "",
    "fields of players who are not in the game are not 0",
    "the number of tiles in hands, in the bag or set aside differs from the record's count",
    f"there are not {COPIES} tiles of each kind",
    "the extent of the table or the number of its tiles is wrong",
    "tiles in a row or a column of the table are not a line",
    "the empty cells next to tiles, or the kinds they allow, are wrong",
    "the tiles of the table are not connected",
    "turn_number or passes is impossible with these options or this bag",
    "the current turn is impossible",
)
_ABSENT, _COUNTS, _TILES, _EXTENT, _LINE, _FRONTIER, _CONNECTED, _NUMBERS, _TURN = range(1, len(FAULTS))


@kernel
def find_fault(state: np.void, spare: np.void) -> Integer:
    """Return the index in FAULTS of a violated invariant, 0 if there is none; all fields are in range."""
    code = _hands_fault(state)
    if code == 0:
        code = _table_fault(state, spare)
    if code == 0 and not _all_are_lines(state):
        code = _LINE
    if code == 0 and not _frontier_is_right(state):
        code = _FRONTIER
    if code == 0:
        code = _turn_fault(state, spare)
    # last, because it overwrites the board of the spare record
    if code == 0 and not _is_connected(state, spare):
        code = _CONNECTED
    return code


@kernel
def _hands_fault(state: np.void) -> Integer:
    players = np.int64(state["option_num_players"])
    bag = np.int64(0)
    returned = np.int64(0)
    for kind in range(NUM_KINDS):
        bag += state["bag"][kind]
        returned += state["returned"][kind]
    if bag != state["bag_size"] or returned != state["returned_count"]:
        return _COUNTS
    for player in range(4):
        size = np.int64(0)
        kinds = np.int64(0)
        for kind in range(NUM_KINDS):
            number = np.int64(state["hands"][player, kind])
            size += number
            if number > 0:
                kinds |= np.int64(1) << kind
        if size != state["hand_size"][player] or kinds != np.int64(state["hand_kinds"][player]):
            return _COUNTS
        if player >= players and (size > 0 or state["score"][player] != 0):
            return _ABSENT
    return 0


@kernel
def _table_fault(state: np.void, spare: np.void) -> Integer:
    """Count tiles by kind, in the bag of the spare record, and check where they and the frontier are."""
    counts = spare["bag"]
    for kind in range(NUM_KINDS):
        counts[kind] += state["returned"][kind]
        for player in range(4):
            counts[kind] += state["hands"][player, kind]
    if state["picked"] > 0:
        counts[np.int64(state["picked"]) - 1] += 1
    width = np.int64(state["right"]) - np.int64(state["left"]) + 1
    height = np.int64(state["bottom"]) - np.int64(state["top"]) + 1
    largest = np.int64(state["option_board_size"]) - 1
    if width > largest or height > largest:
        return _EXTENT
    tiles = np.int64(0)
    beside = np.int64(0)
    # the sides of the extent that a tile touches
    sides = np.int64(0)
    for cell in range(NUM_CELLS):
        value = np.int64(state["board"][cell])
        if value >= FIRST_SLOT:
            beside += 1
        elif value > 0:
            tiles += 1
            counts[value - 1] += 1
            x = (np.int64(cell) % TORUS - np.int64(state["left"])) % TORUS
            y = (np.int64(cell) // TORUS - np.int64(state["top"])) % TORUS
            if x >= width or y >= height:
                return _EXTENT
            sides |= (x == 0) | (x == width - 1) << 1 | (y == 0) << 2 | (y == height - 1) << 3
    for kind in range(NUM_KINDS):
        if counts[kind] != COPIES:
            return _TILES
    # the first tile is on cell 0
    touched = sides == 15 and tile_at(state, np.int64(0)) > 0
    if tiles == 0 and width == 1 and height == 1:
        touched = True
    if not touched or tiles != state["tiles_on_table"]:
        return _EXTENT
    # no connected table has more, so there is room for the frontier of every later table
    return 0 if beside == state["frontier_count"] and beside <= 2 * tiles + 2 * (tiles > 0) else _FRONTIER


@kernel
def _all_are_lines(state: np.void) -> Truth:
    for cell in range(NUM_CELLS):
        if tile_at(state, np.int64(cell)) > 0:
            for down in range(2):
                before = step(np.int64(cell), np.int64(down - 1), np.int64(-down))
                if tile_at(state, before) == 0 and not _is_line(state, np.int64(cell), np.int64(down)):
                    return False
    return True


@kernel
def _is_line(state: np.void, cell: Integer, down: Integer) -> Truth:
    """Tell whether the run that starts at a tile has different tiles of one colour or of one shape."""
    colours = np.int64(0)
    shapes = np.int64(0)
    count = np.int64(0)
    tile = tile_at(state, cell)
    while tile > 0:
        colours |= np.int64(1) << ((tile - 1) // 6)
        shapes |= np.int64(1) << ((tile - 1) % 6)
        count += 1
        cell = step(cell, 1 - down, down)
        tile = tile_at(state, cell)
    of_colour = popcount(colours) == 1 and popcount(shapes) == count
    of_shape = popcount(shapes) == 1 and popcount(colours) == count
    return of_colour or of_shape


@kernel
def _frontier_is_right(state: np.void) -> Truth:
    """Tell whether the frontier has every empty cell next to a tile once, with the kinds it allows."""
    slots = np.int64(state["frontier_count"])
    for slot in range(slots):
        cell = np.int64(state["frontier_cell"][slot])
        if slot_at(state, cell) != slot:
            return False
        beside: Truth = False
        for down in range(2):
            for sign in (-1, 1):
                beside = beside or tile_at(state, step(cell, np.int64(sign * (1 - down)), np.int64(sign * down))) > 0
        if not beside:
            return False
        if allowed_kinds(state, cell, np.int64(1), np.int64(0)) != np.int64(state["frontier_row"][slot]):
            return False
        if allowed_kinds(state, cell, np.int64(0), np.int64(1)) != np.int64(state["frontier_column"][slot]):
            return False
    for place in range(NUM_CELLS):
        if tile_at(state, np.int64(place)) > 0:
            for down in range(2):
                for sign in (-1, 1):
                    at = step(np.int64(place), np.int64(sign * (1 - down)), np.int64(sign * down))
                    if state["board"][at] == 0:
                        return False
    return True


@kernel
def _turn_fault(state: np.void, spare: np.void) -> Integer:
    players = np.int64(state["option_num_players"])
    running = state["status"] == RUNNING
    passes = np.int64(state["passes"])
    if state["turn_number"] > state["option_max_turns"] or passes > players or (running and passes == players):
        return _NUMBERS
    if passes > 0 and state["bag_size"] > 0:
        return _NUMBERS
    placed = np.int64(state["placed_count"])
    returned = np.int64(state["returned_count"])
    picked = np.int64(state["picked"])
    if not running:
        return _TURN if placed + returned + picked > 0 else 0
    if returned > 0 and placed + picked > 0:
        return _TURN
    if not _placed_are_right(state):
        return _TURN
    player = np.int64(state["to_move"])
    used = placed + returned + (picked > 0)
    size = np.int64(state["hand_size"][player]) + used
    if size > HAND_SIZE:
        return _TURN
    first = state["option_opening"] == STRICT and state["turn_number"] == 1
    limit = np.int64(0) if first else min(size, np.int64(state["bag_size"]))
    if state["exchange_limit"] != limit or (returned > 0 and returned >= limit):
        return _TURN
    return 0 if _opening_is_right(state, first) and _fits_are_right(state, spare, player) else _TURN


@kernel
def _placed_are_right(state: np.void) -> Truth:
    """Tell whether the cells of this turn have tiles and are different, in one run along a row or a column."""
    placed = np.int64(state["placed_count"])
    for index in range(placed):
        cell = np.int64(state["placed"][index])
        if tile_at(state, cell) == 0:
            return False
        for other in range(index):
            if state["placed"][other] == cell:
                return False
    if placed < 2:
        return True
    first = np.int64(state["placed"][0])
    down = np.int64(first // TORUS != np.int64(state["placed"][1]) // TORUS)
    met = np.int64(0)
    # along the run, starting at its end before the first tile
    at = step(run_end(state, first, down - 1, -down), 1 - down, down)
    while tile_at(state, at) > 0:
        for index in range(placed):
            met += state["placed"][index] == at
        at = step(at, 1 - down, down)
    return met == placed


@kernel
def _opening_is_right(state: np.void, first: bool) -> Truth:
    placed = np.int64(state["placed_count"])
    if state["turn_number"] == 1 and state["tiles_on_table"] != placed:
        return False
    if not first:
        return state["opening_size"] == 0 and (state["option_opening"] != STRICT or state["tiles_on_table"] > 0)
    kinds = np.int64(state["hand_kinds"][state["to_move"]])
    if state["picked"] > 0:
        kinds |= np.int64(1) << (np.int64(state["picked"]) - 1)
    for index in range(placed):
        if state["placed"][index] != index:
            return False
        kinds |= np.int64(1) << (tile_at(state, np.int64(state["placed"][index])) - 1)
    return state["opening_size"] == set_size(kinds) and placed < state["opening_size"]


@kernel
def _fits_are_right(state: np.void, spare: np.void, player: Integer) -> Truth:
    """Tell whether `fits` equals its recomputed value, with a picked-up tile counted as in the hand."""
    bit = np.int64(0)
    if state["picked"] > 0:
        bit = np.int64(1) << (np.int64(state["picked"]) - 1)
        spare["hand_kinds"][player] = np.int64(spare["hand_kinds"][player]) | bit
    update_fits(spare)
    fits = np.int64(state["fits"])
    return fits == np.int64(spare["fits"]) and fits & bit == bit


@kernel
def _is_connected(state: np.void, spare: np.void) -> Truth:
    """Tell whether all tiles are connected to the first one; mark them on the spare record's board."""
    if state["tiles_on_table"] == 0:
        return True
    marks = spare["board"]
    waiting = spare["frontier_cell"]
    marks[0] = 0
    waiting[0] = 0
    number = np.int64(1)
    reached = np.int64(0)
    while number > 0:
        number -= 1
        cell = np.int64(waiting[number])
        reached += 1
        for down in range(2):
            for sign in (-1, 1):
                at = step(cell, np.int64(sign * (1 - down)), np.int64(sign * down))
                if 0 < marks[at] < FIRST_SLOT:
                    marks[at] = 0
                    waiting[number] = at
                    number += 1
    return reached == state["tiles_on_table"]
