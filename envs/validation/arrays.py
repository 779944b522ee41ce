"""Checks of numbers and arrays for the engine; arrays are converted to the one type that kernels are compiled for."""

from operator import index
from typing import Any

import numpy as np

from ..system.messages import shorten

_INT64 = np.dtype(np.int64)


def plain_integer(value: Any) -> int | None:
    """Return a single integer as a Python int; None for anything else.

    Accepts integers of Python and numpy, and arrays and tensors without axes of any library, but no booleans or floats.
    """
    if type(value) is int:
        return value
    # a tensor with one element converts to an integer although it has an axis
    if isinstance(value, bool) or getattr(value, "shape", ()) != () or "bool" in str(getattr(value, "dtype", "")):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def check_integer(value: Any, name: str, low: int, high: int) -> int:
    """Return an integer (see `plain_integer`) from low to high as an int; ValueError for anything else."""
    number = plain_integer(value)
    if number is None:
        raise ValueError(f"{name} must be an integer, not {shorten(value)}")
    if not low <= number <= high:
        raise ValueError(f"{name} must be from {low} to {high}, not {shorten(number)}")
    return number


def integer_array(values: Any, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return integers as a C-contiguous, writeable int64 array of the shape, as a copy if necessary.

    None in the shape stands for any length. A kernel thus gets the same type of array from all callers, and is compiled
    once. Raises ValueError for another shape or for values that are not integers (floats and booleans too).
    """
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError, RuntimeError):
        # errors of numpy, and of tensors on another device or with a gradient
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
    """Return a shape in Python's notation, with k for any length."""
    return str(shape).replace("None", "k")


def is_plain(array: Any, dtype: np.dtype) -> bool:
    """Tell whether kernels accept an array as it is: of this exact dtype, C-contiguous, aligned and writeable."""
    # identity, because comparing dtypes takes a tenth of a step of one game
    return type(array) is np.ndarray and array.dtype is dtype and array.flags.carray


def output_array(array: Any, name: str, dtype: type | np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Return a view of an array that kernels may write to; they would write past the end of a wrong one.

    The view keeps its shape and stays writeable even if the array's flags change. Raises ValueError if the array is not
    writeable, C-contiguous, aligned and of the dtype and shape.
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
    """Tell whether an array may share memory with another one, by its bounds."""
    return any(np.may_share_memory(array, other) for other in others)


def _fault(array: np.ndarray) -> str:
    return "misaligned" if array.flags.writeable else "read-only"
