"""Points of a placement (Q16), as a kernel on one record (see state.py)."""

import numpy as np

from ..engine.compilation import Integer, kernel
from .board import run_length
from .placement import along_row
from .state import LONGEST_RUN

QWIRKLE_BONUS = 6
LAST_TILE_BONUS = 6


@kernel
def run_points(length: Integer) -> Integer:
    """Return the points of a run: its length, 6 more for a run of six, none for a single tile."""
    if length < 2:
        return np.int64(0)
    return length + QWIRKLE_BONUS if length == LONGEST_RUN else length


@kernel
def turn_points(state: np.void) -> Integer:
    """Return the points of the tiles placed in this turn: every run with a new tile, once."""
    first = np.int64(state["placed"][0])
    if state["placed_count"] == 1:
        points = run_points(run_length(state, first, np.int64(1), np.int64(0)))
        points += run_points(run_length(state, first, np.int64(0), np.int64(1)))
        return max(points, np.int64(1))
    right = np.int64(along_row(state))
    points = run_points(run_length(state, first, right, 1 - right))
    for index in range(state["placed_count"]):
        cell = np.int64(state["placed"][index])
        points += run_points(run_length(state, cell, 1 - right, right))
    return points
