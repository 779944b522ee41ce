"""Checks of records for the engine: one state, or an array of them, as kernels expect them.

The layout and the options are checked, in constant time: kernels of a game with two players would write past
the end of an observation of four. Users who edit records by hand are responsible for the other fields;
`Game.check_states` checks all of them.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..options import Choice, Option
from ..system.messages import shorten
from .arrays import is_plain

State = np.ndarray | np.void
"""One record: an array of shape (), as `Game.new` returns it, or an item of an array of records."""


class StateDoor:
    """Accepts the states of one game with its options, and rejects all others.

    Arguments:
        name: that of the game.
        options: those of the game.
        template: its record [1] that is zero except for the options.
    """

    def __init__(self, name: str, options: Sequence[Option], template: np.ndarray) -> None:
        self._name = name
        self._dtype = template.dtype
        self._options = options
        offsets = [self._place(option) for option in options]
        first, stop = min(start for start, _ in offsets), max(stop for _, stop in offsets)
        if stop - first != sum(stop - start for start, stop in offsets):
            raise TypeError(f"{name}: the options do not lie side by side in a record")
        # all options as one field: one comparison instead of several
        self._as_options = np.dtype(
            {"names": ["all"], "formats": [f"V{stop - first}"], "offsets": [first], "itemsize": template.dtype.itemsize}
        )
        self._template = template
        self._option_bytes = self._read_options(template)

    def _place(self, option: Option) -> tuple[int, int]:
        assert self._dtype.fields is not None
        dtype, start, *_ = self._dtype.fields[f"option_{option.name}"]
        return start, start + dtype.itemsize

    def _read_options(self, states: np.ndarray) -> bytes:
        return states.view(self._as_options)["all"].tobytes()

    def one(self, state: Any, *, to_write: bool = False) -> np.ndarray:
        """Return a state as an array [1]: a view of it, or a copy if that is impossible (see `write_back`).

        Raises ValueError if it is not a state of the game with these options, or read-only and `to_write`.
        """
        one_record = isinstance(state, np.ndarray) and state.shape == () and state.dtype.names is not None
        if not one_record and not isinstance(state, np.void):
            raise ValueError(f"a state of {self._name} must be one record, as Game.new makes them, not {_kind(state)}")
        if state.dtype is not self._dtype and state.dtype != self._dtype:
            raise ValueError(f"a state of {self._name} must have the fields of its records, not others")
        if to_write and not state.flags.writeable:
            raise ValueError("the state is read-only, so no move can be played in it")
        batch = as_batch(state)
        if not batch.flags.writeable:
            batch = batch.copy()
        if batch.dtype is not self._dtype or not batch.flags.carray:
            batch = self._as_kernel_view(batch, to_write)
        if self._read_options(batch) != self._option_bytes:
            self._refuse_options(batch, "the state is one")
        return batch

    def _as_kernel_view(self, batch: np.ndarray, to_write: bool) -> np.ndarray:
        """Return a view for kernels of a record from a pickle, a recarray or a packed structure."""
        batch = batch.view(np.ndarray).view(self._dtype)
        if batch.flags.carray:
            return batch
        if to_write:
            raise ValueError("the state is misaligned, so no move can be played in it; make a copy of it")
        return batch.copy()

    def many(self, states: Any) -> np.ndarray:
        """Return states as an array [n], as a copy if the given one is read-only, strided or misaligned.

        Raises ValueError if they are not states of the game with these options.
        """
        if not is_plain(states, self._dtype) or states.ndim != 1:
            states = self._as_records(states)
        if self._read_options(states) != len(states) * self._option_bytes:
            self._refuse_options(states, "the states are those")
        return states

    def _as_records(self, states: Any) -> np.ndarray:
        wanted = f"states must be an array [n] of records of {self._name}"
        try:
            array = np.asarray(states)
        except (ValueError, TypeError, OverflowError, RuntimeError):
            raise ValueError(f"{wanted}, not {_kind(states)}") from None
        if array.dtype != self._dtype:
            raise ValueError(f"{wanted}, not {_kind(states)} of {shorten(array.dtype.type.__name__)}")
        if array.ndim != 1:
            raise ValueError(f"{wanted}, not of the shape {array.shape}")
        records = np.require(array.view(self._dtype), None, ["C", "A", "W"])
        return records.view(np.ndarray)

    def _refuse_options(self, states: np.ndarray, beginning: str) -> NoReturn:
        for option in self._options:
            field = f"option_{option.name}"
            expected = int(self._template[field][0])
            other = states[field][states[field] != expected]
            if len(other):
                found, wanted = _decode(option, int(other[0])), _decode(option, expected)
                raise ValueError(f"{beginning} of another game: {self._name} with {option.name}={found}, not {wanted}")
        raise AssertionError("the options differ, but none of them does")


def _decode(option: Option, number: int) -> str:
    """Return an option's value as text, from its number in a record; the number itself if it is invalid."""
    if isinstance(option, Choice) and 0 <= number < len(option.choices):
        return option.choices[number]
    return str(number)


def _kind(value: Any) -> str:
    return f"an array of the shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"


def as_batch(state: State) -> np.ndarray:
    """Return one record as an array of length 1: a view, or a copy of an `np.void` that owns its memory."""
    # numpy gives no view of such a scalar, for example from a pickle
    return np.asarray(state).reshape(1)


def write_back(batch: np.ndarray, state: State) -> None:
    """Write an array [1] from `StateDoor.one` back to its state, if it is a copy."""
    if not np.shares_memory(batch, np.asarray(state)):
        for name in batch.dtype.names or ():
            state[name] = batch[name][0]
