"""Manhattan's scoring and result, as kernels on one record (see state.py)."""

from typing import Any

import numpy as np

from ..engine.compilation import kernel
from .state import NUM_CITIES, NUM_LOTS, TOWERS
from .table import colours_in_game, player_of

TALLEST, MAJORITY, TOWER = 3, 2, 1


@kernel
def tallest_owner(state: Any) -> Any:
    """Return the colour that owns the tallest tower of all cities, -1 if two or more share the height (M16)."""
    tallest = np.int64(0)
    owner = np.int64(-1)
    for city in range(NUM_CITIES):
        for lot in range(NUM_LOTS):
            height = np.int64(state["height"][city, lot])
            if height > tallest:
                tallest = height
                owner = np.int64(state["owner"][city, lot]) - 1
            elif height == tallest:
                owner = np.int64(-1)
    return owner


@kernel
def towers_of(state: Any, city: Any, colour: Any) -> Any:
    """Return the number of towers that a colour owns in a city."""
    towers = np.int64(0)
    for lot in range(NUM_LOTS):
        towers += state["owner"][city, lot] == 1 + colour
    return towers


@kernel
def majority_of(state: Any, city: Any) -> Any:
    """Return the colour with more towers in a city than any other single one, -1 on a tie (M17)."""
    most = np.int64(0)
    holder = np.int64(-1)
    for colour in range(colours_in_game(state)):
        towers = towers_of(state, city, colour)
        if towers > most:
            most = towers
            holder = np.int64(colour)
        elif towers == most:
            holder = np.int64(-1)
    return holder


@kernel
def board_points(state: Any, player: Any) -> Any:
    """Return the points that the board brings a player in a scoring as it stands (M16-M19)."""
    points = np.int64(0)
    tallest = tallest_owner(state)
    if tallest >= 0 and player_of(state, tallest) == player:
        points += TALLEST
    for city in range(NUM_CITIES):
        holder = majority_of(state, city)
        if holder >= 0 and player_of(state, holder) == player:
            points += MAJORITY
        for lot in range(NUM_LOTS):
            owner = np.int64(state["owner"][city, lot]) - 1
            if owner >= 0 and player_of(state, owner) == player:
                points += TOWER
    return points


@kernel
def score_round(state: Any) -> None:
    """Give every player the points of the board (M16-M19)."""
    for player in range(state["option_num_players"]):
        state["score"][player] += board_points(state, np.int64(player))


@kernel
def majorities_of(state: Any, player: Any) -> Any:
    """Return the number of city majorities of a player, over all his colours."""
    majorities = np.int64(0)
    for city in range(NUM_CITIES):
        holder = majority_of(state, city)
        majorities += holder >= 0 and player_of(state, holder) == player
    return majorities


@kernel
def result(state: Any, scores: Any, places: Any) -> None:
    """Write each player's score and place (0 the winners; ties share the better place) to int32 arrays (M21, M22)."""
    players = np.int64(state["option_num_players"])
    top = np.int64(-1)
    for player in range(players):
        top = max(top, np.int64(state["score"][player]))
    tied = np.int64(0)
    for player in range(players):
        scores[player] = state["score"][player]
        tied += state["score"][player] == top
        places[player] = 0
        for other in range(players):
            places[player] += state["score"][other] > state["score"][player]
    if tied > 1 and state["option_tiebreak"] == TOWERS:
        _break_tie(state, top, places)


@kernel
def _break_tie(state: Any, top: Any, places: Any) -> None:
    """Place those who share the highest score: the owner of the tallest tower, else by majorities (M22)."""
    players = np.int64(state["option_num_players"])
    tallest = tallest_owner(state)
    first = player_of(state, tallest) if tallest >= 0 else np.int64(-1)
    by_tower = first >= 0 and state["score"][first] == top
    for player in range(players):
        if state["score"][player] != top:
            continue
        places[player] = 0
        for other in range(players):
            if state["score"][other] != top:
                continue
            if by_tower:
                places[player] += other == first and player != first
            else:
                places[player] += majorities_of(state, np.int64(other)) > majorities_of(state, np.int64(player))
