"""Run folders: begun again without a checkpoint, one process at a time, leftovers of killed ones, full disks."""

import errno
import os
import subprocess
import sys

import pytest

pytest.importorskip("sb3_contrib")

import yaml
from tiny_training import assert_equal_runs, metrics, train_tiny

from meeplezoo.envs.system import files
from meeplezoo.training import run_folder, tensorboard
from meeplezoo.training.command import train_command
from meeplezoo.training.config_files import read_config
from meeplezoo.training.run_folder import RunFolder
from meeplezoo.training.tensorboard import TensorBoard
from meeplezoo.training.trainer import Trainer

QUICK = {"algorithm": "ppo", "decisions": 64, "games": 4, "minibatch": 32, "evaluation_games": 2}


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "straight"
    train_tiny(path, **QUICK)
    return path


def one_error(capsys):
    error = capsys.readouterr().err
    assert error.startswith("meeplezoo: error: ")
    assert error.count("\n") == 1
    return error


def test_a_run_without_a_checkpoint_begins_anew_with_its_config(straight, tmp_path, monkeypatch):
    """A run that was killed in its first evaluation, and one whose first checkpoint was not yet written."""
    for number, name in enumerate(("_evaluate", "save")):
        path = tmp_path / name
        with monkeypatch.context() as patch:
            patch.setattr(Trainer, name, stop_here)
            with pytest.raises(KeyboardInterrupt):
                train_tiny(path, **QUICK)
        folder = RunFolder(path)
        assert folder.config.is_file()
        assert not folder.checkpoint.exists()
        assert len(metrics(path)) == number
        assert train_command(None, [], str(path)) == 0
        assert_equal_runs(straight, path)


def stop_here(*arguments):
    raise KeyboardInterrupt


def test_a_run_that_has_lost_its_checkpoint_is_not_begun_anew(tmp_path, capsys):
    path = tmp_path / "run"
    train_tiny(path, **QUICK)
    RunFolder(path).checkpoint.unlink()
    before = {one: one.stat().st_mtime_ns for one in path.rglob("*")}
    assert train_command(None, ["decisions=1000"], str(path)) == 1
    assert f"there is no checkpoint {path}/checkpoint.pt, though the run had one" in one_error(capsys)
    assert {one: one.stat().st_mtime_ns for one in path.rglob("*")} == before


def test_metrics_that_cannot_be_read_stop_a_run_before_anything_is_changed(tmp_path, capsys):
    path = tmp_path / "run"
    train_tiny(path, stop_after=1, **QUICK)
    metrics_file = RunFolder(path).metrics
    whole = metrics_file.read_bytes()
    for line in (b'{"iteration": 1}\n', b"\0\0\n", b'{"iteration": 1, "iteration": 2}\n'):
        metrics_file.write_bytes(whole + line)
        assert train_command(None, ["decisions=1000"], str(path)) == 1
        assert "metrics.jsonl: line 3 " in one_error(capsys)
        assert metrics_file.read_bytes() == whole + line
        assert read_config(str(RunFolder(path).config)).decisions == 64


def test_changes_are_written_once_the_run_goes_on(tmp_path):
    path = tmp_path / "run"
    train_tiny(path, stop_after=1, **QUICK)
    versions = yaml.safe_load(RunFolder(path).config.read_text())["versions"]
    assert train_command(None, ["decisions=96"], str(path)) == 0
    assert read_config(str(RunFolder(path).config)).decisions == 96
    assert yaml.safe_load(RunFolder(path).config.read_text())["versions"] == versions


HOLD = """
import sys
from pathlib import Path
from meeplezoo.envs.system.locks import lock_folder
with lock_folder(Path(sys.argv[1]), "run folder"):
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time(tmp_path, capsys):
    path = tmp_path / "run"
    train_tiny(path, stop_after=1, **QUICK)
    words = [sys.executable, "-c", HOLD, str(path)]
    holder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "ready\n"
    before = {one: one.stat().st_mtime_ns for one in path.rglob("*")}
    in_use = f"run folder {path} is in use by process {holder.pid}"
    try:
        assert train_command(None, [], str(path)) == 1
        assert in_use in one_error(capsys)
        assert train_command("azul/ppo", [f"run={path}"], None) == 1
        assert in_use in one_error(capsys)
        assert {one: one.stat().st_mtime_ns for one in path.rglob("*")} == before
    finally:
        holder.kill()
        holder.communicate()
    assert train_command(None, [], str(path)) == 0
    assert not (path / ".lock").exists()


def test_what_killed_processes_left_is_cleared_away_and_no_use_of_a_folder(tmp_path, straight):
    path = tmp_path / "run"
    left = [path / ".meeplezoo-0123456789ab.tmp", path / "evaluations" / ".meeplezoo-ba9876543210.tmp"]
    path.mkdir()
    left[0].touch()
    (path / ".lock").touch()
    # killed before the config was written: a new run may have the folder
    train_tiny(path, stop_after=1, **QUICK)
    assert not left[0].exists()
    for one in left:
        one.touch()
    assert train_command(None, [], str(path)) == 0
    assert not any(one.exists() for one in left)
    assert_equal_runs(straight, path)


def test_a_file_in_place_of_a_run_folder_is_named(tmp_path, capsys):
    path = tmp_path / "file"
    path.touch()
    assert train_command("azul/ppo", [f"run={path}"], None) == 2
    assert f"run folder {path} is a file" in one_error(capsys)
    assert train_command("azul/ppo", [f"run={path}/deeper"], None) == 1
    assert f"{path}" in one_error(capsys)
    assert train_command("azul/ppo", [f"run={tmp_path / ('x' * 300)}"], None) == 1
    assert "File name too long" in one_error(capsys)


# --- full disks


def no_space(*arguments, **named):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ["metrics.jsonl", "tensorboard", "checkpoint.pt", "last.safetensors", "evaluations"])
def test_a_full_disk_names_the_file_and_loses_nothing_that_was_saved(tmp_path, capsys, monkeypatch, straight, name):
    path = tmp_path / "run"
    train_tiny(path, stop_after=1, **QUICK)

    def write(self, data):
        shown = getattr(self, "shown", None)
        if shown is not None and name in str(shown):
            with files.name_errors(shown):
                no_space()
        return real_write(self, data)

    def append(target, content):
        if name in str(target):
            with files.name_errors(target):
                no_space()
        return real_append(target, content)

    real_write, real_append = files._NamedFile.write, files.append
    with monkeypatch.context() as patch:
        patch.setattr(files._NamedFile, "write", write)
        patch.setattr(run_folder, "append", append)
        patch.setattr(tensorboard, "append", append)
        assert train_command(None, [], str(path)) == 1
    error = one_error(capsys)
    assert str(path / name) in error
    assert "No space left on device" in error
    assert not list(path.rglob(".*"))
    assert train_command(None, [], str(path)) == 0
    assert_equal_runs(straight, path)


def test_files_that_may_not_grow_are_named(tmp_path, capsys, straight):
    """The system's own errors, as they come."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "run"
    train_tiny(path, stop_after=1, **QUICK)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        assert train_command(None, [], str(path)) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    error = one_error(capsys)
    assert error.startswith(f"meeplezoo: error: {path}/")
    assert error.endswith(": File too large\n")
    assert train_command(None, [], str(path)) == 0
    assert_equal_runs(straight, path)


def test_events_of_an_earlier_beginning_are_hidden(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    row = {"iteration": 0, "decisions": 0, "seconds": 1.0, "evaluation": {"a": {"win_rate": 0.25, "mean_margin": -1}}}
    folder = tmp_path / "tensorboard"
    TensorBoard(folder, 0).add(row)
    TensorBoard(folder, 0).add({**row, "evaluation": {"a": {"win_rate": 0.5, "mean_margin": 1}}})
    assert len(list(folder.iterdir())) == 2
    events = EventAccumulator(str(folder)).Reload()
    assert [(event.step, event.value) for event in events.Scalars("win_rate/a")] == [(0, 0.5)]
    assert [event.value for event in events.Scalars("time/seconds")] == [1.0]
