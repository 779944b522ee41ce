"""One training run of the learning benchmark, by the clock: the process that `learning` starts for each.

python -m meeplezoo.benchmarks.learning_run PLAN.json

A run is trained by the code of `meeplezoo train`, in legs: it is stopped, evaluated and resumed at the points in time
at which all algorithms are compared. Learning rates fall by the share of the config's `decisions` that has been made,
so before every leg `decisions` is set anew to what the run will have made when its time is over, by its speed so far.
A leg's time is that of its iterations alone; evaluations, checkpoints and pictures do not count.
"""

import json
import shutil
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..agents.arena.evaluation import evaluate
from ..envs.engine.random_stream import MAX_SEED
from ..envs.system.files import write_atomically
from ..training.command import DONE, train_command
from ..training.config import TrainingConfig, settings_of
from ..training.config_files import read_config
from ..training.run_folder import RunFolder
from .arguments import read_json
from .head_to_head import last_agent

NEVER = 10**9
"""Iterations to the next evaluation or checkpoint: a leg ends with both, and that will do."""
THROUGHPUT_SECONDS = 20.0
"""For so long a speed is measured, but no longer than a quarter of a run."""
LONGEST_THROUGHPUT_SECONDS = 180.0
THROUGHPUT_ITERATIONS = 3
SLACK = 0.01
"""Share of a run's time that is not worth another leg."""
THROUGHPUT_KEYS = ("first_decisions", "first_seconds", "decisions_per_second")
RESULT_KEYS = (
    *("game", "options", "algorithm", "config", "seed", "decisions", "training_seconds", "seconds", "schedule"),
    *("final", "evaluations"),
)
_EVALUATION_SEED_OFFSET = 1_000_000
"""Added to the seed for the last evaluation."""


@dataclass(frozen=True)
class Plan:
    """What one process has to do, as JSON.

    folder: of the run; measure: whether only its speed is wanted, which goes to `pace.json` in it; pace: what was
    measured, None while measuring; overrides: settings of the config, as `key=value`.
    """

    config: str
    overrides: list[str]
    folder: str
    measure: bool
    pace: dict[str, float] | None
    minutes: float
    points: int
    final_references: list[str]
    final_games: int

    @property
    def throughput_seconds(self) -> float:
        """Return for how long the speed is measured."""
        return min(THROUGHPUT_SECONDS, 60 * self.minutes / 4)

    @property
    def result(self) -> Path:
        """Return the file that says that all of this has been done."""
        return Path(self.folder) / ("pace.json" if self.measure else "result.json")


def run_plan(plan: Plan) -> int:
    """Measure a speed, or train and evaluate a run, write the result; return the exit code of the training."""
    folder = RunFolder(plan.folder)
    if not plan.measure:
        code = train_for_time(plan, folder)
        if code == DONE:
            _write(plan.result, _result(plan, folder))
        return code
    # half a measurement is none
    shutil.rmtree(folder.path, ignore_errors=True)
    return _measure(plan, folder)


def _measure(plan: Plan, folder: RunFolder) -> int:
    """Train until the speed is known: `first_...` of the first iteration alone, with its lessons."""
    config = read_config(plan.config, plan.overrides)
    shortened = scale_settings(config, 0.0)
    limits = [f"decisions={NEVER}", f"minutes={plan.throughput_seconds / 60}", f"run={folder.path}"]
    code = train_command(plan.config, [*shortened, *plan.overrides, *limits], None)
    while code == DONE:
        rows = folder.read_metrics()
        if throughput_is_known(rows, config.decisions_per_iteration, plan.throughput_seconds):
            _write(plan.result, measured_throughput(rows, config.decisions_per_iteration))
            break
        minutes = (rows[-1]["seconds"] + plan.throughput_seconds) / 60
        code = train_command(None, [f"minutes={minutes}"], str(folder.path))
    return code


def throughput_is_known(rows: list[dict[str, Any]], decisions_per_iteration: int, enough: float) -> bool:
    """Return whether rows of metrics cover enough seconds, and enough decisions, as these may come in bursts."""
    if len(rows) <= THROUGHPUT_ITERATIONS:
        return False
    seconds = rows[-1]["training_seconds"] - rows[1]["training_seconds"]
    made = rows[-1]["decisions"] - rows[1]["decisions"]
    return seconds >= enough and (
        made >= THROUGHPUT_ITERATIONS * decisions_per_iteration or seconds >= LONGEST_THROUGHPUT_SECONDS
    )


def measured_throughput(rows: list[dict[str, Any]], decisions_per_iteration: int) -> dict[str, float]:
    """Return decisions and seconds of the first iteration, and decisions per second of those behind it."""
    first, last = rows[1], rows[-1]
    iterations = last["iteration"] - first["iteration"]
    # where no game has come to its end yet: they will, all of them
    made = last["decisions"] - first["decisions"] or iterations * decisions_per_iteration
    return {
        "first_decisions": first["decisions"],
        "first_seconds": first["training_seconds"],
        "decisions_per_second": made / (last["training_seconds"] - first["training_seconds"]),
    }


def estimate_decisions(config: TrainingConfig, pace: dict[str, float], seconds: float) -> int:
    """Return how many decisions a run of a config makes in some seconds of training.

    Lessons before the first iteration of play have a speed of their own; they take their share as in the config.
    """
    lessons = min(1.0, config.warm_decisions / config.decisions) if _has(config, "warm_decisions") else 0.0
    seconds_each = (1 - lessons) / pace["decisions_per_second"]
    if lessons:
        seconds_each += lessons * pace["first_seconds"] / max(1, pace["first_decisions"])
    return max(1, round(seconds / seconds_each))


def scale_settings(config: TrainingConfig, share: float) -> list[str]:
    """Return overrides that fit a run of this share of the config's decisions, at most 1.

    What a config counts in decisions or iterations from its beginning, apart from the learning rate, is made shorter in
    proportion: lessons before the first search, and the time between past selves.
    """
    names = [name for name in ("warm_decisions", "snapshot_interval") if _has(config, name)]
    given = {name: getattr(config, name) for name in names}
    return [f"{name}={max(1, round(share * value)) if value else value}" for name, value in given.items()]


def train_for_time(plan: Plan, folder: RunFolder) -> int:
    """Train a run, or what is left of it, until its time is over; return the exit code of the training."""
    assert plan.pace is not None
    config = read_config(plan.config, plan.overrides)
    seconds = 60 * plan.minutes
    expected = estimate_decisions(config, plan.pace, seconds)
    if not folder.checkpoint.is_file():
        shutil.rmtree(folder.path, ignore_errors=True)
        shortened = scale_settings(config, min(1.0, expected / config.decisions))
        # no time for an iteration: the first evaluation and a checkpoint
        limits = [f"decisions={expected}", "minutes=0", f"run={folder.path}"]
        code = train_command(plan.config, [*shortened, *plan.overrides, *limits], None)
        if code != DONE:
            return code
    while leg := next_segment(folder.read_metrics(), seconds, plan.points, expected):
        code = train_command(None, leg, str(folder.path))
        if code != DONE:
            return code
    return DONE


def next_segment(rows: list[dict[str, Any]], seconds: float, points: int, expected: int) -> list[str]:
    """Return the overrides of the next leg of a run; none if its time is over.

    Arguments:
        rows: of its metrics, one at least.
        seconds: of training in all; points: equal parts of it, each of which ends with an evaluation.
        expected: decisions in all, for as long as the run itself does not tell.
    """
    last = rows[-1]
    done = last["training_seconds"]
    half = _seconds_per_iteration(rows) / 2
    if seconds - done <= max(half, SLACK * seconds):
        return []
    step = seconds / points
    # a leg ends with the iteration that is nearest to its point
    target = min(seconds, step * (int((done + max(half, SLACK * step)) / step) + 1))
    limit = last["seconds"] + target - done - half
    return [f"decisions={planned_decisions(rows, seconds, expected)}", f"minutes={limit / 60}"]


def planned_decisions(rows: list[dict[str, Any]], seconds: float, expected: int) -> int:
    """Return how many decisions a run will have made after some seconds of training, by its speed so far.

    As long as it has none, it is that of `expected` decisions in all the time.
    """
    last = rows[-1]
    made = last["decisions"] - rows[1]["decisions"] if len(rows) > THROUGHPUT_ITERATIONS else 0
    speed = made / (last["training_seconds"] - rows[1]["training_seconds"]) if made else expected / seconds
    left = max(0.0, seconds - last["training_seconds"])
    return int(last["decisions"] + max(1, round(speed * left)))


def _seconds_per_iteration(rows: list[dict[str, Any]]) -> float:
    """Return the mean training time of an iteration but the first; 0.0 before there are any."""
    if len(rows) <= THROUGHPUT_ITERATIONS:
        return 0.0
    seconds: float = rows[-1]["training_seconds"] - rows[1]["training_seconds"]
    return seconds / (rows[-1]["iteration"] - rows[1]["iteration"])


def _result(plan: Plan, folder: RunFolder) -> dict[str, Any]:
    """Play the last policy against the final references; return all that is kept of a run."""
    config = read_config(str(folder.config))
    game = config.make_game()
    learner = last_agent(folder)
    final = {}
    for reference in plan.final_references:
        seed = (config.seed + _EVALUATION_SEED_OFFSET) & MAX_SEED
        table = evaluate(game, [learner, *[reference] * (game.num_players - 1)], plan.final_games, seed)
        result = table.agents[0]
        interval = list(result.interval)
        final[reference] = {"win_rate": result.win_rate, "interval": interval, "mean_margin": result.mean_margin}
    rows = folder.read_metrics()
    last = rows[-1]
    return {
        "game": config.game,
        "options": config.options,
        "algorithm": config.algorithm,
        "config": plan.config,
        "seed": config.seed,
        "decisions": last["decisions"],
        "training_seconds": last["training_seconds"],
        "seconds": last["seconds"],
        "schedule": min(1.0, last["decisions"] / config.decisions),
        "final": final,
        "evaluations": [
            {
                "training_seconds": row["training_seconds"],
                "decisions": row["decisions"],
                "results": row["evaluation"],
            }
            for row in rows
            if row.get("evaluation")
        ],
    }


def _has(config: TrainingConfig, name: str) -> bool:
    return any(one.name == name for one in settings_of(config.algorithm))


def _write(path: Path, content: dict[str, Any]) -> None:
    with write_atomically(path, "w") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def main(words: list[str]) -> int:
    """Carry out the plan of a file."""
    plan = Plan(**read_json(Path(words[0]), tuple(field.name for field in fields(Plan))))
    return run_plan(plan)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
