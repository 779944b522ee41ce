"""Arguments at the door of the engine: checked once, brought to the one form that kernels are compiled for."""

from operator import index
from typing import Any

import numpy as np

from ..system.messages import shorten

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


def integer_array(values: Any, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return integers as a C-contiguous, writeable int64 array of the shape, a copy where the given one is not.

    None in the shape stands for any length. So a kernel sees one type of array whatever callers hand over, and is
    compiled once. Raises ValueError, one sentence, for another shape or for values that are no integers (floats and
    booleans too).
    """
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RuntimeError):
        # numpy's own, and those of tensors on another device or in the middle of a gradient
        raise ValueError(f"{name} must be integers of the shape {_text(shape)}, not {shorten(values)}") from None
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"{name} must be integers, not {array.dtype}")
    fits = len(shape) == array.ndim and all(
        wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} must have the shape {_text(shape)}, not {array.shape}")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be integers of at most 64 bits with their sign, not {shorten(int(array.max()))}")
    return np.require(array, _INT64, ["C", "A", "W"])


def _text(shape: tuple[int | None, ...]) -> str:
    """Return a shape as Python writes it, with k for any length."""
    return str(shape).replace("None", "k")


def is_plain(array: Any, dtype: np.dtype) -> bool:
    """Tell whether kernels take an array as it is: of this very dtype, C-contiguous, aligned and writeable."""
    # identity, because comparing dtypes costs a tenth of a whole step of one game
    return type(array) is np.ndarray and array.dtype is dtype and array.flags.carray


def output_array(array: Any, name: str, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Return a view of an array that kernels may write to; they would write past the end of a wrong one.

    The view keeps its shape and stays writeable whatever becomes of the array's own flags. Raises ValueError, one
    sentence, if the array is not writeable, C-contiguous, aligned and of the dtype and shape.
    """
    wanted = f"{name} must be a C-contiguous {np.dtype(dtype)} array of the shape {shape}"
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{wanted}, not {shorten(array)}")
    if array.shape != shape or array.dtype != dtype or not array.flags.c_contiguous:
        order = "" if array.flags.c_contiguous else ", which is not C-contiguous"
        raise ValueError(f"{wanted}, not {array.dtype} of {array.shape}{order}")
    if not array.flags.carray:
        raise ValueError(f"{wanted} that can be written, but it is {_fault(array)}")
    return array.view(np.ndarray)


def shares_memory(array: np.ndarray, *others: np.ndarray) -> bool:
    """Tell whether an array may lie in the memory of another one, by its bounds alone."""
    return any(np.may_share_memory(array, other) for other in others)


def _fault(array: np.ndarray) -> str:
    return "misaligned" if array.flags.writeable else "read-only"
