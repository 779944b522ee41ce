"""Configs, checkpoints and folders of training runs."""

import contextlib
import io
import random
from pathlib import Path
from typing import Any

import yaml

from ...envs import game_names
from ...envs.registry import describe
from .cases import Case, CommandResult, FaultFound
from .command import SECONDS_TO_WORK, run_command
from .containers import change_file
from .games import warm_all
from .hostile import NUMBERS, TEXTS, YAML, Raw, to_yaml
from .input_cache import files_below, make_once
from .mutations import change_text, format_number

_ALGORITHMS = ("maskable_ppo", "ppo", "alphazero")
_SMALL = {
    "games": 4,
    "rollout": 8,
    "minibatch": 16,
    "hidden": [4],
    "decisions": 32,
    "evaluation_games": 2,
    "evaluation_opponents": ["random"],
    "seed": 5,
}
_OWN: dict[str, dict[str, Any]] = {
    "maskable_ppo": {"epochs": 1, "pool_size": 1},
    "ppo": {"epochs": 1, "pool_size": 1, "snapshot_interval": 1},
    "alphazero": {"simulations": 2, "considered": 2, "window": 100, "warm_decisions": 20, "warm_epochs": 1},
}

_SIZES = (
    "hidden=[65536, 65536]",
    "hidden=[1000000000000]",
    f"hidden=[{', '.join(['64'] * 5000)}]",
    "games=1000000000000",
    "games=100000000",
    "rollout=1000000000000",
    "minibatch=1000000000000",
    "window=1000000000000",
    "pool_size=1000000000000",
    "threads=100000000",
    "players=100000000",
    "simulations=1000000000000",
    "evaluation_games=1000000000000",
    "warm_decisions=1000000000000",
    "baselines=[mcts:nodes=2147483647]",
)
"""Numbers that are taken one by one, and for which no machine has the memory."""


def _settings(algorithm: str, game: str) -> dict[str, Any]:
    return {"game": game, "algorithm": algorithm, **_SMALL, **_OWN[algorithm]}


def load_training() -> None:
    """Train once with every algorithm: the first time imports libraries that do not bear an interruption."""
    for algorithm in _ALGORITHMS:
        Path("c.yaml").write_text(yaml.safe_dump(_settings(algorithm, _smallest_games()[0])), encoding="utf-8")
        run_command(["train", "c.yaml", "minutes=0", f"run={algorithm}"])


def _smallest_games() -> list[str]:
    """Return the games whose networks are small: those whose actions are no cells of a plane."""
    return [name for name in game_names() if describe(name).first_cell_action is None] or list(game_names())


class Configs:
    """A YAML config with overrides, read as `meeplezoo train` reads it; a few are trained with."""

    refusals = ()
    may_make_files = True

    def __init__(self, kept: Path) -> None:
        warm_all()
        load_training()

    def make(self, draw: random.Random) -> Case:
        """Return a config with changes, or hostile overrides of a good one."""
        settings = _settings(draw.choice(_ALGORITHMS), draw.choice(game_names()))
        content = yaml.safe_dump(settings).encode()
        note, overrides = "", []
        if draw.random() < 0.6:
            content, note = change_file("c.yaml", content, draw)
        if not note or draw.random() < 0.2:
            overrides = [_override(settings, draw)]
            note = f"{note} {overrides[0][:60]!r}"
        if draw.random() < 0.05:
            overrides = [*overrides, draw.choice(_SIZES)]
            note = f"{note} {overrides[-1]}"
        how = "train" if draw.random() < (0.3 if overrides[-1:] and overrides[-1] in _SIZES else 0.04) else "read"
        return Case({"how": how, "overrides": overrides}, {"c.yaml": content}, note)

    def run(self, case: Case) -> CommandResult | None:
        """Read the config, look whether it can be trained, write it and read it again; or train with it."""
        overrides = case.words["overrides"]
        if case.words["how"] == "train":
            ends_at_once = ["minutes=0", "evaluation_games=2", "run=run"]
            return run_command(["train", "c.yaml", *overrides, *ends_at_once], interrupt_after=2 * SECONDS_TO_WORK)
        from ...training.config_files import read_config, write_config
        from ...training.trainer import check_trainable

        config = read_config("c.yaml", overrides)
        check_trainable(config)
        write_config(config, Path("again.yaml"))
        if read_config("again.yaml") != config:
            raise FaultFound("a config written and read again is another one")
        return None


def _override(settings: dict[str, Any], draw: random.Random) -> str:
    name = draw.choice([*settings, "options", "device", "threads", "minutes", "baselines", "observation", "run"])
    hostile = draw.choice(YAML)
    value = hostile.text if isinstance(hostile, Raw) else to_yaml(hostile).removesuffix("...\n").rstrip("\n")
    if draw.random() < 0.3:
        value = format_number(draw.choice(NUMBERS))
    if draw.random() < 0.15:
        return change_text(f"{name}={value}", draw)[0]
    if name == "run":
        # runs stay where they are made
        value = f"./{draw.choice(TEXTS)}".replace("..", "").replace("/dev", "dev")
    return f"{name}={value}"


def _write_runs(folder: Path) -> None:
    """Train a little with every algorithm: a run folder for each, at its end."""
    from ...training.config_files import read_config
    from ...training.run_folder import new_run_folder
    from ...training.trainer import train

    game = _smallest_games()[0]
    for algorithm in _ALGORITHMS:
        settings = {**_settings(algorithm, game), "run": str(folder / algorithm)}
        path = folder / f"{algorithm}.yaml"
        path.write_text(yaml.safe_dump(settings), encoding="utf-8")
        config = read_config(str(path))
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            train(config, new_run_folder(config, algorithm))
        path.unlink()


def _is_bulky(name: str) -> bool:
    return "/tensorboard/" in name or name.endswith(".png")


class Checkpoints:
    """A run whose checkpoint is damaged, resumed."""

    refusals = ()
    may_make_files = True

    def __init__(self, kept: Path) -> None:
        warm_all()
        load_training()
        runs = make_once(kept, "runs", _write_runs)
        self._runs = {
            name: {path: content for path, content in files_below(runs / name, "run/").items() if not _is_bulky(path)}
            for name in _ALGORITHMS
        }

    def make(self, draw: random.Random) -> Case:
        """Return a run with changes in its checkpoint, rarely in another file, and how it is resumed."""
        name = draw.choice(_ALGORITHMS)
        files = dict(self._runs[name])
        others = [path for path in files if path.endswith((".yaml", ".jsonl"))]
        (checkpoint,) = (path for path in files if "/checkpoint" in path)
        path = draw.choice(others) if draw.random() < 0.15 else checkpoint
        files[path], note = change_file(path, files[path], draw)
        return Case("train" if draw.random() < 0.15 else "resume", files, f"{name}: {note}")

    def run(self, case: Case) -> CommandResult | None:
        """Resume the run, let it learn once more, and save it; or let the command do so."""
        if case.words == "train":
            return run_command(["train", "--resume", "run", "minutes=0"], interrupt_after=2 * SECONDS_TO_WORK)
        from ...training.progress import ProgressLine
        from ...training.run_folder import open_run_folder
        from ...training.trainer import Trainer

        folder, config = open_run_folder("run")
        trainer = Trainer(config, folder, ProgressLine(io.StringIO()), resume=True)
        # on from the games, networks and windows of the checkpoint
        trainer.algorithm.train_iteration(trainer.progress.iteration)
        trainer.save()
        return None


class Runs:
    """Run folders, one of them damaged, listed by `meeplezoo runs`: the others have to be listed all the same."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        runs = make_once(kept, "runs", _write_runs)
        self._files: dict[str, dict[str, bytes]] = {}
        for name in _ALGORITHMS:
            files = {path: content for path, content in files_below(runs / name).items() if not _is_bulky(path)}
            self._files[name] = {path: b"" if "checkpoint" in path else content for path, content in files.items()}
        run_command(["runs", "."])

    def make(self, draw: random.Random) -> Case:
        """Return two runs, one with a changed file."""
        name = draw.choice(_ALGORITHMS)
        files = {f"runs/good/{path}": content for path, content in self._files["ppo"].items()}
        damaged = {f"runs/bad/{path}": content for path, content in self._files[name].items()}
        path = draw.choice([path for path in damaged if path.endswith((".yaml", ".jsonl", ".json"))])
        damaged[path], note = change_file(path, damaged[path], draw)
        return Case(draw.choice(([], [], ["--json"])), {**files, **damaged}, note)

    def run(self, case: Case) -> CommandResult:
        """List the runs."""
        ended = run_command(["runs", *case.words, "runs"])
        if ended.code == 0 and "good" not in ended.output:
            raise FaultFound("a run is not listed because of another one")
        if ended.code and "Traceback" not in ended.errors:
            raise FaultFound("no run is listed because one is damaged")
        return ended
