"""Qwirkle's symmetries: permutations of a position that do not change the game, for data augmentation.

- The colours, the shapes, and colours with shapes: there are six of each and three tiles of each kind (Q1), and the
  same rules apply to sets and lines of one colour and of one shape (Q3, Q4, Q8).
- The board, by rotations and reflections, in eight ways: rows and columns are equivalent, in both directions (Q8, Q15,
  Q16). Only a strict opening has a direction, to the right (Q4): until it is over the board is not transformed.

The window is centred on the table by a division that rounds down. If one more column or row is free on one side than on
the other, the mirrored table is therefore shifted by one cell in the mirrored window.
"""

from math import factorial
from typing import Any, NamedTuple

import numpy as np

from ..symmetry import Symmetry
from .observation import FLAT_SCALE, LEGAL_CODE
from .state import END, NUM_KINDS, PLACE

_NAMES = 6
_Turn = tuple[np.ndarray, np.ndarray]
"""Whether each window is transposed, bool [n], and where its columns and its rows go then, int64 [n, 2, size]."""


class Symmetries(NamedTuple):
    """One symmetry per row."""

    colours: np.ndarray  # int64 [n, 6]: the colour that each becomes
    shapes: np.ndarray  # int64 [n, 6]: the shape that each becomes
    exchanged: np.ndarray  # bool [n]: whether colours and shapes are then swapped, number by number
    transposed: np.ndarray  # bool [n]: whether x and y are swapped
    mirrored: np.ndarray  # bool [n, 2]: whether x, y are then reversed


def order(options: dict[str, Any]) -> int:
    """Return the number of symmetries."""
    return factorial(_NAMES) ** 2 * 2 * 8


def draw(options: dict[str, Any], n: int, random: np.random.Generator) -> Symmetries:
    """Return n symmetries, each drawn uniformly from all."""
    colours, shapes = random.permuted(np.tile(np.arange(_NAMES), (2, n, 1)), axis=2)
    turns = random.integers(2, size=(n, 4), dtype=bool)
    return Symmetries(colours, shapes, turns[:, 0], turns[:, 1], turns[:, 2:])


def apply(
    options: dict[str, Any],
    layout: str,
    symmetries: Symmetries,
    observation: np.ndarray,
    policies: tuple[np.ndarray, ...],
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return new arrays in which every row is transformed by its symmetry.

    observation: float32 [n, observation_size], as any seat sees it; policies: arrays indexed by action, such as
    masks, each [n, num_actions].
    """
    size = options["board_size"]
    kinds = _kinds(symmetries)
    rows, cells, codes = _find_tiles(observation, layout, size)
    tiles = codes != LEGAL_CODE
    turn = _turn(symmetries, size, observation[:, -1] > 0, rows[tiles], cells[tiles])
    layer, kind = np.divmod(codes - 1, NUM_KINDS)
    kind = np.where(tiles, kinds[rows, kind], kind)
    targets = _transform_cells(turn, size, rows, cells)
    counts = size * size if layout == "planes" else 2 * size * size
    transformed = np.zeros_like(observation)
    if layout == "planes":
        transformed[rows, targets] = 1 + layer * NUM_KINDS + kind
    else:
        # as observations are written: a number times its scale, in float32
        transformed[rows, 2 * targets] = (1 + kind // _NAMES).astype(np.float32) * FLAT_SCALE
        transformed[rows, 2 * targets + 1] = (1 + kind % _NAMES).astype(np.float32) * FLAT_SCALE
    transformed[:, counts:] = observation[:, counts:]
    _move_kinds(kinds, observation, transformed, range(counts, counts + 4 * NUM_KINDS, NUM_KINDS))
    return transformed, tuple(_transform_policy(kinds, turn, size, policy) for policy in policies)


def _kinds(symmetries: Symmetries) -> np.ndarray:
    """Return the kind that each becomes, int64 [n, 36]."""
    exchanged = symmetries.exchanged[:, None, None]
    colours = symmetries.colours[:, :, None] * np.where(exchanged, 1, _NAMES)
    shapes = symmetries.shapes[:, None, :] * np.where(exchanged, _NAMES, 1)
    return (colours + shapes).reshape(-1, NUM_KINDS)


def _move_kinds(kinds: np.ndarray, numbers: np.ndarray, transformed: np.ndarray, blocks: range) -> None:
    """Permute the numbers by kind at each of the given offsets in a row."""
    for first in blocks:
        np.put_along_axis(
            transformed[:, first : first + NUM_KINDS], kinds, numbers[:, first : first + NUM_KINDS], axis=1
        )


def _find_tiles(observation: np.ndarray, layout: str, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row, cell and code, as in the layout "planes", of every cell of the windows that is not empty."""
    board = observation[:, : size * size] if layout == "planes" else observation[:, : 2 * size * size : 2]
    rows, cells = np.divmod(np.flatnonzero(board != 0), size * size)
    if layout == "planes":
        return rows, cells, board[rows, cells].astype(np.int64)
    colours, shapes = (np.rint(6 * observation[rows, 2 * cells + part]).astype(np.int64) for part in (0, 1))
    return rows, cells, 1 + (colours - 1) * _NAMES + shapes - 1


def _turn(symmetries: Symmetries, size: int, opening: np.ndarray, rows: np.ndarray, cells: np.ndarray) -> _Turn:
    """Return how the windows are transformed, from the rows and cells of all tiles."""
    transposed = symmetries.transposed & ~opening
    mirrored = symmetries.mirrored & ~opening[:, None]
    occupied = np.zeros((len(opening), 2, size), bool)
    occupied[rows, 0, cells % size] = True
    occupied[rows, 1, cells // size] = True
    # the tiles are connected, so there is no empty row or column between them; an empty table counts as 1 x 1
    extent = np.maximum(occupied.sum(axis=2), 1)
    extent = np.where(transposed[:, None], extent[:, ::-1], extent)
    last = size - 1 - (size - extent) % 2
    indices = np.arange(size)
    # the column or row that leaves the window is empty, and enters at the other end
    return transposed, np.where(mirrored[:, :, None], (last[:, :, None] - indices) % size, indices)


def _transform_cells(turn: _Turn, size: int, rows: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the new cells of some cells of the windows of rows."""
    transposed, axes = turn
    y, x = np.divmod(cells, size)
    x, y = np.where(transposed[rows], (y, x), (x, y))
    return axes[rows, 1, y] * size + axes[rows, 0, x]


def _transform_policy(kinds: np.ndarray, turn: _Turn, size: int, policy: np.ndarray) -> np.ndarray:
    transformed = np.zeros_like(policy)
    _move_kinds(kinds, policy, transformed, range(0, END, NUM_KINDS))
    transformed[:, END] = policy[:, END]
    # few cells are legal at a time, so only nonzero numbers are moved
    rows, cells = np.divmod(np.flatnonzero(policy[:, PLACE:] != 0), size * size)
    transformed[rows, PLACE + _transform_cells(turn, size, rows, cells)] = policy[rows, PLACE + cells]
    return transformed


SYMMETRY = Symmetry(order, draw, apply)
