"""Qwirkle's heuristic: the points of the best complete turn that starts with an action.

All placements of the hand are searched: a first tile, then others at the two ends of its row or column. On a fixed
line all tiles are in one run, so each kind is used at most once, and the kinds that a cell allows across the line do
not change during the turn. Tiles before the first one are added first, tiles after it later, so every placement is
visited once per first tile.

If nothing can be placed, the tiles that are not in a largest set of the hand are exchanged.
"""

import numpy as np

from ..engine.bits import nth_bit, popcount
from ..engine.compilation import Integer, kernel
from ..engine.state import RUNNING
from .board import adjacent_kinds, kinds_at, slot_at, step, tile_at
from .placement import (
    action_of_cell,
    along_row,
    candidate,
    count_places,
    exchangeable,
    may_end,
    nth_place,
    num_candidates,
    pickable,
    set_size,
)
from .scoring import LAST_TILE_BONUS, run_points, turn_points
from .state import ALL_KINDS, END, FIRST_COLOUR, FIRST_SHAPE, RETURN, TORUS

# values of exchanges, below any placement: first tiles in no largest set, then ending the turn, then the others
_RETURN_LOOSE, _END_EXCHANGE, _RETURN_SET = -2.0, -3.0, -4.0

# the columns of a search level: the run as sets of colours and shapes, and its length; the cells at its two ends;
# points across; the kinds left in the hand; the kinds still to be tried at each end
_COLOURS, _SHAPES, _COUNT, _BEFORE, _BEHIND, _ACROSS, _HAND, _TRY_BEFORE, _TRY_BEHIND = range(9)
_COLUMNS = 9


@kernel
def action_values(state: np.void, values: np.ndarray, scratch: np.ndarray) -> None:
    """Write the value of every legal action of a running game, in points, to float32 [num_actions].

    `scratch`, int64 [SCRATCH_SIZE or more], is a buffer.
    """
    if state["picked"] > 0:
        kind = np.int64(state["picked"]) - 1
        for n in range(count_places(state)):
            cell = nth_place(state, np.int64(n))
            values[action_of_cell(state, cell)] = tile_value(state, cell, kind, scratch)
        return
    _value_picks(state, values, scratch)
    _value_exchange(state, values)
    if may_end(state):
        values[END] = turn_points(state) if state["placed_count"] > 0 else _END_EXCHANGE


@kernel
def _value_picks(state: np.void, values: np.ndarray, scratch: np.ndarray) -> None:
    """Write the values of the kinds that may be picked up, each at its best cell."""
    kinds = pickable(state)
    if kinds == 0:
        return
    if state["opening_size"] > 0 or state["tiles_on_table"] == 0:
        while kinds != 0:
            kind = nth_bit(kinds, 0)
            kinds &= kinds - 1
            values[kind] = 0.0 if state["opening_size"] > 0 else tile_value(state, np.int64(0), kind, scratch)
        return
    for index in range(num_candidates(state)):
        cell = candidate(state, np.int64(index))
        if cell < 0:
            continue
        here = kinds_at(state, cell) & kinds
        while here != 0:
            kind = nth_bit(here, 0)
            here &= here - 1
            values[kind] = max(values[kind], np.float32(tile_value(state, cell, kind, scratch)))


@kernel
def _value_exchange(state: np.void, values: np.ndarray) -> None:
    """Write the values of the kinds that may be returned: higher for members of smaller sets."""
    kinds = exchangeable(state)
    hand = np.int64(state["hand_kinds"][state["to_move"]])
    largest = set_size(hand)
    while kinds != 0:
        kind = nth_bit(kinds, 0)
        kinds &= kinds - 1
        of_colour = popcount(hand & (FIRST_COLOUR << (6 * (kind // 6))))
        of_shape = popcount(hand & (FIRST_SHAPE << (kind % 6)))
        belongs = max(of_colour, of_shape)
        several = state["hands"][state["to_move"], kind] > 1
        loose = belongs < largest or several
        values[RETURN + kind] = (_RETURN_LOOSE if loose else _RETURN_SET) - belongs / 10.0


@kernel
def tile_value(state: np.void, cell: Integer, kind: Integer, scratch: np.ndarray) -> Integer:
    """Return the points of the best turn whose next tile, of a kind in the hand, goes on a cell."""
    if state["opening_size"] > 0:
        return np.int64(0)
    if state["placed_count"] == 0:
        row = line_value(state, cell, kind, np.int64(1), np.int64(0), scratch)
        return max(row, line_value(state, cell, kind, np.int64(0), np.int64(1), scratch))
    in_row = np.int64(along_row(state) and cell // TORUS == np.int64(state["placed"][0]) // TORUS)
    return line_value(state, cell, kind, in_row, 1 - in_row, scratch)


@kernel
def line_value(
    state: np.void, cell: Integer, kind: Integer, right: Integer, down: Integer, scratch: np.ndarray
) -> Integer:
    """Return the points of the best turn along a row (1, 0) or column (0, 1) whose next tile goes on a cell."""
    player = np.int64(state["to_move"])
    tiles = np.int64(state["hand_size"][player]) - (state["picked"] == 0)
    _first_level(state, cell, kind, right, down, scratch)
    best = _points(state, scratch, np.int64(0), tiles)
    level = np.int64(0)
    while level >= 0:
        top = level * _COLUMNS
        before = scratch[top + _TRY_BEFORE] != 0
        column = _TRY_BEFORE if before else _TRY_BEHIND
        kinds = scratch[top + column]
        if kinds == 0:
            level -= 1
            continue
        scratch[top + column] = kinds & (kinds - 1)
        _next_level(state, scratch, level, nth_bit(kinds, 0), before, right, down)
        level += 1
        best = max(best, _points(state, scratch, level, tiles - level))
    return best


@kernel
def _points(state: np.void, scratch: np.ndarray, level: Integer, tiles_left: Integer) -> Integer:
    """Return the points of a turn that ends at a level of the search."""
    top = level * _COLUMNS
    points = max(run_points(scratch[top + _COUNT]) + scratch[top + _ACROSS], np.int64(1))
    if tiles_left == 0 and state["bag_size"] == 0:
        points += LAST_TILE_BONUS
    return points


@kernel
def _first_level(
    state: np.void, cell: Integer, kind: Integer, right: Integer, down: Integer, scratch: np.ndarray
) -> None:
    """Start the search with the tile on its cell, joined to the tiles on both sides."""
    scratch[_COLOURS] = np.int64(1) << (kind // 6)
    scratch[_SHAPES] = np.int64(1) << (kind % 6)
    scratch[_COUNT] = 1
    across = run_points(_length_across(state, cell, right, down))
    for index in range(state["placed_count"]):
        across += run_points(_length_across(state, np.int64(state["placed"][index]), right, down))
    scratch[_ACROSS] = across
    scratch[_HAND] = np.int64(state["hand_kinds"][state["to_move"]])
    scratch[_BEFORE] = _join(state, cell, -right, -down, scratch, np.int64(0))
    scratch[_BEHIND] = _join(state, cell, right, down, scratch, np.int64(0))
    scratch[_TRY_BEFORE] = _kinds_at_end(state, scratch, np.int64(0), True, right, down)
    scratch[_TRY_BEHIND] = _kinds_at_end(state, scratch, np.int64(0), False, right, down)


@kernel
def _next_level(
    state: np.void, scratch: np.ndarray, level: Integer, kind: Integer, before: bool, right: Integer, down: Integer
) -> None:
    """Add a tile at one end of the run, as a new level."""
    top = level * _COLUMNS
    new = top + _COLUMNS
    for column in range(_COLUMNS):
        scratch[new + column] = scratch[top + column]
    scratch[new + _COLOURS] |= np.int64(1) << (kind // 6)
    scratch[new + _SHAPES] |= np.int64(1) << (kind % 6)
    scratch[new + _COUNT] += 1
    scratch[new + _HAND] &= ~(np.int64(1) << kind)
    sign = np.int64(-1) if before else np.int64(1)
    end = new + (_BEFORE if before else _BEHIND)
    cell = scratch[end]
    scratch[new + _ACROSS] += run_points(_length_across(state, cell, right, down))
    scratch[end] = _join(state, cell, sign * right, sign * down, scratch, new)
    scratch[new + _TRY_BEFORE] = _kinds_at_end(state, scratch, level + 1, True, right, down) if before else np.int64(0)
    scratch[new + _TRY_BEHIND] = _kinds_at_end(state, scratch, level + 1, False, right, down)


@kernel
def _join(state: np.void, cell: Integer, right: Integer, down: Integer, scratch: np.ndarray, top: Integer) -> Integer:
    """Join the tiles beyond a cell in a direction to the run of a level; return the next empty cell."""
    cell = step(cell, right, down)
    tile = tile_at(state, cell)
    while tile > 0:
        scratch[top + _COLOURS] |= np.int64(1) << ((tile - 1) // 6)
        scratch[top + _SHAPES] |= np.int64(1) << ((tile - 1) % 6)
        scratch[top + _COUNT] += 1
        cell = step(cell, right, down)
        tile = tile_at(state, cell)
    return cell


@kernel
def _kinds_at_end(
    state: np.void, scratch: np.ndarray, level: Integer, before: bool, right: Integer, down: Integer
) -> Integer:
    """Return the kinds of the hand that may go at an end of the run, joined with the tiles beyond it."""
    top = level * _COLUMNS
    cell = scratch[top + (_BEFORE if before else _BEHIND)]
    sign = np.int64(-1) if before else np.int64(1)
    colours = scratch[top + _COLOURS]
    shapes = scratch[top + _SHAPES]
    count = scratch[top + _COUNT]
    beyond = step(cell, sign * right, sign * down)
    tile = tile_at(state, beyond)
    while tile > 0:
        colours |= np.int64(1) << ((tile - 1) // 6)
        shapes |= np.int64(1) << ((tile - 1) % 6)
        count += 1
        beyond = step(beyond, sign * right, sign * down)
        tile = tile_at(state, beyond)
    return adjacent_kinds(colours, shapes, count) & _across_at(state, cell, right) & scratch[top + _HAND]


@kernel
def _across_at(state: np.void, cell: Integer, right: Integer) -> Integer:
    """Return the kinds that a cell allows across a row (right 1) or a column (right 0)."""
    slot = slot_at(state, cell)
    if slot < 0:
        return np.int64(ALL_KINDS)
    return np.int64(state["frontier_column"][slot] if right == 1 else state["frontier_row"][slot])


@kernel
def _length_across(state: np.void, cell: Integer, right: Integer, down: Integer) -> Integer:
    """Return the length of the run through a cell across the line, including the cell."""
    length = np.int64(1)
    for sign in (-1, 1):
        at = step(cell, sign * down, sign * right)
        while tile_at(state, at) > 0:
            length += 1
            at = step(at, sign * down, sign * right)
    return length


@kernel
def projected_scores(state: np.void, scores: np.ndarray) -> None:
    """Write each player's score as if the turn ended now (Q16), int32 [num_players]."""
    for player in range(np.int64(state["option_num_players"])):
        scores[player] = state["score"][player]
    if state["status"] == RUNNING and state["placed_count"] > 0:
        scores[state["to_move"]] += turn_points(state)
