"""Azul: draft tiles from the factories, fill pattern lines, tile the wall."""

from typing import Any

from ..options import Choice, Number
from ..spec import GameSpec
from .observation import fields
from .state import DTYPE, FIELDS, NUM_TARGETS, SIZE, WALLS, num_factories


def num_actions(options: dict[str, Any]) -> int:
    """Return the number of actions: sources x colours x destinations, and five columns for the grey wall."""
    columns = SIZE if options["wall"] == "grey" else 0
    return (num_factories(options["num_players"]) + 1) * NUM_TARGETS + columns


GAME = GameSpec(
    name="azul",
    title="Azul",
    version=0,
    package=__name__,
    options=(
        Number("num_players", 2, 4, 2, "players at the table", original=True),
        Choice(
            "wall",
            WALLS,
            "coloured",
            "wall with printed colours, or grey with free choice of the column",
            original=True,
        ),
        Number("max_rounds", 1, 1000, 30, "the game is cut off after this round", original=True),
    ),
    state_dtype=DTYPE,
    state_fields=FIELDS,
    num_actions=num_actions,
    observations=("flat",),
    observation_fields=fields,
    margin_scale=50.0,
    summary="Draft tiles from the factories, fill pattern lines, tile the wall.",
)
