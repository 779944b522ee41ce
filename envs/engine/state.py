"""The layout of a game's record: a header that the engine knows, the options, then the game's own fields.

| header field | dtype | meaning |
|---|---|---|
| `random` | uint32[4] | the game's random stream (deals and draws, nothing else) |
| `seed` | uint64 | the seed that this game began with; `Game.new(seed)` begins it again |
| `ply` | uint32 | decisions made so far |
| `to_move` | uint8 | the player who decides next (the last one to decide, when the game is over) |
| `status` | uint8 | 0 while the game runs, 1 ended by a rule, 2 cut off by a limit |
| `option_<name>` | int16 | every option: the number itself, or the index among the option's choices |
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .random_stream import MAX_SEED

RUNNING, ENDED, TRUNCATED = 0, 1, 2
MAX_SCORE = 30_000
"""The largest score that a record may be read with; there is room for what a game adds to it."""


class Field(NamedTuple):
    """A field of a record: its values are integers from `low` to `high`, whatever the options and the position are."""

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
    """Return the name of the field that fills a record up and tells it from those of other games; it is always 0."""
    return f"game_{game}"


def record_dtype(game: str, option_names: Iterable[str], fields: Sequence[Field]) -> np.dtype:
    """Return the structured dtype of a game: header, one int16 per option, the game's own fields.

    Fields lie in memory by falling size of their elements. The last one fills the record up to a multiple of eight
    bytes, so that all is aligned and no byte is padding, which numpy leaves undefined when it copies. It bears the
    game's name: no two games have records of one type, by which their kernels are found (`dispatch`).
    """
    options = [(f"option_{name}", "<i2", ()) for name in option_names]
    header, own_fields = ([(field.name, field.dtype, field.shape) for field in part] for part in (HEADER, fields))
    ordered = sorted([*header, *options, *own_fields], key=lambda field: -np.dtype(field[1]).itemsize)
    rest = -np.dtype(ordered).itemsize % 8 or 8
    return np.dtype([*ordered, (marker_name(game), "u1", (rest,))])
