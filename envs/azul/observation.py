"""Azul's observation: all public information, seen from one seat, as one vector of numbers and their scales.

`fields` lists the parts in order; docs/azul.md has the index ranges. The own board comes first, then the others in
turn order. Everything in Azul is public except the order of the bag.
"""

from typing import Any

import numpy as np

from ..engine.compilation import Integer, kernel
from ..engine.rows import copy_row, table_of_sets
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

_TABLE_SIZE = 1 + 2 * NUM_COLOURS + 1 + SIZE
_LINES_SIZE = SIZE * NUM_COLOURS
_FLOOR_SIZE = FLOOR_SPACES + NUM_COLOURS + 4

# rows of a board by what they show: the filled cells of a wall row; a cell's 1 + colour; a line's 1 + colour and tiles;
# the pieces on the floor line
_SET_ROWS = table_of_sets(SIZE)
_COLOUR_ROWS = table_of_sets(NUM_COLOURS)[[0, *(1 << colour for colour in range(NUM_COLOURS))]]
_LINE_ROWS = _COLOUR_ROWS[:, None, :] * np.arange(SIZE + 1, dtype=np.int16)[None, :, None]
_FLOOR_ROWS = table_of_sets(FLOOR_SPACES)[[(1 << pieces) - 1 for pieces in range(FLOOR_SPACES + 1)]]

_TILES, _COUNTS, _SCORE = 1 / 4, 1 / TILES_PER_COLOUR, 1 / 100
_LINES = tuple(1 / (line + 1) for line in range(SIZE) for _ in range(NUM_COLOURS))


def fields(options: dict[str, Any], layout: str) -> tuple[ObservationField, ...]:
    """Return the parts of the observation in order, for a game's options; `layout` is "flat", the only one."""
    players = options["num_players"]
    sources = num_factories(players) + 1
    shared = [
        ObservationField(
            "sources", (sources, NUM_COLOURS), "tiles / 4; source 0 is the centre, 1 + f factory f", 5.0, _TILES
        ),
        ObservationField("marker in the centre", (1,), "1 while nobody has taken it"),
        ObservationField("bag", (NUM_COLOURS,), "tiles / 20", scale=_COUNTS),
        ObservationField("lid", (NUM_COLOURS,), "tiles / 20", scale=_COUNTS),
        ObservationField("round", (1,), "round / max_rounds", scale=1 / options["max_rounds"]),
        ObservationField("tiling row", (SIZE,), "one-hot: the row that needs a column; 0 in the offer"),
        ObservationField("to move", (players,), "one-hot, own seat first; 0 when the game is over"),
    ]
    wall = (SIZE, SIZE) if options["wall"] == "coloured" else (SIZE, SIZE, NUM_COLOURS)
    cell = "row, column: 1 if filled" if options["wall"] == "coloured" else "row, column, colour: 1 if it is there"
    boards = [
        ObservationField("lines", (SIZE, NUM_COLOURS), "line, colour: tiles / spaces of the line", scale=_LINES),
        ObservationField("wall", wall, cell),
        ObservationField("floor pieces", (FLOOR_SPACES,), "1 for each space that is taken, from the left"),
        ObservationField("floor tiles", (NUM_COLOURS,), "tiles / 7 by colour", scale=1 / FLOOR_SPACES),
        ObservationField("marker on the floor", (1,), "1 if the marker fills a space of this floor line"),
        ObservationField("starts next", (1,), "1 if this player took the marker in this round"),
        ObservationField("started", (1,), "1 if this player began this round"),
        ObservationField("score", (1,), "score / 100", 3.0, _SCORE),
    ]
    own = [field.of("own") for field in boards]
    others = [field.of(f"player +{distance}") for distance in range(1, players) for field in boards]
    return (*shared, *own, *others)


@kernel
def observe(state: np.void, seat: Integer, layout: Integer, numbers: np.ndarray) -> None:
    """Write what a seat sees, int16 [observation_size]; there is one layout."""
    players = int(state["option_num_players"])
    sources = 2 * players + 2
    for source in range(sources):
        tiles = state["sources"][source]
        row = numbers[source * NUM_COLOURS :]
        for colour in range(NUM_COLOURS):
            row[colour] = tiles[colour]
    at = sources * NUM_COLOURS
    _observe_table(state, numbers[at:])
    at += _TABLE_SIZE
    _observe_turn(state, seat, numbers[at : at + players])
    at += players
    cells = SIZE * SIZE if state["option_wall"] == COLOURED else SIZE * SIZE * NUM_COLOURS
    for distance in range(players):
        player = seat + distance if seat + distance < players else seat + distance - players
        # in this order: whole rows are copied, and what they write beyond a part is overwritten by the next one
        _observe_lines(state, player, numbers[at:])
        _observe_wall(state, player, numbers[at + _LINES_SIZE :])
        _observe_floor(state, player, numbers[at + _LINES_SIZE + cells :])
        at += _LINES_SIZE + cells + _FLOOR_SIZE


@kernel
def _observe_table(state: np.void, numbers: np.ndarray) -> None:
    numbers[0] = state["marker"] == MARKER_IN_CENTRE
    for colour in range(NUM_COLOURS):
        numbers[1 + colour] = state["bag"][colour]
        numbers[1 + NUM_COLOURS + colour] = state["lid"][colour]
    numbers[1 + 2 * NUM_COLOURS] = state["round"]
    tiling_row = int(state["row"]) if state["status"] == RUNNING and state["phase"] == TILING else SIZE
    for row in range(SIZE):
        numbers[2 + 2 * NUM_COLOURS + row] = row == tiling_row


@kernel
def _observe_turn(state: np.void, seat: Integer, numbers: np.ndarray) -> None:
    for distance in range(len(numbers)):
        numbers[distance] = 0
    if state["status"] == RUNNING:
        plies = int(state["to_move"]) - seat
        numbers[plies if plies >= 0 else plies + len(numbers)] = 1


@kernel
def _observe_lines(state: np.void, player: Integer, numbers: np.ndarray) -> None:
    colours, counts = state["line_colour"][player], state["line_count"][player]
    for line in range(SIZE):
        copy_row(_LINE_ROWS[colours[line], counts[line]], numbers[line * NUM_COLOURS :])


@kernel
def _observe_wall(state: np.void, player: Integer, numbers: np.ndarray) -> None:
    if state["option_wall"] == COLOURED:
        rows = state["row_cells"][player]
        for row in range(SIZE):
            copy_row(_SET_ROWS[rows[row]], numbers[row * SIZE :])
        return
    wall = state["wall"][player].reshape(SIZE * SIZE)
    for cell in range(SIZE * SIZE):
        copy_row(_COLOUR_ROWS[wall[cell]], numbers[cell * NUM_COLOURS :])


@kernel
def _observe_floor(state: np.void, player: Integer, numbers: np.ndarray) -> None:
    copy_row(_FLOOR_ROWS[state["floor_count"][player]], numbers)
    tiles = state["floor"][player]
    for colour in range(NUM_COLOURS):
        numbers[FLOOR_SPACES + colour] = tiles[colour]
    at = FLOOR_SPACES + NUM_COLOURS
    numbers[at] = state["floor_marker"][player]
    numbers[at + 1] = state["marker"] == player
    numbers[at + 2] = state["start"] == player
    numbers[at + 3] = state["score"][player]
