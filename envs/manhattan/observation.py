"""Manhattan's observation: what a seat may know, seen from its side of the table, as numbers and scales.

Every city is rotated to the seat's view: lot v is the one for its card v, so that cards mean the same for every seat.
Colours are in turn order, own colours first; with two players the own two, then the opponent's.

Hidden from a seat: the other hands and the deck; their sum by card is known.
"""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, kernel
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


def _make_owners() -> np.ndarray:
    """Return what a lot shows by its owner (0 nobody, else 1 + colour): int16 [players, seat, owner, index]."""
    owners = np.zeros((5, 4, 5, 4), np.int16)
    for players in (2, 3, 4):
        for seat in range(players):
            for place in range(num_colours(players)):
                owners[players, seat, 1 + COLOUR_SEEN[players, seat, place], place] = 1
    return owners


_OWNERS = _make_owners()
_CELLS = NUM_CITIES * NUM_LOTS
# the cell of each lot in the view of the side of a table: uint8 [side, city and lot]
_CELL_SEEN = (NUM_LOTS * np.arange(NUM_CITIES, dtype=np.uint8)[:, None] + LOT_OF_CARD[:, None, :]).reshape(4, _CELLS)


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
        ObservationField(
            "unseen", (NUM_CARDS,), "cards / 5 by kind in the deck and the other hands together", scale=_COPIES
        ),
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
    order = COLOUR_SEEN[players, seat]
    lots = NUM_CITIES * NUM_LOTS * colours
    # loops of constant length over arrays of constant width: compilers unroll them
    if colours == 4:
        _observe_four_colours(state, seat, numbers[: 2 * lots].reshape(2, _CELLS, 4))
    else:
        _observe_three_colours(state, seat, numbers[: 2 * lots].reshape(2, _CELLS, 3))
    at = 2 * lots
    for index in range(colours):
        reserve, drafted = state["reserve"][order[index]], state["drafted"][order[index]]
        reserve_row = numbers[at + index * NUM_SIZES :]
        drafted_row = numbers[at + (colours + index) * NUM_SIZES :]
        for size in range(NUM_SIZES):
            reserve_row[size] = reserve[size]
            drafted_row[size] = drafted[size]
    at += 2 * colours * NUM_SIZES
    _observe_cards(state, seat, numbers[at:])
    _observe_players(state, seat, at + 3 * NUM_CARDS + 1, numbers)


@kernel
def _observe_four_colours(state: np.void, seat: Integer, numbers: np.ndarray) -> None:
    """Write storeys, then owners, by lot in the seat's view and colour: int16 [2, 54, 4]."""
    cells, storeys = _CELL_SEEN[seat_of(state, seat)], state["storeys"].reshape(_CELLS, 4)
    owner, owners = state["owner"].reshape(_CELLS), _OWNERS[state["option_num_players"], seat]
    order = COLOUR_SEEN[state["option_num_players"], seat]
    first, second, third, fourth = order[0], order[1], order[2], order[3]
    for lot in range(_CELLS):
        cell = cells[lot]
        numbers[0, lot, 0] = storeys[cell, first]
        numbers[0, lot, 1] = storeys[cell, second]
        numbers[0, lot, 2] = storeys[cell, third]
        numbers[0, lot, 3] = storeys[cell, fourth]
    for lot in range(_CELLS):
        row = owners[owner[cells[lot]]]
        for place in range(4):
            numbers[1, lot, place] = row[place]


@kernel
def _observe_three_colours(state: np.void, seat: Integer, numbers: np.ndarray) -> None:
    """Write storeys, then owners, by lot in the seat's view and colour: int16 [2, 54, 3]."""
    cells, storeys = _CELL_SEEN[seat_of(state, seat)], state["storeys"].reshape(_CELLS, 4)
    owner, owners = state["owner"].reshape(_CELLS), _OWNERS[3, seat]
    order = COLOUR_SEEN[3, seat]
    first, second, third = order[0], order[1], order[2]
    for lot in range(_CELLS):
        cell = cells[lot]
        numbers[0, lot, 0] = storeys[cell, first]
        numbers[0, lot, 1] = storeys[cell, second]
        numbers[0, lot, 2] = storeys[cell, third]
    for lot in range(_CELLS):
        row = owners[owner[cells[lot]]]
        for place in range(3):
            numbers[1, lot, place] = row[place]


@kernel
def _observe_cards(state: np.void, seat: Integer, numbers: np.ndarray) -> None:
    hand, discards = state["hands"][seat], state["discards"]
    for card in range(NUM_CARDS):
        held = np.int64(hand[card])
        shown = np.int64(discards[card])
        numbers[card] = held
        numbers[NUM_CARDS + card] = shown
        numbers[2 * NUM_CARDS + card] = COPIES - held - shown
    numbers[3 * NUM_CARDS] = state["deck_size"]


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
