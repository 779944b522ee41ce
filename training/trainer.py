"""The training loop: rollout and training, snapshots, evaluations, checkpoints, until the end or a request to stop."""

import time
from typing import Any

import numpy as np

from ..agents import Agent, make_agent
from ..agents.evaluation import Evaluation, evaluate
from ..agents.maskable_ppo_agent import MaskablePPOAgent
from ..envs import Game
from ..envs.files import write_atomically
from .checkpoint import Progress, load_checkpoint, save_checkpoint, set_random_states
from .config import TrainingConfig
from .interruption import StopRequest, stop_on_signal
from .learning_curve import draw_learning_curve
from .model import load_model, make_model, prepare_torch, save_for_playing, train_one_iteration
from .opponents import OpponentPool
from .progress import ProgressLine, duration
from .run_folder import RunFolder
from .self_play_env import SelfPlayVecEnv
from .tensorboard import TensorBoard

LEARNER = "learner"

_SECONDS_BETWEEN_PICTURES = 60


class Trainer:
    """One run in memory: model, environment and opponents, at the end of an iteration.

    A new run begins with its checkpoint and first evaluation; with `resume` the run of the folder's checkpoint
    goes on. ValueError if the checkpoint is missing or damaged, or as `check_trainable` says.
    """

    def __init__(self, config: TrainingConfig, folder: RunFolder, line: ProgressLine, *, resume: bool) -> None:
        prepare_torch(config)
        self.config = config
        self.folder = folder
        self.game: Game = config.make_game()
        self._line = line
        self._rates: dict[str, Any] = {}
        # the pool needs a model, the model an environment, the environment opponents: these are never asked
        first = [make_agent("random", self.game, config.seed)]
        self.env = SelfPlayVecEnv(
            self.game, config.games, first, rewards=config.rewards, dense=config.dense, seed=config.seed
        )
        content = load_checkpoint(folder.checkpoint, self.game) if resume else None
        if content is None:
            self.model = make_model(config, self.env)
            self.pool = OpponentPool(self.game, config, self.model)
            self.progress = Progress()
        else:
            self._go_on_from(content)
        self._tensorboard = TensorBoard(folder.tensorboard, self.decisions)
        self._drawn = time.perf_counter()
        self._began = self._drawn - self.progress.seconds
        if content is None:
            self._after_iteration({}, evaluated=True)
            self.save()

    @property
    def decisions(self) -> int:
        """Return how many decisions the learner has made."""
        decisions: int = self.model.num_timesteps
        return decisions

    def run(self, stop: StopRequest) -> None:
        """Train until the config's end, its time limit or a request to stop; everything is saved then."""
        while not self._is_over() and not stop.asked:
            self._iterate()
            over = self._is_over() or stop.asked
            if over or self.progress.iteration % self.config.checkpoint_interval == 0:
                self.save()
        self._tensorboard.close()
        self._draw()

    def save(self) -> None:
        """Write the checkpoint, and its model as an agent."""
        with write_atomically(self.folder.last) as file:
            save_for_playing(self.model, file)
        state = self.env.get_state()
        save_checkpoint(self.folder.checkpoint, self.game, self.progress, self.model, state, self.pool.get_state())

    def _go_on_from(self, content: dict[str, Any]) -> None:
        self.model = load_model(self.config, self.env, content["model"])
        self.pool = OpponentPool(self.game, self.config, self.model)
        self.pool.set_state(content["pool"])
        self.env.set_opponents(self.pool.agents(0), self.pool.weights())
        self.env.set_state(content["env"])
        self.progress = content["progress"]
        self.folder.forget_after(self.decisions)
        # last of all: making networks draws random numbers
        set_random_states(content["random"])

    def _is_over(self) -> bool:
        minutes = self.config.minutes
        return self.decisions >= self.config.decisions or (
            minutes is not None and self.progress.seconds >= 60 * minutes
        )

    def _iterate(self) -> None:
        self.env.set_opponents(self.pool.agents(self.progress.iteration), self.pool.weights())
        logged = train_one_iteration(self.model, self.config)
        self.progress.iteration += 1
        if self.progress.iteration % self.config.snapshot_interval == 0:
            self.pool.take_snapshot()
        self.progress.seconds = time.perf_counter() - self._began
        due = self.progress.iteration % self.config.evaluation_interval == 0
        self._after_iteration(logged, evaluated=due or self._is_over())

    def _after_iteration(self, logged: dict[str, float], *, evaluated: bool) -> None:
        row: dict[str, Any] = {
            "iteration": self.progress.iteration,
            "decisions": self.decisions,
            **self._episode_statistics(),
            **logged,
        }
        if evaluated:
            row["evaluation"] = self._evaluate()
        self.progress.seconds = time.perf_counter() - self._began
        row["seconds"] = round(self.progress.seconds, 3)
        self.folder.add_metrics(row)
        self._tensorboard.add(row)
        if evaluated and time.perf_counter() - self._drawn > _SECONDS_BETWEEN_PICTURES:
            self._draw()
        self._show(row.get("evaluation"))

    def _draw(self) -> None:
        draw_learning_curve(self.folder.read_metrics(), self.config, self.folder.learning_curve)
        self._drawn = time.perf_counter()

    def _episode_statistics(self) -> dict[str, float]:
        episodes = self.model.ep_info_buffer
        if not episodes:
            return {}
        return {
            "rollout/reward": float(np.mean([episode["r"] for episode in episodes])),
            "rollout/length": float(np.mean([episode["l"] for episode in episodes])),
        }

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
            with write_atomically(self.folder.best) as file:
                save_for_playing(self.model, file)
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
        learner = MaskablePPOAgent(LEARNER, self.model.policy, seed, deterministic=True)
        agents: list[str | Agent] = [learner, *[opponent] * (self.game.num_players - 1)]
        # always the same deals: curves of one run are compared with each other
        return evaluate(self.game, agents, self.config.evaluation_games, seed)

    def _show(self, evaluation: dict[str, Any] | None) -> None:
        self._rates = evaluation or self._rates
        rates = "".join(f"  {name} {100 * one['win_rate']:.1f} %" for name, one in self._rates.items())
        speed = self.decisions / self.progress.seconds if self.progress.seconds else 0.0
        text = f"{self.decisions:>9,} / {self.config.decisions:,} decisions  {speed:,.0f}/s"
        self._line.show(f"{text}{rates}  {self._time_left(speed)}".rstrip(), keep=evaluation is not None)

    def _time_left(self, speed: float) -> str:
        left = max(0, self.config.decisions - self.decisions) / speed if speed else float("inf")
        if self.config.minutes is not None:
            left = min(left, 60 * self.config.minutes - self.progress.seconds)
        return f"{duration(left)} left" if left < float("inf") else ""


def check_trainable(config: TrainingConfig) -> None:
    """Raise ValueError if an agent that the config names does not exist, or its device is none."""
    prepare_torch(config)
    for text in (*config.baselines, *config.evaluation_opponents):
        make_agent(text, config.make_game(), config.seed)


def train(config: TrainingConfig, folder: RunFolder, *, resume: bool = False) -> bool:
    """Train as the config says, in its run folder; return whether the run came to its end (False: stopped)."""
    line = ProgressLine()
    with stop_on_signal(line.say) as stop:
        trainer = Trainer(config, folder, line, resume=resume)
        trainer.run(stop)
    return not stop.asked
