"""The run folder: its files, and writing and reading them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from ..envs.system.files import append, find_free_path, remove_leftovers, write_atomically, write_json
from ..envs.system.locks import is_unused, lock_folder
from .algorithm import AGENT_KINDS
from .config import TrainingConfig
from .config_files import read_config, write_config
from .metrics import read_rows, row_line

_KIND = "run folder"


class RunFolder:
    """One training run on disk.

    | file | content |
    |---|---|
    | `config.yaml` | every setting, and the versions that made the run |
    | `checkpoint.pt` | all that is needed to resume, as of the last checkpoint |
    | `last.KIND`, `best.KIND` | the policy of the last checkpoint and of the best evaluation; |
    | | agent `ppo:FILE` if KIND is zip, `net:FILE` if it is safetensors |
    | `metrics.jsonl` | one JSON object per iteration |
    | `evaluations/DECISIONS.json` | the tables of one evaluation by opponent |
    | `learning-curve.png` | win rates over decisions |
    | `tensorboard/` | the numbers of metrics.jsonl for TensorBoard |
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config = self.path / "config.yaml"
        self.checkpoint = self.path / "checkpoint.pt"
        self.metrics = self.path / "metrics.jsonl"
        self.evaluations = self.path / "evaluations"
        self.learning_curve = self.path / "learning-curve.png"
        self.tensorboard = self.path / "tensorboard"

    def last(self, kind: str) -> Path:
        """Return the path of the policy of the last checkpoint; `kind` is a key of `algorithm.AGENT_KINDS`."""
        return self.path / f"last.{kind}"

    def best(self, kind: str) -> Path:
        """Return the path of the policy of the best evaluation."""
        return self.path / f"best.{kind}"

    def best_agent(self) -> str | None:
        """Return the policy of the best evaluation as the text of an agent; None before the first evaluation."""
        texts = (f"{agent}:{self.best(kind)}" for kind, agent in AGENT_KINDS.items() if self.best(kind).is_file())
        return next(texts, None)

    def add_metrics(self, row: Mapping[str, Any]) -> None:
        """Append the numbers of one iteration; those that are not finite, which JSON does not have, become null."""
        append(self.metrics, row_line(row))

    def read_metrics(self) -> list[dict[str, Any]]:
        """Return the numbers of all iterations, none before the first one; see `metrics.read_rows`."""
        return list(read_rows(self.metrics)) if os.path.lexists(self.metrics) else []

    def forget_after(self, iteration: int, decisions: int) -> None:
        """Remove metrics and evaluations that came after a checkpoint: a resumed run repeats them.

        Raises ValueError, and removes nothing, if the metrics cannot be read.
        """
        # an iteration in which no game ended has as many decisions as the one before
        kept = [row for row in self.read_metrics() if row["iteration"] <= iteration]
        with write_atomically(self.metrics) as file:
            file.writelines(map(row_line, kept))
        for path in self.evaluations.glob("*.json"):
            if path.stem.isdecimal() and int(path.stem[:20]) > decisions:
                path.unlink()

    def remove_leftovers(self) -> None:
        """Remove the temporary files of processes that were killed."""
        for folder in (self.path, self.evaluations):
            remove_leftovers(folder)

    def write_evaluation(self, decisions: int, tables: Mapping[str, Any]) -> None:
        """Write the tables of one evaluation, by opponent."""
        write_json(self.evaluations / f"{decisions}.json", tables)


def new_run_folder(config: TrainingConfig, stem: str) -> RunFolder:
    """Make the folder of a new run, with its config; ValueError if it has been used already, or is in use."""
    path = Path("runs") / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}" if config.run is None else Path(config.run)
    folder = RunFolder(find_free_path(path) if config.run is None else path)
    if folder.path.exists() and not folder.path.is_dir():
        raise ValueError(f"run folder {folder.path} is a file; name another one")
    folder.path.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder.path, _KIND):
        # leftovers of killed processes do not count as content
        folder.remove_leftovers()
        if not is_unused(folder.path):
            raise ValueError(f"run folder {folder.path} is not empty; name another one or --resume {folder.path}")
        write_config(config, folder.config)
    return folder


def open_run_folder(path: str | Path) -> tuple[RunFolder, TrainingConfig]:
    """Return an existing run and its config; ValueError if there is none, or the config is none."""
    folder = RunFolder(path)
    if not folder.config.is_file():
        raise ValueError(f"{folder.path} is no run folder: it has no {folder.config.name}")
    return folder, read_config(str(folder.config))


@contextmanager
def lock_run(folder: RunFolder) -> Iterator[None]:
    """Lock the folder of a run against other processes, and remove leftovers of killed ones.

    Raises FolderInUse, one sentence, if another process has locked it.
    """
    with lock_folder(folder.path, _KIND):
        folder.remove_leftovers()
        yield
