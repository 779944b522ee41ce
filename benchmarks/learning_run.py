"""One training run of the learning benchmark, by the clock: the process that `learning` starts for each.

python -m meeplezoo.benchmarks.learning_run PLAN.json

A run is trained by the code of `meeplezoo train`, in segments: it is stopped, evaluated and resumed at the times at
which all algorithms are compared. Learning rates decay with the fraction of the `decisions` of the config that has
been made, so before every segment `decisions` is set to the number that the run will have made at its end, by its
throughput so far. Only the time of iterations counts, not that of evaluations, checkpoints and pictures.
"""

import shutil
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..agents.arena.evaluation import evaluate
from ..envs.engine.random_stream import MAX_SEED
from ..envs.system.files import write_json
from ..training.command import DONE, train_command
from ..training.config import TrainingConfig, settings_of
from ..training.config_files import read_config
from ..training.run_folder import RunFolder
from .arguments import read_json
from .head_to_head import last_agent

NEVER = 10**9
"""Iterations to the next evaluation or checkpoint: every segment ends with both."""
THROUGHPUT_SECONDS = 20.0
"""Duration of a measurement of throughput, but at most a quarter of a run."""
LONGEST_THROUGHPUT_SECONDS = 180.0
THROUGHPUT_ITERATIONS = 3
SLACK = 0.01
"""Fraction of the time of a run that is not worth another segment."""
THROUGHPUT_KEYS = ("first_decisions", "first_seconds", "decisions_per_second")
RESULT_KEYS = (
    *("game", "options", "algorithm", "config", "seed", "decisions", "training_seconds", "seconds", "schedule"),
    *("final", "evaluations"),
)
_EVALUATION_SEED_OFFSET = 1_000_000
"""Added to the seed for the final evaluation."""


@dataclass(frozen=True)
class Plan:
    """The work of one process, as JSON.

    folder: of the run; measure: whether to measure throughput only, into `throughput.json` of the folder;
    throughput: the measurement, None while measuring; overrides: settings of the config, as `key=value`.
    """

    config: str
    overrides: list[str]
    folder: str
    measure: bool
    throughput: dict[str, float] | None
    minutes: float
    points: int
    final_references: list[str]
    final_games: int

    @property
    def throughput_seconds(self) -> float:
        """Return the duration of the measurement of throughput."""
        return min(THROUGHPUT_SECONDS, 60 * self.minutes / 4)

    @property
    def result(self) -> Path:
        """Return the file that exists once the work is done."""
        return Path(self.folder) / ("throughput.json" if self.measure else "result.json")


def run(plan: Plan) -> int:
    """Measure throughput, or train and evaluate a run; write the result and return the exit code of the training."""
    folder = RunFolder(plan.folder)
    if not plan.measure:
        code = train_for_time(plan, folder)
        if code == DONE:
            write_json(plan.result, _result(plan, folder))
        return code
    # a partial measurement is useless
    shutil.rmtree(folder.path, ignore_errors=True)
    return _measure(plan, folder)


def _measure(plan: Plan, folder: RunFolder) -> int:
    """Train until the throughput is known; the first iteration, which may imitate, is measured on its own."""
    config = read_config(plan.config, plan.overrides)
    scaled = scale_settings(config, 0.0)
    limits = [f"decisions={NEVER}", f"minutes={plan.throughput_seconds / 60}", f"run={folder.path}"]
    code = train_command(plan.config, [*scaled, *plan.overrides, *limits], None)
    while code == DONE:
        rows = folder.read_metrics()
        if throughput_is_known(rows, config.decisions_per_iteration, plan.throughput_seconds):
            write_json(plan.result, measure_throughput(rows, config.decisions_per_iteration))
            break
        minutes = (rows[-1]["seconds"] + plan.throughput_seconds) / 60
        code = train_command(None, [f"minutes={minutes}"], str(folder.path))
    return code


def throughput_is_known(rows: list[dict[str, Any]], decisions_per_iteration: int, min_seconds: float) -> bool:
    """Return whether rows of metrics cover enough seconds and, as these may come in bursts, enough decisions."""
    if len(rows) <= THROUGHPUT_ITERATIONS:
        return False
    seconds = rows[-1]["training_seconds"] - rows[1]["training_seconds"]
    made = rows[-1]["decisions"] - rows[1]["decisions"]
    return seconds >= min_seconds and (
        made >= THROUGHPUT_ITERATIONS * decisions_per_iteration or seconds >= LONGEST_THROUGHPUT_SECONDS
    )


def measure_throughput(rows: list[dict[str, Any]], decisions_per_iteration: int) -> dict[str, float]:
    """Return decisions and seconds of the first iteration, and decisions per second of the others."""
    first, last = rows[1], rows[-1]
    iterations = last["iteration"] - first["iteration"]
    # if no game has ended yet, assume that all decisions will count
    made = last["decisions"] - first["decisions"] or iterations * decisions_per_iteration
    return {
        "first_decisions": first["decisions"],
        "first_seconds": first["training_seconds"],
        "decisions_per_second": made / (last["training_seconds"] - first["training_seconds"]),
    }


def estimate_decisions(config: TrainingConfig, throughput: dict[str, float], seconds: float) -> int:
    """Estimate how many decisions a run of a config makes in some seconds of training.

    Imitated decisions have their own throughput; they are the same fraction of all as in the config.
    """
    imitated = min(1.0, config.warm_decisions / config.decisions) if _has_setting(config, "warm_decisions") else 0.0
    seconds_each = (1 - imitated) / throughput["decisions_per_second"]
    if imitated:
        seconds_each += imitated * throughput["first_seconds"] / max(1, throughput["first_decisions"])
    return max(1, round(seconds / seconds_each))


def scale_settings(config: TrainingConfig, fraction: float) -> list[str]:
    """Return overrides that scale a config to a fraction of its decisions, at most 1.

    Settings that count decisions or iterations are scaled in proportion: imitated decisions, and the interval of
    snapshots.
    """
    names = [name for name in ("warm_decisions", "snapshot_interval") if _has_setting(config, name)]
    given = {name: getattr(config, name) for name in names}
    return [f"{name}={max(1, round(fraction * value)) if value else value}" for name, value in given.items()]


def train_for_time(plan: Plan, folder: RunFolder) -> int:
    """Train a run, or the rest of it, until its time is over; return the exit code of the training."""
    assert plan.throughput is not None
    config = read_config(plan.config, plan.overrides)
    seconds = 60 * plan.minutes
    estimate = estimate_decisions(config, plan.throughput, seconds)
    if not folder.checkpoint.is_file():
        shutil.rmtree(folder.path, ignore_errors=True)
        scaled = scale_settings(config, min(1.0, estimate / config.decisions))
        # no iteration: only the first evaluation and a checkpoint
        limits = [f"decisions={estimate}", "minutes=0", f"run={folder.path}"]
        code = train_command(plan.config, [*scaled, *plan.overrides, *limits], None)
        if code != DONE:
            return code
    while overrides := next_segment(folder.read_metrics(), seconds, plan.points, estimate):
        code = train_command(None, overrides, str(folder.path))
        if code != DONE:
            return code
    return DONE


def next_segment(rows: list[dict[str, Any]], seconds: float, points: int, estimate: int) -> list[str]:
    """Return the overrides of the next segment of a run; none if its time is over.

    Arguments:
        rows: of its metrics, one at least.
        seconds: of training in all; points: equal parts of it, each of which ends with an evaluation.
        estimate: total decisions, used until the run has its own throughput.
    """
    last = rows[-1]
    done = last["training_seconds"]
    half = _seconds_per_iteration(rows) / 2
    if seconds - done <= max(half, SLACK * seconds):
        return []
    step = seconds / points
    # a segment ends with the iteration that is nearest to its point
    target = min(seconds, step * (int((done + max(half, SLACK * step)) / step) + 1))
    limit = last["seconds"] + target - done - half
    return [f"decisions={extrapolate_decisions(rows, seconds, estimate)}", f"minutes={limit / 60}"]


def extrapolate_decisions(rows: list[dict[str, Any]], seconds: float, estimate: int) -> int:
    """Extrapolate how many decisions a run will have made after some seconds of training.

    Before it has a throughput of its own, `estimate` decisions in the whole time are assumed.
    """
    last = rows[-1]
    made = last["decisions"] - rows[1]["decisions"] if len(rows) > THROUGHPUT_ITERATIONS else 0
    speed = made / (last["training_seconds"] - rows[1]["training_seconds"]) if made else estimate / seconds
    left = max(0.0, seconds - last["training_seconds"])
    return int(last["decisions"] + max(1, round(speed * left)))


def _seconds_per_iteration(rows: list[dict[str, Any]]) -> float:
    """Return the mean training time of an iteration but the first; 0.0 before there are any."""
    if len(rows) <= THROUGHPUT_ITERATIONS:
        return 0.0
    seconds: float = rows[-1]["training_seconds"] - rows[1]["training_seconds"]
    return seconds / (rows[-1]["iteration"] - rows[1]["iteration"])


def _result(plan: Plan, folder: RunFolder) -> dict[str, Any]:
    """Play the last policy against the final references; return the results of a run."""
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


def _has_setting(config: TrainingConfig, name: str) -> bool:
    return any(one.name == name for one in settings_of(config.algorithm))


def main(argv: list[str]) -> int:
    """Run the plan of a file."""
    plan = Plan(**read_json(Path(argv[0]), tuple(field.name for field in fields(Plan))))
    return run(plan)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
