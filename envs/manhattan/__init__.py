"""Manhattan (1994): draft parts, build towers in six cities, own the most and the tallest."""

from typing import Any

from ..options import Choice, Number
from ..spec import GameSpec
from .observation import fields
from .state import (
    DTYPE,
    FIELDS,
    NUM_CARDS,
    NUM_CITIES,
    NUM_SIZES,
    SEATS,
    TIEBREAKS,
    colours_per_player,
    num_selections,
)


def num_actions(options: dict[str, Any]) -> int:
    """Return the number of actions: selections, buildings with each colour, discards."""
    players = options["num_players"]
    return num_selections(players) + NUM_CARDS * NUM_CITIES * NUM_SIZES * colours_per_player(players) + NUM_CARDS


GAME = GameSpec(
    name="manhattan",
    title="Manhattan",
    version=0,
    package=__name__,
    options=(
        Number("num_players", 2, 4, 4, "players at the table", original=True),
        Choice(
            "seats", SEATS, "opposite", "two players: sitting opposite each other or at adjacent sides", original=True
        ),
        Choice(
            "tiebreak",
            TIEBREAKS,
            "towers",
            "tallest tower, then majorities decide a tie, or all tied share it",
            original=True,
        ),
    ),
    state_dtype=DTYPE,
    state_fields=FIELDS,
    num_actions=num_actions,
    observations=("flat",),
    observation_fields=fields,
    margin_scale=30.0,
    search={"plies": 20, "c": 0.3},
    summary="Draft parts, build towers in six cities, own the most and the tallest.",
)
