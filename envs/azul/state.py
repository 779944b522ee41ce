"""Azul's record, for any number of players; unused factories and players stay zero.

Colours: 0 blue, 1 yellow, 2 red, 3 black, 4 white. Sources: 0 the centre, 1 + f factory f.
A *set of targets* is 30 bits, bit 6 * colour + destination; destinations 0-4 are the pattern lines, 5 the floor.

| field | dtype | meaning |
|---|---|---|
| `phase` | uint8 | 0 offer, 1 tiling (a column must be chosen, grey wall only) |
| `row` | uint8 | tiling: the row of the full line that needs a column |
| `round` | int16 | the round, from 1 |
| `start` | uint8 | the player who began this round |
| `marker` | int8 | -1 in the centre, else the player who took it this round |
| `tiles_left` | uint8 | tiles in the factories and the centre together |
| `sources` | uint8[10, 5] | tiles of each colour at each source |
| `bag`, `lid` | uint8[5] | tiles of each colour |
| `score` | int16[4] | per player |
| `line_colour` | uint8[4, 5] | per player and line: 0 empty, else 1 + colour |
| `line_count` | uint8[4, 5] | tiles on the line |
| `wall` | uint8[4, 5, 5] | per player, row, column: 0 empty, else 1 + colour |
| `floor` | uint8[4, 5] | tiles of each colour on the floor line |
| `floor_count` | uint8[4] | pieces on the floor line, the marker included |
| `floor_marker` | uint8[4] | 1 if the marker fills a space of this floor line |
| `present` | uint32[10] | derived: all targets (30 bits) of the colours at the source |
| `targets` | uint32[4] | derived: the targets that the player's lines, wall and floor line accept (A12) |
| `row_colours` | uint8[4, 5] | derived: the set of colours of each wall row |
| `column_colours` | uint8[4, 5] | derived: the set of colours of each wall column |
| `row_cells` | uint8[4, 5] | derived: the set of filled columns of each wall row |
| `column_cells` | uint8[4, 5] | derived: the set of filled rows of each wall column |

The derived fields are updated together with the others, so that the legal moves of a source are one bitwise AND.
"""

from ..engine.state import MAX_SCORE, Field

COLOURS = ("blue", "yellow", "red", "black", "white")
NUM_COLOURS = 5
TILES_PER_COLOUR = 20
SIZE = 5
FLOOR_SPACES = 7
FLOOR_COST = (0, 1, 2, 4, 6, 8, 11, 14)
MAX_FACTORIES = 9
MAX_SOURCES = MAX_FACTORIES + 1

OFFER, TILING = 0, 1
CENTRE = 0
MARKER_IN_CENTRE = -1

FLOOR = 5
NUM_DESTINATIONS = 6
NUM_TARGETS = NUM_COLOURS * NUM_DESTINATIONS

_ALL_TARGETS = (1 << NUM_TARGETS) - 1
_ALL_FIVE = (1 << SIZE) - 1

FIELDS = (
    Field("phase", "u1", TILING),
    Field("row", "u1", SIZE - 1),
    Field("round", "<i2", 2**15 - 1, low=1),
    Field("start", "u1", 3),
    Field("marker", "i1", 3, low=MARKER_IN_CENTRE),
    Field("tiles_left", "u1", 4 * MAX_FACTORIES),
    Field("sources", "u1", TILES_PER_COLOUR, (MAX_SOURCES, NUM_COLOURS)),
    Field("bag", "u1", TILES_PER_COLOUR, (NUM_COLOURS,)),
    Field("lid", "u1", TILES_PER_COLOUR, (NUM_COLOURS,)),
    Field("score", "<i2", MAX_SCORE, (4,)),
    Field("line_colour", "u1", NUM_COLOURS, (4, SIZE)),
    Field("line_count", "u1", SIZE, (4, SIZE)),
    Field("wall", "u1", NUM_COLOURS, (4, SIZE, SIZE)),
    Field("floor", "u1", FLOOR_SPACES, (4, NUM_COLOURS)),
    Field("floor_count", "u1", FLOOR_SPACES, (4,)),
    Field("floor_marker", "u1", 1, (4,)),
    Field("present", "<u4", _ALL_TARGETS, (MAX_SOURCES,)),
    Field("targets", "<u4", _ALL_TARGETS, (4,)),
    Field("row_colours", "u1", _ALL_FIVE, (4, SIZE)),
    Field("column_colours", "u1", _ALL_FIVE, (4, SIZE)),
    Field("row_cells", "u1", _ALL_FIVE, (4, SIZE)),
    Field("column_cells", "u1", _ALL_FIVE, (4, SIZE)),
)

WALLS = ("coloured", "grey")
COLOURED, GREY = 0, 1


def num_factories(num_players: int) -> int:
    """Return 5, 7 or 9 factories for 2, 3 or 4 players (A2)."""
    return 2 * num_players + 1
