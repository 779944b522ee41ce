"""`meeplezoo runs`: what is told about runs that are finished, stopped, running, killed and damaged."""

import json
import os
import subprocess
import sys
import time

import pytest
import yaml

from meeplezoo.cli.main import main
from meeplezoo.training.config_files import write_config
from meeplezoo.training.config_reading import make_config
from meeplezoo.training.run_folder import RunFolder
from meeplezoo.training.run_status import list_runs

NOW = 1_700_000_000.0


def result(rate, low, high, margin):
    return {"win_rate": rate, "interval": [low, high], "mean_margin": margin}


ROWS = [
    {
        "iteration": 0,
        "decisions": 0,
        "evaluation": {"random": result(0.5, 0.4, 0.6, 0.0), "greedy": result(0.0, 0.0, 0.1, -60.0)},
        "seconds": 2.0,
    },
    {"iteration": 1, "decisions": 500, "seconds": 7.0},
    {
        "iteration": 2,
        "decisions": 1000,
        "evaluation": {"random": result(1.0, 0.96, 1.0, 50.0), "greedy": result(0.25, 0.1, 0.4, -9.0)},
        "seconds": 12.0,
    },
    {
        "iteration": 3,
        "decisions": 1500,
        "evaluation": {"random": result(1.0, 0.96, 1.0, 49.0), "greedy": result(0.25, 0.1, 0.4, -9.0)},
        "seconds": 17.5,
    },
]


def make_run(path, *, rows=ROWS, age=0.0, saved="before", agent="best.zip", **settings):
    """Make the folder of a run whose metrics are so old; it was saved "before" their last line, "after" it, or None."""
    folder = RunFolder(path)
    path.mkdir(parents=True)
    write_config(make_config({"game": "azul", "decisions": 2000, **settings}), folder.config)
    write = {folder.config: NOW - age - 100}
    if rows:
        for row in rows:
            folder.add_metrics(row)
        write[folder.metrics] = NOW - age
        (path / agent).touch()
    if saved:
        folder.checkpoint.touch()
        folder.learning_curve.touch()
        # a picture is drawn at the very end, after the last checkpoint; while a run goes on, before the next one
        times = {"after": (NOW - age + 1, NOW - age + 2), "before": (NOW - age - 5, NOW - age - 6)}[saved]
        write |= dict(zip((folder.checkpoint, folder.learning_curve), times, strict=True))
    for file, moment in write.items():
        os.utime(file, (moment, moment))
    return path


def listed(path):
    (run,) = list_runs([path], NOW)
    return run


def test_a_run_is_listed_with_all_its_numbers(tmp_path):
    path = make_run(tmp_path / "one", algorithm="ppo", agent="best.safetensors", options={"wall": "grey"}, minutes=3)
    run = listed(path)
    assert (run.folder, run.game, run.algorithm) == (str(path), "azul", "ppo")
    assert run.options == {"num_players": 2, "wall": "grey"}
    assert (run.decisions, run.planned_decisions, run.planned_minutes) == (1500, 2000, 3)
    assert (run.seconds, run.decisions_per_second) == (17.5, 1500 / 17.5)
    assert run.latest == {"decisions": 1500, "results": ROWS[3]["evaluation"]}
    # the same win rates, but the better margins
    assert run.best == {"decisions": 1000, "results": ROWS[2]["evaluation"]}
    assert run.agent == f"net:{path}/best.safetensors"
    assert run.changed == NOW


@pytest.mark.parametrize(
    ("made", "state", "detail"),
    [
        ({"decisions": 1500, "saved": "after"}, "finished", "all decisions made"),
        ({"minutes": 17.5 / 60, "saved": "after"}, "finished", "its time is over"),
        ({"saved": "after"}, "stopped", "saved; can be resumed"),
        ({"saved": "after", "age": 9e6}, "stopped", "saved; can be resumed"),
        ({"age": 12}, "running", "last line of metrics 12 seconds ago"),
        ({"age": 121}, "killed", "last line of metrics 2 minutes ago; can be resumed from its last checkpoint"),
        ({"age": 7200, "saved": None}, "killed", "last line of metrics 2 hours ago; no checkpoint, cannot be resumed"),
        ({"rows": [], "saved": None, "age": -101}, "running", "begun, no line of metrics yet, 0 seconds ago"),
        (
            {"rows": [], "saved": None, "age": 86_400},
            "killed",
            "begun, no line of metrics yet, 1 day ago; no checkpoint yet, begins anew when resumed",
        ),
    ],
)
def test_states(tmp_path, made, state, detail):
    run = listed(make_run(tmp_path / "one", **made))
    assert (run.state, run.detail) == (state, detail)


def test_a_run_with_long_iterations_may_be_silent_for_longer(tmp_path):
    slow = [{**row, "seconds": 100.0 * row["seconds"]} for row in ROWS]
    # the longest pause is 550 s
    assert listed(make_run(tmp_path / "slow", rows=slow, age=1600)).state == "running"
    assert listed(make_run(tmp_path / "silent", rows=slow, age=1700)).state == "killed"
    # nothing but the first evaluation: the first iteration may be a long one
    assert listed(make_run(tmp_path / "first", rows=ROWS[:1], age=1000)).state == "running"


def test_damaged_runs_are_listed_as_such(tmp_path):
    def damage(name, change, **made):
        path = make_run(tmp_path / name, **made)
        change(RunFolder(path))
        run = listed(path)
        assert run.state == "damaged"
        assert "\n" not in run.detail
        return run

    run = damage("no-config", lambda folder: folder.config.unlink())
    assert (run.detail, run.game, run.decisions) == ("config.yaml is missing", None, 1500)
    assert run.agent.startswith("ppo:")
    run = damage("no-yaml", lambda folder: folder.config.write_text("game: [azul\n"))
    assert run.detail.startswith("config.yaml: ")
    assert "no valid YAML" in run.detail
    run = damage("bytes", lambda folder: folder.config.write_bytes(b"\xff\xfe\x00"))
    assert run.detail.startswith("config.yaml: ")

    def make_older(folder):
        settings = {**yaml.safe_load(folder.config.read_text()), "forgotten": 1}
        folder.config.write_text(yaml.safe_dump(settings))

    # of another version: what can be read is told all the same
    run = damage("older", make_older)
    assert "maskable_ppo has no setting 'forgotten'" in run.detail
    assert len(run.detail) < 200
    assert (run.game, run.algorithm, run.decisions, run.planned_decisions) == ("azul", "maskable_ppo", 1500, 2000)
    run = damage("metrics", lambda folder: folder.metrics.write_text('{"decisions": 5\n'))
    assert run.detail.startswith("metrics.jsonl: line 1 is not JSON (")


ROW = '{"iteration": 1, "decisions": 5, "seconds": 1.5'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("3", "is no JSON object"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"decisions": 5}', "lacks the numbers of an iteration"),
        ('{"iteration": 1, "decisions": "5", "seconds": 1}', "lacks the numbers of an iteration"),
        ('{"iteration": 1, "decisions": 5.0, "seconds": 1}', "lacks the numbers of an iteration"),
        ('{"iteration": 1, "decisions": true, "seconds": 1}', "lacks the numbers of an iteration"),
        ('{"iteration": 1, "decisions": -5, "seconds": 1}', "lacks the numbers of an iteration"),
        ('{"iteration": 1, "decisions": 1' + 400 * "0" + ', "seconds": 1}', "holds the number"),
        ('{"iteration": 1, "decisions": 5, "seconds": NaN}', "holds NaN, which is not a JSON number"),
        (ROW + ', "evaluation": {"a": 1}}', "has an evaluation that is none"),
        (ROW + ', "evaluation": []}', "has an evaluation that is none"),
        (
            ROW + ', "evaluation": {"a": {"win_rate": 0.5, "interval": [0.1, 1e9], "mean_margin": 0}}}',
            "has an evaluation that is none",
        ),
        ("\0" * 4096, "is not JSON"),
        ('"' + 2_000_000 * "x" + '"', "is longer than 1,048,576 bytes"),
    ],
)
def test_lines_that_are_not_what_they_should_be_are_named(tmp_path, line, reason):
    path = make_run(tmp_path / "one")
    make_run(tmp_path / "other")
    with RunFolder(path).metrics.open("a") as file:
        file.write(f"{line}\n")
    runs = {run.folder: run for run in list_runs([tmp_path], NOW)}
    assert runs[str(tmp_path / "other")].state == "running"
    run = runs[str(path)]
    assert run.state == "damaged"
    assert run.detail.startswith(f"metrics.jsonl: line 5 {reason}")
    assert len(run.detail) < 200
    # what comes before is told
    assert run.decisions == 1500
    with pytest.raises(ValueError, match=rf"one/metrics.jsonl: line 5 {reason}"):
        RunFolder(path).read_metrics()


def link_to_zeros(path):
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def make_pipe(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def make_folder(path):
    path.unlink(missing_ok=True)
    path.mkdir()


def make_loop(path):
    path.unlink(missing_ok=True)
    path.symlink_to(path.name)


@pytest.mark.parametrize("name", ["config", "metrics", "checkpoint"])
@pytest.mark.parametrize("change", [link_to_zeros, make_pipe, make_folder, make_loop])
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files here")
def test_files_that_are_none_are_not_read(tmp_path, name, change):
    make_run(tmp_path / "whole")
    folder = RunFolder(make_run(tmp_path / "other"))
    change(getattr(folder, name))
    runs = {run.folder: run for run in list_runs([tmp_path], NOW)}
    assert runs[str(tmp_path / "whole")].state == "running"
    run = runs[str(folder.path)]
    assert run.state == "damaged"
    assert run.detail.startswith(f"{getattr(folder, name).name}: ")
    assert "\n" not in run.detail


def test_a_folder_that_cannot_be_read_hides_no_other(tmp_path, monkeypatch):
    make_run(tmp_path / "one")
    make_run(tmp_path / "closed")

    def refuse(self):
        if self.path.name == "closed":
            raise PermissionError(13, "Permission denied", str(self.path))

    monkeypatch.setattr(RunFolder, "best_agent", refuse)
    runs = {run.folder: run for run in list_runs([tmp_path], NOW)}
    assert runs[str(tmp_path / "one")].state == "running"
    assert (runs[str(tmp_path / "closed")].state, runs[str(tmp_path / "closed")].detail) == (
        "damaged",
        "cannot be read: Permission denied",
    )


def test_configs_of_any_content_are_told_in_one_line(tmp_path, capsys):
    texts = [
        "game: [azul]\ndecisions: {a: 1}\noptions: 3\nalgorithm: [x]\nminutes: soon\n",
        "game: azul\ndecisions: 1" + 300 * "0" + "\n",
        "game: azul\ndecisions: 1000000000000000000000000000\nminutes: -1\nalgorithm: 5\n",
        "game: azul\ngame: azul\n",
        "a: &a [x]\nb: [*a, *a]\n",
        'game: "\\e[2J"\noptions: {num_players: {x: [1]}, "\\e[2J": 1}\ndecisions: 5\n',
    ]
    for number, text in enumerate(texts):
        folder = RunFolder(make_run(tmp_path / f"run-{number}"))
        folder.config.write_text(text)
    runs = list_runs([tmp_path], NOW)
    assert [run.state for run in runs] == ["damaged"] * len(texts)
    assert all(len(run.detail) < 250 and run.detail.startswith("config.yaml: ") for run in runs)
    assert main(["runs", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["runs", "--json", str(tmp_path)]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(texts)


def test_numbers_that_json_has_not_are_written_as_null(tmp_path):
    folder = RunFolder(make_run(tmp_path / "one"))
    folder.add_metrics({**ROWS[1], "train/loss": float("nan"), "train/kl": float("inf"), "train/lr": 0.5})
    last = folder.read_metrics()[-1]
    assert (last["train/loss"], last["train/kl"], last["train/lr"]) == (None, None, 0.5)
    assert listed(folder.path).state != "damaged"


def test_a_half_written_last_line_is_left_out(tmp_path):
    path = make_run(tmp_path / "one")
    with RunFolder(path).metrics.open("a") as file:
        file.write('{"iteration": 4, "decis')
    assert listed(path).decisions == 1500


def test_runs_come_newest_first_and_only_once(tmp_path):
    for name, age in (("old", 500), ("new", 1), ("middle", 200)):
        make_run(tmp_path / name, age=age)
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").write_text("no run")
    runs = list_runs([tmp_path, tmp_path / "old", tmp_path / "empty"], NOW)
    assert [run.folder for run in runs] == [str(tmp_path / name) for name in ("new", "middle", "old")]


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["runs"]) == 0
    assert capsys.readouterr().out == "no training runs in runs\n"
    make_run(tmp_path / "runs" / "one", saved="after", age=NOW - time.time(), minutes=3)
    make_run(tmp_path / "elsewhere" / "two", rows=[], saved=None)
    assert main(["runs"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "one  azul (num_players=2), maskable_ppo",
        "  stopped: saved; can be resumed",
        "  1,500 of 2,000 decisions in 0:18 of 3:00, 86/s",
        "  latest  random 100.0 % (96.0 - 100.0), greedy 25.0 % (10.0 - 40.0), after 1,500 decisions",
        "  best    random 100.0 % (96.0 - 100.0), greedy 25.0 % (10.0 - 40.0), after 1,000 decisions",
        "  agent   ppo:runs/one/best.zip",
    ]
    assert main(["runs", "elsewhere", "--json", "runs/one"]) == 0
    one, two = json.loads(capsys.readouterr().out)
    assert (one["folder"], one["state"], one["decisions"]) == ("runs/one", "stopped", 1500)
    assert (two["folder"], two["state"], two["decisions"]) == ("elsewhere/two", "killed", None)


def test_wrong_calls(tmp_path, capsys):
    assert main(["runs", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"meeplezoo: error: there is no folder {tmp_path}/none\n"
    (tmp_path / "file").touch()
    assert main(["runs", str(tmp_path / "file")]) == 2
    assert "is a file, not a folder" in capsys.readouterr().err
    assert main(["runs", "--jason"]) == 2


def test_torch_is_not_imported(tmp_path):
    make_run(tmp_path / "one")
    program = (
        "import sys; from meeplezoo.cli.main import main; main(sys.argv[1:]); "
        "print([name for name in ('torch', 'sb3_contrib', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "runs", str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("one  azul")
    assert done.stdout.splitlines()[-1] == "[]"
