"""The contract of a game: one frozen description, made in the game's own module or package.

Required are the fields of its records, the numbers of actions and observations, five kernels (`GameKernels`) and a
notation of moves and positions (`Notation`). Everything else has a default that a game may replace, and generic code
asks for a part, never for a game's name. Kernels work on one record and never raise or allocate.

Kernels, notation, symmetry and view are functions that return the part, called once when it is first needed: nobody who
plays a game loads its drawing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from .engine.dispatch import GameKernels
from .engine.state import Field, record_dtype
from .observation_field import ObservationField
from .options import Choice, Number, Option
from .records.notation import Notation, Options, plain_notation
from .symmetry import Symmetry, no_symmetry
from .view.position_view import PositionView, plain_view

COMPACT = "compact"

__all__ = [
    "COMPACT",
    "Choice",
    "Field",
    "GameKernels",
    "GameSpec",
    "Notation",
    "Number",
    "ObservationField",
    "Option",
    "PositionView",
    "Symmetry",
    "plain_notation",
    "plain_view",
]


@dataclass(frozen=True)
class GameSpec:
    """One game: names, options, sizes, layout, and how to get at its code."""

    name: str
    title: str
    version: int
    """That of its environments: it changes when results with the same seed do."""
    summary: str
    options: tuple[Option, ...]
    """With a `Number` called num_players among them."""
    state_fields: tuple[Field, ...]
    """The game's own fields of a record, with the range of each."""
    num_actions: Callable[[Options], int]
    observation_fields: Callable[[Options, str], tuple[ObservationField, ...]]
    """The parts of an observation, for the options and a layout."""
    kernels: Callable[[], GameKernels]
    notation: Callable[[], Notation]
    symmetry: Callable[[], Symmetry[Any]] = no_symmetry
    view: Callable[[], PositionView] = plain_view
    layouts: tuple[str, ...] = ("flat",)
    """The layouts that an observation can have; the first is the default."""
    margin_scale: float = 1.0
    """Points that make a reward of 1 in the kind "margin"."""
    search: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the tree search that are the strongest at one second a move, where they differ from its own."""
    first_cell_action: int | None = None
    """Where actions are cells of a plane that an observation begins with: the action of its first cell, row by row."""

    def __post_init__(self) -> None:
        for part in ("kernels", "notation", "symmetry", "view"):
            object.__setattr__(self, part, cache(getattr(self, part)))

    @cached_property
    def state_dtype(self) -> np.dtype:
        """Return the dtype of the game's records; no other game has the same one."""
        return record_dtype(self.name, [option.name for option in self.options], self.state_fields)

    @property
    def encodings(self) -> tuple[str, ...]:
        """Return the encodings of observations: a layout as floats, or "compact", the first layout as bytes."""
        return (*self.layouts, COMPACT)

    @property
    def marker(self) -> Field:
        """Return the field that tells the game's records from others', always 0."""
        *_, name = self.state_dtype.names or ()
        return Field(name, "u1", 0)

    @property
    def player_counts(self) -> range:
        """Return the numbers of players that may sit at the table."""
        option = self._players
        return range(option.low, option.high + 1)

    @property
    def most_players(self) -> int:
        """Return the largest number of players."""
        return self._players.high

    @property
    def default_players(self) -> int:
        """Return the number of players of a game made without saying how many."""
        return self._players.default

    @property
    def _players(self) -> Number:
        (option,) = (one for one in self.options if isinstance(one, Number) and one.name == "num_players")
        return option
