"""JSON from outside that is not what it should be: moves, positions, records, and the files that hold them."""

import gzip
import json
import os
import re

import numpy as np
import pytest
from every_game import CASES, NAMES, first_case
from hostile_data import assert_one_sentence, at, nested, places, recursive, replaced

from meeplezoo.agents.arena.recording import record_games
from meeplezoo.cli.main import main
from meeplezoo.cli.move_entry import read_move
from meeplezoo.envs import IllegalMove, make_game
from meeplezoo.envs.records import record as records
from meeplezoo.envs.records.record import RecordError, read_records, replay, write_records
from meeplezoo.envs.records.record_validation import check_record
from meeplezoo.envs.system.files import read_file, read_lines
from meeplezoo.envs.system.messages import shorten
from meeplezoo.envs.system.strict_json import parse_json

EVERY_GAME = pytest.mark.parametrize("name", NAMES)


class Whole(int):
    """An integer of another type."""


HOSTILE = [
    *(None, True, 1.0, -1, 10**30, 10**5000, float("nan"), float("inf"), "", "\ud800", "\x1b[31m", "x" * 10**6),
    *([], {}, [1] * 10**5, nested(10**5), recursive(), Whole(1), np.int64(1), np.float32(1), np.bool_(True)),
    *(np.array([1, 2]), np.array(["blue"]), object(), (1, 2), b"1", {1: 2}, {None: 1}, {"x": 1}, set(), print),
]


def game_of(name):
    options = dict(first_case(name))
    return make_game(name, **options)


def some_states(game, plies=(0, 7, 40)):
    """Yield running states of a game after some random plies."""
    random = np.random.default_rng(5)
    for number in plies:
        state = game.new(3)
        for _ in range(number):
            game.play_action(state, int(random.choice(np.flatnonzero(game.mask(state)))))
        yield state


# --- the door


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NaN", "holds NaN, which is not a JSON number"),
        ("[1, -Infinity]", "holds -Infinity"),
        ("1e400", "holds the number '1e400', which is too large"),
        ("9" * 400, "holds the number '99"),
        ("-" + "9" * 5000, "holds the number '-9"),
        ('{"a": 1, "b": 2, "a": 1}', "has the key 'a' twice in one object"),
        ('[{"b": {"\\u001b": 1, "\\u001b": 1}}]', r"has the key '\x1b' twice"),
        ('"\\ud800"', "holds half a surrogate pair"),
        ('{"\\udc00x": 1}', "holds half a surrogate pair"),
        ('"\ud800"', "holds half a surrogate pair"),
        ("[" * 10**5, "is nested too deeply"),
        ('{"a":' * 10**5, "is nested too deeply"),
        ("", "is not JSON"),
        ("\ufeff{}", "is not JSON (Unexpected UTF-8 BOM"),
        ("{'a': 1}", "is not JSON"),
        ("[1,]", "is not JSON"),
        ("01", "is not JSON"),
        (b"\xff\xfe{\0}\0", "is not UTF-8 text"),
        (gzip.compress(b"{}", mtime=0), "is not UTF-8 text"),
        ('"a\nb"', "is not JSON"),
    ],
)
def test_what_programs_read_differently_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        parse_json(text)
    assert_one_sentence(caught.value, 200)


def test_what_all_programs_read_alike_is_read():
    for value in [None, True, -7, 2**63, 10**300, 1.5, 1e308, "\U0001f600", "a\u2028b", {"ä": [{}]}, nested(100)]:
        for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
            read = parse_json(text.encode())
            assert read == value
            assert type(read) is type(value)


def test_many_keys_are_read_in_time():
    many = {str(number): number for number in range(50_000)}
    assert parse_json(json.dumps(many)) == many
    with pytest.raises(ValueError, match="has the key '7' twice"):
        parse_json(json.dumps(many)[:-1] + ', "7": 1}')


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
def test_every_value_is_shown_on_one_short_line(value):
    assert len(shorten(value)) <= 80
    assert shorten(value).isprintable()


# --- moves and positions handed over in Python


@pytest.mark.parametrize(("name", "options"), CASES)
def test_whatever_a_position_holds_is_read_or_refused_in_a_sentence(name, options):
    game = make_game(name, **options)
    random = np.random.default_rng(1)
    for state in some_states(game):
        position = game.position(state)
        # all of the first two levels, some of what is below
        paths = [path for path in places(position) if len(path) < 3 or random.random() < 0.05]
        for path in paths:
            value = HOSTILE[random.integers(len(HOSTILE))]
            try:
                read = game.from_position(replaced(position, path, value))
            except ValueError as error:
                assert_one_sentence(error)
            else:
                assert game.mask(read).any()


@EVERY_GAME
@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
def test_whatever_a_key_of_a_position_is_is_read_or_refused(name, value):
    game = game_of(name)
    (state,) = some_states(game, [7])
    position = game.position(state)
    for changed in (value, *({**position, key: value} for key in position), {**position, "more": value}):
        # a few may be right, like null where nothing lies
        try:
            game.from_position(changed)
        except ValueError as error:
            assert_one_sentence(error)


@pytest.mark.parametrize("key", [1, None, ("a",), "\ud800", "x" * 10**5, np.str_("x")])
def test_keys_that_are_no_names_are_refused(key):
    for name in NAMES:
        game = game_of(name)
        for state in some_states(game, [7]):
            position = game.position(state)
            for path in [path for path in places(position) if isinstance(at(position, path), dict)]:
                with pytest.raises(ValueError, match=r"unknown key|must be (one of|a tile)|options") as caught:
                    game.from_position(replaced(position, path, {**at(position, path), key: 1}))
                assert_one_sentence(caught.value)
            move = game.legal_moves(state)[0]
            with pytest.raises(IllegalMove) as refused:
                game.play(state, {**move, key: 1})
            assert_one_sentence(refused.value)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_integers_of_a_position_are_neither_floats_nor_booleans(name, options):
    game = make_game(name, **options)
    for state in some_states(game):
        position = game.position(state)
        assert game.position(game.from_position(position)) == position
        integers = [path for path in places(position) if type(at(position, path)) is int]
        assert integers
        for path in integers[:20] + integers[20::7]:
            number = at(position, path)
            for other in [
                float(number),
                np.int64(number),
                Whole(number),
                *([bool(number)] if number in (0, 1) else []),
            ]:
                with pytest.raises(ValueError, match=re.escape(str(path[0]))):
                    game.from_position(replaced(position, path, other))


@EVERY_GAME
def test_whatever_a_move_holds_is_an_action_or_refused_in_a_sentence(name):
    game = game_of(name)
    for state in some_states(game):
        before = game.position(state)
        legal = game.legal_moves(state)
        for move in {tuple(move): move for move in legal}.values():
            for path in places(move):
                for value in HOSTILE:
                    changed = replaced(move, path, value)
                    for seen in (state, None):
                        try:
                            assert 0 <= game.action(changed, seen) < game.num_actions
                        except ValueError as error:
                            assert_one_sentence(error)
                    if type(value) is not type(at(move, path)):
                        with pytest.raises(IllegalMove):
                            game.play(state, changed)
        assert game.position(state) == before


def test_huge_lists_are_refused_in_time():
    many = [[0, 0]] * 10**6
    game = make_game("qwirkle")
    position = game.position(game.new(1))
    for changed in (
        {**position, "turn": {**position["turn"], "placed": many}},
        {**position, "board": many},
        {**position, "hands": many},
        {**position, "bag": {str(number): 1 for number in range(10**5)}},
    ):
        with pytest.raises(ValueError, match=r"entries|must be one of"):
            game.from_position(changed)


# --- moves that a person types


def test_a_typed_move_is_compared_by_its_types():
    legal = [{"source": 1, "line": 0}, {"end": True}, {"place": [0, 1]}]
    assert read_move('{"line": 0, "source": 1}', legal) is legal[0]
    for text in ['{"source": 1.0, "line": 0}', '{"source": true, "line": 0}', '{"end": 1}', '{"place": [false, 1]}']:
        with pytest.raises(ValueError, match="is no legal move"):
            read_move(text, legal)
    for text in ['{"source": NaN, "line": 0}', '{"end": true, "end": true}', '{"a":' * 10**5, '{"end": 1' + "0" * 5000]:
        with pytest.raises(ValueError, match=r"^'\{.*' (is|has|holds) ") as caught:
            read_move(text, legal)
        assert_one_sentence(caught.value)


@pytest.mark.parametrize("text", ["x" * 10**5, "\x1b[31m", "9" * 5000, "\u0663", "{}" * 10**5, "\ud800"])
def test_whatever_is_typed_has_a_short_answer(text):
    with pytest.raises(ValueError, match=r"no legal move|no move|is not JSON") as caught:
        read_move(text, [{"source": 1, "line": 0}])
    assert_one_sentence(caught.value)


# --- records


@pytest.fixture(scope="module")
def recorded():
    """Return a record with positions of every game."""
    return {
        name: next(record_games(game_of(name), ["random"] * game_of(name).num_players, 1, 5, True)) for name in NAMES
    }


def check(path, record):
    path.write_text(json.dumps(record) + "\n")
    return [check_record(stored) for stored in read_records(path)]


@EVERY_GAME
def test_the_final_result_is_compared_by_its_types(name, recorded, tmp_path):
    """A number that is equal in Python alone, like 62.0 and true, is a difference."""
    record, path = recorded[name], tmp_path / "games.jsonl"
    assert check(path, record) == [True]
    result = record["final"]["result"]
    for key, value in (
        ("scores", [float(score) for score in result["scores"]]),
        ("scores", [bool(score) for score in result["scores"]]),
        ("winners", [winner + 0.0 for winner in result["winners"]]),
        ("winners", [bool(winner) for winner in result["winners"]]),
        ("truncated", int(result["truncated"])),
    ):
        with pytest.raises(RecordError, match=rf"^line 1: final(: |\.)result\.{key}"):
            check(path, replaced(record, ("final", "result", key), value))


@EVERY_GAME
def test_every_integer_of_a_record_is_compared_by_its_type(name, recorded, tmp_path):
    record, path = recorded[name], tmp_path / "games.jsonl"
    # the parts before the plies, one ply with everything, and the end
    record = {**record, "plies": record["plies"][:2]}
    integers = [place for place in places(record) if type(at(record, place)) is int]
    chosen = [place for place in integers if place[0] in ("options", "seed") or place[:2] == ("plies", 1)]
    for place in chosen[:60]:
        number = at(record, place)
        for other in [float(number), *([bool(number)] if number in (0, 1) else [])]:
            with pytest.raises(RecordError, match=r"^line 1(, ply 1)?: ") as caught:
                check(path, replaced(record, place, other))
            assert "not over" not in str(caught.value), (place, other)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("NaN", "holds NaN"),
        ("9" * 400, "holds the number"),
        ("-1", "player: is -1"),
        ("1.0", "player: is 1.0"),
        ("true", "player: is True"),
        ('"\\ud800"', "half a surrogate pair"),
        ('{"a": 1, "a": 2}', "has the key 'a' twice"),
        ("[" * 50_000 + "]" * 50_000, "nested too deeply"),
        ("[" * 200 + "]" * 200, "player: is [[[[["),
        ('"' + "x" * 10**6 + '"', "player: is 'xxx"),
    ],
)
@pytest.mark.parametrize("words", [[], ["--check"]])
def test_replay_says_what_is_wrong_in_one_line(raw, message, words, recorded, tmp_path, capsys):
    record = replaced(recorded[NAMES[0]], ("plies", 1, "player"), "RAW")
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(record).replace('"RAW"', raw) + "\n")
    assert main(["replay", str(path), *words]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"meeplezoo: error: {path}: line 1")
    assert message in err
    assert_one_sentence(err.rstrip("\n"), 400)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line[:-30], "line 2: the record is cut off in the middle"),
        (lambda line: line[:-30] + b"\n", "line 2: is not JSON"),
        (lambda line: b"\r\n", "line 2: is empty"),
        (lambda line: b"\xef\xbb\xbf" + line, "line 2: is not JSON"),
        (lambda line: line.decode().encode("utf-16"), "line 2: is not UTF-8 text"),
        (lambda line: gzip.compress(line), "line 2: is not UTF-8 text"),
        (lambda line: b"\0" * 100 + b"\n", "line 2: is not JSON"),
        (lambda line: line[:-1] + line, "line 2: is not JSON"),
    ],
)
def test_damaged_lines_are_named_and_games_before_them_are_read(change, message, recorded, tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [recorded[NAMES[0]]])
    line = path.read_bytes()
    path.write_bytes(line + change(line))
    found = read_records(path)
    assert check_record(next(found))
    with pytest.raises(RecordError, match=f"^{message}") as caught:
        list(found)
    assert_one_sentence(caught.value)
    # other systems' line ends are fine
    path.write_bytes(line.replace(b"\n", b"\r\n") * 2)
    assert [check_record(stored) for stored in read_records(path)] == [True, True]
    assert len(list(replay(next(read_records(path))))) == len(recorded[NAMES[0]]["plies"]) + 1


def test_a_line_without_end_is_not_read_to_its_end(monkeypatch, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(b" " * 3000 + b"\n")
    monkeypatch.setattr(records, "LONGEST_LINE", 1000)
    with pytest.raises(RecordError, match=r"^line 1: is longer than 1,000 bytes, the most that is read$"):
        list(read_records(path))


# --- files


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a device")
@pytest.mark.parametrize("words", [["replay"], ["replay", "--check"]])
def test_devices_pipes_and_folders_are_not_read(words, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name in ("/dev/zero", "/dev/null", tmp_path / "pipe", tmp_path / "link"):
        assert main([*words, str(name)]) == 2
        assert capsys.readouterr().err == f"meeplezoo: error: {name} is not a regular file\n"
    for name, message in [
        (str(tmp_path), "is a folder, not a file"),
        ("no\0file", r"no\x00file cannot be the name of a file"),
        ("x" * 5000, "is too long a name for a file"),
        ("", "folder"),
        ("-", "there is no file -"),
    ]:
        assert main([*words, name]) == 2
        err = capsys.readouterr().err
        assert message in err
        assert_one_sentence(err.rstrip("\n"), 400)


def test_files_are_read_up_to_a_limit(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"ab\nc")
    assert read_file(path, 4) == b"ab\nc"
    assert list(read_lines(path, 3)) == [b"ab\n", b"c"]
    with pytest.raises(ValueError, match=r"file is larger than 3 bytes, the most that is read$"):
        read_file(path, 3)
    lines = read_lines(path, 2)
    with pytest.raises(ValueError, match=r"^line 1: is longer than 2 bytes"):
        next(lines)
    for reader in (read_file, lambda *given: list(read_lines(*given))):
        with pytest.raises(ValueError, match=r"is not a regular file$"):
            reader(tmp_path, 10)
        with pytest.raises(FileNotFoundError):
            reader(tmp_path / "none", 10)
        with pytest.raises(ValueError, match=r"cannot be the name of a file$"):
            reader("a\0b", 10)
