"""Folders of tournaments that are not what they should be: file and line are named, and nothing is removed."""

import json
import os
import re
import shutil

import pytest
from hostile_data import assert_one_sentence, nested

from meeplezoo.agents.arena.folder import TournamentFolder
from meeplezoo.agents.arena.games import from_lines
from meeplezoo.agents.arena.settings import make_settings
from meeplezoo.agents.arena.tournament import play_tournament
from meeplezoo.cli.main import main

GIVEN = {"game": "azul", "agents": ["random", "greedy", "greedy"], "rounds": 2, "deals": 2, "records": True}
GAMES_OF_A_MEETING = 4


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return the folder of a tournament that was played to its end."""
    folder = TournamentFolder(tmp_path_factory.mktemp("tournament") / "cup")
    settings = make_settings(GIVEN)
    folder.create(settings)
    play_tournament(settings, folder)
    return folder


@pytest.fixture
def folder(played, tmp_path):
    """Return a copy of it that may be damaged."""
    shutil.copytree(played.path, tmp_path / "cup")
    return TournamentFolder(tmp_path / "cup")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.path.iterdir() if path.is_file()}


def refusal(folder):
    """Return why the games of a folder are refused; nothing of it may change."""
    before = contents(folder)
    with pytest.raises(ValueError, match=re.escape(str(folder.path))) as caught:
        folder.read_games(folder.read_settings())
    assert_one_sentence(caught.value, 400)
    assert contents(folder) == before
    return str(caught.value)


def changed_line(path, number, change):
    """Change the JSON of a line, counted from 1."""
    lines = path.read_bytes().splitlines(keepends=True)
    row = json.loads(lines[number - 1])
    row = change(row) or row
    lines[number - 1] = json.dumps(row).encode() + b"\n" if not isinstance(row, bytes) else row
    path.write_bytes(b"".join(lines))


def with_value(key, value):
    return lambda row: row.update({key: value})


def without(key):
    return lambda row: row.pop(key) and row


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: b"{}\n", "game: the key 'round' is missing"),
        (lambda row: [1], "game: must be an object, not [1]"),
        (lambda row: b"\n", "is not JSON"),
        (lambda row: b"\xff\xfe\n", "is not UTF-8 text"),
        (lambda row: b'{"round": NaN}\n', "holds NaN"),
        (lambda row: b'{"round": 1, "round": 1}\n', "has the key 'round' twice"),
        (lambda row: b'{"round": ' + b"[" * 50_000 + b"\n", "is nested too deeply"),
        (lambda row: b'{"round": ' + b"9" * 400 + b"}\n", "holds the number"),
        *((without(key), f"game: the key '{key}' is missing") for key in ("deal", "seats", "scores", "truncated")),
        (with_value("more", 1), "game: unknown key 'more'"),
        (with_value("round", 0.0), "round: must be an integer from 0 to 99999, not 0.0"),
        (with_value("round", False), "round: must be an integer from 0 to 99999, not False"),
        (with_value("round", -1), "round: must be an integer"),
        (with_value("round", 10**30), "round: must be an integer"),
        (with_value("deal", 5.0), "deal: must be an integer"),
        (with_value("deal", 2**53), "deal: must be an integer"),
        (with_value("seats", ["random"]), "seats: must have 2 entries, not 1"),
        (with_value("seats", [0, 1]), "seats[0]: 0 is no agent of this tournament"),
        (with_value("seats", [["random"], "greedy"]), "seats[0]: ['random'] is no agent of this tournament"),
        (with_value("seats", ["random", "nobody"]), "seats[1]: 'nobody' is no agent of this tournament"),
        (with_value("seats", ["random", "random"]), "seats: are no line-up of this tournament"),
        (with_value("scores", [1.0, 2]), "scores: must be an integer"),
        (with_value("scores", [True, 2]), "scores: must be an integer"),
        (with_value("scores", [10**12, 2]), "scores: must be an integer"),
        (with_value("scores", "12"), "scores: must be a list, not '12'"),
        (with_value("scores", nested(200)), "scores: must have 2 entries, not 1"),
        (with_value("ranks", [-1, 0]), "ranks: must be an integer from 0 to 1, not -1"),
        (with_value("ranks", [1, 1]), "ranks: there is no such ranking: [1, 1]"),
        (with_value("ranks", [0.0, 1]), "ranks: must be an integer"),
        (with_value("moves", [-1, 1]), "moves: must be an integer from 0"),
        (with_value("moves", [1.0, 1]), "moves: must be an integer from 0"),
        (with_value("seconds", [-1.0, 1.0]), "seconds: must be numbers from 0"),
        (with_value("seconds", [True, 1.0]), "seconds: must be numbers from 0"),
        (with_value("seconds", [1e300, 1.0]), "seconds: must be numbers from 0"),
        (with_value("seconds", ["1", 1.0]), "seconds: must be numbers from 0"),
        (with_value("truncated", 0), "truncated: must be true or false, not 0"),
        (with_value("truncated", None), "truncated: must be true or false, not None"),
        (with_value("forfeit", None), "forfeit: must be an object, not None"),
        (with_value("forfeit", {"seat": 0}), "forfeit: the key 'reason' is missing"),
        (with_value("forfeit", {"seat": 2, "reason": ""}), "forfeit.seat: must be an integer from 0 to 1, not 2"),
        (with_value("forfeit", {"seat": -1, "reason": ""}), "forfeit.seat: must be an integer from 0 to 1, not -1"),
        (with_value("forfeit", {"seat": 0, "reason": 1}), "forfeit.reason: must be a text, not 1"),
        (lambda row: row.update(ranks=[0, 1], forfeit={"seat": 0, "reason": ""}), "ranks: who forfeits comes last"),
    ],
)
def test_a_line_that_is_no_game_is_named(change, message, folder):
    changed_line(folder.games, 7, change)
    text = refusal(folder)
    assert text.startswith(f"{folder.games}: line 7 is no game of this tournament (")
    assert message in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:5] + lines[6:], r"line 6: must be round 0, deal \d+, seats \[.*\]; a line is missing"),
        (lambda lines: lines[1:], r"line 1: must be round 0, deal \d+, seats \[.*\]; a line is missing"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], r"line 4: must be round 0"),
        (lambda lines: [*lines[:1], lines[2], lines[1], *lines[3:]], r"line 2: must be round 0"),
        (lambda lines: [*lines, *lines[:4]], r"line 25: all games of its round and line-up have been there before"),
        (lambda lines: [*lines[:4], *lines], r"line 5: all games of its round and line-up have been there before"),
    ],
)
def test_lines_that_are_missing_or_there_twice_are_named(change, message, folder):
    folder.games.write_bytes(b"".join(change(folder.games.read_bytes().splitlines(keepends=True))))
    assert re.search(rf"games\.jsonl: {message}", refusal(folder))


@pytest.mark.parametrize("lost", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("torn", [0, 10])
def test_what_an_interruption_leaves_is_removed(lost, torn, folder):
    lines = folder.games.read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[:-lost]) + lines[-lost][:torn]
    folder.games.write_bytes(kept)
    whole = (len(lines) - lost) // GAMES_OF_A_MEETING * GAMES_OF_A_MEETING
    games = folder.read_games(folder.read_settings())
    assert len(games) == whole
    assert folder.games.read_bytes() == b"".join(lines[:whole])
    assert folder.records.read_bytes().count(b"\n") == whole
    # what is whole is not written anew
    before = folder.games.stat().st_mtime_ns, folder.records.stat().st_mtime_ns
    folder.read_games(folder.read_settings())
    assert (folder.games.stat().st_mtime_ns, folder.records.stat().st_mtime_ns) == before


def test_line_separators_in_names_end_no_line():
    settings = make_settings({**GIVEN, "agents": [{"name": "a\u2028b\x85", "agent": "random"}, "greedy"]})
    row = {"round": 0, "deal": 0, "seats": list(settings.names), "scores": [1, 2], "ranks": [1, 0], "moves": [1, 1]}
    line = json.dumps({**row, "seconds": [0, 1.5], "truncated": False}, ensure_ascii=False) + "\n"
    assert len(from_lines(iter([line.encode()]), settings.names, 2)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [*lines[:2], b"{}\n", *lines[3:]], r"line 3: seed: is None, but must be \d+"),
        (lambda lines: [*lines[:2], b"[]\n", *lines[3:]], r"line 3: record: is \[\], but must be \{"),
        (lambda lines: [*lines[:2], b"\xff\n", *lines[3:]], "line 3: is not UTF-8 text"),
        (lambda lines: [*lines[:2], lines[2][:-9] + b"\n", *lines[3:]], "line 3: is not JSON"),
        (lambda lines: lines[:2] + lines[3:], r"line 3: agents(\[0\])?: is|line 4: seed: is"),
        (lambda lines: lines[:-1], "lacks records of games that"),
        (lambda lines: [*lines[:-1], lines[-1][:-9]], "line 24: the record is cut off in the middle"),
        (lambda lines: [], "lacks records of games that"),
    ],
)
def test_records_that_are_not_those_of_the_games_are_named(change, message, folder):
    folder.records.write_bytes(b"".join(change(folder.records.read_bytes().splitlines(keepends=True))))
    assert re.search(rf"records\.jsonl:? {message}", refusal(folder))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 1}, r"games\.jsonl: line 1: must be round 0, deal 1, .*the settings are others"),
        ({"deals": 1}, r"games\.jsonl: line 3: .* have been there before|line 2: must be"),
        ({"deals": 3}, r"games\.jsonl: line 5: must be round 0"),
        ({"agents": ["random", "greedy"]}, r"'greedy \(2\)' is no agent of this tournament"),
        (
            {"options": {"num_players": 3}},
            r"line 1 is no game of this tournament \(seats: must have 3 entries, not 2\)",
        ),
    ],
)
def test_settings_that_lead_to_other_games_are_noticed(changes, message, folder):
    folder.settings.unlink()
    shutil.rmtree(folder.path / "new", ignore_errors=True)
    other = TournamentFolder(folder.path / "new")
    other.create(make_settings({**GIVEN, **changes}))
    shutil.move(other.settings, folder.settings)
    other.path.rmdir()
    assert re.search(message, refusal(folder))


def test_line_ups_that_were_not_drawn_are_noticed(folder):
    """Two agents change their names, so that a Swiss round would have paired others."""
    settings = make_settings({**GIVEN, "pairing": "swiss", "records": False})
    with pytest.raises(ValueError, match="round 0 has games between agents that do not meet in it"):
        play_tournament(settings, folder)


def test_more_rounds_and_the_same_again_are_fine(folder):
    before = contents(folder)
    assert len(folder.read_games(make_settings(GIVEN))) == 24
    assert len(folder.read_games(make_settings({**GIVEN, "rounds": 5}))) == 24
    assert contents(folder) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_is_in_the_place_of_a_file_is_named(played, tmp_path, capsys):
    def folder_with(name, make):
        path = tmp_path / "cup"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(played.path, path)
        (path / name).unlink()
        make(path / name)
        return TournamentFolder(path)

    for make in (os.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        for name in ("games.jsonl", "records.jsonl"):
            folder = folder_with(name, make)
            assert refusal(folder) == f"{folder.path / name} is not a regular file"
            assert main(["tournament", "--resume", str(folder.path), "--processes", "1"]) == 1
            assert f"meeplezoo: error: {folder.path / name} is not a regular file" in capsys.readouterr().err
        folder = folder_with("tournament.yaml", make)
        assert main(["tournament", "--resume", str(folder.path)]) == 2
        assert "is no folder of a tournament: it has no tournament.yaml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be a mapping"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"game: azul\n", "the setting 'agents' is missing"),
        (b"game: azul\nagents: [random, greedy]\nrounds: 1e99\n", "rounds must be an integer, not 1e+99"),
        (b"game: azul\nagents: [random, greedy]\nprecision: .nan\n", "holds .nan, which is not a finite number"),
        (b"game: azul\nagents: [random, greedy]\nseed: 1.5\n", "seed must be an integer from 0"),
        (b"game: azul\nagents: [random, greedy]\nseed: null\n", "seed must be an integer, not None"),
        (b"# " + b"x" * 2**20, "is larger than 262,144 bytes"),
    ],
)
def test_damaged_settings_are_named(content, message, folder, capsys):
    folder.settings.write_bytes(content)
    before = contents(folder)
    assert main(["tournament", "--resume", str(folder.path)]) == 2
    err = capsys.readouterr().err
    assert str(folder.settings) in err
    assert message in err
    assert_one_sentence(err.rstrip("\n"), 400)
    assert contents(folder) == before


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path, capsys):
    path = tmp_path / "cup"
    path.write_text("x")
    assert main(["tournament", "azul", "random", "greedy", "--out", str(path)]) == 2
    assert f"{path} is a file, not a folder" in capsys.readouterr().err
    assert main(["tournament", "--resume", str(path)]) == 2
    assert "is no folder of a tournament" in capsys.readouterr().err
    assert path.read_text() == "x"
