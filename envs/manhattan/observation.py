"""Manhattan's observation: what a seat may know, seen from its side of the table, as numbers and scales.

Every city is rotated to the seat's view: lot v is the one for its card v, so that cards mean the same for every seat.
Colours are in turn order, own colours first; with two players the own two, then the opponent's.

Hidden from a seat: the other hands and the deck; their sum by card is known.
"""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, inline_kernel, kernel
from ..engine.state import RUNNING
from ..observation_field import ObservationField
from .board import colours_in_game, seat_of
from .state import (
    COPIES,
    DRAFT,
    HAND_SIZE,
    LOT_OF_CARD,
    NUM_CARDS,
    NUM_CITIES,
    NUM_LOTS,
    NUM_SIZES,
    PARTS,
    colours_per_player,
    num_colours,
    num_rounds,
)

_STOREYS, _PARTS, _DRAFTED, _SCORE = 1 / 10, tuple(1 / parts for parts in PARTS), 1 / 6, 1 / 100
_HAND, _COPIES = 1 / HAND_SIZE, 1 / COPIES


def _colours_in_order() -> np.ndarray:
    """Return the order of colours for each seat, own ones first: uint8 [players, seat, index]."""
    seen = np.zeros((5, 4, 4), np.uint8)
    for players in (2, 3, 4):
        for seat in range(players):
            for place in range(num_colours(players)):
                owned = colours_per_player(players)
                seen[players, seat, place] = (seat + place // owned) % players + 2 * (place % owned)
    return seen


COLOUR_SEEN = _colours_in_order()


def fields(options: dict[str, Any], layout: str) -> tuple[ObservationField, ...]:
    """Return the parts of the observation in order, for a game's options; `layout` is "flat", the only one."""
    players = options["num_players"]
    colours = num_colours(players)
    lots = (NUM_CITIES, NUM_LOTS, colours)
    return (
        ObservationField("storeys", lots, "city, lot by own card, colour: storeys / 10", 4.7, _STOREYS),
        ObservationField("owner", lots, "city, lot, colour: 1 if the colour owns the tower"),
        ObservationField(
            "reserve", (colours, NUM_SIZES), "colour, size: parts in the box / all of that size", scale=_PARTS * colours
        ),
        ObservationField(
            "drafted", (colours, NUM_SIZES), "colour, size: selected parts not yet placed / 6", scale=_DRAFTED
        ),
        ObservationField("own hand", (NUM_CARDS,), "cards / 4 by kind", scale=_HAND),
        ObservationField("discards", (NUM_CARDS,), "face-up cards / 5 by kind", scale=_COPIES),
        ObservationField("unseen", (NUM_CARDS,), "cards / 5 by kind in the deck and the other hands", scale=_COPIES),
        ObservationField("deck", (1,), "cards in the deck / 45", scale=1 / (NUM_CARDS * COPIES)),
        ObservationField("scores", (players,), "score / 100, own seat first", 3.0, _SCORE),
        ObservationField("round", (1,), "round / number of rounds", scale=1 / num_rounds(players)),
        ObservationField("draft", (2,), "one-hot: selecting for the mover's first or second colour"),
        ObservationField("started", (players,), "one-hot: who began this round, own seat first"),
        ObservationField("to move", (players,), "one-hot, own seat first; 0 when the game is over"),
    )


@kernel
def observe(state: np.void, seat: Integer, layout: Integer, numbers: np.ndarray) -> None:
    """Write what a seat sees, int16 [observation_size]; there is one layout."""
    colours = colours_in_game(state)
    players = np.int64(state["option_num_players"])
    at = _observe_cities(state, seat, colours, numbers)
    for index in range(colours):
        colour = np.int64(COLOUR_SEEN[players, seat, index])
        for size in range(NUM_SIZES):
            numbers[at + index * NUM_SIZES + size] = state["reserve"][colour, size]
            drafted = state["drafted"][colour, size]
            numbers[at + (colours + index) * NUM_SIZES + size] = drafted
    at += 2 * colours * NUM_SIZES
    for card in range(NUM_CARDS):
        held = np.int64(state["hands"][seat, card])
        shown = np.int64(state["discards"][card])
        numbers[at + card] = held
        numbers[at + NUM_CARDS + card] = shown
        numbers[at + 2 * NUM_CARDS + card] = COPIES - held - shown
    at += 3 * NUM_CARDS
    numbers[at] = state["deck_size"]
    _observe_players(state, seat, at + 1, numbers)


@kernel
def _observe_cities(state: np.void, seat: Integer, colours: Integer, numbers: np.ndarray) -> Integer:
    # most of the cost of an observation: with constant orders of colours each lot takes a few vector instructions
    if colours == 3:
        _observe_three_colours(state, seat, numbers)
    elif state["option_num_players"] == 2:
        if seat == 0:
            _observe_four_colours(state, seat, numbers, 0, 2, 1, 3)
        else:
            _observe_four_colours(state, seat, numbers, 1, 3, 0, 2)
    elif seat == 0:
        _observe_four_colours(state, seat, numbers, 0, 1, 2, 3)
    elif seat == 1:
        _observe_four_colours(state, seat, numbers, 1, 2, 3, 0)
    elif seat == 2:
        _observe_four_colours(state, seat, numbers, 2, 3, 0, 1)
    else:
        _observe_four_colours(state, seat, numbers, 3, 0, 1, 2)
    return 2 * NUM_CITIES * NUM_LOTS * colours


@inline_kernel
def _observe_four_colours(
    state: np.void,
    seat: Integer,
    numbers: np.ndarray,
    first: Integer,
    second: Integer,
    third: Integer,
    fourth: Integer,
) -> None:
    side = seat_of(state, seat)
    owners = NUM_CITIES * NUM_LOTS * 4
    for city in range(NUM_CITIES):
        for view in range(NUM_LOTS):
            lot = np.int64(LOT_OF_CARD[side, view])
            at = (city * NUM_LOTS + view) * 4
            # read everything before writing: the compiler cannot know that the arrays do not overlap
            owner = np.int64(state["owner"][city, lot])
            storeys_1 = state["storeys"][city, lot, first]
            storeys_2 = state["storeys"][city, lot, second]
            storeys_3 = state["storeys"][city, lot, third]
            storeys_4 = state["storeys"][city, lot, fourth]
            numbers[at] = storeys_1
            numbers[at + 1] = storeys_2
            numbers[at + 2] = storeys_3
            numbers[at + 3] = storeys_4
            numbers[owners + at] = owner == 1 + first
            numbers[owners + at + 1] = owner == 1 + second
            numbers[owners + at + 2] = owner == 1 + third
            numbers[owners + at + 3] = owner == 1 + fourth


@kernel
def _observe_three_colours(state: np.void, seat: Integer, numbers: np.ndarray) -> None:
    side = seat_of(state, seat)
    owners = NUM_CITIES * NUM_LOTS * 3
    for city in range(NUM_CITIES):
        for view in range(NUM_LOTS):
            lot = np.int64(LOT_OF_CARD[side, view])
            owner = np.int64(state["owner"][city, lot])
            for place in range(3):
                colour = np.int64(COLOUR_SEEN[3, seat, place])
                at = (city * NUM_LOTS + view) * 3 + place
                numbers[at] = state["storeys"][city, lot, colour]
                numbers[owners + at] = owner == 1 + colour


@kernel
def _observe_players(state: np.void, seat: Integer, at: Integer, numbers: np.ndarray) -> None:
    players = np.int64(state["option_num_players"])
    running = state["status"] == RUNNING
    for distance in range(players):
        player = seat + distance if seat + distance < players else seat + distance - players
        numbers[at + distance] = state["score"][player]
        numbers[at + players + 3 + distance] = state["start"] == player
        numbers[at + 2 * players + 3 + distance] = running and state["to_move"] == player
    at += players
    numbers[at] = state["round"]
    drafting = running and state["phase"] == DRAFT
    second = players == 2 and state["draft_colour"] >= 2
    numbers[at + 1] = drafting and not second
    numbers[at + 2] = drafting and second
