"""Azul's observation: all public information, seen from one seat, as one float32 vector.

`fields` lists the parts in order; docs/azul.md has the index ranges. The own board comes first, then the others in
turn order. Everything in Azul is public except the order of the bag.
"""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, kernel
from ..engine.state import RUNNING
from ..observation_field import ObservationField
from .state import (
    COLOURED,
    FLOOR_SPACES,
    MARKER_IN_CENTRE,
    NUM_COLOURS,
    SIZE,
    TILES_PER_COLOUR,
    TILING,
    num_factories,
)

TILES_SCALE = 4.0
SCORE_SCALE = 100.0


def fields(options: dict[str, Any], encoding: str) -> tuple[ObservationField, ...]:
    """Return the parts of the observation in order, for a game's options; `encoding` is "flat", the only one."""
    players = options["num_players"]
    sources = num_factories(players) + 1
    shared = [
        ObservationField("sources", (sources, NUM_COLOURS), "tiles / 4; source 0 is the centre, 1 + f factory f", 5.0),
        ObservationField("marker in the centre", (1,), "1 while nobody has taken it"),
        ObservationField("bag", (NUM_COLOURS,), "tiles / 20"),
        ObservationField("lid", (NUM_COLOURS,), "tiles / 20"),
        ObservationField("round", (1,), "round / max_rounds"),
        ObservationField("tiling row", (SIZE,), "one-hot: the row that needs a column; 0 in the offer"),
        ObservationField("to move", (players,), "one-hot, own seat first; 0 when the game is over"),
    ]
    wall = (SIZE, SIZE) if options["wall"] == "coloured" else (SIZE, SIZE, NUM_COLOURS)
    cell = "row, column: 1 if filled" if options["wall"] == "coloured" else "row, column, colour: 1 if it is there"
    boards = [
        ObservationField("lines", (SIZE, NUM_COLOURS), "line, colour: tiles / spaces of the line"),
        ObservationField("wall", wall, cell),
        ObservationField("floor pieces", (FLOOR_SPACES,), "1 for each space that is taken, from the left"),
        ObservationField("floor tiles", (NUM_COLOURS,), "tiles / 7 by colour"),
        ObservationField("marker on the floor", (1,), "1 if the marker fills a space of this floor line"),
        ObservationField("starts next", (1,), "1 if this player took the marker in this round"),
        ObservationField("started", (1,), "1 if this player began this round"),
        ObservationField("score", (1,), "score / 100", 300.0 / SCORE_SCALE),
    ]
    own = [field.of("own") for field in boards]
    others = [field.of(f"player +{distance}") for distance in range(1, players) for field in boards]
    return (*shared, *own, *others)


@kernel
def observe(state: np.void, seat: Integer, encoding: Integer, observation: np.ndarray) -> None:
    """Write the observation of a seat, float32 [observation_size]; there is one encoding."""
    at = _observe_table(state, seat, observation)
    players = int(state["option_num_players"])
    for distance in range(players):
        player = seat + distance
        if player >= players:
            player -= players
        at = _observe_board(state, player, at, observation)


@kernel
def _observe_table(state: np.void, seat: Integer, observation: np.ndarray) -> Integer:
    players = int(state["option_num_players"])
    sources = 2 * players + 2
    for source in range(sources):
        for colour in range(NUM_COLOURS):
            observation[source * NUM_COLOURS + colour] = state["sources"][source, colour] * (1.0 / TILES_SCALE)
    at = sources * NUM_COLOURS
    observation[at] = state["marker"] == MARKER_IN_CENTRE
    at += 1
    for colour in range(NUM_COLOURS):
        observation[at + colour] = state["bag"][colour] * (1.0 / TILES_PER_COLOUR)
        observation[at + NUM_COLOURS + colour] = state["lid"][colour] * (1.0 / TILES_PER_COLOUR)
    at += 2 * NUM_COLOURS
    observation[at] = state["round"] / state["option_max_rounds"]
    at += 1
    running = state["status"] == RUNNING
    for row in range(SIZE):
        observation[at + row] = running and state["phase"] == TILING and state["row"] == row
    at += SIZE
    for distance in range(players):
        player = seat + distance
        if player >= players:
            player -= players
        observation[at + distance] = running and state["to_move"] == player
    return at + players


@kernel
def _observe_board(state: np.void, player: Integer, at: Integer, observation: np.ndarray) -> Integer:
    for cell in range(SIZE * NUM_COLOURS):
        observation[at + cell] = 0.0
    for line in range(SIZE):
        if state["line_count"][player, line] > 0:
            colour = int(state["line_colour"][player, line]) - 1
            observation[at + line * NUM_COLOURS + colour] = state["line_count"][player, line] / (line + 1.0)
    at += SIZE * NUM_COLOURS
    at = _observe_wall(state, player, at, observation)
    for space in range(FLOOR_SPACES):
        observation[at + space] = state["floor_count"][player] > space
    at += FLOOR_SPACES
    for colour in range(NUM_COLOURS):
        observation[at + colour] = state["floor"][player, colour] * (1.0 / FLOOR_SPACES)
    at += NUM_COLOURS
    observation[at] = state["floor_marker"][player]
    observation[at + 1] = state["marker"] == player
    observation[at + 2] = state["start"] == player
    observation[at + 3] = state["score"][player] * (1.0 / SCORE_SCALE)
    return at + 4


@kernel
def _observe_wall(state: np.void, player: Integer, at: Integer, observation: np.ndarray) -> Integer:
    if state["option_wall"] == COLOURED:
        for row in range(SIZE):
            for column in range(SIZE):
                observation[at + row * SIZE + column] = state["wall"][player, row, column] > 0
        return at + SIZE * SIZE
    for cell in range(SIZE * SIZE * NUM_COLOURS):
        observation[at + cell] = 0.0
    for row in range(SIZE):
        for column in range(SIZE):
            tile = int(state["wall"][player, row, column])
            if tile > 0:
                observation[at + (row * SIZE + column) * NUM_COLOURS + tile - 1] = 1.0
    return at + SIZE * SIZE * NUM_COLOURS
