"""Qwirkle's observation: what a seat may know, as one vector of numbers and their scales, in two layouts.

They differ in the board only. `planes`, for networks with convolutions, starts with one plane of the window of
board_size x board_size cells, centred on the table, with one code per cell:

| code | cell |
|---|---|
| 0 | empty |
| 1 + kind | a tile of an earlier turn; kind = 6 * colour + shape |
| 37 + kind | a tile placed in this turn |
| 73 | empty, and the picked-up tile may be placed here |

`flat`, for plain networks, starts with two numbers per cell, scaled by 1 / 6: 1 + colour and 1 + shape; 0 if empty.

Hidden from a seat: the other hands, tiles that another player sets aside, the bag; their sum by kind is known.
"""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, kernel
from ..engine.state import RUNNING
from ..observation_field import ObservationField
from .placement import mark_places
from .state import COPIES, FIRST_SLOT, HAND_SIZE, NUM_KINDS, NUM_TILES, TORUS

LAYOUTS = ("planes", "flat")
PLANES, FLAT = 0, 1

PLACED_CODE = NUM_KINDS
LEGAL_CODE = 2 * NUM_KINDS + 1
FLAT_SCALE = np.float32(1 / 6)
_COPIES, _HAND, _SCORE = 1 / COPIES, 1 / HAND_SIZE, 1 / 100


def fields(options: dict[str, Any], layout: str) -> tuple[ObservationField, ...]:
    """Return the parts of the observation in order, for a game's options and a layout."""
    players, size = options["num_players"], options["board_size"]
    cells = (
        ObservationField("board", (1, size, size), "plane, y, x: the code of each cell of the window", LEGAL_CODE)
        if layout == "planes"
        else ObservationField(
            "board", (size, size, 2), "y, x: (1 + colour) / 6, (1 + shape) / 6; 0, 0 if empty", scale=float(FLAT_SCALE)
        )
    )
    return (
        cells,
        ObservationField(
            "own hand", (NUM_KINDS,), "tiles / 3 by kind, without those in use in this turn", scale=_COPIES
        ),
        ObservationField(
            "unseen", (NUM_KINDS,), "tiles / 3 by kind in the bag and the other hands together", scale=_COPIES
        ),
        ObservationField("picked", (NUM_KINDS,), "one-hot: the kind that was picked up"),
        ObservationField(
            "returned", (NUM_KINDS,), "tiles / 3 by kind that this seat has set aside in this turn", scale=_COPIES
        ),
        ObservationField("hand sizes", (players,), "tiles / 6, own seat first", scale=_HAND),
        ObservationField("scores", (players,), "score / 100, own seat first", 5.0, _SCORE),
        ObservationField("to move", (players,), "one-hot, own seat first; 0 when the game is over"),
        ObservationField("bag", (1,), "tiles / 108", scale=1 / NUM_TILES),
        ObservationField("placed count", (1,), "tiles placed in this turn / 6", scale=_HAND),
        ObservationField("returned count", (1,), "tiles set aside in this turn / 6", scale=_HAND),
        ObservationField("passes", (1,), "consecutive passes / players", scale=1 / players),
        ObservationField("turn", (1,), "turn_number / max_turns", scale=1 / options["max_turns"]),
        ObservationField(
            "opening", (1,), "tiles that a strict opening must place in this turn / 6, otherwise 0", scale=_HAND
        ),
    )


@kernel
def observe(state: np.void, seat: Integer, layout: Integer, numbers: np.ndarray) -> None:
    """Write what a seat sees, int16 [observation_size]; layout 0 is `planes`, 1 `flat`."""
    size = np.int64(state["option_board_size"])
    board_size = size * size if layout == PLANES else 2 * size * size
    for index in range(board_size):
        numbers[index] = 0
    _observe_tiles(state, layout, numbers)
    if layout == PLANES:
        for index in range(state["placed_count"]):
            numbers[window_index(state, np.int64(state["placed"][index]))] += PLACED_CODE
        if state["picked"] > 0 and state["status"] == RUNNING:
            mark_places(state, numbers, np.int64(0), LEGAL_CODE)
    at = _observe_kinds(state, seat, board_size, numbers)
    at = _observe_players(state, seat, at, numbers)
    numbers[at] = state["bag_size"]
    numbers[at + 1] = state["placed_count"]
    numbers[at + 2] = state["returned_count"]
    numbers[at + 3] = state["passes"]
    numbers[at + 4] = state["turn_number"]
    numbers[at + 5] = state["opening_size"]


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
def _observe_tiles(state: np.void, layout: Integer, numbers: np.ndarray) -> None:
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
            if layout == PLANES:
                numbers[at] = tile
            else:
                numbers[2 * at] = 1 + (tile - 1) // 6
                numbers[2 * at + 1] = 1 + (tile - 1) % 6


@kernel
def _observe_kinds(state: np.void, seat: Integer, at: Integer, numbers: np.ndarray) -> Integer:
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
        numbers[at + kind] = state["hands"][seat, kind]
        numbers[at + NUM_KINDS + kind] = unseen
        numbers[at + 2 * NUM_KINDS + kind] = state["picked"] == 1 + kind
        numbers[at + 3 * NUM_KINDS + kind] = returned
    return at + 4 * NUM_KINDS


@kernel
def _observe_players(state: np.void, seat: Integer, at: Integer, numbers: np.ndarray) -> Integer:
    players = np.int64(state["option_num_players"])
    running = state["status"] == RUNNING
    for distance in range(players):
        player = seat + distance if seat + distance < players else seat + distance - players
        numbers[at + distance] = state["hand_size"][player]
        numbers[at + players + distance] = state["score"][player]
        numbers[at + 2 * players + distance] = running and state["to_move"] == player
    return at + 3 * players
