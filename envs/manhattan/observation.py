"""Manhattan's observation: what a seat may know, seen from its side of the table, as one float32 vector.

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
)

# factors instead of divisors: a division is several times as expensive
_STOREYS = np.float32(1 / 10)
_DRAFTED = np.float32(1 / 6)
_PARTS = (1 / np.array(PARTS)).astype(np.float32)
_HAND = np.float32(1 / HAND_SIZE)
_COPIES = np.float32(1 / COPIES)
SCORE_SCALE = 100.0


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


def fields(options: dict[str, Any], encoding: str) -> tuple[ObservationField, ...]:
    """Return the parts of the observation in order, for a game's options; `encoding` is "flat", the only one."""
    players = options["num_players"]
    colours = num_colours(players)
    lots = (NUM_CITIES, NUM_LOTS, colours)
    return (
        ObservationField("storeys", lots, "city, lot by own card, colour: storeys / 10", 4.7),
        ObservationField("owner", lots, "city, lot, colour: 1 if the colour owns the tower"),
        ObservationField("reserve", (colours, NUM_SIZES), "colour, size: parts in the box / all of that size"),
        ObservationField("drafted", (colours, NUM_SIZES), "colour, size: selected parts not yet placed / 6"),
        ObservationField("own hand", (NUM_CARDS,), "cards / 4 by kind"),
        ObservationField("discards", (NUM_CARDS,), "face-up cards / 5 by kind"),
        ObservationField("unseen", (NUM_CARDS,), "cards / 5 by kind in the deck and the other hands together"),
        ObservationField("deck", (1,), "cards in the deck / 45"),
        ObservationField("scores", (players,), "score / 100, own seat first", 3.0),
        ObservationField("round", (1,), "round / number of rounds"),
        ObservationField("draft", (2,), "one-hot: selecting for the mover's first or second colour"),
        ObservationField("started", (players,), "one-hot: who began this round, own seat first"),
        ObservationField("to move", (players,), "one-hot, own seat first; 0 when the game is over"),
    )


@kernel
def observe(state: np.void, seat: Integer, encoding: Integer, observation: np.ndarray) -> None:
    """Write the observation of a seat, float32 [observation_size]; there is one encoding."""
    colours = colours_in_game(state)
    players = np.int64(state["option_num_players"])
    at = _observe_cities(state, seat, colours, observation)
    for index in range(colours):
        colour = np.int64(COLOUR_SEEN[players, seat, index])
        for size in range(NUM_SIZES):
            observation[at + index * NUM_SIZES + size] = np.float32(state["reserve"][colour, size]) * _PARTS[size]
            drafted = np.float32(state["drafted"][colour, size]) * _DRAFTED
            observation[at + (colours + index) * NUM_SIZES + size] = drafted
    at += 2 * colours * NUM_SIZES
    for card in range(NUM_CARDS):
        held = np.int64(state["hands"][seat, card])
        shown = np.int64(state["discards"][card])
        observation[at + card] = np.float32(held) * _HAND
        observation[at + NUM_CARDS + card] = np.float32(shown) * _COPIES
        observation[at + 2 * NUM_CARDS + card] = np.float32(COPIES - held - shown) * _COPIES
    at += 3 * NUM_CARDS
    observation[at] = state["deck_size"] / (NUM_CARDS * COPIES)
    _observe_players(state, seat, at + 1, observation)


@kernel
def _observe_cities(state: np.void, seat: Integer, colours: Integer, observation: np.ndarray) -> Integer:
    # most of the cost of an observation: with constant orders of colours each lot takes a few vector instructions
    if colours == 3:
        _observe_three_colours(state, seat, observation)
    elif state["option_num_players"] == 2:
        if seat == 0:
            _observe_four_colours(state, seat, observation, 0, 2, 1, 3)
        else:
            _observe_four_colours(state, seat, observation, 1, 3, 0, 2)
    elif seat == 0:
        _observe_four_colours(state, seat, observation, 0, 1, 2, 3)
    elif seat == 1:
        _observe_four_colours(state, seat, observation, 1, 2, 3, 0)
    elif seat == 2:
        _observe_four_colours(state, seat, observation, 2, 3, 0, 1)
    else:
        _observe_four_colours(state, seat, observation, 3, 0, 1, 2)
    return 2 * NUM_CITIES * NUM_LOTS * colours


@inline_kernel
def _observe_four_colours(
    state: np.void,
    seat: Integer,
    observation: np.ndarray,
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
            observation[at] = np.float32(storeys_1) * _STOREYS
            observation[at + 1] = np.float32(storeys_2) * _STOREYS
            observation[at + 2] = np.float32(storeys_3) * _STOREYS
            observation[at + 3] = np.float32(storeys_4) * _STOREYS
            observation[owners + at] = np.float32(owner == 1 + first)
            observation[owners + at + 1] = np.float32(owner == 1 + second)
            observation[owners + at + 2] = np.float32(owner == 1 + third)
            observation[owners + at + 3] = np.float32(owner == 1 + fourth)


@kernel
def _observe_three_colours(state: np.void, seat: Integer, observation: np.ndarray) -> None:
    side = seat_of(state, seat)
    owners = NUM_CITIES * NUM_LOTS * 3
    for city in range(NUM_CITIES):
        for view in range(NUM_LOTS):
            lot = np.int64(LOT_OF_CARD[side, view])
            owner = np.int64(state["owner"][city, lot])
            for place in range(3):
                colour = np.int64(COLOUR_SEEN[3, seat, place])
                at = (city * NUM_LOTS + view) * 3 + place
                observation[at] = np.float32(state["storeys"][city, lot, colour]) * _STOREYS
                observation[owners + at] = np.float32(owner == 1 + colour)


@kernel
def _observe_players(state: np.void, seat: Integer, at: Integer, observation: np.ndarray) -> None:
    players = np.int64(state["option_num_players"])
    running = state["status"] == RUNNING
    for distance in range(players):
        player = seat + distance if seat + distance < players else seat + distance - players
        observation[at + distance] = state["score"][player] * (1.0 / SCORE_SCALE)
        observation[at + players + 3 + distance] = state["start"] == player
        observation[at + 2 * players + 3 + distance] = running and state["to_move"] == player
    at += players
    observation[at] = state["round"] / (4 if players == 4 else 6)
    drafting = running and state["phase"] == DRAFT
    second = players == 2 and state["draft_colour"] >= 2
    observation[at + 1] = drafting and not second
    observation[at + 2] = drafting and second
