"""Manhattan's scoring and result, as kernels on one record (see state.py)."""

import numpy as np

from ..engine.compilation import Integer, kernel
from ..engine.standing import write_ranks
from .board import player_of
from .state import NUM_CITIES, NUM_LOTS, TOWERS

TALLEST, MAJORITY, TOWER = 3, 2, 1


@kernel
def tallest_owner(state: np.void) -> Integer:
    """Return the colour that owns the tallest tower of all cities, -1 if two or more are equally tall (M16)."""
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
def towers_in(state: np.void, city: Integer) -> Integer:
    """Return the number of towers of each colour in a city: eight bits per colour, colour 0 in the lowest."""
    towers = np.int64(0)
    for lot in range(NUM_LOTS):
        owner = np.int64(state["owner"][city, lot])
        if owner > 0:
            towers += np.int64(1) << (8 * (owner - 1))
    return towers


@kernel
def majority_in(towers: Integer) -> Integer:
    """Return the colour with more towers than any other, -1 on a tie (M17), from `towers_in`."""
    most: Integer = np.int64(0)
    holder = np.int64(-1)
    for colour in range(4):
        number = towers >> (8 * colour) & 255
        if number > most:
            most = number
            holder = np.int64(colour)
        elif number == most:
            holder = np.int64(-1)
    return holder


@kernel
def board_points(state: np.void) -> Integer:
    """Return the points of scoring the current board (M16-M19): sixteen bits per player, player 0 in the lowest."""
    points = np.int64(0)
    tallest = tallest_owner(state)
    if tallest >= 0:
        points += np.int64(TALLEST) << (16 * player_of(state, tallest))
    for city in range(NUM_CITIES):
        towers = towers_in(state, city)
        holder = majority_in(towers)
        if holder >= 0:
            points += np.int64(MAJORITY) << (16 * player_of(state, holder))
        for colour in range(4):
            number = towers >> (8 * colour) & 255
            points += TOWER * number << (16 * player_of(state, np.int64(colour)))
    return points


@kernel
def points_of(points: Integer, player: Integer) -> Integer:
    """Return a player's part of `board_points`."""
    return points >> (16 * player) & 0xFFFF


@kernel
def score_round(state: np.void) -> None:
    """Add the points of the board to every player's score (M16-M19)."""
    points = board_points(state)
    for player in range(state["option_num_players"]):
        state["score"][player] += points_of(points, np.int64(player))


@kernel
def majorities_of(state: np.void, player: Integer) -> Integer:
    """Return the number of city majorities of a player, over all of the player's colours."""
    majorities = np.int64(0)
    for city in range(NUM_CITIES):
        holder = majority_in(towers_in(state, city))
        majorities += holder >= 0 and player_of(state, holder) == player
    return majorities


@kernel
def scores_and_ranks(state: np.void, scores: np.ndarray, ranks: np.ndarray) -> None:
    """Write scores and ranks, int32 [num_players] (M21, M22); rank 0 wins, and tied players share the better rank."""
    players = np.int64(state["option_num_players"])
    top = np.int64(-1)
    for player in range(players):
        top = max(top, np.int64(state["score"][player]))
    tied = np.int64(0)
    for player in range(players):
        scores[player] = state["score"][player]
        tied += state["score"][player] == top
    write_ranks(scores, ranks, players)
    if tied > 1 and state["option_tiebreak"] == TOWERS:
        _break_tie(state, top, ranks)


@kernel
def _break_tie(state: np.void, top: Integer, ranks: np.ndarray) -> None:
    """Break a tie for the highest score: by the owner of the tallest tower, else by majorities (M22)."""
    players = np.int64(state["option_num_players"])
    tallest = tallest_owner(state)
    first = player_of(state, tallest) if tallest >= 0 else np.int64(-1)
    by_tower = first >= 0 and state["score"][first] == top
    for player in range(players):
        if state["score"][player] != top:
            continue
        ranks[player] = 0
        for other in range(players):
            if state["score"][other] != top:
                continue
            if by_tower:
                ranks[player] += other == first and player != first
            else:
                ranks[player] += majorities_of(state, np.int64(other)) > majorities_of(state, np.int64(player))
