"""Integer arguments at the door of the engine: checked once, brought to the one form that kernels are compiled for."""

from operator import index
from typing import Any

import numpy as np

from .messages import shorten

_INT64 = np.dtype(np.int64)


def plain_integer(value: Any) -> int | None:
    """Return a single integer as Python's int; None for whatever is none.

    Integers are Python's, numpy's and those of arrays and tensors without axes, whatever library they are of.
    Booleans and floats are none.
    """
    if type(value) is int:
        return value
    # a tensor of one element gives its number out though it has an axis
    if isinstance(value, bool) or getattr(value, "shape", ()) != () or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def check_integer(value: Any, name: str, low: int, high: int) -> int:
    """Return an integer (see `plain_integer`) from low to high as an int; ValueError, one sentence, for others."""
    number = plain_integer(value)
    if number is None:
        raise ValueError(f"{name} must be an integer, not {shorten(value)}")
    if not low <= number <= high:
        raise ValueError(f"{name} must be from {low} to {high}, not {shorten(number)}")
    return number


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
