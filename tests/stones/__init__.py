"""A game that is not part of the suite, as a third party would write it: take stones from a pile.

One to four at a time, but at most one more than were taken before, and at most three at first. Everybody has some luck,
0 to 3 points that only its owner sees. The points are the stones taken, the luck, and 3 for whoever takes the last
stones; the most points win. Whoever plays alone wins by taking a single stone last. There are three of it: `stones` for
one to six players, `duel` for exactly two, and `pebble`, which is what `stones` may be in a later version, with one
more option.
"""

from dataclasses import replace

from meeplezoo.envs.engine.state import record_dtype
from meeplezoo.envs.options import Choice, Number
from meeplezoo.envs.spec import GameSpec

from .observation import fields
from .state import DTYPE, FIELDS, MOST_PLAYERS, MOST_STONES, NUM_ACTIONS, OPTION_NAMES


def _describe(name: str, fewest: int, most: int, usual: int) -> GameSpec:
    return GameSpec(
        name=name,
        title=name.title(),
        version=0,
        package=__name__,
        options=(
            Number("num_players", fewest, most, usual, "players at the pile"),
            Number("pile", 5, MOST_STONES, 15, "stones at the beginning", original=True),
        ),
        state_dtype=DTYPE,
        state_fields=FIELDS,
        num_actions=lambda options: NUM_ACTIONS,
        observations=("flat",),
        observation_fields=fields,
        margin_scale=10.0,
        summary="Take stones from a pile; the last ones count most.",
    )


GAME = _describe("stones", 1, MOST_PLAYERS, 3)
DUEL = _describe("duel", 2, 2, 2)
PEBBLE = replace(
    GAME,
    name="pebble",
    title="Pebble",
    options=(*GAME.options, Choice("ending", ("usual", "other"), "usual", "how it ends")),
    state_dtype=record_dtype("pebble", (*OPTION_NAMES, "ending"), FIELDS),
)
