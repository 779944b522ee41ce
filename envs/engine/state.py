"""The layout of a game's record: a header that the engine knows, the options, then the game's own fields.

| header field | dtype | meaning |
|---|---|---|
| `random` | uint32[4] | the game's random stream (deals and draws, nothing else) |
| `seed` | uint64 | the seed that this game started from; `Game.new(seed)` starts it again |
| `ply` | uint32 | decisions made so far |
| `to_move` | uint8 | the player who decides next (when the game is over, the player who decided last) |
| `status` | uint8 | 0 running, 1 ended by a rule, 2 truncated by a limit |
| `option_<name>` | int16 | every option: the number itself, or the index among the option's choices |
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .random_stream import MAX_SEED

RUNNING, ENDED, TRUNCATED = 0, 1, 2
MAX_SCORE = 30_000
"""The largest score accepted in a record from outside; it leaves room for later points."""


class Field(NamedTuple):
    """A field of a record; its values are integers from `low` to `high` for all options and positions."""

    name: str
    dtype: str
    high: int
    shape: tuple[int, ...] = ()
    low: int = 0


HEADER = (
    Field("random", "<u4", 2**32 - 1, (4,)),
    Field("seed", "<u8", MAX_SEED),
    Field("ply", "<u4", 2**32 - 1),
    Field("to_move", "u1", 255),
    Field("status", "u1", TRUNCATED),
)


def marker_name(game: str) -> str:
    """Return the name of the field that pads a record and identifies its game; it is always 0."""
    return f"game_{game}"


def record_dtype(game: str, option_names: Iterable[str], fields: Sequence[Field]) -> np.dtype:
    """Return the structured dtype of a game: header, one int16 per option, the game's own fields.

    Fields are ordered by decreasing size of their elements. The last one pads the record to a multiple of eight
    bytes. So everything is aligned, and there is no implicit padding, which numpy leaves undefined when it copies. The
    last field is named after the game, so that no two games share a type, by which kernels are selected (`dispatch`).
    """
    options = [(f"option_{name}", "<i2", ()) for name in option_names]
    header, own_fields = ([(field.name, field.dtype, field.shape) for field in part] for part in (HEADER, fields))
    ordered = sorted([*header, *options, *own_fields], key=lambda field: -np.dtype(field[1]).itemsize)
    rest = -np.dtype(ordered).itemsize % 8 or 8
    return np.dtype([*ordered, (marker_name(game), "u1", (rest,))])
