"""The games that the tests of the interfaces cover: every one of the suite, its player counts and main options."""

from itertools import product

import pytest

from meeplezoo.envs.interfaces.registration import gymnasium_id
from meeplezoo.envs.registry import BUILT_IN, describe

_OPTIONS = {
    "azul": [
        *({"num_players": n, "wall": wall} for n, wall in product((2, 3, 4), ("coloured", "grey"))),
        {"encoding": "compact"},
    ],
    # the defaults once; smaller tables are quicker
    "qwirkle": [
        {},
        {"num_players": 2, "board_size": 26, "opening": "free", "encoding": "flat"},
        {"num_players": 3, "board_size": 26, "opening": "free"},
        {"num_players": 4, "board_size": 25, "encoding": "flat"},
        {"num_players": 2, "board_size": 25, "encoding": "compact"},
    ],
    "manhattan": [
        {},
        {"num_players": 2},
        {"num_players": 2, "seats": "adjacent", "tiebreak": "none"},
        {"num_players": 3, "tiebreak": "none"},
        {"encoding": "compact"},
    ],
}
_QUICK = {"qwirkle": {"board_size": 26}}

NAMES = tuple(BUILT_IN)


def player_counts(name):
    """Return the numbers of players that a game can have."""
    return tuple(describe(name).player_counts)


def player_count(name, wanted):
    """Return the number of players that comes nearest to a wanted one."""
    return min(player_counts(name), key=lambda players: abs(players - wanted))


def cases_of(name):
    """Return the options of a game's cases: the main ones, or at least all numbers of players."""
    return _OPTIONS.get(name) or [{"num_players": players} for players in player_counts(name)]


TABLES = [(name, players) for name in NAMES for players in player_counts(name)]
"""(name, number of players): all that there are."""
CASES = [
    pytest.param(name, options, id=" ".join([name, *(f"{key}={value}" for key, value in options.items())]))
    for name in NAMES
    for options in cases_of(name)
]
"""(name, options): all games in all their player counts."""
LIMITED = [("azul", {"max_rounds": 1}), ("qwirkle", {"max_turns": 3, "board_size": 26})]
"""Games that can be cut off, and options that do so soon."""


def quick(name, **options):
    """Return options of a game with which its tests take little time."""
    return {**_QUICK.get(name, {}), **options}


def first_case(name):
    """Return the options of the game's first case."""
    return cases_of(name)[0]


def module_name(name):
    """Return the name of a game's PettingZoo module."""
    return f"{name}_v{describe(name).version}"


def gymnasium_name(name):
    """Return the id of a game with the import that makes it known."""
    return f"meeplezoo.envs:{gymnasium_id(describe(name))}"
