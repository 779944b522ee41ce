"""The interface of all games' kernels, which generic kernels import and call.

A generic kernel is an ordinary function of an ordinary module. While numba compiles it, `overload` selects the game's
kernel by the type of the record, so the choice costs nothing at run time. Without numba the function here looks the
record's dtype up in the same table (`dispatch`). A game's kernels are in its own folder, in `rules.py` and beside it.
Defaults for kernels that a game lacks are here; they follow from its mask and its scores.

Kernels work on one record, allocate nothing and raise nothing. Actions and seats are cast to int64 here, for all
callers: a kernel is then compiled for a single integer type, and bit operations in plain Python need numpy's integers.
"""

from functools import partial
from typing import Any

import numpy as np
from numba.extending import overload

from .compilation import KERNEL_OPTIONS, Integer, kernel
from .dispatch import kernels_of, kernels_of_type

SCRATCH_SIZE = 1024
"""The minimum size of a heuristic's buffer."""


def reset(state: np.void) -> None:
    """Set up and deal a game in a record that is zero except for its options and its random stream."""
    kernels_of(state.dtype).reset(state)


def legal_mask(state: np.void, mask: np.ndarray) -> None:
    """Write the mask, int8 [num_actions]: 1 for legal actions, all 0 when the game is over."""
    kernels_of(state.dtype).legal_mask(state, mask)


def apply(state: np.void, action: Integer) -> None:
    """Play a legal action and everything that follows automatically, up to the next decision or the end."""
    kernels_of(state.dtype).apply(state, np.int64(action))


def observe(state: np.void, seat: Integer, layout: Integer, numbers: np.ndarray) -> None:
    """Write what a seat sees as whole numbers, int16 [observation_size], in one of the game's layouts."""
    kernels_of(state.dtype).observe(state, np.int64(seat), np.int64(layout), numbers)


def scores_and_ranks(state: np.void, scores: np.ndarray, ranks: np.ndarray) -> None:
    """Write the current scores and ranks, int32 [num_players]; rank 0 wins."""
    kernels_of(state.dtype).scores_and_ranks(state, scores, ranks)


def count_legal(state: np.void, mask: np.ndarray) -> Integer:
    """Return the number of legal actions; 0 when the game is over. `mask`, int8 [num_actions], is a buffer."""
    game_kernel = kernels_of(state.dtype).count_legal
    count: Integer = _count_from_mask(state, mask) if game_kernel is None else game_kernel(state)
    return count


def nth_legal(state: np.void, n: Integer, mask: np.ndarray) -> Integer:
    """Return the n-th legal action, counted from 0; n must be below `count_legal`.

    `mask`, int8 [num_actions], is a buffer.
    """
    game_kernel = kernels_of(state.dtype).nth_legal
    action: Integer = _nth_from_mask(state, n, mask) if game_kernel is None else game_kernel(state, np.int64(n))
    return action


def is_legal(state: np.void, action: Integer, mask: np.ndarray) -> bool:
    """Tell whether an action, any integer, is legal now. `mask`, int8 [num_actions], is a buffer."""
    game_kernel = kernels_of(state.dtype).is_legal
    legal: bool = _is_in_mask(state, action, mask) if game_kernel is None else game_kernel(state, np.int64(action))
    return legal


def determinize(state: np.void, seat: Integer) -> None:
    """Resample what a seat cannot see; the caller has already replaced the random stream, and so future chance."""
    game_kernel = kernels_of(state.dtype).determinize
    if game_kernel is not None:
        game_kernel(state, np.int64(seat))


def action_values(state: np.void, values: np.ndarray, scratch: np.ndarray) -> None:
    """Write the heuristic's values of the legal actions of a running game to float32 [num_actions], filled with -inf.

    `scratch`, int64 [SCRATCH_SIZE or more], is a buffer. A heuristic may modify the state temporarily. By default all
    legal actions have the value 0.
    """
    game_kernel = kernels_of(state.dtype).action_values
    if game_kernel is None:
        _write_equal_values(state, values, scratch)
    else:
        game_kernel(state, values, scratch)


def projected_scores(state: np.void, scores: np.ndarray, ranks: np.ndarray) -> None:
    """Write the scores as if the game were scored now, int32 [num_players], including points already certain.

    `ranks`, int32 [num_players], is a buffer. By default, and for a finished game, these are the current scores.
    """
    game_kernel = kernels_of(state.dtype).projected_scores
    if game_kernel is None:
        scores_and_ranks(state, scores, ranks)
    else:
        game_kernel(state, scores)


def find_fault(state: np.void, copy: np.void) -> Integer:
    """Return the index in `GameKernels.faults` of a reason why the record is invalid, 0 if there is none.

    Every field is already known to be in range. `copy` is a copy of the record that may be modified.
    """
    game_kernel = kernels_of(state.dtype).find_fault
    return 0 if game_kernel is None else int(game_kernel(state, copy))


@kernel
def _count_from_mask(state: np.void, mask: np.ndarray) -> Integer:
    legal_mask(state, mask)
    count = 0
    for action in range(len(mask)):
        if mask[action]:
            count += 1
    return count


@kernel
def _nth_from_mask(state: np.void, n: Integer, mask: np.ndarray) -> Integer:
    legal_mask(state, mask)
    for action in range(len(mask)):
        if mask[action]:
            if n == 0:
                return action
            n -= 1
    return -1


@kernel
def _is_in_mask(state: np.void, action: Integer, mask: np.ndarray) -> bool:
    if action < 0 or action >= len(mask):
        return False
    legal_mask(state, mask)
    return bool(mask[action])


@kernel
def _write_equal_values(state: np.void, values: np.ndarray, scratch: np.ndarray) -> None:
    mask = scratch.view(np.int8)[: len(values)]
    legal_mask(state, mask)
    for action in range(len(values)):
        if mask[action]:
            values[action] = 0.0


# otherwise numba would compare the annotations of the two functions
_overload = partial(overload, strict=False, jit_options=KERNEL_OPTIONS)


@_overload(reset)
def _reset(state: Any) -> Any:
    game_kernel = kernels_of_type(state).reset
    return lambda state: game_kernel(state)


@_overload(legal_mask)
def _legal_mask(state: Any, mask: Any) -> Any:
    game_kernel = kernels_of_type(state).legal_mask
    return lambda state, mask: game_kernel(state, mask)


@_overload(apply)
def _apply(state: Any, action: Any) -> Any:
    game_kernel = kernels_of_type(state).apply
    return lambda state, action: game_kernel(state, np.int64(action))


@_overload(observe)
def _observe(state: Any, seat: Any, layout: Any, numbers: Any) -> Any:
    game_kernel = kernels_of_type(state).observe
    return lambda state, seat, layout, numbers: game_kernel(state, np.int64(seat), np.int64(layout), numbers)


@_overload(scores_and_ranks)
def _scores_and_ranks(state: Any, scores: Any, ranks: Any) -> Any:
    game_kernel = kernels_of_type(state).scores_and_ranks
    return lambda state, scores, ranks: game_kernel(state, scores, ranks)


@_overload(count_legal)
def _count_legal(state: Any, mask: Any) -> Any:
    game_kernel = kernels_of_type(state).count_legal
    if game_kernel is None:
        return lambda state, mask: _count_from_mask(state, mask)
    return lambda state, mask: game_kernel(state)


@_overload(nth_legal)
def _nth_legal(state: Any, n: Any, mask: Any) -> Any:
    game_kernel = kernels_of_type(state).nth_legal
    if game_kernel is None:
        return lambda state, n, mask: _nth_from_mask(state, n, mask)
    return lambda state, n, mask: game_kernel(state, np.int64(n))


@_overload(is_legal)
def _is_legal(state: Any, action: Any, mask: Any) -> Any:
    game_kernel = kernels_of_type(state).is_legal
    if game_kernel is None:
        return lambda state, action, mask: _is_in_mask(state, action, mask)
    return lambda state, action, mask: game_kernel(state, np.int64(action))


@_overload(determinize)
def _determinize(state: Any, seat: Any) -> Any:
    game_kernel = kernels_of_type(state).determinize
    if game_kernel is None:
        return lambda state, seat: None
    return lambda state, seat: game_kernel(state, np.int64(seat))


@_overload(action_values)
def _action_values(state: Any, values: Any, scratch: Any) -> Any:
    game_kernel = kernels_of_type(state).action_values
    if game_kernel is None:
        return lambda state, values, scratch: _write_equal_values(state, values, scratch)
    return lambda state, values, scratch: game_kernel(state, values, scratch)


@_overload(projected_scores)
def _projected_scores(state: Any, scores: Any, ranks: Any) -> Any:
    game_kernel = kernels_of_type(state).projected_scores
    if game_kernel is None:
        return lambda state, scores, ranks: scores_and_ranks(state, scores, ranks)
    return lambda state, scores, ranks: game_kernel(state, scores)


@_overload(find_fault)
def _find_fault(state: Any, copy: Any) -> Any:
    game_kernel = kernels_of_type(state).find_fault
    if game_kernel is None:
        return lambda state, copy: 0
    return lambda state, copy: game_kernel(state, copy)
