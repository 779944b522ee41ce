"""Which game a record belongs to: the table behind `interface`, by the record's dtype and by numba's type of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types

Kernel = Callable[..., Any]


@dataclass(frozen=True)
class GameKernels:
    """The kernels of one game; `interface` says what each of them does, and what it is where a game has none."""

    reset: Kernel
    legal_mask: Kernel
    apply: Kernel
    observe: Kernel
    scores_and_ranks: Kernel
    count_legal: Kernel | None = None
    nth_legal: Kernel | None = None
    is_legal: Kernel | None = None
    determinize: Kernel | None = None
    action_values: Kernel | None = None
    projected_scores: Kernel | None = None
    find_fault: Kernel | None = None


@dataclass(frozen=True)
class _Entry:
    name: str
    load: Callable[[], GameKernels]
    package: str
    sources: tuple[tuple[Path, str], ...]


_entries: dict[np.dtype, _Entry] = {}
_entries_of_types: dict[types.Type, _Entry] = {}


def register_game(
    name: str, dtype: np.dtype, package: str, load: Callable[[], GameKernels], sources: tuple[tuple[Path, str], ...]
) -> None:
    """Enter a game into the table; its kernels are loaded when they are first asked for.

    Arguments:
        package: the module that the game comes from.
        sources: files and names of the modules whose code a compiled kernel of this game depends on.

    Raises ValueError if a game of another package has records of the same layout: numba could not tell them apart.
    """
    known = _entries.get(dtype)
    if known is not None and known.package != package:
        raise ValueError(
            f"the records of {name} have the layout of those of {known.name}; give `record_dtype` its name"
        )
    entry = _Entry(name, cache(load), package, sources)
    _entries[dtype] = _entries_of_types[numba.from_dtype(dtype)] = entry


def kernels_of(dtype: np.dtype) -> GameKernels:
    """Return the kernels of the game whose records have a dtype; KeyError if no game has it."""
    return _entries[dtype].load()


def kernels_of_type(record: types.Type) -> GameKernels:
    """Return the kernels of the game whose records have a type of numba's; KeyError if no game has it."""
    return _entries_of_types[record].load()


def games_of_types(argument_types: tuple[types.Type, ...]) -> Iterator[tuple[str, tuple[tuple[Path, str], ...]]]:
    """Yield name and sources of every game whose records are among the arguments of a compiled kernel."""
    for each in argument_types:
        if isinstance(each, types.Array):
            yield from games_of_types((each.dtype,))
        elif isinstance(each, types.NamedTuple | types.Tuple | types.UniTuple | types.NamedUniTuple):
            yield from games_of_types(tuple(each.types))
        elif each in _entries_of_types:
            entry = _entries_of_types[each]
            yield entry.name, entry.sources
