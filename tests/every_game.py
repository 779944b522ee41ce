"""The games that the tests of the interfaces cover: every registered one, its player counts and main options."""

from itertools import product

import pytest

from meeplezoo.envs import game_names
from meeplezoo.envs.registration import gymnasium_id
from meeplezoo.envs.registry import describe

_OPTIONS = {
    "azul": [{"num_players": n, "wall": wall} for n, wall in product((2, 3, 4), ("coloured", "grey"))],
    # the defaults once; smaller tables are quicker
    "qwirkle": [
        {},
        {"num_players": 2, "board_size": 26, "opening": "free", "observation": "flat"},
        {"num_players": 3, "board_size": 26, "opening": "free"},
        {"num_players": 4, "board_size": 25, "observation": "flat"},
    ],
    "manhattan": [
        {},
        {"num_players": 2},
        {"num_players": 2, "seats": "adjacent", "tiebreak": "none"},
        {"num_players": 3, "tiebreak": "none"},
    ],
}
_QUICK = {"azul": {}, "qwirkle": {"board_size": 26}, "manhattan": {}}

NAMES = game_names()
CASES = [
    pytest.param(name, options, id=" ".join([name, *(f"{key}={value}" for key, value in options.items())]))
    for name in NAMES
    for options in _OPTIONS[name]
]
"""(name, options): all games in all their player counts."""
LIMITED = [("azul", {"max_rounds": 1}), ("qwirkle", {"max_turns": 3, "board_size": 26})]
"""Games that can be cut off, and options that do so soon."""


def quick(name, **options):
    """Return options of a game with which its tests take little time."""
    return {**_QUICK[name], **options}


def first_case(name):
    """Return the options of the game's first case."""
    return _OPTIONS[name][0]


def module_name(name):
    """Return the name of a game's PettingZoo module."""
    return f"{name}_v{describe(name).version}"


def gymnasium_name(name):
    """Return the id of a game with the import that makes it known."""
    return f"meeplezoo.envs:{gymnasium_id(describe(name))}"
