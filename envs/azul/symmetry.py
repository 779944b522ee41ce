"""Azul's symmetries: permutations of a position that do not change the game, for data augmentation.

- The factories, in any order: a move uses only one (A9), all have the same centre (A10), and every round refills them
  in the same way (A5). That a short deal (A6) leaves the last ones empty has no effect later. The centre is fixed.
- Grey wall: the colours, in any order: all have the same number of tiles (A1), and no rule names one (A12, A22, A29).
- Grey wall: the columns of each wall, mirrored or not, each wall independently: runs, open columns, complete rows and
  columns are preserved (A19, A22, A29), and no other order preserves all neighbours.

The coloured wall ties colours to columns, differently in every row (A18): neither can be permuted there.
The lines and rows are all different (A3).
"""

from math import factorial
from typing import Any, NamedTuple

import numpy as np

from ..symmetry import Symmetry, take_groups
from .observation import fields
from .state import NUM_COLOURS, NUM_DESTINATIONS, SIZE, num_factories


class Symmetries(NamedTuple):
    """One symmetry per row."""

    factories: np.ndarray  # int64 [n, factories]: the factory whose tiles each gets
    colours: np.ndarray  # int64 [n, 5]: the colour whose tiles become those of each
    mirrored: np.ndarray  # bool [n, players]: whether the columns of each wall are reversed, the own wall first


def order(options: dict[str, Any]) -> int:
    """Return the number of symmetries."""
    players = options["num_players"]
    grey = factorial(NUM_COLOURS) * 2**players if options["wall"] == "grey" else 1
    return factorial(num_factories(players)) * grey


def draw(options: dict[str, Any], n: int, random: np.random.Generator) -> Symmetries:
    """Return n symmetries, each drawn uniformly from all."""
    players = options["num_players"]
    factories = random.permuted(np.tile(np.arange(num_factories(players)), (n, 1)), axis=1)
    colours = np.tile(np.arange(NUM_COLOURS), (n, 1))
    if options["wall"] == "coloured":
        return Symmetries(factories, colours, np.zeros((n, players), bool))
    colours = random.permuted(colours, axis=1)
    return Symmetries(factories, colours, random.integers(2, size=(n, players), dtype=bool))


def apply(
    options: dict[str, Any],
    layout: str,
    symmetries: Symmetries,
    observation: np.ndarray,
    policies: tuple[np.ndarray, ...],
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return new arrays in which every row is transformed by its symmetry.

    observation: float32 [n, observation_size], as the player to move sees it; policies: arrays indexed by
    action, such as masks, each [n, num_actions].
    """
    centre_first = np.pad(1 + symmetries.factories, ((0, 0), (1, 0)))
    sources = _of_each(centre_first, symmetries.colours)
    transformed = observation.copy()
    first = 0
    for field in fields(options, layout):
        owner, _, name = field.name.rpartition(": ")
        distance = 0 if owner in ("", "own") else int(owner.removeprefix("player +"))
        origins = sources if name == "sources" else _origins(options, symmetries, name, distance)
        if origins is not None:
            stop = first + field.size
            transformed[:, first:stop] = take_groups(observation[:, first:stop], origins)
        first += field.size
    return transformed, tuple(_transform_policy(symmetries, sources, policy) for policy in policies)


def _origins(options: dict[str, Any], symmetries: Symmetries, name: str, distance: int) -> np.ndarray | None:
    """Return the source index of each number in a part of the observation, int64 [n, size]; None: unchanged."""
    colours = symmetries.colours
    if name in ("bag", "lid", "floor tiles"):
        return colours
    if name == "lines":
        return _of_each(np.arange(SIZE)[None], colours)
    if name == "wall" and options["wall"] == "grey":
        return _of_each(_of_each(np.arange(SIZE)[None], _columns(symmetries, distance)), colours)
    return None


def _of_each(groups: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the origins of the five members of groups, int64 [n, groups * 5], from the origins of both."""
    return (groups[:, :, None] * SIZE + members[:, None, :]).reshape(len(members), groups.shape[1] * SIZE)


def _columns(symmetries: Symmetries, distance: int) -> np.ndarray:
    """Return the source column of each column of a wall, int64 [n, 5]."""
    columns = np.arange(SIZE)
    return np.where(symmetries.mirrored[:, distance, None], columns[::-1], columns)


def _transform_policy(symmetries: Symmetries, sources: np.ndarray, policy: np.ndarray) -> np.ndarray:
    transformed = np.empty_like(policy)
    offer = sources.shape[1] * NUM_DESTINATIONS
    transformed[:, :offer] = take_groups(policy[:, :offer], sources)
    if policy.shape[1] > offer:
        transformed[:, offer:] = take_groups(policy[:, offer:], _columns(symmetries, 0))
    return transformed


SYMMETRY = Symmetry(order, draw, apply)
