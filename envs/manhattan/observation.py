"""Manhattan's observation: what a seat may know, from its own side of the table, as one float32 vector.

Every city is turned so that the seat sees it from its own side: the lot of index v is the one that its card v means,
so that cards mean the same to all. Colours come in turn order, the own ones first; with two players the own two, then
the other's.

Hidden from a seat: the other hands and the deck; their sum by card is known.
"""

from typing import Any

import numpy as np

from ..engine.compilation import kernel
from ..engine.state import RUNNING
from ..observation_field import ObservationField
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
from .table import colours_in_game, seat_of

_STOREYS = np.float32(1 / 10)
DRAFTED_SCALE = 6.0
SCORE_SCALE = 100.0


def _colours_seen() -> np.ndarray:
    """Return uint8 [players, seat, place]: the colour in each place as a seat sees them, own ones first."""
    seen = np.zeros((5, 4, 4), np.uint8)
    for players in (2, 3, 4):
        for seat in range(players):
            for place in range(num_colours(players)):
                owned = colours_per_player(players)
                seen[players, seat, place] = (seat + place // owned) % players + 2 * (place % owned)
    return seen


COLOUR_SEEN = _colours_seen()


def fields(options: dict[str, Any], form: str) -> tuple[ObservationField, ...]:
    """Return the parts of the observation in order, for a game's options; `form` is "flat", the only one."""
    players = options["num_players"]
    colours = num_colours(players)
    lots = (NUM_CITIES, NUM_LOTS, colours)
    return (
        ObservationField("storeys", lots, "city, lot as the own cards mean it, colour: storeys / 10", 4.7),
        ObservationField("owner", lots, "city, lot, colour: 1 if the colour owns the tower"),
        ObservationField("reserve", (colours, NUM_SIZES), "colour, size: parts in the box / all of that size"),
        ObservationField("drafted", (colours, NUM_SIZES), "colour, size: selected parts not yet placed / 6"),
        ObservationField("own hand", (NUM_CARDS,), "cards / 4 by kind"),
        ObservationField("discards", (NUM_CARDS,), "face-up cards / 5 by kind"),
        ObservationField("unseen", (NUM_CARDS,), "cards / 5 by kind in the deck and the other hands together"),
        ObservationField("deck", (1,), "cards in the deck / 45"),
        ObservationField("scores", (players,), "score / 100, own seat first", 3.0),
        ObservationField("round", (1,), "round / number of rounds"),
        ObservationField("draft", (2,), "one-hot: the own first or second colour of the mover is being selected for"),
        ObservationField("started", (players,), "one-hot: who began this round, own seat first"),
        ObservationField("to move", (players,), "one-hot, own seat first; 0 when the game is over"),
    )


@kernel
def observe(state: Any, seat: Any, form: Any, observation: Any) -> None:
    """Write what a seat sees to float32[observation size]; there is one form."""
    colours = colours_in_game(state)
    players = np.int64(state["option_num_players"])
    at = _observe_cities(state, seat, colours, observation)
    for index in range(colours):
        colour = np.int64(COLOUR_SEEN[players, seat, index])
        for size in range(NUM_SIZES):
            observation[at + index * NUM_SIZES + size] = state["reserve"][colour, size] / PARTS[size]
            observation[at + (colours + index) * NUM_SIZES + size] = state["drafted"][colour, size] / DRAFTED_SCALE
    at += 2 * colours * NUM_SIZES
    for card in range(NUM_CARDS):
        held = np.int64(state["hands"][seat, card])
        shown = np.int64(state["discards"][card])
        observation[at + card] = held / HAND_SIZE
        observation[at + NUM_CARDS + card] = shown / COPIES
        observation[at + 2 * NUM_CARDS + card] = (COPIES - held - shown) / COPIES
    at += 3 * NUM_CARDS
    observation[at] = state["deck_size"] / (NUM_CARDS * COPIES)
    _observe_players(state, seat, at + 1, observation)


@kernel
def _observe_cities(state: Any, seat: Any, colours: Any, observation: Any) -> Any:
    # without branches: which lots are built on, and by whom, cannot be foreseen by the processor
    second = NUM_CITIES * NUM_LOTS * colours
    players = np.int64(state["option_num_players"])
    side = seat_of(state, seat)
    at = np.int64(0)
    for city in range(NUM_CITIES):
        for view in range(NUM_LOTS):
            lot = np.int64(LOT_OF_CARD[side, view])
            owner = np.int64(state["owner"][city, lot])
            for index in range(colours):
                colour = np.int64(COLOUR_SEEN[players, seat, index])
                observation[at] = np.float32(state["storeys"][city, lot, colour]) * _STOREYS
                observation[second + at] = np.float32(owner == 1 + colour)
                at += 1
    return 2 * second


@kernel
def _observe_players(state: Any, seat: Any, at: Any, observation: Any) -> None:
    players = np.int64(state["option_num_players"])
    running = state["over"] == RUNNING
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
