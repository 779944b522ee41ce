"""Qwirkle's record, for any number of players and any `board_size`.

Colours: 0 red, 1 orange, 2 yellow, 3 green, 4 blue, 5 purple. Shapes: 0 circle, 1 cross, 2 diamond, 3 square, 4 star,
5 clover. A *kind* is 6 * colour + shape, three tiles each; a *set of kinds* is 36 bits of a uint64.

The table is a torus of 92 x 92 cells: no legal game is wider than 91, so the table never wraps onto itself. A *cell* is
92 * (y mod 92) + (x mod 92). The first tile is at x = y = 0; x increases to the right, y downwards.

| field | dtype | meaning |
|---|---|---|
| `board` | uint8[8464] | 0 empty, 1 + kind a tile, 37 + slot an empty cell beside a tile (the frontier) |
| `frontier_count` | uint8 | slots of the frontier in use |
| `frontier_cell` | uint16[218] | per slot: the cell |
| `frontier_row` | uint64[218] | per slot: the kinds that the runs in its row allow |
| `frontier_column` | uint64[218] | per slot: the kinds that the runs in its column allow |
| `left`, `right`, `top`, `bottom` | int8 | the extent of the table in x and y, all 0 on an empty one |
| `tiles_on_table` | uint8 | tiles on the table |
| `hands` | uint8[4, 36] | per player: tiles of each kind, without those picked up, placed or returned in this turn |
| `hand_size` | uint8[4] | per player: the number of these tiles |
| `hand_kinds` | uint64[4] | per player: the set of kinds in the hand |
| `bag` | uint8[36] | tiles of each kind |
| `bag_size` | uint8 | the number of these tiles |
| `score` | int16[4] | per player |
| `turn_number` | int16 | from 1 |
| `passes` | uint8 | number of consecutive passes |
| `placed_count` | uint8 | tiles placed in this turn |
| `placed` | uint16[6] | their cells, in order |
| `returned_count` | uint8 | tiles set aside in this turn |
| `returned` | uint8[36] | of each kind |
| `picked` | uint8 | 0, or 1 + the kind that was picked up and must be placed |
| `exchange_limit` | uint8 | how many tiles may be returned in this turn (Q11) |
| `opening_size` | uint8 | tiles that must be placed in this turn (strict opening, Q4), otherwise 0 |
| `fits` | uint64 | the kinds that may be picked up now if they are in the hand (Q9) |
"""

from ..engine.state import MAX_SCORE, Field

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple")
SHAPES = ("circle", "cross", "diamond", "square", "star", "clover")
KINDS = tuple(f"{colour} {shape}" for colour in COLOURS for shape in SHAPES)
NUM_KINDS = 36
COPIES = 3
NUM_TILES = NUM_KINDS * COPIES
HAND_SIZE = 6
LONGEST_RUN = 6

TORUS = 92
NUM_CELLS = TORUS * TORUS
MAX_FRONTIER = 218
FIRST_SLOT = 1 + NUM_KINDS
ALL_KINDS = (1 << NUM_KINDS) - 1
FIRST_COLOUR = 0b111111
"""The kinds of colour 0; those of colour c are this << 6 * c."""
FIRST_SHAPE = sum(1 << (6 * colour) for colour in range(6))
"""The kinds of shape 0; those of shape s are this << s."""

PICK = 0
RETURN = NUM_KINDS
END = 2 * NUM_KINDS
PLACE = END + 1

OPENINGS = ("strict", "free")
STRICT, FREE = 0, 1

FIELDS = (
    Field("frontier_row", "<u8", ALL_KINDS, (MAX_FRONTIER,)),
    Field("frontier_column", "<u8", ALL_KINDS, (MAX_FRONTIER,)),
    Field("hand_kinds", "<u8", ALL_KINDS, (4,)),
    Field("fits", "<u8", ALL_KINDS),
    Field("frontier_cell", "<u2", NUM_CELLS - 1, (MAX_FRONTIER,)),
    Field("placed", "<u2", NUM_CELLS - 1, (HAND_SIZE,)),
    Field("score", "<i2", MAX_SCORE, (4,)),
    Field("turn_number", "<i2", 2**15 - 1, low=1),
    Field("left", "i1", 0, low=2 - TORUS),
    Field("right", "i1", TORUS - 2),
    Field("top", "i1", 0, low=2 - TORUS),
    Field("bottom", "i1", TORUS - 2),
    Field("tiles_on_table", "u1", NUM_TILES),
    Field("frontier_count", "u1", MAX_FRONTIER),
    Field("hand_size", "u1", HAND_SIZE, (4,)),
    Field("hands", "u1", COPIES, (4, NUM_KINDS)),
    Field("bag_size", "u1", NUM_TILES),
    Field("bag", "u1", COPIES, (NUM_KINDS,)),
    Field("passes", "u1", 4),
    Field("placed_count", "u1", HAND_SIZE),
    Field("returned_count", "u1", HAND_SIZE),
    Field("returned", "u1", COPIES, (NUM_KINDS,)),
    Field("picked", "u1", NUM_KINDS),
    Field("exchange_limit", "u1", HAND_SIZE),
    Field("opening_size", "u1", HAND_SIZE),
    Field("board", "u1", FIRST_SLOT + MAX_FRONTIER - 1, (NUM_CELLS,)),
)
