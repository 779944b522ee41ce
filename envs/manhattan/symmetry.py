"""Manhattan's symmetries: permutations of a position that do not change the game, for data augmentation.

- The cities, in any order: all are alike (M1), and each is scored separately (M17).
- The lots, in the same way in all cities, together with the cards. No rule of building or scoring depends on where a
  lot is (M11, M16-M18), so any permutation of lots would do. But all players draw from one deck, and each reads the
  cards from the own seat (M6, M15). So a permutation of the cards must be the same permutation of lots for every
  player, that is, it must commute with the rotations from seat to seat (M5). These rotations move the lots in cycles:
  four pairs for two opposite players, otherwise the four corners and the four edges; the centre is fixed. The
  permutations that commute with them permute whole cycles and rotate each by any number of steps. For opposite players
  they include a reflection of the cities; with three or four players they do not, since it would reverse the order of
  the seats.

The colours are tied to the order of the players, and two colours of a player to the order of selections (M9, M14).
"""

from math import factorial
from typing import Any, NamedTuple

import numpy as np

from ..symmetry import Symmetry, take_groups
from .observation import fields
from .state import NUM_CARDS, NUM_CITIES, NUM_LOTS, NUM_SIZES, colours_per_player, num_selections

_HALF_TURN = np.array([[0, 8], [1, 7], [2, 6], [3, 5]])
_QUARTER_TURN = np.array([[0, 2, 8, 6], [1, 5, 7, 3]])


class Symmetries(NamedTuple):
    """One symmetry per row."""

    cities: np.ndarray  # int64 [n, 6]: the city whose towers each gets
    cards: np.ndarray  # int64 [n, 9]: the card that becomes each card; lots, from any seat, alike


def order(options: dict[str, Any]) -> int:
    """Return the number of symmetries."""
    number, length = _cycles(options).shape
    return factorial(NUM_CITIES) * factorial(number) * length**number


def draw(options: dict[str, Any], n: int, random: np.random.Generator) -> Symmetries:
    """Return n symmetries, each drawn uniformly from all."""
    cities = random.permuted(np.tile(np.arange(NUM_CITIES), (n, 1)), axis=1)
    cycles = _cycles(options)
    number, length = cycles.shape
    exchanged = random.permuted(np.tile(np.arange(number), (n, 1)), axis=1)
    steps = random.integers(length, size=(n, number))
    cards = np.tile(np.arange(NUM_CARDS), (n, 1))
    cards[:, cycles] = cycles[exchanged[:, :, None], (np.arange(length) + steps[:, :, None]) % length]
    return Symmetries(cities, cards)


def apply(
    options: dict[str, Any],
    layout: str,
    symmetries: Symmetries,
    observation: np.ndarray,
    policies: tuple[np.ndarray, ...],
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return new arrays in which every row is transformed by its symmetry.

    observation: float32 [n, observation_size], as any seat sees it; policies: arrays indexed by action, such as
    masks, each [n, num_actions].
    """
    cities, cards = symmetries
    lots = (cities[:, :, None] * NUM_LOTS + cards[:, None, :]).reshape(len(cities), NUM_CITIES * NUM_LOTS)
    origins = {"storeys": lots, "owner": lots, "own hand": cards, "discards": cards, "unseen": cards}
    transformed = observation.copy()
    first = 0
    for field in fields(options, layout):
        stop = first + field.size
        if field.name in origins:
            transformed[:, first:stop] = take_groups(observation[:, first:stop], origins[field.name])
        first = stop
    return transformed, tuple(_transform_policy(options, symmetries, policy) for policy in policies)


def _cycles(options: dict[str, Any]) -> np.ndarray:
    """Return the cycles of lots under the rotations from seat to seat, int64 [cycles, length]."""
    opposite = options["num_players"] == 2 and options["seats"] == "opposite"
    return _HALF_TURN if opposite else _QUARTER_TURN


def _transform_policy(options: dict[str, Any], symmetries: Symmetries, policy: np.ndarray) -> np.ndarray:
    cities, cards = symmetries
    origins = (cards[:, :, None] * NUM_CITIES + cities[:, None, :]).reshape(len(cards), NUM_CARDS * NUM_CITIES)
    transformed = policy.copy()
    first = num_selections(options["num_players"])
    for _ in range(colours_per_player(options["num_players"])):
        stop = first + NUM_CARDS * NUM_CITIES * NUM_SIZES
        transformed[:, first:stop] = take_groups(policy[:, first:stop], origins)
        first = stop
    transformed[:, first:] = take_groups(policy[:, first:], cards)
    return transformed


SYMMETRY = Symmetry(order, draw, apply)
