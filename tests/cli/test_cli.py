"""The command line: what it prints and writes, its exit codes, and one sentence for everything that is wrong."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from reference_data import read_lines

from meeplezoo import evaluate, make_game
from meeplezoo.cli import train
from meeplezoo.cli.evaluate import format_table
from meeplezoo.cli.main import COMMANDS, main
from meeplezoo.envs.records.record import read_records
from meeplezoo.envs.records.record_validation import check_record
from meeplezoo.envs.view.captions import two_digits

COMMAND = [sys.executable, "-m", "meeplezoo.cli"]


def run(*words, **options):
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120, check=False, **options)
    return done.returncode, done.stdout, without_announcement(done.stderr)


def without_announcement(err):
    """Leave out the line that says that kernels are compiled: it comes where nobody has run them before."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith("meeplezoo: compiling "))


@pytest.fixture
def call(capsys):
    """Run a command line in this process; return exit code, standard output and standard error."""

    def call(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, without_announcement(captured.err)

    return call


@pytest.fixture
def person(monkeypatch):
    """Let a person type lines."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_help_names_all_commands_and_each_has_examples(call):
    code, out, err = call("--help")
    assert (code, err) == (0, "")
    assert all(re.search(rf"^  {name} +\w", out, re.MULTILINE) for name in COMMANDS)
    for name in COMMANDS:
        code, out, err = call(name, "--help")
        assert (code, err) == (0, "")
        assert f"usage: meeplezoo {name}" in out
        assert f"\n\nexamples:\n  meeplezoo {name}" in out
        assert "{" not in out
    assert re.fullmatch(r"meeplezoo \d+\.\d+\.\d+\n", call("--version")[1])


def test_games_lists_options_sizes_and_agents(call):
    code, out, err = call("games")
    assert (code, err) == (0, "")
    game = make_game("azul", num_players=3)
    assert "--option wall=..." in out
    assert "coloured, grey" in out
    assert re.search(rf"3 players +{game.num_actions} or {game.num_actions + 5} actions", out)
    assert str(game.observation_size) in out
    for agent in ("random", "greedy", "ppo:FILE"):
        assert agent in out
    # not among the agents that evaluate, record and tournament take
    assert out.endswith("\n\nin `meeplezoo play` only\n  human  you\n")


def test_record_writes_the_same_file_every_time(call, tmp_path):
    words = ["record", "azul", "--agents", "random,greedy", "--games", 5, "--seed", 7, "--out"]
    assert call(*words, tmp_path / "a.jsonl")[0] == 0
    code, out, err = call(*words, tmp_path / "b.jsonl")
    assert (code, err) == (0, "")
    assert "5 games of azul (num_players=2, wall=coloured, max_rounds=30), random against greedy" in out
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    records = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [record["agents"] for record in records] == [["random", "greedy"]] * 5
    # options may stand anywhere
    mixed = ["record", "--seed", 7, "--out", tmp_path / "c.jsonl", "azul", "--games", 5, "--agents", "random,greedy"]
    assert call(*mixed)[0] == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "c.jsonl").read_bytes()


@pytest.mark.parametrize("more", [[], ["--positions"]])
def test_record_and_replay(call, tmp_path, more):
    path = tmp_path / "games.jsonl"
    words = ["--agents", "random,greedy,random", "--option", "wall=grey", "--games", "2", "--seed", "1"]
    assert call("record", "azul", *words, "--out", path, *more)[0] == 0
    plies = [len(stored.record["plies"]) for stored in read_records(path)]
    assert call("replay", path, "--check") == (0, f"2 games, {sum(plies)} plies: all agree\n", "")
    code, out, err = call("replay", path)
    assert (code, err) == (0, "")
    options, agents = "num_players=3, wall=grey, max_rounds=30", "random against greedy against random"
    assert f"Game 1: azul ({options}), seed 1, {agents}, {plies[0]} plies\n" in out
    assert out.count("Last move: Player") == sum(plies)
    assert out.count("Player 0 began the round") >= 2
    assert f"Game 2, ply {plies[1] - 1} of {plies[1]}\n" in out
    assert out.count("the end\n") == 2
    assert len(re.findall("^Game over: player", out, re.MULTILINE)) == 2
    assert "\x1b" not in out


def test_replay_check_says_where_chance_is_that_of_another_program(call, tmp_path):
    path = tmp_path / "games.jsonl"
    records = read_lines("golden/azul-grey-2p.jsonl.xz")
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    code, out, err = call("replay", path, "--check")
    assert (code, err) == (0, "")
    plies = sum(len(record["plies"]) for record in records)
    first, second = out.splitlines()
    assert first == f"3 games, {plies} plies: all agree"
    assert second.startswith("chance differs in 3 games")
    assert call("replay", path)[0] == 0
    records[2]["plies"][30]["legal"].pop()
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    code, out, err = call("replay", path, "--check")
    assert (code, out) == (1, "")
    assert re.fullmatch(rf"meeplezoo: error: {path}: line 3, ply 30: legal: \{{.*\}} is missing \(.*\)\n", err)


def test_replay_of_a_damaged_file_fails_with_one_sentence(call, tmp_path):
    path = tmp_path / "games.jsonl"
    call("record", "azul", "--agents", "random,random", "--games", "2", "--out", path)
    path.write_bytes(path.read_bytes()[:-50])
    for words in ([], ["--check"]):
        code, _, err = call("replay", path, *words)
        assert code == 1
        assert err.startswith(f"meeplezoo: error: {path}: line 2: the record is cut off in the middle")
        assert err.count("\n") == 1


def test_evaluate_prints_a_table_and_writes_json(call, tmp_path):
    path = tmp_path / "deep" / "result.json"
    words = ["evaluate", "azul", "greedy", "random", "--games", "101", "--seed", "3"]
    code, out, err = call(*words, "--json", path)
    assert (code, err) == (0, "")
    data = json.loads(path.read_text())
    assert list(data) == ["game", "options", "seed", "games", "games_per_second", "agents"]
    assert (data["seed"], data["games"]) == (3, 101)
    lines = out.splitlines()
    assert lines[0] == "azul (num_players=2, wall=coloured, max_rounds=30): 101 games, seed 3, all 2 seatings"
    assert len({len(line) for line in lines[2:5]}) == 1
    for line, agent in zip(lines[3:5], data["agents"], strict=True):
        name, wins, draws, losses, rate, *_ = line.split()
        assert name == agent["name"]
        assert [int(wins), int(draws), int(losses)] == [agent[key] for key in ("wins", "draws", "losses")]
        assert float(rate) == pytest.approx(100 * agent["win_rate"], abs=0.05)
    assert re.search(r"^[\d,.]+ games per second, 0 games cut off by a limit$", out, re.MULTILINE)
    again = call(*words, "--json", tmp_path / "again.json")[1]
    assert again.splitlines()[:-1] == lines[:-1]
    repeated = json.loads((tmp_path / "again.json").read_text())
    assert {**repeated, "games_per_second": 0} == {**data, "games_per_second": 0}


def test_speeds_have_digits_that_count():
    speeds = {6348.2: "6,348", 10.4: "10", 9.96: "10", 3.25: "3.2", 0.0451: "0.045", 0.0: "0"}
    assert {speed: two_digits(speed) for speed in speeds} == speeds
    game = make_game("azul")
    slow = replace(evaluate(game, ["random", "random"], 2, 0), seconds=100.0)
    assert format_table(slow).splitlines()[-1] == "0.02 games per second, 0 games cut off by a limit"


def test_results_are_written_before_they_are_printed(call, tmp_path, monkeypatch):
    def break_off(evaluation):
        raise BrokenPipeError

    monkeypatch.setattr("meeplezoo.cli.evaluate.format_table", break_off)
    path = tmp_path / "table.json"
    assert call("evaluate", "azul", "random", "random", "--games", "2", "--json", path) == (141, "", "")
    assert json.loads(path.read_text())["games"] == 2


def test_colours_are_those_asked_for(call, tmp_path, monkeypatch):
    path = tmp_path / "games.jsonl"
    call("record", "azul", "--agents", "random,random", "--option", "max_rounds=1", "--out", path)
    plain = call("replay", path)[1]
    assert "\x1b" not in plain
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    for option in ("--colour", "--color"):
        coloured = call("replay", path, option, "always")[1]
        assert "\x1b[" in coloured
        assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain
        assert call("replay", path, option, "never")[1] == plain
        assert call("replay", path, option, "auto")[1] == plain


def test_the_number_of_agents_is_that_of_the_players(call):
    out = call("evaluate", "azul", "greedy", "--games", 12, "random", "random", "--option", "wall=grey")[1]
    assert "num_players=3, wall=grey" in out
    assert "all 6 seatings" in out
    assert [line.split()[0] for line in out.splitlines()[3:6]] == ["greedy", "random", "random"]


def test_play_between_agents_saves_a_record_that_agrees(call, tmp_path):
    path = tmp_path / "game.jsonl"
    words = ["play", "azul", "greedy", "random", "--seed", "5", "--save", path]
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    (stored,) = read_records(path)
    assert check_record(stored)
    assert stored.record["seed"] == 5
    assert stored.record["agents"] == ["greedy", "random"]
    plies = len(stored.record["plies"])
    assert out.count("Last move: Player") == plies
    assert "Game over: player 0 wins" in out
    before = path.read_bytes()
    assert call(*words)[1] == out
    assert path.read_bytes() == before


def test_a_person_plays_a_whole_game(call, tmp_path, person):
    lines = "\n".join(["?", "nonsense", "999", "0", "{", '{"source": 0}', *["1"] * 200])
    person(lines + "\n")
    path = tmp_path / "game.jsonl"
    words = ["play", "azul", "human", "random", "--option", "max_rounds=2", "--seed", "8", "--save", path]
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    assert "Type the number of a move" in out
    assert "'nonsense' is no legal move; type a number, a move like '0 " in out
    assert "there is no move 999; the moves are 1 to" in out
    assert "there is no move 0; the moves are 1 to" in out
    assert "'{' is not JSON" in out
    assert '{"source": 0}\' is no legal move' in out
    (stored,) = read_records(path)
    assert check_record(stored)
    assert stored.record["agents"] == ["human", "random"]
    state = stored.game.new(8)
    for ply in stored.record["plies"]:
        if ply["player"] == 0:
            assert ply["move"] == stored.game.legal_moves(state)[0]
        stored.game.play(state, ply["move"])
    # the own board comes first, whoever moves
    assert out.count("Player 0: ") == out.count("\nPlayer 0: ")


def test_a_person_in_the_second_seat_sees_the_own_board_first(call, person):
    person("q\n")
    out = call("play", "azul", "random", "human", "--seed", "8")[1]
    assert re.findall(r"^Player (\d): \d+ points", out, re.MULTILINE) == ["1", "1"]


@pytest.mark.parametrize("typed", ["q\n", "QUIT\n", "", "1\n"])
def test_leaving_a_game_saves_nothing_and_is_no_failure(call, tmp_path, person, typed):
    person(typed)
    path = tmp_path / "game.jsonl"
    code, out, err = call("play", "azul", "--save", path)
    assert (code, err) == (0, "")
    assert "human against greedy" in out
    assert "You have left the game, so nothing was saved." in out
    assert not path.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a command is missing; the commands are games, play"),
        (["evaluat"], "there is no command 'evaluat'; the commands are games, play"),
        (["evaluate", "chess", "greedy", "random"], "there is no game 'chess'; the games are azul"),
        (
            ["evaluate", "azul", "greedy", "gredy"],
            "there is no agent 'gredy'; the agents are random, greedy, mcts, minimax, ppo",
        ),
        (
            ["evaluate", "azul", "greedy", "human"],
            "human plays in `meeplezoo play` only; the agents are random, greedy",
        ),
        (["tournament", "azul", "greedy", "human"], "human plays in `meeplezoo play` only; the agents are random"),
        (["evaluate", "azul", "greedy", "ppo:none.zip"], "agent 'ppo:none.zip': there is no file 'none.zip'"),
        (
            ["evaluate", "azul", "greedy"],
            "azul needs an agent for each player, 2 to 4 (2 by default), but 1 agent is given (greedy)",
        ),
        (["evaluate", "azul"], "the following arguments are required: AGENT; see meeplezoo evaluate --help"),
        (["evaluate", "azul", *["random"] * 5], "2 to 4 (2 by default), but 5 agents are given (random, random, rand"),
        (
            ["evaluate", "azul", "greedy", "random", "--option", "num_players=3"],
            "2 agents are given (greedy, random), but num_players is 3",
        ),
        (["evaluate", "azul", "greedy", "random", "--option", "walls=grey"], "azul has no option 'walls'; it has num_"),
        (["evaluate", "azul", "greedy", "random", "--option", "wall=pink"], "option wall must be one of coloured, gre"),
        (["evaluate", "azul", "greedy", "random", "--option", "wall"], "option 'wall' must have the form name=value"),
        (
            ["evaluate", "azul", "greedy", "random", "--games", "0"],
            "--games: must be an integer from 1 to 1,000,000, not",
        ),
        (["evaluate", "azul", "greedy", "random", "--games", "1e3"], "--games: must be an integer from 1 to 1,000,000"),
        (["evaluate", "azul", "greedy", "random", "--seed", "-1"], "--seed: must be an integer from 0 to 9,00"),
        (["evaluate", "azul", "greedy", "random", "--seed", str(2**53)], "--seed: must be an integer from 0 to 9,00"),
        (
            ["evaluate", "azul", "greedy", "random", "--turbo"],
            "unrecognized arguments: --turbo; see meeplezoo evaluate",
        ),
        (["evaluate", "azul", "greedy", "random", "--json", "."], ". is a folder, not a file"),
        (["evaluate", "azul", "greedy", "random", "--json", os.devnull], "is not a regular file"),
        (["record", "azul", "--agents", "random,random"], "the following arguments are required: --out"),
        (["record", "azul", "--agents", "random,", "--out", "x"], "there is no agent ''; the agents are random"),
        (["replay", "no-such-file.jsonl"], "there is no file no-such-file.jsonl"),
        (["replay", "."], ". is a folder, not a file"),
        (
            ["replay", "games.jsonl", "--colour", "blue"],
            "argument --colour/--color: invalid choice: 'blue' (choose from",
        ),
        (["play", "azul", "human", "robot"], "there is no agent 'robot'; the agents are random"),
        (["play", "azul", "human", "--option", "num_players=2"], "1 agent is given (human), but num_players is 2"),
        (["play"], "the following arguments are required: GAME; see meeplezoo play --help"),
        (["bench", "--json", "."], ". is a folder, not a file"),
        (["bench", "--turbo"], "unrecognized arguments: --turbo; see meeplezoo bench --help"),
        (["train"], "the following arguments are required: CONFIG, or --resume RUN"),
    ],
)
def test_wrong_calls_end_with_2_and_one_sentence(call, words, message):
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert err.startswith("meeplezoo: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_what_cannot_be_written_ends_with_1_and_one_sentence(call, tmp_path):
    (tmp_path / "file").write_text("in the way")
    words = ["record", "azul", "--agents", "random,random", "--out", tmp_path / "file" / "games.jsonl"]
    code, out, err = call(*words)
    assert (code, out) == (1, "")
    assert err.startswith("meeplezoo: error: ")
    assert err.count("\n") == 1


def test_train_hands_over_config_changes_and_run(call, monkeypatch):
    seen = []
    module = type(sys)("meeplezoo.training.command")
    module.train_command = lambda *arguments: seen.append(arguments) or 7
    monkeypatch.setitem(sys.modules, "meeplezoo.training.command", module)
    assert train.run(["azul/ppo", "seed=3", "--resume", "runs/x", "games=2"]) == 7
    assert call("train", "--resume", "runs/x")[0] == 7
    assert call("train", "--resume", "runs/x", "seed=3")[0] == 7
    assert seen == [
        ("azul/ppo", ["seed=3", "games=2"], "runs/x"),
        (None, [], "runs/x"),
        (None, ["seed=3"], "runs/x"),
    ]


def test_bench_hands_over_all_arguments(monkeypatch):
    seen = []
    module = type(sys)("meeplezoo.benchmarks.throughput")
    module.main = seen.append
    monkeypatch.setitem(sys.modules, "meeplezoo.benchmarks.throughput", module)
    assert main(["bench", "--only", "azul", "--json", "x"]) == 0
    assert seen == [["--only", "azul", "--json", "x"]]


def test_as_a_process(tmp_path):
    path = tmp_path / "games.jsonl"
    words = ["record", "azul", "--agents", "greedy,random", "--games", "2", "--seed", "4", "--out"]
    code, out, err = run(*words, str(path))
    assert (code, err) == (0, "")
    assert out.startswith(f"{path}: 2 games of azul")
    # what one process wrote, another one repeats byte for byte
    main([*words, str(tmp_path / "b")])
    assert path.read_bytes() == (tmp_path / "b").read_bytes()
    record = json.loads(path.read_text().splitlines()[1])
    record["final"]["result"]["scores"][1] = 1000
    path.write_text(json.dumps(record) + "\n")
    code, out, err = run("replay", str(path), "--check")
    assert (code, out) == (1, "")
    assert re.fullmatch(r"meeplezoo: error: .*: line 1: final\.result\.scores\[1\]: is 1000, but must be \d+\n", err)
    code, out, err = run("play", "azul", "greedy", "nobody")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"meeplezoo: error: there is no agent 'nobody'.*\n", err)


def test_a_person_at_a_pipe():
    code, out, err = run("play", "azul", "human", "greedy", "--seed", "1", input="1\n? \n{}\nq\n")
    assert (code, err) == (0, "")
    assert "Last move: Player 1 took" in out
    assert out.rstrip().endswith("You have left the game.")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    code, out, err = run("play", "azul", "--seed", "1", input="", env=ascii_only)
    assert (code, err) == (0, "")
    assert "line 0         ? |" in out


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    path = tmp_path / "games.jsonl"
    main(["record", "azul", "--agents", "random,random", "--games", "20", "--out", str(path)])
    with subprocess.Popen(
        [*COMMAND, "replay", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline().startswith("Game 1: azul")
        process.stdout.close()
        assert process.wait(60) == 141
        assert without_announcement(process.stderr.read()) == ""


def test_ctrl_c_is_quiet_and_leaves_no_file(tmp_path):
    path = tmp_path / "games.jsonl"
    words = ["record", "azul", "--agents", "random,random", "--games", "100000000", "--out", str(path)]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        waited = time.monotonic()
        while not any(tmp_path.iterdir()) and time.monotonic() < waited + 60:
            time.sleep(0.05)
        # the kernels are loaded meanwhile, also on a busy machine
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, without_announcement(err)) == (130, "", "")
    assert list(tmp_path.iterdir()) == []


def test_the_first_help_needs_no_games():
    code = "import sys; from meeplezoo.cli.main import main; main(['--help']); print('numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.splitlines()[-1] == "False"
