"""Tiny training runs, and the comparison of two of them."""

import json
from io import StringIO

import numpy as np
import torch

from meeplezoo.agents.networks.network_file import load_network
from meeplezoo.training.checkpoint import load_checkpoint
from meeplezoo.training.config import settings_of
from meeplezoo.training.config_files import read_config
from meeplezoo.training.config_reading import make_config
from meeplezoo.training.progress import ProgressLine
from meeplezoo.training.run_folder import RunFolder, new_run_folder
from meeplezoo.training.trainer import Trainer

TINY = {
    "game": "azul",
    "decisions": 6 * 128,
    "games": 16,
    "rollout": 8,
    "minibatch": 64,
    "epochs": 2,
    "hidden": [16],
    "pool_size": 2,
    "snapshot_interval": 2,
    "evaluation_interval": 2,
    "evaluation_games": 6,
    "checkpoint_interval": 2,
    "share_current": 0.3,
    "share_past": 0.3,
    "share_baselines": 0.4,
    "seed": 5,
}


class StopAfter:
    """A request to stop that comes once a trainer has made some iterations."""

    def __init__(self, iterations):
        self.iterations = iterations
        self.trainer = None

    @property
    def requested(self):
        return self.trainer.progress.iteration >= self.iterations


def tiny(**changes):
    """Return the config of a tiny run, by maskable_ppo if nothing else is said."""
    known = [one.name for one in settings_of(changes.get("algorithm", "maskable_ppo"))]
    return make_config({**{name: value for name, value in TINY.items() if name in known}, **changes})


def train_tiny(path, *, stop_after=10**9, resume=False, **changes):
    """Train a tiny run in a folder, or go on with it, and return its trainer."""
    return train_in(path, tiny(run=str(path), **changes), stop_after=stop_after, resume=resume)


def train_in(path, config, *, stop_after=10**9, resume=False):
    """Train a run of a config in a folder, or go on with it, and return its trainer."""
    folder = RunFolder(path) if resume else new_run_folder(config, "tiny")
    trainer = Trainer(config, folder, ProgressLine(StringIO()), resume=resume)
    stop = StopAfter(stop_after)
    stop.trainer = trainer
    trainer.run(stop)
    return trainer


def metrics(path):
    """Return the rows of a run's metrics without their times."""
    rows = RunFolder(path).read_metrics()
    times = ("seconds", "training_seconds")
    return [{name: value for name, value in row.items() if name not in times} for row in rows]


def tables(path):
    """Return a run's evaluation tables without their speeds."""
    found = {}
    for file in sorted(RunFolder(path).evaluations.iterdir()):
        found[file.name] = json.loads(file.read_text())
        for table in found[file.name].values():
            del table["games_per_second"]
    return found


def assert_equal_runs(first, second):
    """Compare two run folders bit for bit, times excepted."""
    game = read_config(str(RunFolder(first).config)).make_game()
    one = load_checkpoint(RunFolder(first).checkpoint, game)
    other = load_checkpoint(RunFolder(second).checkpoint, game)
    assert one["progress"].iteration == other["progress"].iteration
    assert one["progress"].best == other["progress"].best
    assert metrics(first) == metrics(second)
    assert tables(first) == tables(second)
    # the model's bytes hold times; its parameters are compared below
    states = [{name: part for name, part in run["algorithm"].items() if name != "model"} for run in (one, other)]
    assert_same(*states)
    assert_same(one["random"], other["random"])
    for name in ("last", "best"):
        left, right = (parameters(*path.glob(f"{name}.*")) for path in (first, second))
        assert_same(left, right)


def parameters(path):
    """Return all parameters of a model file, those of the optimiser too if it holds them."""
    if path.suffix == ".safetensors":
        return load_network(path)[0].state_dict()
    from sb3_contrib import MaskablePPO

    return MaskablePPO.load(path, device="cpu").get_parameters()


def assert_same(one, other):
    """Compare nested values bit for bit."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    elif isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other
