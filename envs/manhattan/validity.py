"""Invariants of Manhattan's reachable records, as a kernel on one record (see state.py)."""

import numpy as np

from ..engine.compilation import Integer, Truth, kernel
from ..engine.state import ENDED, RUNNING
from .board import colours_in_game, own_colour, owned_colours
from .state import BUILD, COPIES, DRAFT, HAND_SIZE, NUM_CARDS, NUM_CITIES, NUM_LOTS, NUM_PARTS, NUM_SIZES, PARTS

FAULTS = (
    "",
    "fields of players or colours that are not in the game are not 0",
    "round, start and the colour of the draft are inconsistent",
    "a tower's owner or height is inconsistent with its storeys",
    "a colour has more parts than it can have, in stock or on the table",
    f"a hand does not have {HAND_SIZE} cards, there are not {COPIES} of each, or the deck is empty or miscounted",
    "the parts in stock are wrong for the phase, the round and the player to move",
    "a game of Manhattan is never truncated, and has no parts in stock when it is over",
)
_ABSENT, _ROUND, _TOWER, _PARTS, _CARDS, _STOCK, _OVER = range(1, len(FAULTS))


@kernel
def find_fault(state: np.void, spare: np.void) -> Integer:
    """Return the index in FAULTS of a violated invariant, 0 if there is none; all fields are in range."""
    players = np.int64(state["option_num_players"])
    colours = np.int64(colours_in_game(state))
    rounds = 4 if players == 4 else 6
    if state["round"] > rounds or state["start"] != (np.int64(state["round"]) - 1) % players:
        return _ROUND
    if state["draft_colour"] >= colours:
        return _ROUND
    code = _absent_fault(state, players, colours)
    if code == 0:
        code = _towers_fault(state)
    if code == 0:
        code = _cards_fault(state, players)
    for colour in range(colours):
        if code == 0:
            code = _parts_fault(state, np.int64(colour))
    return _phase_fault(state, players, rounds) if code == 0 else code


@kernel
def _absent_fault(state: np.void, players: Integer, colours: Integer) -> Integer:
    found = np.int64(0)
    for player in range(players, 4):
        found |= np.int64(state["score"][player])
        for card in range(NUM_CARDS):
            found |= np.int64(state["hands"][player, card])
    for colour in range(colours, 4):
        for size in range(NUM_SIZES):
            found |= np.int64(state["reserve"][colour, size]) | np.int64(state["drafted"][colour, size])
        for city in range(NUM_CITIES):
            for lot in range(NUM_LOTS):
                found |= np.int64(state["storeys"][city, lot, colour])
    return 0 if found == 0 else _ABSENT


@kernel
def _towers_fault(state: np.void) -> Integer:
    for city in range(NUM_CITIES):
        for lot in range(NUM_LOTS):
            height = np.int64(0)
            most = np.int64(0)
            for colour in range(4):
                storeys = np.int64(state["storeys"][city, lot, colour])
                height += storeys
                most = max(most, storeys)
            owner = np.int64(state["owner"][city, lot])
            if height != state["height"][city, lot] or (owner > 0) != (height > 0):
                return _TOWER
            if owner > 0 and state["storeys"][city, lot, owner - 1] != most:
                return _TOWER
    return 0


@kernel
def _cards_fault(state: np.void, players: Integer) -> Integer:
    deck = np.int64(0)
    for card in range(NUM_CARDS):
        deck += state["deck"][card]
        copies = np.int64(state["deck"][card]) + np.int64(state["discards"][card])
        for player in range(players):
            copies += state["hands"][player, card]
        if copies != COPIES:
            return _CARDS
    if deck == 0 or deck != state["deck_size"]:
        return _CARDS
    for player in range(players):
        held = np.int64(0)
        for card in range(NUM_CARDS):
            held += state["hands"][player, card]
        if held != HAND_SIZE:
            return _CARDS
    return 0


@kernel
def _parts_fault(state: np.void, colour: Integer) -> Integer:
    """Tell whether no colour has more storeys on the table than its missing parts allow."""
    possible = np.int64(0)
    for size in range(NUM_SIZES):
        used = PARTS[size] - np.int64(state["reserve"][colour, size]) - np.int64(state["drafted"][colour, size])
        if used < 0:
            return _PARTS
        possible += used * (1 + size)
    for city in range(NUM_CITIES):
        for lot in range(NUM_LOTS):
            possible -= np.int64(state["storeys"][city, lot, colour])
    return 0 if possible >= 0 else _PARTS


@kernel
def _phase_fault(state: np.void, players: Integer, rounds: Integer) -> Integer:
    left = np.int64(0)
    for colour in range(4):
        left += _count_drafts(state, np.int64(colour))
    if left != state["parts_left"]:
        return _STOCK
    if state["status"] != RUNNING:
        for colour in range(4):
            left += _count_reserve(state, np.int64(colour))
        return 0 if left == 0 and state["status"] == ENDED and state["round"] == rounds else _OVER
    # after the draft it is the colour of the player who would be next
    if state["phase"] == BUILD and state["draft_colour"] != state["start"]:
        return _ROUND
    for player in range(players):
        fits: Truth = False
        if state["phase"] == DRAFT:
            fits = _draft_stock_is_right(state, players, np.int64(player))
        elif state["phase"] == BUILD:
            fits = _build_stock_is_right(state, players, np.int64(player))
        if not fits:
            return _STOCK
    return 0


@kernel
def _draft_stock_is_right(state: np.void, players: Integer, player: Integer) -> Truth:
    """Tell whether parts are selected for exactly those of a player's colours whose turn has come in this round."""
    each = 6 if players == 4 else 4
    done = np.int64(state["round"]) - 1
    start = np.int64(state["start"])
    mover = np.int64(state["to_move"])
    turn = (player - start) % players
    now = (mover - start) % players
    drafting = np.int64(state["draft_colour"])
    if player == mover and drafting % 2 != mover and players == 2:
        return False
    if player == mover and players != 2 and drafting != mover:
        return False
    for own in range(owned_colours(state)):
        colour = np.int64(own_colour(player, np.int64(own)))
        selected = turn < now or (turn == now and colour < drafting)
        drafted = each if selected else 0
        reserve = NUM_PARTS - each * done - drafted
        if _count_drafts(state, colour) != drafted or _count_reserve(state, colour) != reserve:
            return False
    return True


@kernel
def _build_stock_is_right(state: np.void, players: Integer, player: Integer) -> Truth:
    """Tell whether a player has as many parts left as the mover, or one less after building in this cycle."""
    each = 6 if players == 4 else 4
    start = np.int64(state["start"])
    mover = np.int64(state["to_move"])
    left = np.int64(0)
    own_left = np.int64(0)
    for own in range(owned_colours(state)):
        colour = np.int64(own_colour(player, np.int64(own)))
        own_left += _count_drafts(state, colour)
        left += _count_drafts(state, np.int64(own_colour(mover, np.int64(own))))
        reserve = NUM_PARTS - each * np.int64(state["round"])
        if _count_drafts(state, colour) > each or _count_reserve(state, colour) != reserve:
            return False
    has_built = (player - start) % players < (mover - start) % players
    return left > 0 and own_left == left - has_built


@kernel
def _count_drafts(state: np.void, colour: Integer) -> Integer:
    parts = np.int64(0)
    for size in range(NUM_SIZES):
        parts += state["drafted"][colour, size]
    return parts


@kernel
def _count_reserve(state: np.void, colour: Integer) -> Integer:
    parts = np.int64(0)
    for size in range(NUM_SIZES):
        parts += state["reserve"][colour, size]
    return parts
