"""Writing observations: a game writes small whole numbers, and generic code makes floats or bytes of them.

A game's `observe` writes one int16 per part of its observation: counts, bits, scores. A float32 observation holds each
number times its scale (`ObservationField.scale`). A compact one, uint8, holds the numbers themselves, 255 for all that
are larger.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from .compilation import KERNEL_OPTIONS, Integer, kernel
from .interface import observe

LARGEST_BYTE = 255


class Observer(NamedTuple):
    """How the observations of a game are written, by one thread."""

    layout: int
    """One of the game's layouts of observations."""
    scales: np.ndarray
    """float32 [observation_size]"""
    numbers: np.ndarray
    """int16 [observation_size], a buffer"""


@kernel
def write_observation(state: np.void, seat: Integer, observer: Observer, observation: np.ndarray) -> None:
    """Write what a seat sees, float32 or uint8 [observation_size]."""
    observe(state, seat, observer.layout, observer.numbers)
    convert(observer.numbers, observer.scales, observation)


def convert(numbers: np.ndarray, scales: np.ndarray, observation: np.ndarray) -> None:
    """Write the numbers of an observation as the floats or the bytes that its dtype asks for."""
    if observation.dtype == np.uint8:
        _saturate(numbers, scales, observation)
    else:
        _scale(numbers, scales, observation)


@kernel
def _scale(numbers: np.ndarray, scales: np.ndarray, observation: np.ndarray) -> None:
    for index in range(len(observation)):
        observation[index] = np.float32(numbers[index]) * scales[index]


@kernel
def _saturate(numbers: np.ndarray, scales: np.ndarray, observation: np.ndarray) -> None:
    for index in range(len(observation)):
        observation[index] = min(numbers[index], np.int16(LARGEST_BYTE))


@overload(convert, strict=False, jit_options=KERNEL_OPTIONS)
def _convert(numbers: Any, scales: Any, observation: Any) -> Any:
    kind = _saturate if observation.dtype.bitwidth == np.dtype(np.uint8).itemsize * 8 else _scale
    return lambda numbers, scales, observation: kind(numbers, scales, observation)
