"""Training: configs, runs, exact resuming, interruption, what lies in the run folder."""

import json
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")

import torch
import yaml
from patched_clock import Clock
from tiny_training import TINY, StopAfter, assert_equal_runs, assert_same, metrics, tables, tiny, train_tiny

from meeplezoo.agents import make_agent
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.envs import make_game
from meeplezoo.training.checkpoint import load_checkpoint
from meeplezoo.training.command import train_command
from meeplezoo.training.config import TrainingConfig
from meeplezoo.training.config_files import change_config, config_names, config_stem, read_config
from meeplezoo.training.config_reading import make_config, settings_help
from meeplezoo.training.demo import run_demo
from meeplezoo.training.maskable_ppo import MaskablePPOAlgorithm
from meeplezoo.training.maskable_ppo_opponents import OpponentPool
from meeplezoo.training.progress import ProgressLine, format_duration
from meeplezoo.training.run_folder import RunFolder
from meeplezoo.training.trainer import Trainer


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A tiny run that was never stopped."""
    path = tmp_path_factory.mktemp("runs") / "straight"
    train_tiny(path)
    return path


# --- configs


def test_packaged_configs_are_found_by_name_and_by_path(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    assert {"azul/ppo", "azul/demo"} <= set(config_names())
    for name in config_names():
        assert read_config(str(root / "configs" / f"{name}.yaml")) == read_config(name)
    monkeypatch.chdir(tmp_path)
    assert read_config("azul/ppo").game == "azul"
    assert config_stem("configs/azul/ppo.yaml") == config_stem("azul/ppo") == "azul-ppo"
    with pytest.raises(ValueError, match=r"no config 'azul/pro'.*azul/demo, .*azul/ppo"):
        read_config("azul/pro")


def test_overrides_are_yaml_and_of_the_right_type():
    config = read_config(
        "azul/ppo",
        ["learning_rate=3e-4", "hidden=[64, 32]", "options={wall: grey}", "minutes=2", "target_kl=null", "run=x"],
    )
    assert config.learning_rate == 3e-4
    assert config.hidden == (64, 32)
    assert config.make_game().options == {"num_players": 2, "wall": "grey", "max_rounds": 30}
    assert config.options == config.make_game().options
    assert config.minutes == 2.0
    assert isinstance(config.minutes, float)
    assert config.target_kl is None


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "learning_rat=1",
            r"maskable_ppo has no setting 'learning_rat'; its settings are algorithm, game, .*learning_rate.*device",
        ),
        ("games=many", "setting games must be an integer, not 'many'"),
        ("games=2.5", "setting games must be an integer, not 2.5"),
        ("games=true", "setting games must be an integer, not True"),
        ("games=0", "setting games must be at least 1, not 0"),
        ("gamma=1.5", "setting gamma must be at most 1.0, not 1.5"),
        ("gamma=.nan", "override 'gamma=.nan' holds .nan, which is not a finite number"),
        ("hidden=64", r"setting hidden must be a list \(an integer each\), not 64"),
        ("hidden=[64, a]", "setting hidden must be a list"),
        ("rewards=points", "setting rewards must be one of outcome, margin, rank, not 'points'"),
        ("activation=silu", "setting activation must be one of tanh, relu"),
        ("network=conv", "setting network must be one of mlp, cells, not 'conv'"),
        ("dense=yes please", "setting dense must be true or false, not 'yes please'"),
        ("channels=0", "setting channels must be at least 1, not 0"),
        ("minutes=soon", "setting minutes must be a number or null, not 'soon'"),
        ("minibatch=1000", "minibatch must divide games"),
        ("game=chess", "there is no game 'chess'; the games are azul"),
        ("options={walls: grey}", "azul has no option 'walls'; it has num_players, wall, max_rounds"),
        ("options=3", "setting options must be a mapping, not 3"),
        ("games", "override 'games' must have the form key=value"),
        ("games=[", "override .* is no valid YAML"),
    ],
)
def test_wrong_settings_are_refused_in_one_sentence(override, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_config("azul/ppo", [override])
    assert "\n" not in str(caught.value)


def test_settings_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="must not all be 0"):
        tiny(share_current=0, share_past=0, share_baselines=0)
    with pytest.raises(ValueError, match="baselines must name an agent"):
        tiny(baselines=[])
    with pytest.raises(ValueError, match="evaluation_opponents must name an agent"):
        tiny(evaluation_opponents=[])
    with pytest.raises(ValueError, match="dense needs the rewards margin, not outcome"):
        tiny(rewards="outcome", dense=True)
    lacking = "network cells needs an observation with a plane of cells, which {} with the encoding flat has not"
    with pytest.raises(ValueError, match=lacking.format("azul")):
        tiny(network="cells")
    with pytest.raises(ValueError, match=lacking.format("qwirkle")):
        tiny(game="qwirkle", observation="flat", network="cells")
    for encoding in ("image", "compact"):
        with pytest.raises(ValueError, match=f"observation must be one of planes, flat, not '{encoding}'"):
            tiny(game="qwirkle", observation=encoding)
    with pytest.raises(ValueError, match="setting 'game' is missing"):
        make_config({"decisions": 1})
    config = tiny()
    assert change_config(config, ["decisions=5000", "minutes=3"]) == tiny(decisions=5000, minutes=3)
    with pytest.raises(ValueError, match=r"'gamma' cannot be changed in a resumed run; only decisions"):
        change_config(config, ["gamma=0.5"])


def test_every_setting_has_a_line_of_help():
    lines = settings_help()
    assert list(lines) == list(TrainingConfig.__dataclass_fields__)
    assert lines["rewards"].startswith("a text, default margin: ")
    assert lines["decisions"].startswith("an integer, required: ")
    assert all(len(line) > 20 and "\n" not in line for line in lines.values())
    page = (Path(__file__).parents[2] / "docs/training.md").read_text(encoding="utf-8").splitlines()
    first = page.index("| setting | type, default, meaning |") + 2
    assert page[first : first + len(lines)] == [f"| `{name}` | {line} |" for name, line in lines.items()]


def test_no_file_and_no_mapping_are_refused(tmp_path):
    path = tmp_path / "list.yaml"
    path.write_text("- game\n")
    with pytest.raises(ValueError, match="must be a mapping"):
        read_config(str(path))
    path.write_text("game: [azul\n")
    with pytest.raises(ValueError, match="no valid YAML"):
        read_config(str(path))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="no text file"):
        read_config(str(path))


# --- runs


def test_the_run_folder_holds_everything(straight):
    folder = RunFolder(straight)
    written = yaml.safe_load(folder.config.read_text())
    assert {"python", "torch", "meeplezoo", "stable-baselines3"} <= written.pop("versions").keys()
    assert make_config(written) == read_config(str(folder.config)) == tiny(run=str(straight))
    rows = folder.read_metrics()
    assert [row["decisions"] for row in rows] == [128 * iteration for iteration in range(7)]
    assert [row["iteration"] for row in rows if "evaluation" in row] == [0, 2, 4, 6]
    assert all(0 <= rows[2]["evaluation"][name]["win_rate"] <= 1 for name in ("random", "greedy"))
    assert rows[6]["train/learning_rate"] < rows[1]["train/learning_rate"] == 1e-3
    assert set(tables(straight)) == {"0.json", "256.json", "512.json", "768.json"}
    table = json.loads((folder.evaluations / "512.json").read_text())["greedy"]
    assert [agent["name"] for agent in table["agents"]] == ["learner", "greedy"]
    assert folder.learning_curve.read_bytes().startswith(b"\x89PNG")
    assert not list(straight.glob(".*")), "temporary files are left"


def test_the_models_play_as_agents(straight):
    game = make_game("azul")
    for path in (straight / "best.zip", straight / "last.zip"):
        result = evaluate(game, [f"ppo:{path}", "random"], 4, 1).agents[0]
        assert result.games == 4
    with pytest.raises(ValueError, match="was trained for observations"):
        make_agent(f"ppo:{straight / 'best.zip'}", make_game("azul", num_players=3))


def test_tensorboard_shows_the_numbers_of_the_metrics(straight):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(RunFolder(straight).tensorboard)).Reload()
    shown = [(event.step, event.value) for event in events.Scalars("win_rate/random")]
    rows = [row for row in RunFolder(straight).read_metrics() if "evaluation" in row]
    assert shown == [(row["decisions"], pytest.approx(row["evaluation"]["random"]["win_rate"])) for row in rows]
    assert len(events.Scalars("train/value_loss")) == 6


def test_a_stopped_and_resumed_run_equals_one_that_was_not(straight, tmp_path):
    path = tmp_path / "resumed"
    train_tiny(path, stop_after=3)
    assert metrics(path) == metrics(straight)[:4]
    stopped = load_checkpoint(RunFolder(path).checkpoint, make_game("azul"))
    assert stopped["progress"].iteration == 3
    assert len(stopped["algorithm"]["pool"]["past"]) == 1
    train_tiny(path, resume=True)
    assert_equal_runs(straight, path)


def test_the_same_seed_gives_the_same_run_and_another_seed_another(straight, tmp_path):
    train_tiny(tmp_path / "again")
    assert_equal_runs(straight, tmp_path / "again")
    train_tiny(tmp_path / "other", seed=6)
    assert metrics(tmp_path / "other") != metrics(straight)


def test_three_players_grey_wall_and_other_settings(tmp_path):
    trainer = train_tiny(
        tmp_path / "three",
        options={"num_players": 3, "wall": "grey"},
        rewards="rank",
        activation="tanh",
        target_kl=0.01,
        pool_size=0,
        baselines=["random"],
    )
    assert trainer.decisions == 768
    assert trainer.algorithm.pool.get_state()["past"] == []
    assert len(trainer.algorithm.env.opponent_batch.opponents) == 2
    greedy = metrics(tmp_path / "three")[-1]["evaluation"]["greedy"]
    table = json.loads((tmp_path / "three" / "evaluations" / "768.json").read_text())["greedy"]
    learner = table["agents"][0]
    assert learner["wins"] + learner["draws"] + learner["losses"] == TINY["evaluation_games"]
    assert greedy["win_rate"] == learner["win_rate"]


def test_a_time_limit_ends_the_run_with_an_evaluation(tmp_path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr("meeplezoo.training.trainer.time", clock)
    train_iteration = MaskablePPOAlgorithm.train_iteration

    def train_for_half_a_second(algorithm, iteration):
        clock.now += 0.5
        return train_iteration(algorithm, iteration)

    monkeypatch.setattr(MaskablePPOAlgorithm, "train_iteration", train_for_half_a_second)
    trainer = train_tiny(tmp_path / "short", decisions=10**9, minutes=0.02, evaluation_interval=10**6)
    rows = metrics(tmp_path / "short")
    assert trainer.progress.seconds == 1.5
    assert [bool(row.get("evaluation")) for row in rows] == [True, False, False, True]


def test_training_learns_to_beat_random(tmp_path):
    settings = {"game": "azul", "decisions": 80_000, "hidden": [128], "epochs": 3}
    config = make_config({**settings, "evaluation_interval": 10**6, "evaluation_games": 200, "run": "x"})
    folder = RunFolder(tmp_path / "learns")
    folder.path.mkdir()
    trainer = Trainer(config, folder, ProgressLine(StringIO()), resume=False)
    stop = StopAfter(10**9)
    stop.trainer = trainer
    trainer.run(stop)
    first, *_, last = folder.read_metrics()
    assert first["evaluation"]["random"]["win_rate"] < 0.6
    assert last["evaluation"]["random"]["win_rate"] > 0.65


# --- opponents


def test_the_pool_keeps_the_newest_past_selves_and_shares_the_weights(straight):
    trainer = train_tiny_in_memory(straight)
    pool = OpponentPool(trainer.game, trainer.config, trainer.algorithm.model)
    assert [agent.name for agent in pool.agents(0)] == ["current", "random", "greedy"]
    assert pool.weights() == pytest.approx([0.6, 0.2, 0.2])
    marks = []
    for mark in (1.0, 2.0, 3.0):
        with torch.no_grad():
            next(trainer.algorithm.model.policy.parameters()).fill_(mark)
        pool.take_snapshot()
        marks.append([float(next(policy.parameters()).flatten()[0]) for policy in pool._past])
    assert marks == [[1.0], [1.0, 2.0], [3.0, 2.0]]
    assert pool.weights() == pytest.approx([0.3, 0.2, 0.2, 0.15, 0.15])
    other = OpponentPool(trainer.game, trainer.config, trainer.algorithm.model)
    other.set_state(pool.get_state())
    assert_same(other.get_state(), pool.get_state())
    other.take_snapshot(), pool.take_snapshot()
    assert_same(other.get_state(), pool.get_state())


def train_tiny_in_memory(path):
    """Return the trainer of a finished run, gone on with."""
    return Trainer(tiny(run=str(path)), RunFolder(path), ProgressLine(StringIO()), resume=True)


# --- stopping


CHILD = """
import os, signal, sys
from meeplezoo.training.command import train_command
from meeplezoo.training.run_folder import RunFolder

add_metrics = RunFolder.add_metrics

def add_metrics_and_be_stopped(folder, row):
    add_metrics(folder, row)
    if row["iteration"] == {iteration}:
        if {signal!r} == "SIGKILL":
            with folder.metrics.open("a") as file:
                file.write('{{"iteration": 9, "deci')
        os.kill(os.getpid(), signal.{signal})

RunFolder.add_metrics = add_metrics_and_be_stopped
sys.exit(train_command({config!r}, {overrides!r}, {resume!r}))
"""


def train_and_send(name, iteration, config, overrides, resume):
    """Train in a process of its own that is sent a signal at an iteration, between metrics and checkpoint."""
    code = CHILD.format(signal=name, iteration=iteration, config=config, overrides=overrides, resume=resume)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """A config file of a run of 20 iterations, and such a run that was never stopped."""
    folder = tmp_path_factory.mktemp("longer")
    config = folder / "config.yaml"
    settings = {**TINY, "decisions": 20 * 128, "checkpoint_interval": 5, "evaluation_interval": 10}
    config.write_text(yaml.safe_dump(settings))
    assert train_command(str(config), [f"run={folder / 'straight'}"], None) == 0
    return config, folder / "straight"


def test_kill_and_interruption_lose_little_and_change_nothing(longer, tmp_path):
    config, unbroken = longer
    path = tmp_path / "broken"
    # kill -9, in the middle of a line, loses at most one checkpoint interval
    process = train_and_send("SIGKILL", 9, str(config), [f"run={path}"], None)
    assert process.returncode == -signal.SIGKILL, process.stderr
    assert reached_and_saved(path) == (9, 5)
    # Ctrl-C loses nothing
    process = train_and_send("SIGINT", 13, None, [], str(path))
    assert process.returncode == 130, process.stderr
    assert "Traceback" not in process.stderr
    assert f"meeplezoo train --resume {path}" in process.stdout
    assert reached_and_saved(path) == (13, 13)
    # and in the end nothing of it shows
    assert train_command(None, [], str(path)) == 0
    assert_equal_runs(unbroken, path)


def reached_and_saved(path):
    saved = load_checkpoint(RunFolder(path).checkpoint, make_game("azul"))["progress"].iteration
    return RunFolder(path).read_metrics()[-1]["iteration"], saved


def test_damaged_and_missing_checkpoints_are_named(straight, tmp_path, capsys):
    path = tmp_path / "run"
    train_tiny(path, decisions=128)
    checkpoint = RunFolder(path).checkpoint
    whole = checkpoint.read_bytes()
    middle = len(whole) // 2
    damaged = [whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :], whole[:-1], whole + b"x"]
    for content in damaged:
        checkpoint.write_bytes(content)
        assert train_command(None, [], str(path)) == 1
        assert "is damaged: its checksum does not agree" in one_error(capsys)
    for content in (b"", b"something else"):
        checkpoint.write_bytes(content)
        assert train_command(None, [], str(path)) == 1
        assert "is no checkpoint of this version" in one_error(capsys)
    checkpoint.unlink()
    assert train_command(None, [], str(path)) == 1
    assert f"there is no checkpoint {checkpoint}" in one_error(capsys)
    with pytest.raises(ValueError, match=r"is of .*'num_players': 2.*, not of .*'num_players': 3"):
        load_checkpoint(RunFolder(straight).checkpoint, make_game("azul", num_players=3))


def one_error(capsys):
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    return errors[0]


def test_wrong_calls_end_with_one_sentence(straight, tmp_path, capsys):
    assert train_command("azul/ppo", ["game=chess"], None) == 2
    assert "there is no game 'chess'" in one_error(capsys)
    assert train_command("azul/ppo", [], str(straight)) == 2
    assert "either a config or --resume" in one_error(capsys)
    assert train_command(None, [], str(tmp_path)) == 2
    assert "is no run folder" in one_error(capsys)
    assert train_command("azul/ppo", [f"run={straight}"], None) == 2
    assert "is not empty" in one_error(capsys)
    assert train_command("azul/ppo", [f"run={tmp_path / 'a'}", "baselines=[clever]"], None) == 2
    assert "there is no agent 'clever'; the agents are random, greedy" in one_error(capsys)
    assert train_command("azul/ppo", [f"run={tmp_path / 'b'}", "device=abacus"], None) == 2
    assert not (tmp_path / "b").exists()
    assert "setting device must be a device of torch" in one_error(capsys)
    assert train_command(None, ["gamma=1"], str(straight)) == 2
    assert "cannot be changed in a resumed run" in one_error(capsys)


def test_a_finished_run_can_be_made_longer(tmp_path):
    path = tmp_path / "longer"
    train_tiny(path, decisions=256)
    assert train_command(None, ["decisions=512"], str(path)) == 0
    assert metrics(path)[-1]["decisions"] == 512
    assert read_config(str(RunFolder(path).config)).decisions == 512


# --- what is shown


class Terminal(StringIO):
    def isatty(self):
        return True


def test_the_progress_line_is_overwritten_in_a_terminal_and_kept_short_in_a_file(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal, file = Terminal(), StringIO()
    for stream in (terminal, file):
        line = ProgressLine(stream)
        line.show("iteration 10", keep=False)
        line.show("iteration 2", keep=False)
        line.show("evaluated", keep=True)
    assert terminal.getvalue() == "\riteration 10\riteration 2 \revaluated  \n"
    assert file.getvalue() == "evaluated\n"
    assert [format_duration(seconds) for seconds in (0, 59.6, 725, 11400)] == ["0:00", "1:00", "12:05", "3:10:00"]


def test_the_output_names_speed_win_rates_and_time_left(longer, tmp_path, capsys):
    config, _ = longer
    assert train_command(str(config), ["decisions=256", f"run={tmp_path / 'run'}"], None) == 0
    output = capsys.readouterr().out
    assert f"run folder: {tmp_path / 'run'}" in output
    assert f"ppo:{tmp_path / 'run' / 'best.zip'}" in output
    lines = [line for line in output.splitlines() if "decisions" in line]
    assert len(lines) == 2
    assert all("/s" in line and "random" in line and "greedy" in line for line in lines)
    assert lines[-1].endswith("0:00 left")


def test_the_demo_trains_evaluates_and_records(longer, tmp_path, capsys):
    from meeplezoo.envs.records.record import read_records

    config, _ = longer
    path = tmp_path / "demo"
    assert run_demo(str(config), ["decisions=256", f"run={path}"], games=10) == 0
    output = capsys.readouterr().out
    for name in ("learning-curve.png", "best.zip", "replay.jsonl"):
        assert str(path / name) in output
        assert (path / name).is_file()
    assert len(list(read_records(path / "replay.jsonl"))) == 1
    final = json.loads((path / "final-evaluation.json").read_text())
    assert final["random"]["games"] == 10
    assert run_demo("no/such", []) == 2
