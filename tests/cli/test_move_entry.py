"""How a person enters moves: numbers, short forms, JSON, and the list that is shown."""

import json
import re

import pytest

from meeplezoo.cli.move_entry import number_moves, read_move, short_form
from meeplezoo.envs import make_game


def test_short_forms_of_moves():
    moves = [
        {"source": 0, "colour": "red", "line": 2},
        {"source": 0, "colour": "red", "line": "floor"},
        {"source": "centre", "colour": "blue", "line": 12},
        {"source": "centre", "colour": "black", "line": 1},
        {"pick": "red circle"},
        {"place": [0, -3]},
        {"end": True},
        {"draft": {"1": 2, "2": 2, "3": 1, "4": 1}, "colour": "red"},
        {"card": 4, "storeys": 3, "city": "sao paulo", "colour": "red"},
    ]
    forms = [short_form(move) for move in moves]
    assert forms == [
        *("0 red 2", "0 red floor", "centre blue 12", "centre black 1", "pick red circle", "place 0 -3", "end"),
        *("2 2 1 1 red", "4 3 sao paulo red"),
    ]
    for form, move in zip(forms, moves, strict=True):
        assert read_move(form, moves) is move
        assert read_move(f" {form.upper()} ", moves) is move
        assert read_move(json.dumps(move), moves) == move
    for text, index in [("0 r 2", 0), ("c bl 1", 3), ("p r c", 4), ("e", 6), ("4 3 s p r", 8), ("1", 0), ("9", 8)]:
        assert read_move(text, moves) is moves[index]
    for text, message in [
        ("c b 1", None),
        ("0 red", "'0 red' is no legal move"),
        ("centre blue 1", "is no legal move"),
        ("10", "there is no move 10; the moves are 1 to 9"),
        ("9" * 5000, "the moves are 1 to 9"),
        ("{}", "is no legal move"),
        ("[" * 10_000, "is no legal move"),
        ("{" * 10_000, "is not JSON"),
    ]:
        if message is None:
            assert read_move(text, moves) is moves[3]
        else:
            with pytest.raises(ValueError, match=message):
                read_move(text, moves)
    with pytest.raises(ValueError, match="'c bl 1' may be centre black 1, centre blue 1"):
        read_move("c bl 1", [*moves, {"source": "centre", "colour": "blue", "line": 1}])


def test_the_list_of_moves_fits_the_width():
    game = make_game("azul", num_players=4)
    legal = game.legal_moves(game.new(3))
    for width in (20, 80, 200):
        lines = number_moves(legal, width).splitlines()
        assert lines[0] == "Legal moves (source colour line):"
        assert max(map(len, lines[1:])) <= width
        assert len(re.findall(r"\d+\) ", "\n".join(lines))) == len(legal)
    assert len(number_moves(legal, 1).splitlines()) == len(legal) + 1
