"""Azul's offer: set-up, dealing, legal moves and taking tiles, as kernels on one record (see state.py).

Actions: 30 * source + 6 * colour + destination for the offer (source 0 is the centre, 1 + f factory f;
destinations 0-4 are pattern lines, 5 the floor line). For the tiling of the grey wall, five actions "column 0" ..
"column 4" follow those of the last factory. Numbers like A12 refer to the rules in docs/azul.md.
"""

from typing import Any

import numpy as np

from ..engine.bits import nth_bit, popcount
from ..engine.compilation import Integer, Truth, kernel
from ..engine.counts import draw_from_counts
from ..engine.rows import write_byte
from ..engine.standing import next_player
from ..engine.state import RUNNING
from .observation import observe
from .placement import COLOUR_TARGETS, mark_line_colour, mark_line_full
from .scoring import pending_column_choices, scores_and_ranks, tile_from, tile_line_at
from .state import (
    CENTRE,
    FLOOR,
    FLOOR_SPACES,
    MARKER_IN_CENTRE,
    NUM_COLOURS,
    NUM_DESTINATIONS,
    NUM_TARGETS,
    OFFER,
    SIZE,
    TILES_PER_COLOUR,
    TILING,
)

__all__ = [
    "apply",
    "count_legal",
    "determinize",
    "is_legal",
    "legal_mask",
    "nth_legal",
    "observe",
    "reset",
    "scores_and_ranks",
]


@kernel
def reset(state: np.void) -> None:
    """Set up a game in a record that is zero except for options and random stream (A1-A4), and deal round 1."""
    for colour in range(NUM_COLOURS):
        state["bag"][colour] = TILES_PER_COLOUR
    for player in range(state["option_num_players"]):
        state["targets"][player] = (1 << NUM_TARGETS) - 1
    state["round"] = 1
    deal(state)


@kernel
def deal(state: np.void) -> None:
    """Fill the factories from the bag, then from the lid (A5, A6), and put the marker in the centre."""
    in_bag: Integer = 0
    in_lid: Integer = 0
    for kind in range(NUM_COLOURS):
        in_bag += state["bag"][kind]
        in_lid += state["lid"][kind]
    tiles = min(4 * (2 * state["option_num_players"] + 1), in_bag + in_lid)
    for tile in range(tiles):
        if in_bag == 0:
            for kind in range(NUM_COLOURS):
                state["bag"][kind] = state["lid"][kind]
                state["lid"][kind] = 0
            in_bag = in_lid
        colour = draw_from_counts(state["random"], state["bag"], in_bag)
        in_bag -= 1
        source = 1 + tile // 4
        state["bag"][colour] -= 1
        state["sources"][source, colour] += 1
        state["present"][source] |= COLOUR_TARGETS << (NUM_DESTINATIONS * colour)
    state["tiles_left"] = tiles
    state["marker"] = MARKER_IN_CENTRE
    state["phase"] = OFFER
    state["to_move"] = state["start"]


@kernel
def count_legal(state: np.void) -> Integer:
    """Return the number of legal actions; 0 when the game is over."""
    if state["status"] != RUNNING:
        return 0
    if state["phase"] == TILING:
        return popcount(pending_column_choices(state))
    admitted = state["targets"][state["to_move"]]
    count = 0
    for source in range(2 * state["option_num_players"] + 2):
        count += popcount(state["present"][source] & admitted)
    return count


@kernel
def nth_legal(state: np.void, n: Integer) -> Integer:
    """Return the n-th legal action, counted from 0; n must be below `count_legal`."""
    sources = 2 * state["option_num_players"] + 2
    if state["phase"] == TILING:
        return sources * NUM_TARGETS + nth_bit(pending_column_choices(state), n)
    admitted = state["targets"][state["to_move"]]
    for source in range(sources):
        here: Any = np.int64(state["present"][source] & admitted)
        count = popcount(here)
        if n < count:
            return source * NUM_TARGETS + nth_bit(here, n)
        n -= count
    return -1


@kernel
def is_legal(state: np.void, action: Integer) -> Truth:
    """Tell whether an action, any integer, is legal now."""
    if action < 0 or state["status"] != RUNNING:
        return False
    sources = 2 * state["option_num_players"] + 2
    source = action // NUM_TARGETS
    target = action - source * NUM_TARGETS
    if state["phase"] == TILING:
        return source == sources and target < SIZE and pending_column_choices(state) >> target & 1 != 0
    if source >= sources:
        return False
    return (state["present"][source] & state["targets"][state["to_move"]]) >> target & 1 != 0


@kernel
def legal_mask(state: np.void, mask: np.ndarray) -> None:
    """Write the mask, int8 [num_actions]: 1 for legal actions, all 0 when the game is over."""
    sources = 2 * state["option_num_players"] + 2
    admitted = 0
    if state["status"] == RUNNING and state["phase"] == OFFER:
        admitted = int(state["targets"][state["to_move"]])
    present = state["present"]
    for source in range(sources):
        here: Any = np.int64(present[source]) & admitted
        targets = mask[source * NUM_TARGETS :]
        write_byte(here, targets)
        write_byte(here >> 8, targets[8:])
        write_byte(here >> 16, targets[16:])
        for target in range(24, NUM_TARGETS):
            targets[target] = here >> target & 1
    if len(mask) > sources * NUM_TARGETS:
        columns: Integer = 0
        if state["status"] == RUNNING and state["phase"] == TILING:
            columns = pending_column_choices(state)
        for column in range(SIZE):
            mask[sources * NUM_TARGETS + column] = columns >> column & 1


@kernel
def apply(state: np.void, action: Integer) -> None:
    """Play a legal action and everything that follows automatically, up to the next decision or the end.

    An illegal action, any integer, leaves the record meaningless or unchanged, and writes to nothing else.
    """
    if state["phase"] == TILING:
        player: Any = np.int64(state["to_move"])
        row: Any = np.int64(state["row"])
        column = action - NUM_TARGETS * (2 * state["option_num_players"] + 2)
        if column < 0 or column >= SIZE:
            return
        tile_line_at(state, player, row, column)
        _finish_tiling(state, player, row + 1)
        return
    source = action // NUM_TARGETS
    if source < 0 or source >= 2 * state["option_num_players"] + 2:
        return
    target = action - source * NUM_TARGETS
    colour = target // NUM_DESTINATIONS
    destination = target - colour * NUM_DESTINATIONS
    player = np.int64(state["to_move"])
    tiles = _take(state, player, source, colour)
    _put(state, player, colour, destination, tiles)
    state["tiles_left"] -= tiles
    if state["tiles_left"] == 0:
        _finish_tiling(state, np.int64(state["start"]), np.int64(0))
    else:
        state["to_move"] = next_player(player, state["option_num_players"])


@kernel
def _finish_tiling(state: np.void, player: Integer, row: Integer) -> None:
    if tile_from(state, player, row):
        deal(state)


@kernel
def _take(state: np.void, player: Integer, source: Integer, colour: Integer) -> Integer:
    """Take all tiles of a colour from a source; update the centre and the marker (A9-A11)."""
    tiles = int(state["sources"][source, colour])
    state["sources"][source, colour] = 0
    if source == CENTRE:
        state["present"][CENTRE] &= ~(COLOUR_TARGETS << (NUM_DESTINATIONS * colour))
        if state["marker"] == MARKER_IN_CENTRE:
            state["marker"] = player
            if state["floor_count"][player] < FLOOR_SPACES:
                state["floor_count"][player] += 1
                state["floor_marker"][player] = 1
        return tiles
    for other in range(NUM_COLOURS):
        state["sources"][CENTRE, other] += state["sources"][source, other]
        state["sources"][source, other] = 0
    state["present"][CENTRE] |= state["present"][source] & ~(COLOUR_TARGETS << (NUM_DESTINATIONS * colour))
    state["present"][source] = 0
    return tiles


@kernel
def _put(state: np.void, player: Integer, colour: Integer, destination: Integer, tiles: Integer) -> None:
    """Put tiles on a line, the overflow on the floor line, and its overflow into the lid (A13, A14)."""
    if destination != FLOOR:
        count = int(state["line_count"][player, destination])
        fitting = min(tiles, destination + 1 - count)
        state["line_count"][player, destination] = count + fitting
        tiles -= fitting
        if count + fitting == destination + 1:
            mark_line_full(state, player, destination)
        elif count == 0:
            mark_line_colour(state, player, destination, colour)
        state["line_colour"][player, destination] = 1 + colour
    overflow = min(tiles, FLOOR_SPACES - int(state["floor_count"][player]))
    state["floor_count"][player] += overflow
    state["floor"][player, colour] += overflow
    state["lid"][colour] += tiles - overflow


@kernel
def determinize(state: np.void, seat: Integer) -> None:
    """Resample what a seat cannot see: only the order of the bag, which the random stream decides."""
