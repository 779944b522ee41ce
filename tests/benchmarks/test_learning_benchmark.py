"""The benchmark of learning: its statistics, its clock, its choice of configs, and a tiny comparison to the end."""

import json
import os
import signal
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from meeplezoo.benchmarks import head_to_head, learning
from meeplezoo.benchmarks.learning_processes import Interrupted, Job, run_jobs
from meeplezoo.benchmarks.learning_run import (
    Plan,
    estimate_decisions,
    extrapolate_decisions,
    measure_throughput,
    next_segment,
    run,
    scale_settings,
    throughput_is_known,
)
from meeplezoo.benchmarks.learning_statistics import bootstrap, compare, curve, interquartile_mean, score, summary
from meeplezoo.training.config_reading import make_config
from meeplezoo.training.run_folder import RunFolder

# --- statistics


def test_interquartile_mean():
    assert interquartile_mean(np.array([100.0, 2, 0, 4, 3, 1, 5, -50])) == (1 + 2 + 3 + 4) / 4
    # 5 // 4 = 1 at either end, 7 // 4 = 1 too
    assert interquartile_mean(np.array([9.0, 0, 1, 2, 3])) == 2
    assert interquartile_mean(np.array([9.0, 0, 1, 2, 3, 4, 5])) == 3
    # fewer than four: the mean
    assert interquartile_mean(np.array([0.0, 0, 9])) == 3
    two = interquartile_mean(np.array([[0.0, 10], [9, 30], [1, 20], [2, 90]]))
    np.testing.assert_array_equal(two, [1.5, 25])


def test_bootstrap_draws_runs_with_replacement():
    means = bootstrap([np.array([[0.0], [1.0]])], 4000)
    assert means.shape == (4000, 1)
    shares = [(means == value).mean() for value in (0, 0.5, 1)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_bootstrap_keeps_every_game():
    # of runs drawn from all games together, the number of ones would vary; of each game on its own it is always 4
    strata = [np.zeros((4, 1)), np.ones((4, 1))]
    assert (bootstrap(strata, 100) == 0.5).all()
    # three games with one run each: nothing to draw
    np.testing.assert_array_equal(
        bootstrap([np.array([[value]]) for value in (1.0, 2.0, 6.0)], 5), np.full((5, 1), 3.0)
    )


def test_bootstrap_draws_runs_and_not_points():
    # whoever is high at the first point is high at the second
    means = bootstrap([np.array([[0.0, 10.0], [1.0, 20.0], [4.0, 50.0]])], 50)
    np.testing.assert_allclose(means[:, 1], 10 + 10 * means[:, 0])


def test_summary():
    found = summary([np.array([[0.0, 5.0], [1.0, 5.0]])])
    # a quarter of the draws at either end is more than 2.5 %
    assert found == {"iqm": [0.5, 5.0], "low": [0.0, 5.0], "high": [1.0, 5.0]}
    assert summary([np.array([[0.25]])]) == {"iqm": [0.25], "low": None, "high": None}


def evaluation(seconds, decisions, *rates):
    results = {f"opponent {place}": {"win_rate": rate} for place, rate in enumerate(rates)}
    return {"training_seconds": seconds, "decisions": decisions, "results": results}


def a_run(game="azul", algorithm="ppo", seed=0, end=1.0, decisions=900):
    evaluations = [evaluation(0.0, 0, 0.5, 0.1), evaluation(30.0, 300, 1.0, 0.0), evaluation(62.0, decisions, 1.0, end)]
    return {
        "game": game,
        "options": {"num_players": 2},
        "algorithm": algorithm,
        "config": f"{game}/{algorithm}",
        "seed": seed,
        "evaluations": evaluations,
        "final": {"random": {"win_rate": 1.0}, "mcts:sims=100": {"win_rate": end}},
        "decisions": decisions,
        "training_seconds": 62.0,
        "schedule": 0.98,
    }


def test_curves_are_linear_between_evaluations():
    run = a_run()
    assert [score(one["results"]) for one in run["evaluations"]] == [0.3, 0.5, 1.0]
    np.testing.assert_allclose(
        curve(run, "training_seconds", np.array([0, 15, 30, 46, 62, 99])), [0.3, 0.4, 0.5, 0.75, 1, 1]
    )
    np.testing.assert_allclose(curve(run, "decisions", np.array([0, 150, 600, 1000])), [0.3, 0.4, 0.75, 1.0])


def test_comparison_of_runs():
    runs = [
        a_run(seed=0),
        a_run(seed=1, end=0.6, decisions=1200),
        a_run(algorithm="alphazero"),
        a_run(game="qwirkle", end=0.2),
    ]
    found = compare(runs, 1.0, 2)
    assert [(row["game"], row["algorithm"], row["seeds"]) for row in found["rows"]] == [
        ("azul", "ppo", [0, 1]),
        ("azul", "alphazero", [0]),
        ("qwirkle", "ppo", [0]),
    ]
    ppo = found["rows"][0]
    assert ppo["over_minutes"]["minutes"] == [0, 0.5, 1]
    ends = [0.5 + 0.5 * 30 / 32, 0.5 + 0.3 * 30 / 32]
    np.testing.assert_allclose(ppo["over_minutes"]["iqm"], [0.3, 0.5, np.mean(ends)])
    np.testing.assert_allclose(ppo["over_minutes"]["low"], [0.3, 0.5, min(ends)])
    np.testing.assert_allclose(ppo["over_minutes"]["high"], [0.3, 0.5, max(ends)])
    # as far as the shorter run came
    assert ppo["over_decisions"]["decisions"] == [0, 450, 900]
    np.testing.assert_allclose(ppo["over_decisions"]["iqm"][2], (1.0 + 0.7) / 2)
    assert ppo["final"]["mcts:sims=100"] == {"iqm": 0.8, "low": 0.6, "high": 1.0}
    assert (ppo["decisions"], ppo["schedule"]) == (1050, 0.98)
    assert found["rows"][1]["over_minutes"]["low"] is None
    # an algorithm without runs of every game is not compared over all of them
    (overall,) = found["overall"]
    assert overall["algorithm"] == "ppo"
    np.testing.assert_allclose(overall["over_minutes"]["iqm"][2], np.mean([*ends, 0.5 + 0.1 * 30 / 32]))
    assert compare(runs[:3], 1.0, 2)["overall"] == []


# --- the clock


def rows_of(*numbers):
    """Return rows of metrics of decisions and seconds of training; evaluations have taken 3 s more."""
    return [
        {"iteration": place, "decisions": decisions, "training_seconds": seconds, "seconds": seconds + 3}
        for place, (decisions, seconds) in enumerate(numbers)
    ]


def read_segment(segment):
    return {name: float(value) for name, value in (text.split("=") for text in segment)}


def test_legs_end_at_the_points_and_the_schedule_with_the_time():
    begun = rows_of((0, 0.0))
    # nothing is known but what was expected; the first evaluation's three seconds are added
    assert read_segment(next_segment(begun, 100.0, 4, 5000)) == {"decisions": 5000, "minutes": pytest.approx(28 / 60)}
    # the first iteration, slow and with lessons, is left out: 100 decisions in two seconds
    rows = [*begun, *rows_of((0, 0.0), *((400 + 100 * number, 10.0 + 2 * number) for number in range(8)))[1:]]
    assert (rows[-1]["decisions"], rows[-1]["training_seconds"]) == (1100, 24.0)
    segment = read_segment(next_segment(rows, 100.0, 4, 5000))
    assert segment["decisions"] == extrapolate_decisions(rows, 100.0, 5000) == 1100 + 76 * 50
    # half an iteration from the point at 25 s is near enough: on to 50 s, and half an iteration less
    assert segment["minutes"] == pytest.approx((27 + 26 - 1) / 60)
    late = [*rows, *rows_of((0, 0), (4700, 99.1))[1:]]
    late[-1]["iteration"] = 45
    assert next_segment(late, 100.0, 4, 5000) == []


def test_a_plan_is_never_behind_what_has_been_done():
    # games that have not ended yet: nothing learned from after the lessons
    rows = rows_of((0, 0.0), (400, 1.0), (400, 2.0), (400, 3.0))
    assert extrapolate_decisions(rows, 10.0, 350) == 400 + 35 * 7
    rows = rows_of((0, 0.0), (400, 1.0), (500, 2.0), (600, 3.0), (700, 9.999))
    assert extrapolate_decisions(rows, 10.0, 350) == 701


def test_pace():
    rows = rows_of((0, 0.0), (50, 9.0), (60, 10.0), (130, 12.0))
    assert measure_throughput(rows, 64) == {
        "first_decisions": 50,
        "first_seconds": 9.0,
        "decisions_per_second": 80 / 3,
    }
    assert not throughput_is_known(rows, 20, 5.0)
    assert throughput_is_known([*rows, *rows_of((0, 0), (230, 15.0))[1:]], 60, 5.0)
    # too few decisions yet, but after three minutes that has to do
    assert not throughput_is_known([*rows, *rows_of((0, 0), (229, 15.0))[1:]], 60, 5.0)
    assert throughput_is_known([*rows, *rows_of((0, 0), (229, 200.0))[1:]], 60, 5.0)
    # no game has ended: as if all decisions were to be learned from
    assert measure_throughput(rows_of((0, 0.0), (0, 1.0), (0, 3.0), (0, 5.0)), 64)["decisions_per_second"] == 2 * 64 / 4


def test_a_run_of_a_tenth_has_a_tenth_of_the_lessons():
    zero = make_config({"game": "azul", "algorithm": "alphazero", "decisions": 10_000, "warm_decisions": 2000})
    throughput = {"first_decisions": 100, "first_seconds": 1.0, "decisions_per_second": 10.0}
    # of 1,000 decisions 200 take 2 s, 800 take 80 s
    assert estimate_decisions(zero, throughput, 82.0) == 1000
    assert scale_settings(zero, 0.1) == ["warm_decisions=200"]
    without = make_config({"game": "azul", "algorithm": "alphazero", "decisions": 10_000, "warm_decisions": 0})
    assert estimate_decisions(without, throughput, 82.0) == 820
    assert scale_settings(without, 0.1) == ["warm_decisions=0"]
    ppo = make_config({"game": "azul", "algorithm": "ppo", "decisions": 10_000, "snapshot_interval": 25})
    assert estimate_decisions(ppo, throughput, 82.0) == 820
    assert scale_settings(ppo, 0.1) == ["snapshot_interval=2"]
    assert scale_settings(ppo, 0.0) == ["snapshot_interval=1"]


# --- configs and calls


def test_full_configs_of_the_package_are_chosen():
    chosen = learning.choose_configs(["azul", "manhattan"], ["maskable_ppo", "alphazero"], 2)
    assert chosen["azul", "maskable_ppo"] == "azul/ppo"
    assert chosen["azul", "alphazero"] == "azul/alphazero"
    assert chosen["manhattan", "maskable_ppo"] == "manhattan/ppo-2p"
    assert next(iter(chosen)) == ("azul", "maskable_ppo")
    four = learning.choose_configs(["azul", "manhattan"], ["maskable_ppo"], 4)
    assert four == {("manhattan", "maskable_ppo"): "manhattan/ppo"}


def test_configs_are_chosen_by_what_they_say(tmp_path):
    for name, text in {
        "a-demo": "algorithm: ppo",
        "b-quick": "algorithm: ppo",
        "c": "algorithm: alphazero",
        "d": "algorithm: ppo\noptions: {num_players: 3}",
        "e": "algorithm: ppo",
        "f": "algorithm: ppo",
    }.items():
        (tmp_path / f"{name}.yaml").write_text(f"game: azul\ndecisions: 10\n{text}\n")
    names = sorted(map(str, tmp_path.iterdir()))
    found = learning.choose_configs(["qwirkle", "azul"], ["ppo", "maskable_ppo"], 2, names)
    assert found == {("azul", "ppo"): str(tmp_path / "e.yaml")}


def test_every_run_has_one_thread_and_the_same_references():
    settings = learning.Settings(1.0, 2, 50, 2, ["games=16", "simulations=4", "entropy=0.5"])
    zero = make_config({"game": "azul", "algorithm": "alphazero", "decisions": 10})
    made = learning.overrides_for(zero, settings)
    assert {"threads=1", "players=1", "device=cpu", "evaluation_simulations=0", "evaluation_games=50"} <= set(made)
    assert 'evaluation_opponents=["random", "greedy"]' in made
    # what the algorithm does not have is left out
    assert made[-2:] == ["games=16", "simulations=4"]
    sb3 = make_config({"game": "azul", "decisions": 10_000})
    made = learning.overrides_for(sb3, settings)
    assert made[-2:] == ["games=16", "entropy=0.5"]
    assert not any(text.startswith(("players", "evaluation_simulations")) for text in made)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--games", "chess"], "there is no game 'chess'; the games are azul"),
        (["--algorithms", "dqn"], "there is no algorithm 'dqn'; the algorithms are maskable_ppo, ppo, alphazero"),
        (["--seeds", "0"], "--seeds: must be an integer from 1 to 1,000, not '0'"),
        (["--minutes", "nan"], "--minutes: must be a number above 0, at most 100,000, not 'nan'"),
        (["--games-per-evaluation", "-3"], "--games-per-evaluation: must be an integer from 1 to"),
        (["--set", "decisions=5"], "--set cannot change 'decisions'"),
        (["--set", "game=qwirkle"], "--set cannot change 'game'"),
        (["--set", "simulatons=5"], "--set cannot change 'simulatons'"),
        (["--set", "games=many"], "setting games must be an integer, not 'many'"),
        (["--resume"], "--resume needs the folder to go on in: --out FOLDER"),
        (["--players", "7"], "no config of the package is of these games and algorithms for 7 players"),
    ],
)
def test_wrong_calls(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    try:
        code = learning.main(words)
    except SystemExit as leaving:
        # what the parser finds
        code = leaving.code
    assert code == 2
    err = capsys.readouterr().err
    assert err.startswith("meeplezoo: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_is_neither_used_twice_nor_mixed_up(tmp_path, capsys):
    settings = learning.Settings(1.0, 2, 50, 2, [])
    with pytest.raises(ValueError, match=r"is no folder of this benchmark: it has no settings.json"):
        learning.prepare_folder(tmp_path, settings, resume=True)
    learning.prepare_folder(tmp_path / "new", settings, resume=False)
    learning.prepare_folder(tmp_path / "new", settings, resume=True)
    with pytest.raises(ValueError, match="new is not empty"):
        learning.prepare_folder(tmp_path / "new", settings, resume=False)
    with pytest.raises(ValueError, match=r"new was begun with minutes = 1.0, which cannot become 2.0"):
        learning.prepare_folder(tmp_path / "new", learning.Settings(2.0, 2, 50, 2, []), resume=True)


def test_quick_is_one_game_and_small():
    chosen = learning._parser().parse_args(["--quick", "--seeds", "3"])
    settings = learning._check_arguments(chosen)
    assert (chosen.games, chosen.seeds) == (["azul"], 3)
    assert (settings.minutes, settings.points, settings.games_per_evaluation) == (2.0, 4, 100)


# --- a tiny comparison

TINY_OF_ZERO = [
    *("games=16", "rollout=8", "minibatch=64", "hidden=[16]", "simulations=2", "considered=2"),
    *("window=2000", "warm_agent=random", "warm_epochs=1", "warm_decisions=100"),
]
TINY = [*TINY_OF_ZERO, "epochs=1", "pool_size=1", "baselines=[random]"]
SECONDS = 0.8


def words_for(out, *more):
    """Return the command line of a tiny comparison."""
    changes = [word for text in TINY for word in ("--set", text)]
    numbers = ["--minutes", str(SECONDS / 60), "--points", "2", "--games-per-evaluation", "2", "--processes", "1"]
    return ["--games", "azul", "--out", str(out), *numbers, *changes, *more]


@pytest.fixture
def in_this_process(monkeypatch):
    """Let jobs run in this process, as imports take long; return the names of those that have run."""
    done = []

    def run_here(jobs, processes, what):
        for job in jobs:
            if not job.result.is_file():
                done.append(job.name)
                assert run(Plan(**json.loads(json.dumps(job.plan)))) == 0
        return []

    monkeypatch.setattr(learning, "run_jobs", run_here)
    monkeypatch.setattr("meeplezoo.training.trainer.draw_learning_curve", lambda *arguments: None)
    return done


def test_a_tiny_comparison(tmp_path, capsys, in_this_process):
    out = tmp_path / "out"
    both = ["--algorithms", "maskable_ppo", "alphazero"]
    assert learning.main(words_for(out, *both, "--seeds", "1", "--json", str(tmp_path / "copy.json"))) == 0
    names = ["azul-maskable_ppo", "azul-alphazero"]
    assert in_this_process == [*(f"throughputs-{name}" for name in names), *(f"runs-{name}-0" for name in names)]
    captured = capsys.readouterr()
    assert "| game | algorithm | runs | after 0 min |" in captured.out
    assert "left out" not in captured.err
    content = json.loads((out / "learning.json").read_text())
    assert content == json.loads((tmp_path / "copy.json").read_text())
    assert [row["algorithm"] for row in content["rows"]] == ["maskable_ppo", "alphazero"]
    for entry in content["runs"]:
        times = [one["training_seconds"] for one in entry["evaluations"]]
        assert times[0] < 0.1
        assert len(times) >= 3
        # the end is that of an iteration; the first one, which loads and compiles, may take longer than all the time
        assert times[-1] > 0.8 * SECONDS
        assert entry["seconds"] > entry["training_seconds"]
        assert set(entry["evaluations"][-1]["results"]) == {"random", "greedy"}
        assert entry["decisions"] > 0
        assert entry["schedule"] > 0.5
    (match,) = content["head_to_head"]
    assert (match["game"], match["algorithm"], match["opponent"]) == ("azul", "maskable_ppo", "alphazero")
    assert match["seeds"] == [0]
    assert match["win_rates"] == [match["iqm"]]
    assert match["iqm"] in (0, 0.25, 0.5, 0.75, 1)
    assert "| azul | maskable_ppo | alphazero |" in captured.out
    assert (out / "learning.png").read_bytes().startswith(b"\x89PNG")
    # one more seed: what has ended is not trained again
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/*/metrics.jsonl")}
    del in_this_process[:]
    assert learning.main(words_for(out, "--algorithms", "maskable_ppo", "--seeds", "2", "--resume")) == 0
    assert in_this_process == ["runs-azul-maskable_ppo-1"]
    assert all(path.stat().st_mtime_ns == moment for path, moment in before.items())
    content = json.loads((out / "learning.json").read_text())
    (row,) = content["rows"]
    assert row["seeds"] == [0, 1]
    assert content["head_to_head"] == []


def test_head_to_head_games_are_played_seed_by_seed_and_for_three_players_both_ways(tmp_path, monkeypatch):
    played = []

    class Result:
        agents = (SimpleNamespace(win_rate=0.75),)

    def note(game, names, games, seed):
        played.append((game.num_players, [Path(name.partition(":")[2]).parent.name for name in names], games, seed))
        return Result

    monkeypatch.setattr(head_to_head, "evaluate", note)
    runs, folders = [], []
    for algorithm, kind in (("ppo", "safetensors"), ("maskable_ppo", "zip")):
        for seed in range(2 if algorithm == "ppo" else 3):
            folder = tmp_path / f"{algorithm}-{seed}"
            folder.mkdir()
            RunFolder(folder).last(kind).touch()
            runs.append({"game": "azul", "options": {"num_players": 3}, "algorithm": algorithm, "seed": seed})
            folders.append(folder)
    one, other = head_to_head.play_head_to_head(runs, folders, 7)
    assert (one["algorithm"], one["opponent"], one["seeds"]) == ("ppo", "maskable_ppo", [0, 1])
    assert (other["algorithm"], other["opponent"]) == ("maskable_ppo", "ppo")
    assert one["win_rates"] == [0.75, 0.75]
    assert (one["iqm"], one["low"], one["high"]) == (0.75, 0.75, 0.75)
    assert played[0] == (3, ["ppo-0", "maskable_ppo-0", "maskable_ppo-0"], 7, 2_000_000)
    assert played[3] == (3, ["maskable_ppo-1", "ppo-1", "ppo-1"], 7, 2_000_001)


def test_an_interrupted_run_is_saved_and_goes_on(tmp_path):
    throughput = {"first_decisions": 100, "first_seconds": 0.5, "decisions_per_second": 500.0}
    overrides = [*TINY_OF_ZERO, "evaluation_opponents=[random]", "evaluation_games=2", "seed=0"]
    plan = Plan("azul/alphazero", overrides, str(tmp_path / "run"), False, throughput, 5.0, 2, ["random"], 2)
    job = Job("one", asdict(plan), plan.result, tmp_path / "plan.json", tmp_path / "log.txt")
    folder = RunFolder(plan.folder)

    def stop_soon():
        while not folder.metrics.is_file() or len(folder.read_metrics()) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop_soon, daemon=True).start()
    with pytest.raises(Interrupted):
        run_jobs([job], 1, "runs")
    assert not plan.result.exists()
    assert folder.checkpoint.is_file()
    before = folder.read_metrics()
    trained = before[-1]["training_seconds"]
    assert 0 < trained < 300
    # of its time a second is left
    assert run(replace(plan, minutes=(trained + 1) / 60)) == 0
    after = folder.read_metrics()
    assert after[: len(before)] == before
    result = json.loads(plan.result.read_text())
    assert result["training_seconds"] == after[-1]["training_seconds"] > trained + 0.5
    assert after[-1]["decisions"] > before[-1]["decisions"]


def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupted(jobs, processes, what):
        raise Interrupted

    monkeypatch.setattr(learning, "run_jobs", interrupted)
    assert learning.main(words_for(tmp_path / "out", "--algorithms", "maskable_ppo")) == 130
    assert f"go on with the same command and --resume --out {tmp_path}/out\n" in capsys.readouterr().err


def test_a_process_that_fails_is_named(tmp_path, capsys):
    plan = {
        "config": "no/config",
        "overrides": [],
        "folder": str(tmp_path / "run"),
        "measure": True,
        "throughput": None,
    }
    rest = {"minutes": 1.0, "points": 1, "final_references": [], "final_games": 1}
    job = Job(
        "bad", {**plan, **rest}, tmp_path / "run" / "throughput.json", tmp_path / "plan.json", tmp_path / "log.txt"
    )
    assert run_jobs([job], 1, "throughputs") == [job]
    assert "1 of 1, bad FAILED" in capsys.readouterr().err
    assert "there is no config 'no/config'" in job.log.read_text()
    done = tmp_path / "done.json"
    Path(done).touch()
    assert run_jobs([Job("done", {}, done, tmp_path / "p", tmp_path / "l")], 1, "throughputs") == []
