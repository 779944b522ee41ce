"""Qwirkle's turns as kernels on one record (see state.py).

Actions: 0-35 pick up a kind, 36-71 return a kind, 72 end the turn, then 73 + board_size * y + x: place the picked tile
on a cell of a window of board_size x board_size cells that is centred on the table. Numbers like Q12 refer to the
rules in docs/qwirkle.md.
"""

import numpy as np

from ..engine.bits import nth_bit, popcount
from ..engine.compilation import Integer, Truth, kernel
from ..engine.counts import draw_from_counts
from ..engine.random_stream import draw
from ..engine.standing import next_player, write_ranks
from ..engine.state import ENDED, RUNNING, TRUNCATED
from .board import fits_on_board, put_tile, slot_at
from .observation import observe
from .placement import (
    action_of_cell,
    cell_of_action,
    count_places,
    exchangeable,
    mark_places,
    may_end,
    may_place,
    nth_place,
    opening_cell,
    pickable,
    set_size,
    update_fits,
)
from .scoring import LAST_TILE_BONUS, turn_points
from .state import COPIES, END, HAND_SIZE, NUM_KINDS, NUM_TILES, PLACE, RETURN, STRICT

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
    """Set up a game in a record that is zero except for options and random stream (Q1-Q3)."""
    players = np.int64(state["option_num_players"])
    for kind in range(NUM_KINDS):
        state["bag"][kind] = COPIES
    state["bag_size"] = NUM_TILES
    for player in range(players):
        draw_tiles(state, player, np.int64(HAND_SIZE))
    largest: Integer = np.int64(0)
    tied = np.int64(0)
    for player in range(players):
        size = set_size(np.int64(state["hand_kinds"][player]))
        if size > largest:
            largest = size
            tied = np.int64(0)
        tied += size == largest
    chosen = draw(state["random"], tied)
    for player in range(players):
        if set_size(np.int64(state["hand_kinds"][player])) == largest:
            if chosen == 0:
                state["to_move"] = player
            chosen -= 1
    state["turn_number"] = 1
    begin_turn(state)


@kernel
def begin_turn(state: np.void) -> None:
    """Start a turn: compute what the player to move may do."""
    player = np.int64(state["to_move"])
    if state["option_opening"] == STRICT and state["turn_number"] == 1:
        state["opening_size"] = set_size(np.int64(state["hand_kinds"][player]))
        state["exchange_limit"] = 0
    else:
        state["opening_size"] = 0
        state["exchange_limit"] = min(np.int64(state["hand_size"][player]), np.int64(state["bag_size"]))
    update_fits(state)


@kernel
def draw_tiles(state: np.void, player: Integer, tiles: Integer) -> None:
    """Draw tiles from the bag, as many as it has."""
    for _ in range(min(tiles, np.int64(state["bag_size"]))):
        kind = draw_from_counts(state["random"], state["bag"], np.int64(state["bag_size"]))
        state["bag"][kind] -= 1
        state["bag_size"] -= 1
        give_tile(state, player, kind)


@kernel
def give_tile(state: np.void, player: Integer, kind: Integer) -> None:
    """Put a tile into a hand."""
    state["hands"][player, kind] += 1
    state["hand_size"][player] += 1
    state["hand_kinds"][player] = np.int64(state["hand_kinds"][player]) | np.int64(1) << kind


@kernel
def take_tile(state: np.void, player: Integer, kind: Integer) -> None:
    """Remove a tile from a hand that has it."""
    state["hands"][player, kind] -= 1
    state["hand_size"][player] -= 1
    if state["hands"][player, kind] == 0:
        state["hand_kinds"][player] = np.int64(state["hand_kinds"][player]) & ~(np.int64(1) << kind)


@kernel
def count_legal(state: np.void) -> Integer:
    """Return the number of legal actions; 0 when the game is over."""
    if state["status"] != RUNNING:
        return 0
    if state["picked"] > 0:
        return count_places(state)
    return popcount(pickable(state)) + popcount(exchangeable(state)) + may_end(state)


@kernel
def nth_legal(state: np.void, n: Integer) -> Integer:
    """Return the n-th legal action, from 0, in an order that depends on the state; n must be below `count_legal`."""
    if state["picked"] > 0:
        return action_of_cell(state, nth_place(state, n))
    kinds = pickable(state)
    count = popcount(kinds)
    if n < count:
        return nth_bit(kinds, n)
    n -= count
    kinds = exchangeable(state)
    count = popcount(kinds)
    if n < count:
        return RETURN + nth_bit(kinds, n)
    return END


@kernel
def is_legal(state: np.void, action: Integer) -> Truth:
    """Tell whether an action, any integer, is legal now."""
    if action < 0 or state["status"] != RUNNING:
        return False
    if state["picked"] > 0:
        cell = cell_of_action(state, action)
        return cell >= 0 and may_place(state, cell)
    if action < RETURN:
        return pickable(state) >> action & 1 != 0
    if action < END:
        return exchangeable(state) >> (action - RETURN) & 1 != 0
    return action == END and may_end(state)


@kernel
def _is_free(state: np.void, cell: Integer) -> Truth:
    """Tell whether any tile could go on a cell: it is empty, next to a tile, and within the size of the board."""
    if state["opening_size"] > 0:
        return cell == opening_cell(state)
    if state["tiles_on_table"] == 0:
        return cell == 0
    return cell >= 0 and slot_at(state, cell) >= 0 and fits_on_board(state, cell)


@kernel
def legal_mask(state: np.void, mask: np.ndarray) -> None:
    """Write the mask, int8 [num_actions]: 1 for legal actions, all 0 when the game is over."""
    for action in range(len(mask)):
        mask[action] = 0
    if state["status"] != RUNNING:
        return
    if state["picked"] > 0:
        mark_places(state, mask, np.int64(PLACE), 1)
        return
    for first, kinds in ((0, pickable(state)), (RETURN, exchangeable(state))):
        while kinds != 0:
            mask[first + nth_bit(kinds, 0)] = 1
            kinds &= kinds - 1
    mask[END] = may_end(state)


@kernel
def apply(state: np.void, action: Integer) -> None:
    """Play a legal action and everything that follows automatically, up to the next decision or the end.

    An illegal action, any integer, leaves the record meaningless or unchanged, and writes to nothing else.
    """
    player = np.int64(state["to_move"])
    if action < 0 or (state["picked"] > 0) != (action > END):
        return
    if action < RETURN:
        if state["hands"][player, action] == 0:
            return
        take_tile(state, player, action)
        state["picked"] = 1 + action
    elif action < END:
        if state["hands"][player, action - RETURN] == 0:
            return
        take_tile(state, player, action - RETURN)
        state["returned"][action - RETURN] += 1
        state["returned_count"] += 1
        if state["returned_count"] == state["exchange_limit"]:
            _end_turn(state, player)
    elif action == END:
        _end_turn(state, player)
    else:
        cell = cell_of_action(state, action)
        if not _is_free(state, cell):
            return
        put_tile(state, cell, np.int64(state["picked"]) - 1)
        state["picked"] = 0
        state["placed"][state["placed_count"]] = cell
        state["placed_count"] += 1
        update_fits(state)
        complete = state["opening_size"] > 0 and state["placed_count"] == state["opening_size"]
        if complete or pickable(state) == 0:
            _end_turn(state, player)


@kernel
def _end_turn(state: np.void, player: Integer) -> None:
    """Score, draw, exchange or count a pass; then start the next turn or end the game (Q13, Q16-Q21)."""
    placed = np.int64(state["placed_count"])
    returned = np.int64(state["returned_count"])
    ended = False
    if placed > 0:
        state["score"][player] += turn_points(state)
        draw_tiles(state, player, placed)
        if state["hand_size"][player] == 0:
            state["score"][player] += LAST_TILE_BONUS
            ended = True
        state["passes"] = 0
    elif returned > 0:
        draw_tiles(state, player, returned)
        for kind in range(NUM_KINDS):
            state["bag"][kind] += state["returned"][kind]
            state["returned"][kind] = 0
        state["bag_size"] += returned
        state["passes"] = 0
    else:
        state["passes"] += 1
        ended = state["passes"] == state["option_num_players"]
    state["placed_count"] = 0
    state["returned_count"] = 0
    if ended:
        state["status"] = ENDED
    elif state["turn_number"] >= state["option_max_turns"]:
        state["status"] = TRUNCATED
    else:
        state["turn_number"] += 1
        state["to_move"] = next_player(player, state["option_num_players"])
        begin_turn(state)


@kernel
def scores_and_ranks(state: np.void, scores: np.ndarray, ranks: np.ndarray) -> None:
    """Write scores and ranks, int32 [num_players] (Q22); rank 0 wins, and tied players share the better rank."""
    players = np.int64(state["option_num_players"])
    for player in range(players):
        scores[player] = state["score"][player]
    write_ranks(scores, ranks, players)


@kernel
def determinize(state: np.void, seat: Integer) -> None:
    """Resample what a seat cannot see: the other hands, the tiles that another player set aside, the bag.

    All these tiles are pooled in the bag and drawn again, with the same numbers as before.
    """
    players = np.int64(state["option_num_players"])
    mover = np.int64(state["to_move"])
    hidden_exchanges = np.int64(0) if mover == seat else np.int64(state["returned_count"])
    if hidden_exchanges > 0:
        for kind in range(NUM_KINDS):
            state["bag"][kind] += state["returned"][kind]
            state["returned"][kind] = 0
        state["bag_size"] += hidden_exchanges
    for player in range(players):
        if player != seat:
            for kind in range(NUM_KINDS):
                state["bag"][kind] += state["hands"][player, kind]
                state["hands"][player, kind] = 0
            state["bag_size"] += state["hand_size"][player]
    for player in range(players):
        if player != seat:
            tiles = np.int64(state["hand_size"][player])
            state["hand_size"][player] = 0
            state["hand_kinds"][player] = 0
            draw_tiles(state, player, tiles)
    if hidden_exchanges > 0:
        draw_tiles(state, mover, hidden_exchanges)
        _return_random_tiles(state, mover, hidden_exchanges)


@kernel
def _return_random_tiles(state: np.void, player: Integer, tiles: Integer) -> None:
    """Move random tiles of a hand to the returned ones."""
    for _ in range(tiles):
        kind = draw_from_counts(state["random"], state["hands"][player], np.int64(state["hand_size"][player]))
        take_tile(state, player, kind)
        state["returned"][kind] += 1
