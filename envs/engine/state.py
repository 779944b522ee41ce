"""The layout of a game's record: a header that the engine knows, the options, then the game's own fields.

| header field | dtype | meaning |
|---|---|---|
| `random` | uint32[4] | the game's random stream (deals and draws, nothing else) |
| `seed` | uint64 | the seed that this game began with; `Game.new(seed)` begins it again |
| `ply` | uint32 | decisions made so far |
| `to_move` | uint8 | the player who decides next (the last one to decide, when the game is over) |
| `over` | uint8 | 0 while the game runs, 1 ended by a rule, 2 cut off by a limit |
| `option_<name>` | int16 | every option: the number itself, or the index among the option's choices |
"""

from collections.abc import Iterable, Sequence

import numpy as np

RUNNING, ENDED, CUT_OFF = 0, 1, 2

Field = tuple[str, str] | tuple[str, str, tuple[int, ...]]

_HEADER: tuple[Field, ...] = (
    ("random", "<u4", (4,)),
    ("seed", "<u8"),
    ("ply", "<u4"),
    ("to_move", "u1"),
    ("over", "u1"),
)


def record_dtype(option_names: Iterable[str], fields: Sequence[Field]) -> np.dtype:
    """Return the structured dtype of a game: header, one int16 per option, the game's own fields.

    Fields lie in memory by falling size of their elements, and the rest up to a multiple of eight bytes is a field
    of its own (`unused`): all is aligned, and no byte is padding, which numpy leaves undefined when it copies.
    """
    options: list[Field] = [(f"option_{name}", "<i2") for name in option_names]
    ordered = sorted([*_HEADER, *options, *fields], key=lambda field: -np.dtype(field[1]).itemsize)
    unused = -np.dtype(ordered).itemsize % 8
    return np.dtype([*ordered, ("unused", "u1", (unused,))] if unused else ordered)
