"""The record of a game."""

from meeplezoo.envs.engine.state import Field

MOST_PLAYERS = 6
MOST_STONES = 40
MOST_LUCK = 3
NUM_ACTIONS = 4
FIRST_LIMIT = 3
LAST_POINTS = 3

FIELDS = (
    Field("stones", "u1", MOST_STONES),
    Field("taken", "u1", MOST_STONES, (MOST_PLAYERS,)),
    Field("luck", "u1", MOST_LUCK, (MOST_PLAYERS,)),
    Field("last_take", "u1", NUM_ACTIONS),
)
