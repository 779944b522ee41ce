"""The random stream kept in every game: sfc32, four 32-bit words, the same on every platform.

A stream is an array, uint32 [4]:

| word | meaning |
|---|---|
| 0, 1, 2 | the chaotic state a, b, c |
| 3 | a counter, so that every period is at least 2**32 |

Source: Chris Doty-Humphrey, "Small Fast Counting" generator of PractRand (sfc32). All arithmetic is done in 64 bits
and truncated to 32, so that compiled and plain Python runs agree without overflow.
"""

from typing import Any

import numpy as np

from ..system.messages import shorten
from ..validation.arrays import plain_integer
from .compilation import Integer, kernel

MAX_SEED = 2**53 - 1
"""The largest seed: the largest integer that every JSON reader preserves."""

GAME_STREAM, CHOICE_STREAM = 0, 1
"""Purposes of streams: a game's own chance, and the random choice of actions in it."""

_WORD = np.uint64(0xFFFFFFFF)
_WARM_UP = 15
# an odd constant near 2**53 / golden ratio: the seeds of a batch's games are far apart and never equal those of
# another batch with a nearby seed
_SEED_STEP = 5566755282872655


@kernel
def next_word(stream: np.ndarray) -> Integer:
    """Return the next 32 random bits as uint64 and advance the stream, uint32 [4]."""
    a = np.uint64(stream[0])
    b = np.uint64(stream[1])
    c = np.uint64(stream[2])
    counter = np.uint64(stream[3])
    word = (a + b + counter) & _WORD
    stream[0] = np.uint32(b ^ (b >> np.uint64(9)))
    stream[1] = np.uint32((c + (c << np.uint64(3))) & _WORD)
    stream[2] = np.uint32((((c << np.uint64(21)) | (c >> np.uint64(11))) + word) & _WORD)
    stream[3] = np.uint32((counter + np.uint64(1)) & _WORD)
    return word


@kernel
def draw(stream: np.ndarray, n: Integer) -> Integer:
    """Return an integer from 0 to n - 1, exactly uniform, for 1 <= n < 2**32 (Lemire 2019, arXiv:1805.10941)."""
    bound = np.uint64(n)
    product = next_word(stream) * bound
    if (product & _WORD) < bound:
        threshold = (np.uint64(0x100000000) - bound) % bound
        while (product & _WORD) < threshold:
            product = next_word(stream) * bound
    return np.int64(product >> np.uint64(32))


@kernel
def seed_stream(stream: np.ndarray, seed: Integer, purpose: Integer) -> None:
    """Start a stream, uint32 [4], from a seed (0 .. 2**53 - 1) and a purpose, which separates streams of one seed."""
    wide = np.uint64(seed)
    stream[0] = np.uint32(wide & _WORD)
    stream[1] = np.uint32(wide >> np.uint64(32))
    stream[2] = np.uint32(purpose)
    stream[3] = np.uint32(1)
    for _ in range(_WARM_UP):
        next_word(stream)


@kernel
def renew_stream(stream: np.ndarray, source: np.ndarray) -> None:
    """Reseed a stream from another one: its future no longer depends on its past."""
    for word in range(4):
        stream[word] = np.uint32(next_word(source))


@kernel
def draw_seed(stream: np.ndarray) -> Integer:
    """Return a new seed (uint64, 0 .. 2**53 - 1) drawn from a stream."""
    high = next_word(stream) & np.uint64(0x1FFFFF)
    return (high << np.uint64(32)) | next_word(stream)


def game_seeds(seed: int, num_games: int, start: int = 0) -> np.ndarray:
    """Return the seeds, uint64 [num_games], of the games of a batch; game 0 has the seed of the batch itself.

    With `start`, begin with the game of that number.
    """
    steps = np.arange(start, start + num_games, dtype=np.uint64) * np.uint64(_SEED_STEP)
    return (np.uint64(seed) + steps) & np.uint64(MAX_SEED)


def fresh_seed() -> int:
    """Return a seed from the entropy of the operating system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) & MAX_SEED


def check_seed(seed: Any) -> int:
    """Return the seed, or a fresh one for None; ValueError if it is not an integer from 0 to 2**53 - 1."""
    if seed is None:
        return fresh_seed()
    number = plain_integer(seed)
    if number is None or not 0 <= number <= MAX_SEED:
        raise ValueError(f"seed must be an integer from 0 to {MAX_SEED}, not {shorten(seed)}")
    return number
