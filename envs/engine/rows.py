"""Rows of eight numbers, copied from tables: what masks and observations consist of.

A constant row is copied by a single instruction on every processor, where a branch or a shift for each number takes
many. A part of fewer than eight numbers is written by a whole row too, where what follows is written later.
"""

import numpy as np

from .compilation import Integer, kernel

ROW = 8

_BYTES = np.array([[byte >> bit & 1 for bit in range(ROW)] for byte in range(256)], np.int8)


def table_of_sets(size: int) -> np.ndarray:
    """Return the row of each set of `size` bits, with 1 at the members of the set: int16 [2**size, ROW]."""
    return np.array([[members >> bit & 1 for bit in range(ROW)] for members in range(2**size)], np.int16)


@kernel
def copy_row(row: np.ndarray, numbers: np.ndarray) -> None:
    """Copy a row, [ROW], to the beginning of an array."""
    for index in range(ROW):
        numbers[index] = row[index]


@kernel
def write_byte(bits: Integer, mask: np.ndarray) -> None:
    """Write the lowest eight bits of a set to the first eight entries of a mask, int8."""
    row = _BYTES[bits & 255]
    for index in range(ROW):
        mask[index] = row[index]
