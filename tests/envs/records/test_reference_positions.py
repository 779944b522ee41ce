"""Positions and whole games made independently of this project: every one has to come out the same."""

import copy
import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_data import cases, golden_files, move_key, read_lines

from meeplezoo.envs import IllegalMove, make_game
from meeplezoo.envs.registry import BUILT_IN

CASES = [case for name in BUILT_IN for case in cases(name)]
GOLDEN = [file for name in BUILT_IN for file in golden_files(name)]


def assert_holds(expected: Any, found: Any, path: str) -> None:
    """Of an object the keys given; of lists of objects each entry so; everything else as a whole."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in found, f"{path}: {key} is missing"
            assert_holds(value, found[key], f"{path}.{key}")
    elif isinstance(expected, list) and any(isinstance(entry, dict) for entry in expected):
        assert len(expected) == len(found), path
        for index, (entry, other) in enumerate(zip(expected, found, strict=True)):
            assert_holds(entry, other, f"{path}[{index}]")
    else:
        assert expected == found, path


def test_there_are_cases_and_golden_games_of_every_game() -> None:
    for name in BUILT_IN:
        assert len(cases(name)) >= 20
        assert len(golden_files(name)) >= 2


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    game = make_game(case["game"], **case["position"]["options"])
    expect = case["expect"]
    if expect.get("refused"):
        with pytest.raises(ValueError, match=r"^[\w\[\].]+: \S"):
            game.from_position(case["position"], seed=3)
        return
    state = game.from_position(case["position"], seed=3)
    assert game.position(state) == case["position"]
    legal = {move_key(move) for move in game.legal_moves(state)}
    if "legal" in expect:
        assert legal == {move_key(move) for move in expect["legal"]}
    assert legal >= {move_key(move) for move in expect.get("legal_includes", [])}
    for move in expect.get("legal_excludes", []):
        assert move_key(move) not in legal
        with pytest.raises(IllegalMove):
            game.play(state, move)
        assert game.position(state) == case["position"]
    if "move" in expect:
        game.play(state, expect["move"])
        after = game.position(state)
        assert_holds(expect.get("after", {}), after, "after")
        assert_holds(expect.get("result", {}), after.get("result", {}), "result")


@pytest.mark.parametrize("file", GOLDEN)
def test_golden_games(file: str) -> None:
    for record in read_lines(file):
        game = make_game(record["game"], **record["options"])
        chance_free = game.spec.notation().chance_free
        positions = [ply["position"] for ply in record["plies"]] + [record["final"]]
        for number, ply in enumerate(record["plies"]):
            before, expected = positions[number], positions[number + 1]
            state = game.from_position(before, seed=number)
            assert game.position(state) == before
            assert before["to_move"] == ply["player"]
            assert {move_key(move) for move in game.legal_moves(state)} == {move_key(m) for m in ply["legal"]}
            game.play(state, ply["move"])
            after = game.position(state)
            assert after.keys() == expected.keys(), (file, number)
            assert chance_free(before, after) == chance_free(before, expected)
        assert game.position(game.from_position(record["final"])) == record["final"]
        assert game.legal_moves(game.from_position(record["final"])) == []


@cache
def golden_positions(name: str) -> list[dict[str, Any]]:
    return [ply["position"] for file in golden_files(name) for record in read_lines(file) for ply in record["plies"]]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, entry in inner for place in places(entry, (*path, key)))]


JUNK = [None, True, -1, 0, 1, 7, 256, 2**70, 1.5, "", "blue", "centre", "red circle", [], ["red"], ["red star"], [[]]]
JUNK += [{}, {"blue": 1}, {"1": 1}, [0, 0], [None] * 5, [None] * 9]


@settings(max_examples=900, deadline=None)
@given(st.data())
def test_damaged_positions_are_refused_with_a_sentence_or_read_as_they_are(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(BUILT_IN)))
    position = copy.deepcopy(data.draw(st.sampled_from(golden_positions(name))))
    game = make_game(name, **position["options"])
    path = data.draw(st.sampled_from(places(position)[1:]))
    junk = data.draw(st.sampled_from([*JUNK, KeyError]))
    place: Any = position
    for key in path[:-1]:
        place = place[key]
    if junk is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = junk
    try:
        state = game.from_position(position)
    except ValueError:  # anything else would be a crash, not a refusal
        return
    assert in_order(game.position(state)) == in_order(position)


def in_order(position: dict[str, Any]) -> dict[str, Any]:
    """Return a position with its board in one order: a tile that was moved may stand elsewhere in the list."""
    if "board" not in position:
        return position
    return {**position, "board": sorted(position["board"], key=json.dumps)}
