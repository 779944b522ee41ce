"""The table behind `interface`: the game of a record, by its dtype and by its numba type."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types

Sources = tuple[tuple[Path, str], ...]
"""Files and names of modules."""


@dataclass(frozen=True)
class GameKernels:
    """The kernels of one game; `interface` documents each of them, and its default."""

    reset: Callable[[np.void], None]
    legal_mask: Callable[[np.void, np.ndarray], None]
    apply: Callable[[np.void, Any], None]
    observe: Callable[[np.void, Any, Any, np.ndarray], None]
    scores_and_ranks: Callable[[np.void, np.ndarray, np.ndarray], None]
    count_legal: Callable[[np.void], Any] | None = None
    nth_legal: Callable[[np.void, Any], Any] | None = None
    is_legal: Callable[[np.void, Any], Any] | None = None
    determinize: Callable[[np.void, Any], None] | None = None
    action_values: Callable[[np.void, np.ndarray, np.ndarray], None] | None = None
    projected_scores: Callable[[np.void, np.ndarray], None] | None = None
    find_fault: Callable[[np.void, np.void], Any] | None = None
    faults: tuple[str, ...] = ("",)
    """The messages whose indices `find_fault` returns; the first is not used."""

    def sources(self) -> Sources:
        """Return the files and names of the modules that define the kernels, sorted."""
        functions = [getattr(kernel, "py_func", kernel) for kernel in vars(self).values() if callable(kernel)]
        return tuple(sorted({(Path(each.__code__.co_filename), each.__module__) for each in functions}))


@dataclass(frozen=True)
class _Entry:
    name: str
    load: Callable[[], GameKernels]


_entries: dict[np.dtype, _Entry] = {}
_entries_of_types: dict[types.Type, _Entry] = {}


def register_game(name: str, dtype: np.dtype, load: Callable[[], GameKernels]) -> None:
    """Add a game to the table; its kernels are loaded when they are first needed.

    Its dtype contains the game's name (`record_dtype`), so that no other game has the same numba type.
    """
    entry = _Entry(name, load)
    _entries[dtype] = _entries_of_types[numba.from_dtype(dtype)] = entry


def kernels_of(dtype: np.dtype) -> GameKernels:
    """Return the kernels of the game whose records have a dtype; KeyError if no game has it."""
    return _entries[dtype].load()


def kernels_of_type(record: types.Type) -> GameKernels:
    """Return the kernels of the game whose records have a numba type; KeyError if no game has it."""
    return _entries_of_types[record].load()


def games_of_types(argument_types: tuple[types.Type, ...]) -> Iterator[str]:
    """Yield the name of every game whose records are among the arguments of a compiled kernel."""
    yield from (entry.name for entry in _entries_among(argument_types))


def sources_of_types(argument_types: tuple[types.Type, ...]) -> Iterator[tuple[Path, str]]:
    """Yield file and name of each module that a kernel compiled for these arguments depends on."""
    for entry in _entries_among(argument_types):
        yield from entry.load().sources()


def _entries_among(argument_types: tuple[types.Type, ...]) -> Iterator[_Entry]:
    for each in argument_types:
        if isinstance(each, types.Array):
            yield from _entries_among((each.dtype,))
        elif isinstance(each, types.NamedTuple | types.Tuple | types.UniTuple | types.NamedUniTuple):
            yield from _entries_among(tuple(each.types))
        elif each in _entries_of_types:
            yield _entries_of_types[each]
