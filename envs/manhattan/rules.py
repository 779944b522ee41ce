"""Manhattan's rounds as kernels on one record (see state.py).

Actions, with D selections (70 with four players, 34 otherwise) and K colours per player (2 with two players, else 1):
0 .. D - 1 a selection of parts; then D + ((9 * own + card) * 6 + city) * 4 + storeys - 1 a building with the player's
first (own 0) or second colour; then D + 216 * K + card a discard. Numbers like M11 refer to the rules in
docs/manhattan.md.
"""

import numpy as np

from ..engine.bits import nth_bit, popcount
from ..engine.compilation import Integer, Truth, kernel
from ..engine.counts import draw_from_counts
from ..engine.standing import next_player
from ..engine.state import ENDED, RUNNING
from .board import (
    allowed_sizes,
    colours_in_game,
    count_selections,
    lot_of,
    mark_selections,
    may_build,
    may_select,
    own_colour,
    owned_colours,
    selection,
    sizes_for,
    sizes_in_stock,
)
from .observation import observe
from .scoring import score_round, scores_and_ranks
from .state import BUILD, COPIES, DRAFT, HAND_SIZE, NUM_CARDS, NUM_CITIES, NUM_SIZES, PARTS

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

_BUILDINGS = NUM_CARDS * NUM_CITIES * NUM_SIZES
# by a set of sizes
_SIZE_ROWS = np.array([[sizes >> size & 1 for size in range(NUM_SIZES)] for sizes in range(1 << NUM_SIZES)], np.int8)


@kernel
def reset(state: np.void) -> None:
    """Set up a game in a record that is zero except for options and random stream (M2-M7)."""
    for colour in range(colours_in_game(state)):
        for size in range(NUM_SIZES):
            state["reserve"][colour, size] = PARTS[size]
    for card in range(NUM_CARDS):
        state["deck"][card] = COPIES
    state["deck_size"] = NUM_CARDS * COPIES
    for player in range(state["option_num_players"]):
        draw_cards(state, np.int64(player), np.int64(HAND_SIZE))
    state["round"] = 1


@kernel
def draw_cards(state: np.void, player: Integer, cards: Integer) -> None:
    """Draw cards from the deck, which always has enough after a reset."""
    for _ in range(min(cards, np.int64(state["deck_size"]))):
        card = draw_from_counts(state["random"], state["deck"], np.int64(state["deck_size"]))
        state["deck"][card] -= 1
        state["deck_size"] -= 1
        state["hands"][player, card] += 1


@kernel
def count_legal(state: np.void) -> Integer:
    """Return the number of legal actions; 0 when the game is over."""
    if state["status"] != RUNNING:
        return 0
    count = np.int64(0)
    if state["phase"] == DRAFT:
        for index in range(count_selections(state)):
            count += may_select(state, np.int64(index))
        return count
    player = np.int64(state["to_move"])
    for own in range(owned_colours(state)):
        colour = own_colour(player, np.int64(own))
        stock = sizes_in_stock(state, colour)
        for card in range(NUM_CARDS):
            if state["hands"][player, card] > 0:
                lot = lot_of(state, player, np.int64(card))
                for city in range(NUM_CITIES):
                    count += popcount(stock & allowed_sizes(state, np.int64(city), lot, colour))
    if count == 0:
        for card in range(NUM_CARDS):
            count += state["hands"][player, card] > 0
    return count


@kernel
def nth_legal(state: np.void, n: Integer) -> Integer:
    """Return the n-th legal action, counted from 0; n must be below `count_legal`."""
    selections = count_selections(state)
    if state["phase"] == DRAFT:
        for index in range(selections):
            if may_select(state, np.int64(index)):
                if n == 0:
                    return np.int64(index)
                n -= 1
    player = np.int64(state["to_move"])
    at = selections
    for own in range(owned_colours(state)):
        colour = own_colour(player, np.int64(own))
        stock = sizes_in_stock(state, colour)
        for card in range(NUM_CARDS):
            if state["hands"][player, card] > 0:
                lot = lot_of(state, player, np.int64(card))
                for city in range(NUM_CITIES):
                    sizes = stock & allowed_sizes(state, np.int64(city), lot, colour)
                    count = popcount(sizes)
                    if n < count:
                        return at + NUM_SIZES * city + nth_bit(sizes, n)
                    n -= count
            at += NUM_SIZES * NUM_CITIES
    for card in range(NUM_CARDS):
        if state["hands"][player, card] > 0:
            if n == 0:
                return at + card
            n -= 1
    return np.int64(-1)


@kernel
def is_legal(state: np.void, action: Integer) -> Truth:
    """Tell whether an action, any integer, is legal now."""
    if action < 0 or state["status"] != RUNNING:
        return False
    selections = count_selections(state)
    if state["phase"] == DRAFT:
        return action < selections and may_select(state, action)
    building = action - selections
    if building < 0:
        return False
    player = np.int64(state["to_move"])
    discard = building - _BUILDINGS * owned_colours(state)
    if discard >= 0:
        return discard < NUM_CARDS and state["hands"][player, discard] > 0 and not may_build(state, player)
    size = building % NUM_SIZES
    city = building // NUM_SIZES % NUM_CITIES
    card = building // (NUM_SIZES * NUM_CITIES) % NUM_CARDS
    return sizes_for(state, player, building // _BUILDINGS, card, city) >> size & 1 != 0


@kernel
def legal_mask(state: np.void, mask: np.ndarray) -> None:
    """Write the mask, int8 [num_actions]: 1 for legal actions, all 0 when the game is over."""
    for action in range(len(mask)):
        mask[action] = 0
    if state["status"] != RUNNING:
        return
    selections = count_selections(state)
    if state["phase"] == DRAFT:
        mark_selections(state, mask)
        return
    player = np.int64(state["to_move"])
    found = np.int64(0)
    at = selections
    for own in range(owned_colours(state)):
        colour = own_colour(player, np.int64(own))
        stock = sizes_in_stock(state, colour)
        for card in range(NUM_CARDS):
            if state["hands"][player, card] > 0:
                lot = lot_of(state, player, np.int64(card))
                row = mask[at:]
                for city in range(NUM_CITIES):
                    sizes = stock & allowed_sizes(state, np.int64(city), lot, colour)
                    found |= sizes
                    for size in range(NUM_SIZES):
                        row[NUM_SIZES * city + size] = _SIZE_ROWS[sizes, size]
            at += NUM_SIZES * NUM_CITIES
    if found == 0:
        for card in range(NUM_CARDS):
            mask[at + card] = state["hands"][player, card] > 0


@kernel
def apply(state: np.void, action: Integer) -> None:
    """Play a legal action and everything that follows automatically, up to the next decision or the end.

    An illegal action, any integer, leaves the record meaningless or unchanged, and writes to nothing else.
    """
    player = np.int64(state["to_move"])
    selections = count_selections(state)
    if state["phase"] == DRAFT:
        if 0 <= action < selections:
            _select(state, player, action)
        return
    building = action - selections
    discard = building - _BUILDINGS * owned_colours(state)
    if building < 0 or discard >= NUM_CARDS:
        return
    if discard >= 0:
        _lose_smallest_part(state, player)
        _play_card(state, player, discard)
    else:
        size = building % NUM_SIZES
        city = building // NUM_SIZES % NUM_CITIES
        card = building // (NUM_SIZES * NUM_CITIES) % NUM_CARDS
        colour = own_colour(player, building // _BUILDINGS)
        build(state, city, lot_of(state, player, card), colour, size)
        state["drafted"][colour, size] -= 1
        _play_card(state, player, card)
    state["parts_left"] -= 1
    if state["parts_left"] == 0:
        _end_round(state)
    else:
        state["to_move"] = next_player(player, np.int64(state["option_num_players"]))


@kernel
def _select(state: np.void, player: Integer, index: Integer) -> None:
    """Take a selection for one colour; continue with the next colour, the next player, or building (M9)."""
    colour = np.int64(state["draft_colour"])
    for size in range(NUM_SIZES):
        parts = selection(state, index, size)
        state["reserve"][colour, size] -= parts
        state["drafted"][colour, size] = parts
        state["parts_left"] += parts
    if state["option_num_players"] == 2 and colour < 2:
        state["draft_colour"] = colour + 2
        return
    player = next_player(player, np.int64(state["option_num_players"]))
    state["to_move"] = player
    state["draft_colour"] = player
    if player == state["start"]:
        state["phase"] = BUILD


@kernel
def build(state: np.void, city: Integer, lot: Integer, colour: Integer, size: Integer) -> None:
    """Put a part on a lot; its colour owns the tower (M12)."""
    state["storeys"][city, lot, colour] += 1 + size
    state["height"][city, lot] += 1 + size
    state["owner"][city, lot] = 1 + colour


@kernel
def _lose_smallest_part(state: np.void, player: Integer) -> None:
    """Remove the smallest of a stuck player's selected parts from the game, of the lower colour if equal (M14)."""
    for size in range(NUM_SIZES):
        for own in range(owned_colours(state)):
            colour = own_colour(player, own)
            if state["drafted"][colour, size] > 0:
                state["drafted"][colour, size] -= 1
                return


@kernel
def _play_card(state: np.void, player: Integer, card: Integer) -> None:
    """Put a card face up and draw one; after the last card of the deck, make a new deck (M15)."""
    state["hands"][player, card] -= 1
    state["discards"][card] += 1
    draw_cards(state, player, np.int64(1))
    if state["deck_size"] == 0:
        for kind in range(NUM_CARDS):
            state["deck"][kind] = state["discards"][kind]
            state["deck_size"] += state["discards"][kind]
            state["discards"][kind] = 0


@kernel
def _end_round(state: np.void) -> None:
    """Score; then start the next round, or end the game after the last (M20, M21)."""
    score_round(state)
    rounds = 4 if state["option_num_players"] == 4 else 6
    if state["round"] == rounds:
        state["status"] = ENDED
        return
    state["round"] += 1
    start = next_player(np.int64(state["start"]), np.int64(state["option_num_players"]))
    state["start"] = start
    state["to_move"] = start
    state["draft_colour"] = start
    state["phase"] = DRAFT


@kernel
def determinize(state: np.void, seat: Integer) -> None:
    """Resample what a seat cannot see: the other hands and the deck, pooled and drawn again."""
    players = np.int64(state["option_num_players"])
    for player in range(players):
        if player != seat:
            for card in range(NUM_CARDS):
                state["deck"][card] += state["hands"][player, card]
                state["deck_size"] += state["hands"][player, card]
                state["hands"][player, card] = 0
    for player in range(players):
        if player != seat:
            draw_cards(state, np.int64(player), np.int64(HAND_SIZE))
