"""Manhattan's heuristic: the effect of a building on the next scoring, for the player and for the others.

The value of a building is the change of the player's points in the scoring (M16-M19) minus a fraction of the change of
the others' points, with two small terms: a bonus for a lead in a tower that others cannot take at once, and a penalty
for big parts, which are better kept for later.

A selection is better the closer its storeys are to an equal part of the remaining ones for each round left.
"""

import numpy as np

from ..engine.compilation import Integer, kernel
from ..engine.state import RUNNING
from .board import (
    allowed_sizes,
    count_selections,
    lot_of,
    may_select,
    own_colour,
    owned_colours,
    player_of,
    selection,
    sizes_in_stock,
)
from .scoring import board_points, points_of
from .state import DRAFT, NUM_CARDS, NUM_CITIES, NUM_SIZES

OTHERS = 0.9
LEAD = 0.12
SAFE_LEAD = 5
PART = 0.06


@kernel
def action_values(state: np.void, values: np.ndarray, scratch: np.ndarray) -> None:
    """Write the value of every legal action of a running game, in points, to float32 [num_actions]."""
    selections = count_selections(state)
    if state["phase"] == DRAFT:
        for index in range(selections):
            if may_select(state, np.int64(index)):
                values[index] = _selection_value(state, np.int64(index))
        return
    player = np.int64(state["to_move"])
    before = _standing(state, player)
    found = False
    at = selections
    for own in range(owned_colours(state)):
        colour = own_colour(player, np.int64(own))
        stock = sizes_in_stock(state, colour)
        for card in range(NUM_CARDS):
            lot = lot_of(state, player, np.int64(card))
            held = state["hands"][player, card] > 0
            for city in range(NUM_CITIES):
                sizes = stock & allowed_sizes(state, np.int64(city), lot, colour) if held else np.int64(0)
                for size in range(NUM_SIZES):
                    if sizes >> size & 1:
                        values[at] = _building_value(state, np.int64(city), lot, colour, np.int64(size)) - before
                        found = True
                    at += 1
    if not found:
        for card in range(NUM_CARDS):
            if state["hands"][player, card] > 0:
                values[at + card] = 0.0


@kernel
def _standing(state: np.void, player: Integer) -> float:
    """Return the player's points in a scoring now, minus a fraction of the others'."""
    points = board_points(state)
    own = points_of(points, player)
    others = np.int64(0)
    players = np.int64(state["option_num_players"])
    for other in range(players):
        others += points_of(points, np.int64(other))
    return own - OTHERS * (others - own) / (players - 1)


@kernel
def _building_value(state: np.void, city: Integer, lot: Integer, colour: Integer, size: Integer) -> float:
    """Return the standing after a building, with the terms for lead and size; the state is restored."""
    owner = np.int64(state["owner"][city, lot])
    state["storeys"][city, lot, colour] += 1 + size
    state["height"][city, lot] += 1 + size
    state["owner"][city, lot] = 1 + colour
    player = player_of(state, colour)
    value = _standing(state, player)
    lead = np.int64(state["storeys"][city, lot, colour])
    for other in range(4):
        if other != colour:
            gap = np.int64(state["storeys"][city, lot, colour]) - np.int64(state["storeys"][city, lot, other])
            lead = min(lead, gap)
    state["owner"][city, lot] = owner
    state["height"][city, lot] -= 1 + size
    state["storeys"][city, lot, colour] -= 1 + size
    safe = min(lead, np.int64(SAFE_LEAD))
    return value + LEAD * safe - PART * size


@kernel
def _selection_value(state: np.void, index: Integer) -> float:
    """Return minus the distance of a selection from an equal part of the remaining storeys per round."""
    rounds = (4 if state["option_num_players"] == 4 else 6) - np.int64(state["round"]) + 1
    value = 0.0
    for size in range(NUM_SIZES):
        fraction = np.int64(state["reserve"][state["draft_colour"], size]) / rounds
        value -= (1 + size) * abs(selection(state, index, np.int64(size)) - fraction)
    return value


@kernel
def projected_scores(state: np.void, scores: np.ndarray) -> None:
    """Write each player's score as if the round were scored now (M16-M19), int32 [num_players]."""
    points = board_points(state) if state["status"] == RUNNING else np.int64(0)
    for player in range(np.int64(state["option_num_players"])):
        scores[player] = state["score"][player] + points_of(points, np.int64(player))
