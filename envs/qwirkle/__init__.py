"""Qwirkle: lay tiles of one colour or one shape in rows and columns."""

from typing import Any

from ..options import Choice, Number
from ..spec import GameSpec
from .observation import FORMS, fields
from .state import DTYPE, FIELDS, OPENINGS, PLACE


def num_actions(options: dict[str, Any]) -> int:
    """Return the number of actions: pick up, return, end, and the cells of the window."""
    size: int = options["board_size"]
    return PLACE + size * size


GAME = GameSpec(
    name="qwirkle",
    title="Qwirkle",
    version=0,
    package=__name__,
    options=(
        Number("num_players", 2, 4, 2, "players at the table", original=True),
        Choice(
            "opening",
            OPENINGS,
            "strict",
            "whether the first turn has to lay the largest set of the hand",
            original=True,
        ),
        Number("board_size", 7, 92, 48, "the table may grow to one less in width and height", original=True),
        Number("max_turns", 1, 10_000, 200, "the game is cut off after this turn", original=True),
    ),
    state_dtype=DTYPE,
    state_fields=FIELDS,
    num_actions=num_actions,
    observations=FORMS,
    observation_fields=fields,
    margin_scale=50.0,
    search={"plies": 1, "mix": 1.0, "c": 0.2},
    first_cell_action=PLACE,
    summary="Lay tiles of one colour or one shape in rows and columns.",
)
