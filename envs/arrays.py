"""Integer arguments at the door of the engine: checked once, brought to the one form that kernels are compiled for."""

from typing import Any

import numpy as np

from .messages import shorten

_INT64 = np.dtype(np.int64)


def check_integer(value: Any, name: str, low: int, high: int) -> int:
    """Return a Python or numpy integer from low to high as an int; ValueError, one sentence, for others."""
    if isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iu":
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be an integer, not {shorten(value)}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be from {low} to {high}, not {shorten(value)}")
    return int(value)


def integer_array(values: Any, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return integers as a C-contiguous, writeable int64 array of the shape, a copy where the given one is not.

    So a kernel sees one type of array whatever callers hand over, and is compiled once. Raises ValueError, one
    sentence, for another shape or for values that are no integers (floats and booleans too).
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be integers of the shape {shape}, not {shorten(values)}") from None
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, not {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, not {array.shape}")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be integers of at most 64 bits with their sign, not {shorten(array.max())}")
    return np.require(array, _INT64, ["C", "A", "W"])
