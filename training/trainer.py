"""The training loop: iterations, evaluations and checkpoints until the run ends or is asked to stop."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..agents import Agent, make_agent
from ..agents.arena.evaluation import Evaluation, evaluate
from ..agents.arena.match_seeds import new_secret
from ..agents.registry import is_own_bot
from ..envs import Game
from ..envs.system.files import write_atomically
from ..envs.system.messages import display_name
from ..envs.view.captions import two_digits
from .algorithm import Algorithm, make_algorithm, prepare_torch
from .checkpoint import Progress, check_config, load_checkpoint, save_checkpoint, set_random_states
from .config import TrainingConfig
from .config_files import read_config, write_config
from .graceful_stop import StopRequest, stop_on_signal
from .learning_curve import draw_learning_curve
from .memory import check_memory
from .progress import ProgressLine, format_duration
from .run_folder import RunFolder
from .tensorboard import TensorBoard

LEARNER = "learner"

_SECONDS_BETWEEN_PICTURES = 60


class Trainer:
    """A run between two iterations: its algorithm and its progress.

    A new run begins with its checkpoint and first evaluation; with `resume` the run of the folder's checkpoint
    goes on, or begins if it was stopped before it had one. ValueError if the checkpoint is lost, damaged or of another
    run, or as `check_trainable` says; nothing in the folder has changed then.
    """

    def __init__(
        self, config: TrainingConfig, folder: RunFolder, line: ProgressLine, *, resume: bool, trust: bool = False
    ) -> None:
        prepare_torch(config)
        self.config = config
        self.folder = folder
        self.game: Game = config.make_game()
        self._line = line
        self._rates: dict[str, Any] = {}
        self._trust = trust
        # of evaluations against bots of the user's own
        self._secret = new_secret()
        has_checkpoint = resume and _has_checkpoint(folder)
        content = load_checkpoint(folder.checkpoint, self.game) if has_checkpoint else None
        self.algorithm: Algorithm = make_algorithm(config, self.game, trust=trust)
        self.progress = Progress()
        if content is not None:
            self._restore(content)
        elif resume:
            folder.forget_after(-1, -1)
        self._tensorboard = TensorBoard(folder.tensorboard, self.decisions + 1 if has_checkpoint else 0)
        self._curve_time = time.perf_counter()
        self._began = self._curve_time - self.progress.seconds
        if not has_checkpoint:
            self._finish_iteration({}, evaluate=True)
            self.save()

    @property
    def decisions(self) -> int:
        """Return the number of decisions learned from."""
        return self.algorithm.decisions

    def run(self, stop: StopRequest) -> None:
        """Train until the config's end, its time limit or a request to stop; everything is saved then."""
        finished = self._is_finished() or stop.requested
        while not finished:
            finished = self._train_iteration() or stop.requested
            if finished or self.progress.iteration % self.config.checkpoint_interval == 0:
                self.save()
        self._draw()

    def save(self) -> None:
        """Write the checkpoint, and its policy as an agent."""
        self._write_agent(self.folder.last(self.algorithm.kind))
        save_checkpoint(self.folder.checkpoint, self.config, self.progress, self.algorithm.get_state())

    def _restore(self, content: dict[str, Any]) -> None:
        try:
            check_config(content["config"], self.config)
            self.algorithm.set_state(content["algorithm"])
            # last of all: making networks draws random numbers
            set_random_states(content["random"])
        except ValueError as error:
            raise ValueError(f"checkpoint {self.folder.checkpoint} does not fit: {error}") from None
        self.progress = content["progress"]
        self.folder.forget_after(self.progress.iteration, self.decisions)

    def _write_agent(self, path: Path) -> None:
        with write_atomically(path) as file:
            self.algorithm.write_agent(file, self.progress.seconds)

    def _is_finished(self) -> bool:
        minutes = self.config.minutes
        return self.decisions >= self.config.decisions or (
            minutes is not None and self.progress.seconds >= 60 * minutes
        )

    def _train_iteration(self) -> bool:
        """Train for one iteration, record its metrics and return whether the run has reached its end."""
        metrics = self.algorithm.train_iteration(self.progress.iteration)
        self.progress.iteration += 1
        self.progress.seconds = time.perf_counter() - self._began
        due = self.progress.iteration % self.config.evaluation_interval == 0
        finished = self._is_finished()
        self._finish_iteration(metrics, evaluate=due or finished)
        return finished

    def _finish_iteration(self, metrics: dict[str, float], *, evaluate: bool) -> None:
        row: dict[str, Any] = {
            "iteration": self.progress.iteration,
            "decisions": self.decisions,
            **metrics,
        }
        if evaluate:
            began = time.perf_counter()
            row["evaluation"] = self._evaluate()
            self.progress.evaluation_seconds += time.perf_counter() - began
        self.progress.seconds = time.perf_counter() - self._began
        row["seconds"] = round(self.progress.seconds, 3)
        row["training_seconds"] = round(self.progress.seconds - self.progress.evaluation_seconds, 3)
        self.folder.add_metrics(row)
        self._tensorboard.add(row)
        if evaluate and time.perf_counter() - self._curve_time > _SECONDS_BETWEEN_PICTURES:
            self._draw()
        self._show(row.get("evaluation"))

    def _draw(self) -> None:
        draw_learning_curve(self.folder.read_metrics(), self.config, self.folder.learning_curve)
        self._curve_time = time.perf_counter()

    def _evaluate(self) -> dict[str, Any]:
        """Play against every evaluation opponent; keep the model if it is the best so far."""
        tables = {opponent: self._play_against(opponent) for opponent in self.config.evaluation_opponents}
        self.folder.write_evaluation(self.decisions, {name: table.as_json() for name, table in tables.items()})
        results = {name: table.agents[0] for name, table in tables.items()}
        score = (
            float(np.mean([result.win_rate for result in results.values()])),
            float(np.mean([result.mean_margin for result in results.values()])),
        )
        if score > self.progress.best:
            self.progress.best = score
            self._write_agent(self.folder.best(self.algorithm.kind))
        return {
            name: {
                "win_rate": result.win_rate,
                "interval": list(result.interval),
                "mean_margin": result.mean_margin,
            }
            for name, result in results.items()
        }

    def _play_against(self, opponent: str) -> Evaluation:
        seed = self.config.seed
        agents: list[str | Agent] = [self.algorithm.agent(LEARNER, seed), *[opponent] * (self.game.num_players - 1)]
        # always the same deals: curves of one run are compared with each other
        secret = self._secret if is_own_bot(opponent) else None
        return evaluate(self.game, agents, self.config.evaluation_games, seed, secret, trust=self._trust)

    def _show(self, evaluation: dict[str, Any] | None) -> None:
        self._rates = evaluation or self._rates
        rates = "".join(f"  {display_name(name)} {100 * one['win_rate']:.1f} %" for name, one in self._rates.items())
        speed = self.decisions / self.progress.seconds if self.progress.seconds else 0.0
        text = f"{self.decisions:>9,} / {self.config.decisions:,} decisions  {two_digits(speed)}/s"
        self._line.show(f"{text}{rates}  {self._time_left(speed)}".rstrip(), keep=evaluation is not None)

    def _time_left(self, speed: float) -> str:
        left = max(0, self.config.decisions - self.decisions) / speed if speed else float("inf")
        if self.config.minutes is not None:
            left = min(left, 60 * self.config.minutes - self.progress.seconds)
        return f"{format_duration(left)} left" if left < float("inf") else ""


def _has_checkpoint(folder: RunFolder) -> bool:
    """Tell whether a run has a checkpoint; ValueError if it must have had one, but it is not there."""
    if os.path.lexists(folder.checkpoint):
        return True
    # the first one is written behind the first evaluation, before anything has been learned
    if any(row["iteration"] > 0 for row in folder.read_metrics()):
        raise ValueError(f"there is no checkpoint {folder.checkpoint}, though the run had one: it cannot be resumed")
    return False


def check_trainable(config: TrainingConfig, *, trust: bool = False) -> None:
    """Raise ValueError if an agent or the device of the config does not exist, or if memory is too small."""
    prepare_torch(config)
    check_memory(config, config.make_game())
    imitated = [config.warm_agent] if config.algorithm == "alphazero" and config.warm_decisions else []
    for text in (*config.baselines, *config.evaluation_opponents, *imitated):
        make_agent(text, config.make_game(), config.seed, trust=trust)


def train(config: TrainingConfig, folder: RunFolder, *, resume: bool = False, trust: bool = False) -> bool:
    """Train as the config says, in its run folder; return whether the run came to its end (False: stopped).

    With `resume` the config may be the folder's with changes; it is written as soon as the checkpoint is known to fit.
    `trust` is that of `make_agent`, for the agents that the config names. Raises OSError, with everything saved, if its
    output can no longer be written.
    """
    stop = StopRequest()
    # Ctrl-C also ends a program that reads the output: the run is saved before that is told
    line = ProgressLine(on_error=stop.request)
    with stop_on_signal(stop, line.print):
        trainer = Trainer(config, folder, line, resume=resume, trust=trust)
        if resume and read_config(str(folder.config)) != config:
            write_config(config, folder.config)
        trainer.run(stop)
    if line.error is not None:
        raise line.error
    return not stop.requested
