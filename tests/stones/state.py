"""The record of a game."""

from meeplezoo.envs.engine.state import record_dtype

MOST_PLAYERS = 6
MOST_STONES = 40
MOST_LUCK = 3
NUM_ACTIONS = 4
FIRST_LIMIT = 3
LAST_POINTS = 3

OPTION_NAMES = ("num_players", "pile")
FIELDS = (
    ("stones", "u1"),
    ("taken", "u1", (MOST_PLAYERS,)),
    ("luck", "u1", (MOST_PLAYERS,)),
    ("last_take", "u1"),
)
DTYPE = record_dtype(OPTION_NAMES, FIELDS)
