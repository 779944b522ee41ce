"""Seats, colours and legal buildings of Manhattan, as kernels on one record (see state.py)."""

import numpy as np

from ..engine.compilation import Integer, Truth, kernel
from .state import ADJACENT, LOT_OF_CARD, NUM_CARDS, NUM_CITIES, NUM_SIZES, SELECTIONS_OF_4, SELECTIONS_OF_6

_ALL_SIZES = (1 << NUM_SIZES) - 1

# the selections by size: uint8 [4, selections]
_SIZES_OF_4 = np.ascontiguousarray(SELECTIONS_OF_4.T.astype(np.uint8))
_SIZES_OF_6 = np.ascontiguousarray(SELECTIONS_OF_6.T.astype(np.uint8))


@kernel
def seat_of(state: np.void, player: Integer) -> Integer:
    """Return the side of the table at which a player sits: 0 south, 1 west, 2 north, 3 east (M5)."""
    if state["option_num_players"] == 2 and state["option_seats"] != ADJACENT:
        return 2 * player
    return player


@kernel
def lot_of(state: np.void, player: Integer, card: Integer) -> Integer:
    """Return the lot that a card means to a player (M6)."""
    return np.int64(LOT_OF_CARD[seat_of(state, player), card])


@kernel
def owned_colours(state: np.void) -> Integer:
    """Return the number of colours per player (M4)."""
    return np.int64(2) if state["option_num_players"] == 2 else np.int64(1)


@kernel
def colours_in_game(state: np.void) -> Integer:
    """Return the number of colours in the game (M4)."""
    return np.int64(3) if state["option_num_players"] == 3 else np.int64(4)


@kernel
def own_colour(player: Integer, index: Integer) -> Integer:
    """Return a player's first (0) or second (1, two players) colour."""
    return player + 2 * index


@kernel
def player_of(state: np.void, colour: Integer) -> Integer:
    """Return the player who has a colour."""
    return colour % 2 if state["option_num_players"] == 2 else colour


@kernel
def selection(state: np.void, index: Integer, size: Integer) -> Integer:
    """Return the number of parts of a size in a selection."""
    if state["option_num_players"] == 4:
        return SELECTIONS_OF_6[index, size]
    return SELECTIONS_OF_4[index, size]


@kernel
def count_selections(state: np.void) -> Integer:
    """Return the number of selections that a full box allows."""
    return np.int64(len(SELECTIONS_OF_6)) if state["option_num_players"] == 4 else np.int64(len(SELECTIONS_OF_4))


@kernel
def may_select(state: np.void, index: Integer) -> Truth:
    """Tell whether the reserve of the colour to be drafted allows a selection (M9)."""
    for size in range(NUM_SIZES):
        if selection(state, index, size) > state["reserve"][state["draft_colour"], size]:
            return False
    return True


@kernel
def mark_selections(state: np.void, mask: np.ndarray) -> None:
    """Write 1 for each selection that the reserve of the colour to be drafted allows, 0 for the others (M9)."""
    reserve = state["reserve"][state["draft_colour"]]
    small, middle, large, largest = reserve[0], reserve[1], reserve[2], reserve[3]
    # without branches, in loops of constant length, which compilers turn into vector instructions
    if state["option_num_players"] == 4:
        for index in range(len(SELECTIONS_OF_6)):
            fits = (_SIZES_OF_6[0, index] <= small) & (_SIZES_OF_6[1, index] <= middle)
            mask[index] = fits & (_SIZES_OF_6[2, index] <= large) & (_SIZES_OF_6[3, index] <= largest)
    else:
        for index in range(len(SELECTIONS_OF_4)):
            fits = (_SIZES_OF_4[0, index] <= small) & (_SIZES_OF_4[1, index] <= middle)
            mask[index] = fits & (_SIZES_OF_4[2, index] <= large) & (_SIZES_OF_4[3, index] <= largest)


@kernel
def sizes_in_stock(state: np.void, colour: Integer) -> Integer:
    """Return the sizes (4 bits) of a colour's remaining selected parts."""
    sizes = np.int64(0)
    for size in range(NUM_SIZES):
        if state["drafted"][colour, size] > 0:
            sizes |= 1 << size
    return sizes


@kernel
def allowed_sizes(state: np.void, city: Integer, lot: Integer, colour: Integer) -> Integer:
    """Return the sizes (4 bits) of a colour's parts that a lot allows (M11)."""
    # without branches, which are unpredictable: on an empty lot and on an own tower nobody is ahead of the colour
    owner = max(np.int64(state["owner"][city, lot]), np.int64(1)) - 1
    behind = np.int64(state["storeys"][city, lot, owner]) - np.int64(state["storeys"][city, lot, colour])
    too_small = min(max(behind - 1, np.int64(0)), np.int64(NUM_SIZES))
    return np.int64(_ALL_SIZES) & (_ALL_SIZES << too_small)


@kernel
def sizes_for(state: np.void, player: Integer, own: Integer, card: Integer, city: Integer) -> Integer:
    """Return the sizes (4 bits) that a player may build with a held card, in a city and one of the own colours."""
    if state["hands"][player, card] == 0:
        return np.int64(0)
    colour = own_colour(player, own)
    return sizes_in_stock(state, colour) & allowed_sizes(state, city, lot_of(state, player, card), colour)


@kernel
def may_build(state: np.void, player: Integer) -> Truth:
    """Tell whether a player has any legal combination of card, part and city (M13)."""
    for own in range(owned_colours(state)):
        colour = own_colour(player, np.int64(own))
        stock = sizes_in_stock(state, colour)
        for card in range(NUM_CARDS):
            if state["hands"][player, card] > 0:
                lot = lot_of(state, player, np.int64(card))
                for city in range(NUM_CITIES):
                    if stock & allowed_sizes(state, np.int64(city), lot, colour) != 0:
                        return True
    return False
