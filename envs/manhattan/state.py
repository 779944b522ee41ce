"""Manhattan's record, for any number of players.

Colours: 0 blue, 1 black, 2 red, 3 green. With three or four players, player i has colour i; with two, player p has the
colours p and p + 2. A part of h storeys has size index h - 1. Lots are numbered 0-8 as the south seat sees them.

| field | dtype | meaning |
|---|---|---|
| `phase` | uint8 | 0 draft, 1 build |
| `round` | uint8 | the round, from 1 |
| `start` | uint8 | the player who began this round |
| `draft_colour` | uint8 | draft: the colour to select parts for |
| `parts_left` | uint8 | selected parts of all players that are not yet placed |
| `storeys` | uint8[6, 9, 4] | per city, lot, colour |
| `owner` | uint8[6, 9] | 0 an empty lot, else 1 + the colour on top |
| `height` | uint8[6, 9] | derived: storeys of all colours |
| `reserve` | uint8[4, 4] | per colour and size: parts still in the box |
| `drafted` | uint8[4, 4] | per colour and size: parts selected for this round and not yet placed |
| `hands` | uint8[4, 9] | per player: cards of each kind |
| `deck` | uint8[9] | cards of each kind |
| `deck_size` | uint8 | the number of these cards |
| `discards` | uint8[9] | face-up cards of each kind |
| `score` | int16[4] | per player |
"""

from itertools import product

import numpy as np

from ..engine.state import MAX_SCORE, Field

COLOURS = ("blue", "black", "red", "green")
CITIES = ("manhattan", "sao paulo", "sydney", "cairo", "hong kong", "frankfurt")
SEAT_NAMES = ("south", "west", "north", "east")
NUM_CITIES, NUM_LOTS, NUM_CARDS, NUM_SIZES = 6, 9, 9, 4
COPIES = 5
HAND_SIZE = 4
PARTS = (11, 6, 4, 3)
NUM_PARTS = 24

DRAFT, BUILD = 0, 1

SEATS = ("opposite", "adjacent")
OPPOSITE, ADJACENT = 0, 1
TIEBREAKS = ("towers", "none")
TOWERS = 0

# M6: the lot of each card, for the seats south, west, north, east
LOT_OF_CARD = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
        [2, 5, 8, 1, 4, 7, 0, 3, 6],
        [8, 7, 6, 5, 4, 3, 2, 1, 0],
        [6, 3, 0, 7, 4, 1, 8, 5, 2],
    ],
    np.uint8,
)


def _selections(parts: int) -> np.ndarray:
    """Return all combinations of this many parts that a full box allows, int64 [n, 4], in lexicographic order."""
    ranges = [range(min(parts, number) + 1) for number in PARTS]
    return np.array([chosen for chosen in product(*ranges) if sum(chosen) == parts], np.int64)


SELECTIONS_OF_4 = _selections(4)
SELECTIONS_OF_6 = _selections(6)

_MOST_STOREYS = sum((size + 1) * parts for size, parts in enumerate(PARTS))

FIELDS = (
    Field("score", "<i2", MAX_SCORE, (4,)),
    Field("phase", "u1", BUILD),
    Field("round", "u1", 6, low=1),
    Field("start", "u1", 3),
    Field("draft_colour", "u1", 3),
    Field("parts_left", "u1", 4 * 6),
    Field("storeys", "u1", _MOST_STOREYS, (NUM_CITIES, NUM_LOTS, 4)),
    Field("owner", "u1", 4, (NUM_CITIES, NUM_LOTS)),
    Field("height", "u1", 4 * _MOST_STOREYS, (NUM_CITIES, NUM_LOTS)),
    Field("reserve", "u1", max(PARTS), (4, NUM_SIZES)),
    Field("drafted", "u1", max(PARTS), (4, NUM_SIZES)),
    Field("hands", "u1", HAND_SIZE, (4, NUM_CARDS)),
    Field("deck", "u1", COPIES, (NUM_CARDS,)),
    Field("deck_size", "u1", NUM_CARDS * COPIES),
    Field("discards", "u1", COPIES, (NUM_CARDS,)),
)


def num_colours(num_players: int) -> int:
    """Return the number of colours in the game (M4)."""
    return 3 if num_players == 3 else 4


def colours_per_player(num_players: int) -> int:
    """Return the number of colours per player (M4)."""
    return 2 if num_players == 2 else 1


def num_rounds(num_players: int) -> int:
    """Return the number of rounds (M8)."""
    return 4 if num_players == 4 else 6


def parts_per_round(num_players: int) -> int:
    """Return the number of parts selected for each colour in a round (M8)."""
    return 6 if num_players == 4 else 4


def num_selections(num_players: int) -> int:
    """Return the number of different selections."""
    return len(SELECTIONS_OF_6 if num_players == 4 else SELECTIONS_OF_4)
