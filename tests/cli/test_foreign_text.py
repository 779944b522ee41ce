"""Text that comes from files, bots and file names: it does not act on the terminal, and breaks no file."""

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from meeplezoo.agents import networks
from meeplezoo.agents.arena.folder import TournamentFolder
from meeplezoo.agents.arena.settings import make_settings
from meeplezoo.agents.arena.tournament import play_tournament
from meeplezoo.cli.main import main
from meeplezoo.cli.record import split_agents
from meeplezoo.cli.tables import align
from meeplezoo.envs.records.record import read_records
from meeplezoo.envs.records.record_validation import check_record
from meeplezoo.envs.system.messages import cut_middle, display_name, display_path, display_width, error_line

EVIL = "a\x1b[2J\x1b[31mb\nc\rd\x07\x9b1m\u202ee\u2066f\u200bg\u2028h\x7f\u0085" + "z" * 200
SHOWN = r"a\x1b[2J\x1b[31mb\nc\rd\x07\x9b"
# as Python has a file's name that is not UTF-8
NOT_UTF_8 = "n\x1b[2J\n\u202e\udcff"
NOT_UTF_8_SHOWN = r"n\x1b[2J\n\u202e\udcff"


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Run a command line in an empty folder; return exit code, output and errors, which act on no terminal."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = main(list(words))
        captured = capsys.readouterr()
        for line in (captured.out + captured.err).split("\n"):
            assert line.isprintable(), line
            assert len(line) < 1100
        return code, captured.out, captured.err

    return call


def change(path, **changes):
    """Change some keys of the record in a file."""
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, **changes}) + "\n")


def test_names_are_one_line_of_limited_width():
    assert display_name("greedy") == "greedy"
    assert display_name(EVIL).startswith(r"a\x1b[2J\x1b[31mb\nc\rd\x07\x9b"[:20])
    assert len(display_name(EVIL)) == 60
    assert display_name(EVIL).endswith("zzz")
    assert display_name("e\u0301" * 1000).count("\u0301") <= 30
    assert display_width("日本") == 4
    assert display_width(display_name("日本" * 100)) <= 60
    assert display_path(f"{NOT_UTF_8} x", quoted=True) == f"'{NOT_UTF_8_SHOWN} x'"
    assert cut_middle("abcdefghij", 10) == "abcdefghij"
    assert cut_middle("abcdefghijk", 10) == "abcd...ijk"


def test_errors_are_one_line_that_keeps_its_end():
    line = error_line(f"there is no {EVIL * 9}; the games are chess")
    assert line.isprintable()
    assert line.startswith(f"meeplezoo: error: there is no {SHOWN}")
    assert line.endswith("zzz; the games are chess")
    assert len(line) <= len("meeplezoo: error: ") + 1000


def test_tables_are_aligned_whatever_the_names_are():
    lines = align([("agent", "wins"), ("日本語", "1"), ("e\u0301a", "12")], left=[0])
    assert lines == ["agent   wins", "日本語     1", "e\u0301a        12"]
    assert {display_width(line) for line in lines} == {12}


def test_agents_of_a_record_may_have_settings():
    assert split_agents("greedy,mcts:sims=50,leaf=greedy,random") == ["greedy", "mcts:sims=50,leaf=greedy", "random"]
    assert split_agents("greedy, random") == ["greedy", "random"]
    assert split_agents("net:a,sims=5,net:b") == ["net:a,sims=5", "net:b"]


def test_names_in_records(call, tmp_path):
    call("record", "azul", "--agents", "random,greedy", "--out", "games.jsonl")
    path = tmp_path / "games.jsonl"
    change(path, agents=[EVIL, "日本"])
    code, out, err = call("replay", "games.jsonl")
    assert (code, err) == (0, "")
    assert out.startswith(f"Game 1: azul (num_players=2, wall=coloured, max_rounds=30), seed 0, {SHOWN[:20]}")
    assert "zz against 日本, " in out.splitlines()[0]
    for changes in (
        {"game": EVIL},
        {"options": {EVIL: 1}},
        {"final": {EVIL: EVIL}},
        {"plies": [{"player": 0, EVIL: 1}]},
    ):
        change(path, **changes)
        code, out, err = call("replay", "games.jsonl", "--check")
        assert (code, out) == (1, "")
        assert err.startswith("meeplezoo: error: games.jsonl: line 1")
        assert err.count("\n") == 1


def test_words_of_the_command_line(call):
    for words in (
        [EVIL],
        ["games", EVIL],
        ["evaluate", EVIL, "greedy", "random"],
        ["evaluate", "azul", EVIL, "random"],
        ["evaluate", "azul", "greedy", "random", "--option", f"wall={EVIL}"],
        ["evaluate", "azul", "greedy", "random", "--games", EVIL],
        ["evaluate", "azul", "greedy", f"net:{EVIL}"],
        ["replay", EVIL],
        ["runs", EVIL],
        ["train", EVIL],
        ["train", "--resume", EVIL],
        ["tournament", "azul", "random", EVIL],
        ["tournament", "--resume", EVIL],
        ["bench", "--only", EVIL],
        ["bench", EVIL],
    ):
        code, out, err = call(*words)
        assert (code, out) == (2, ""), words
        assert err.startswith("meeplezoo: error: ")
        assert err.count("\n") == 1


def test_files_whose_names_are_not_utf_8(call, tmp_path):
    network = f"net:{NOT_UTF_8}.safetensors"
    (tmp_path / f"{NOT_UTF_8}.safetensors").symlink_to(
        Path(networks.__file__).parent / "weights" / "azul-2p.safetensors"
    )
    code, out, err = call("record", "azul", "--agents", f"random,{network}", "--out", f"{NOT_UTF_8}.jsonl")
    assert (code, err) == (0, "")
    assert out.startswith(f"{NOT_UTF_8_SHOWN}.jsonl: 1 game of azul")
    assert out.endswith(f"random against net:{NOT_UTF_8_SHOWN}.safetensors\n")
    (stored,) = read_records(tmp_path / f"{NOT_UTF_8}.jsonl")
    # what no UTF-8 can say is written as it is shown
    written = network.replace("\udcff", r"\udcff")
    assert stored.record["agents"] == ["random", written]
    assert check_record(stored)
    code, out, err = call("evaluate", "azul", "random", network, "--games", "2", "--json", f"{NOT_UTF_8}.json")
    assert (code, err) == (0, "")
    assert f"\nnet:{NOT_UTF_8_SHOWN}.safetensors " in out
    table = json.loads((tmp_path / f"{NOT_UTF_8}.json").read_bytes())
    assert [agent["name"] for agent in table["agents"]] == ["random", written]
    words = ["--rounds", "1", "--deals", "1", "--processes", "1", "--records"]
    # its settings are YAML, which has no escape for such a name
    code, out, err = call("tournament", "azul", "random", network, *words, "--out", NOT_UTF_8)
    assert code == 2
    assert "agents: a name must be 1 to 4,096 characters of UTF-8" in err
    code, out, err = call("tournament", "azul", "random", "greedy", *words, "--out", NOT_UTF_8)
    assert code == 0
    assert out.startswith(f"folder: {NOT_UTF_8_SHOWN}\n")
    assert out.endswith(f"report: {NOT_UTF_8_SHOWN}/report.html\n")
    assert call("tournament", "--resume", NOT_UTF_8, "--processes", "1")[:2] == (0, out)


def test_a_tournament_of_names_that_are_no_words(call, tmp_path):
    names = [EVIL, "日本", "one\u2028two"]
    config = {"game": "azul", "rounds": 1, "deals": 1, "anchor": None}
    agents = [{"name": name, "agent": "random"} for name in names]
    (tmp_path / "cup.yaml").write_text(yaml.safe_dump({**config, "agents": agents}))
    code, out, err = call("tournament", "cup.yaml", "--processes", "1", "--out", "cup")
    assert (code, err) == (0, "round 1 of 1: 6 games\n")
    rows = out.split("\n\n")[1].splitlines()
    assert len({display_width(line) for line in rows[:3]}) == 1
    for shown in (SHOWN[:20], " 日本 ", r" one\u2028two "):
        assert sum(shown in row for row in rows) == 1
    # what separates lines for Python does not separate them in the files
    assert call("tournament", "--resume", "cup", "--processes", "1")[:2] == (0, out)
    page = (tmp_path / "cup" / "report.html").read_text(encoding="utf-8")
    text = "".join(ElementTree.fromstring(page.split("\n", 1)[1]).itertext())
    assert "日本" in text
    assert not any(character in text for character in "\x1b\x07\x9b\x7f\u202e\u2066")


def test_reasons_of_bots(tmp_path, call):
    (tmp_path / "bad.py").write_text(f"def choose(position, legal):\n    return {EVIL!r}\n")
    words = ["--rounds", "1", "--deals", "1", "--processes", "1", "--out", "cup"]
    code, out, _ = call("tournament", "azul", "random", "bad.py:choose", *words)
    assert code == 0
    (reason,) = [line for line in out.splitlines() if line.startswith("bad.py:choose: 2 games lost: ")]
    assert len(reason) < 260


def test_names_of_runs(call, tmp_path):
    run = tmp_path / "runs" / NOT_UTF_8
    run.mkdir(parents=True)
    settings = {"game": EVIL, "options": {EVIL: EVIL}, "algorithm": [EVIL], "decisions": 7}
    (run / "config.yaml").write_text(yaml.safe_dump(settings))
    result = {"win_rate": 0.5, "interval": [0.1, 0.9], "mean_margin": 0.0}
    row = {"iteration": 0, "decisions": 1, "seconds": 3.0, "evaluation": {EVIL: result}}
    (run / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    code, out, err = call("runs")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"{NOT_UTF_8_SHOWN}  {SHOWN[:20]}")
    assert lines[2] == "  1 of 7 decisions in 0:03, 0.33/s"
    assert lines[3].startswith(f"  latest  {SHOWN[:20]}")
    assert lines[3].endswith("zzz 50.0 % (10.0 - 90.0), after 1 decision")
    code, out, err = call("runs", "--json")
    (listed,) = json.loads(out)
    assert (listed["folder"], listed["game"]) == (os.path.join("runs", NOT_UTF_8), EVIL)
    (run / "config.yaml").unlink()
    assert "\n  1 decision in 0:03, 0.33/s\n" in call("runs")[1]


def test_names_of_opponents_in_the_picture_are_no_formulas(tmp_path):
    pytest.importorskip("matplotlib")
    from meeplezoo.training.config_reading import make_config
    from meeplezoo.training.learning_curve import draw_learning_curve

    config = make_config({"game": "azul", "decisions": 7})
    result = {"win_rate": 0.5, "interval": [0.1, 0.9], "mean_margin": 0.0}
    evaluation = dict.fromkeys(["program:./bot $\\nonsense$", EVIL, "_"], result)
    rows = [{"iteration": 0, "decisions": 1, "seconds": 3.0, "evaluation": evaluation}]
    draw_learning_curve(rows, config, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_files_are_utf_8_whatever_the_locale(tmp_path, monkeypatch):
    settings = make_settings(
        {"game": "azul", "agents": ["random", {"name": "zwölf ±", "agent": "random"}], "rounds": 1}
    )
    # what files are opened with that are not told their encoding
    monkeypatch.setattr("io.text_encoding", lambda encoding, *_: encoding or "ascii")
    folder = TournamentFolder(tmp_path / "cup")
    folder.create(settings)
    assert "zwölf ±" in (tmp_path / "cup" / "tournament.yaml").read_text(encoding="utf-8")
    play_tournament(settings, folder)
    assert folder.read_settings().names == settings.names
