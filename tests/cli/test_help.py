"""The help of every command: its examples run as they are printed, and it fits into any terminal."""

import io
import re
import shlex
import sys

import pytest

from meeplezoo.benchmarks import throughput
from meeplezoo.cli.main import COMMANDS, main

TINY = {"decisions": 256, "games": 16, "rollout": 8, "minibatch": 64, "hidden": "[8]", "evaluation_games": 4}
TINY_TRAINING = [*(f"{name}={value}" for name, value in TINY.items()), "evaluation_opponents=[random]"]
# behind the words of an example, where they count more: as printed it would take longer
SHORTER = {
    "evaluate": ["--games", "6"],
    "record": ["--games", "2"],
    "tournament": ["--rounds", "1", "--deals", "1", "--processes", "1"],
}
BOT = "def choose(position, legal):\n    return legal[0]\n"
PROGRAM = f"""\
#!{sys.executable}
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({{"type": "ready"}}), flush=True)
    elif message["type"] == "decision":
        print(json.dumps({{"id": message["id"], "move": message["legal"][0]}}), flush=True)
"""


@pytest.fixture
def examples(capsys):
    """Return the examples that the help of a command shows."""

    def read(command):
        assert main([command, "--help"]) == 0
        shown = capsys.readouterr().out.partition("\nexamples:\n")[2]
        lines = [line.strip() for line in shown.splitlines()]
        assert lines
        assert all(line.startswith(f"meeplezoo {command}") for line in lines)
        return lines

    return read


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the examples name."""
    path = tmp_path_factory.mktemp("examples")
    (path / "my_bot.py").write_text(BOT)
    (path / "my_bot").write_text(PROGRAM)
    (path / "my_bot").chmod(0o755)
    (path / "my_config.yaml").write_text("game: azul\n" + "".join(f"{name}: {value}\n" for name, value in TINY.items()))
    (path / "my_tournament.yaml").write_text("game: azul\nagents: [random, greedy]\n")
    (path / "elsewhere" / "runs").mkdir(parents=True)
    return path


@pytest.fixture
def run(folder, capsys, monkeypatch):
    """Run the words of an example in the folder, and more words behind them; return what was printed."""
    monkeypatch.chdir(folder)
    # a person leaves at once
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))

    def run(example, *more):
        words = shlex.split(example)
        assert words.pop(0) == "meeplezoo"
        code = main([*words, *more])
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return run


def test_examples_of_record_and_replay(examples, run, folder):
    for example in examples("record"):
        run(example, *SHORTER["record"])
    assert (folder / "games.jsonl").stat().st_size < (folder / "three.jsonl").stat().st_size
    shown, checked = examples("replay")
    assert shown.endswith(" | less -R")
    coloured = run(shown.removesuffix(" | less -R"))
    assert "\x1b[1;36m" in coloured
    assert run(checked).startswith("2 games, ")
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == run("meeplezoo replay games.jsonl")


def test_examples_of_train_runs_and_evaluate(examples, run, folder):
    pytest.importorskip("sb3_contrib")
    first, second, own, resumed = examples("train")
    run(first, *TINY_TRAINING, "run=runs/RUN")
    run(second, *TINY_TRAINING, "run=elsewhere/runs/second")
    run(own)
    run(resumed)
    assert "seed: 3" in (folder / "elsewhere" / "runs" / "second" / "config.yaml").read_text()
    listed = [run(example) for example in examples("runs")]
    assert all(name in listed[0] for name in ("RUN  ", "mine  "))
    assert all(name in listed[1] for name in ("RUN  ", "second  "))
    assert '"folder": "runs/RUN"' in listed[2]
    for example in examples("evaluate"):
        assert "6 games, seed" in run(example, *SHORTER["evaluate"])
    assert (folder / "result.json").is_file()


def test_examples_of_tournament(examples, run, folder):
    *given, config, resumed = examples("tournament")
    for number, example in enumerate(given):
        run(example, *SHORTER["tournament"], "--out", f"tournaments/{number}")
    assert (folder / "tournaments" / "2" / "records.jsonl").is_file()
    # what comes first counts for a config, whose settings are words
    (folder / "my_tournament.yaml").write_text("game: azul\nagents: [random, greedy]\ndeals: 1\n")
    assert "50 rounds, 100 games" in run(config, "--processes", "1", "--out", "tournaments/FOLDER")
    assert "50 rounds, 100 games" in run(resumed, "--processes", "1")


def test_examples_of_play_games_and_bench(examples, run, folder, monkeypatch):
    people, others, saved = examples("play")
    for example in (people, others):
        sys.stdin = io.StringIO("q\n")
        assert run(example).endswith("You have left the game.\n")
    assert "game.jsonl: the record of" in run(saved)
    (games,) = examples("games")
    assert run(games).endswith("in `meeplezoo play` only\n  human  you\n")
    # nothing is measured: that takes minutes
    rows_and_work = throughput.measurements
    monkeypatch.setattr(throughput, "measurements", lambda game: ((row, int, None) for row, *_ in rows_and_work(game)))
    monkeypatch.setattr(throughput, "decisions_per_second", lambda work: 1234.0)
    monkeypatch.setattr(throughput, "_use_one_core", lambda: None)
    monkeypatch.setattr(throughput, "PEERS", ())
    everything, some = examples("bench")
    assert "qwirkle       sb3 vecenv" in run(everything)
    rows = [line.split() for line in run(some).splitlines()[1:-1]]
    assert rows[0] == ["azul", "step+mask", "1", "1,234"]
    assert rows[-1][:3] == ["azul", "step+mask+observation", "compact"]
    assert len(rows) == 12
    assert (folder / "speed.json").is_file()


@pytest.mark.parametrize("columns", ["1", "30", "200"])
def test_help_fits_into_any_terminal(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        out, err = capsys.readouterr()
        assert out.startswith(f"usage: meeplezoo {command}")
        assert err == ""
