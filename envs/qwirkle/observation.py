"""Qwirkle's observation: what a seat may know, as one float32 vector, in two encodings.

They differ in the board only. `planes`, for networks with convolutions, starts with one plane of the window of
board_size x board_size cells, centred on the table, with one code per cell:

| code | cell |
|---|---|
| 0 | empty |
| 1 + kind | a tile of an earlier turn; kind = 6 * colour + shape |
| 37 + kind | a tile placed in this turn |
| 73 | empty, and the picked-up tile may be placed here |

`flat`, for plain networks, starts with two numbers per cell: (1 + colour) / 6 and (1 + shape) / 6, 0 if it is empty.

Hidden from a seat: the other hands, tiles that another player sets aside, the bag; their sum by kind is known.
"""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, kernel
from ..engine.state import RUNNING
from ..observation_field import ObservationField
from .placement import mark_places
from .state import FIRST_SLOT, HAND_SIZE, NUM_KINDS, NUM_TILES, TORUS

FORMS = ("planes", "flat")
PLANES, FLAT = 0, 1

PLACED_CODE = NUM_KINDS
LEGAL_CODE = 2 * NUM_KINDS + 1
SCORE_SCALE = 100.0


def fields(options: dict[str, Any], encoding: str) -> tuple[ObservationField, ...]:
    """Return the parts of the observation in order, for a game's options and an encoding."""
    players, size = options["num_players"], options["board_size"]
    cells = (
        ObservationField("board", (1, size, size), "plane, y, x: the code of each cell of the window", LEGAL_CODE)
        if encoding == "planes"
        else ObservationField("board", (size, size, 2), "y, x: (1 + colour) / 6, (1 + shape) / 6; 0, 0 if empty")
    )
    return (
        cells,
        ObservationField("own hand", (NUM_KINDS,), "tiles / 3 by kind, without those in use in this turn"),
        ObservationField("unseen", (NUM_KINDS,), "tiles / 3 by kind in the bag and the other hands together"),
        ObservationField("picked", (NUM_KINDS,), "one-hot: the kind that was picked up"),
        ObservationField("returned", (NUM_KINDS,), "tiles / 3 by kind that this seat has set aside in this turn"),
        ObservationField("hand sizes", (players,), "tiles / 6, own seat first"),
        ObservationField("scores", (players,), "score / 100, own seat first", 5.0),
        ObservationField("to move", (players,), "one-hot, own seat first; 0 when the game is over"),
        ObservationField("bag", (1,), "tiles / 108"),
        ObservationField("placed count", (1,), "tiles placed in this turn / 6"),
        ObservationField("returned count", (1,), "tiles set aside in this turn / 6"),
        ObservationField("passes", (1,), "consecutive passes / players"),
        ObservationField("turn", (1,), "turn_number / max_turns"),
        ObservationField("opening", (1,), "tiles that a strict opening must place in this turn / 6, otherwise 0"),
    )


@kernel
def observe(state: np.void, seat: Integer, encoding: Integer, observation: np.ndarray) -> None:
    """Write the observation of a seat, float32 [observation_size]; encoding 0 is `planes`, 1 `flat`."""
    size = np.int64(state["option_board_size"])
    numbers = size * size if encoding == PLANES else 2 * size * size
    for index in range(numbers):
        observation[index] = 0.0
    _observe_tiles(state, encoding, observation)
    if encoding == PLANES:
        for index in range(state["placed_count"]):
            observation[window_index(state, np.int64(state["placed"][index]))] += PLACED_CODE
        if state["picked"] > 0 and state["status"] == RUNNING:
            mark_places(state, observation, np.int64(0), LEGAL_CODE)
    at = _observe_kinds(state, seat, numbers, observation)
    at = _observe_players(state, seat, at, observation)
    observation[at] = state["bag_size"] / NUM_TILES
    observation[at + 1] = state["placed_count"] / HAND_SIZE
    observation[at + 2] = state["returned_count"] / HAND_SIZE
    observation[at + 3] = state["passes"] / state["option_num_players"]
    observation[at + 4] = state["turn_number"] / state["option_max_turns"]
    observation[at + 5] = state["opening_size"] / HAND_SIZE


@kernel
def window_index(state: np.void, cell: Integer) -> Integer:
    """Return the index of a cell of the table in the window."""
    size = np.int64(state["option_board_size"])
    width = np.int64(state["right"]) - np.int64(state["left"]) + 1
    height = np.int64(state["bottom"]) - np.int64(state["top"]) + 1
    x = (cell % TORUS - np.int64(state["left"]) + TORUS) % TORUS + (size - width) // 2
    y = (cell // TORUS - np.int64(state["top"]) + TORUS) % TORUS + (size - height) // 2
    return y * size + x


@kernel
def _observe_tiles(state: np.void, encoding: Integer, observation: np.ndarray) -> None:
    size = np.int64(state["option_board_size"])
    width = np.int64(state["right"]) - np.int64(state["left"]) + 1
    height = np.int64(state["bottom"]) - np.int64(state["top"]) + 1
    first = (size - height) // 2 * size + (size - width) // 2
    for y in range(height):
        row = (np.int64(state["top"]) + y + TORUS) % TORUS * TORUS
        column = (np.int64(state["left"]) + TORUS) % TORUS
        for x in range(width):
            tile = np.int64(state["board"][row + column])
            column = column + 1 if column + 1 < TORUS else np.int64(0)
            if tile == 0 or tile >= FIRST_SLOT:
                continue
            at = first + y * size + x
            if encoding == PLANES:
                observation[at] = tile
            else:
                observation[2 * at] = (1 + (tile - 1) // 6) / 6.0
                observation[2 * at + 1] = (1 + (tile - 1) % 6) / 6.0


@kernel
def _observe_kinds(state: np.void, seat: Integer, at: Integer, observation: np.ndarray) -> Integer:
    mine = state["to_move"] == seat
    for kind in range(NUM_KINDS):
        unseen = np.int64(state["bag"][kind])
        for player in range(state["option_num_players"]):
            if player != seat:
                unseen += state["hands"][player, kind]
        returned = np.int64(state["returned"][kind])
        if not mine:
            unseen += returned
            returned = np.int64(0)
        observation[at + kind] = state["hands"][seat, kind] / 3.0
        observation[at + NUM_KINDS + kind] = unseen / 3.0
        observation[at + 2 * NUM_KINDS + kind] = state["picked"] == 1 + kind
        observation[at + 3 * NUM_KINDS + kind] = returned / 3.0
    return at + 4 * NUM_KINDS


@kernel
def _observe_players(state: np.void, seat: Integer, at: Integer, observation: np.ndarray) -> Integer:
    players = np.int64(state["option_num_players"])
    running = state["status"] == RUNNING
    for distance in range(players):
        player = seat + distance if seat + distance < players else seat + distance - players
        observation[at + distance] = state["hand_size"][player] / HAND_SIZE
        observation[at + players + distance] = state["score"][player] * (1.0 / SCORE_SCALE)
        observation[at + 2 * players + distance] = running and state["to_move"] == player
    return at + 3 * players
