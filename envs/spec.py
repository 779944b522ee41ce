"""What generic code sees of a game: one frozen description, made in the game's own folder.

A game's folder holds modules with these functions; kernels work on one record and never raise or allocate.

- `rules`, kernels: `set_up(state)`, `count_legal(state)`, `nth_legal(state, n)`, `is_legal(state, action)`,
  `legal_mask(state, mask)`, `apply(state, action)`, `observe(state, seat, form, observation)`,
  `result(state, scores, places)`, `determinize(state, seat)`;
- `validity`: `FAULTS`, sentences, and the kernel `fault(state, spare)`, which returns the index of one that is true of
  the record, 0 if there is none; `spare` is a copy of the record and room to work in. All that the other kernels rely
  on is tested there; each field is in its range already;
- `heuristic`, kernels: `action_values(state, values, scratch)` of a running game: float32 [num_actions], which come
  filled with -inf and are written where legal; scratch is int64[1024] for any use; and
  `projected_scores(state, scores)`, what players would have if the game were scored now, int32 [players]; of an
  ended game the scores;
- `notation`: `PHASES`, `move(options, action, state)`, `action(options, move, state)`, `position(options, state)`,
  `fill(options, own, phase, state)`, `ending_error(state)`, `chance_free(before, after)`;
- `view.svg`: `svg(position, last_move, seat)`;
- `view.text`: `text(position, last_move, seat, colour)`;
- `symmetry`: `order(options)`, `draw(options, n, random)`, `apply(options, form, symmetries, observation, policies)`,
  `transform(options, form, observation, policies, random)`: every row under a symmetry of the game.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .engine.dispatch import GameKernels
from .engine.state import Field
from .observation_field import ObservationField
from .options import Number, Option

_KERNEL_MODULES = ("rules", "heuristic", "validity")


@dataclass(frozen=True)
class GameSpec:
    """One game: names, options, sizes and layout; its code is imported from `package` when it is needed."""

    name: str
    title: str
    version: int
    package: str
    options: tuple[Option, ...]
    state_dtype: np.dtype
    state_fields: tuple[Field, ...]
    """The game's own fields of a record, with the range of each."""
    num_actions: Callable[[dict[str, Any]], int]
    observations: tuple[str, ...]
    """The forms that an observation can have; the first is the default."""
    observation_fields: Callable[[dict[str, Any], str], tuple[ObservationField, ...]]
    """The parts of an observation, for the options and a form."""
    margin_scale: float
    """Points that make a reward of 1 in the kind "margin"."""
    summary: str
    search: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the tree search that are the strongest at one second a move, where they differ from its own."""
    first_cell_action: int | None = None
    """Where actions are cells of a plane that an observation begins with: the action of its first cell, row by row."""

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

    def kernels(self) -> GameKernels:
        """Return the game's kernels (`engine/interface.py`); TypeError that names one which it needs and lacks."""
        modules = [self.module(name) for name in _KERNEL_MODULES if self.has_module(name)]
        found = {
            kernel.name: getattr(module, kernel.name)
            for kernel in fields(GameKernels)
            for module in modules
            if hasattr(module, kernel.name)
        }
        for kernel in fields(GameKernels):
            if kernel.default is MISSING and kernel.name not in found:
                raise TypeError(f"the game {self.name} has no kernel {kernel.name}")
        return GameKernels(**found)

    def kernel_sources(self) -> tuple[tuple[Path, str], ...]:
        """Return files and names of the modules that the kernels stand in."""
        specs = [find_spec(f"{self.package}.{name}") for name in _KERNEL_MODULES]
        return tuple((Path(spec.origin), spec.name) for spec in specs if spec is not None and spec.origin is not None)

    def has_module(self, name: str) -> bool:
        """Tell whether the game has a module of that name."""
        return find_spec(f"{self.package}.{name}") is not None

    def module(self, name: str) -> ModuleType:
        """Return one of the game's modules: rules, validity, greedy, notation, drawing, text or symmetry."""
        return import_module(f"{self.package}.{name}")
