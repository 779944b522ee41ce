"""Training runs as they lie on disk: what each has reached and whether it is over, without torch and without trust.

A run leaves no note of its process. Whether it goes on is read from the times of its files:

| state | what is there |
|---|---|
| finished | the metrics have reached the config's decisions or minutes |
| stopped | the learning curve is younger than the checkpoint, which is younger than the metrics: the order in which a |
| | run that was asked to stop ends; it can be resumed |
| running | the metrics have grown lately, seen from the run's longest pause so far |
| killed | they have not, and nothing was saved behind them; what came after the last checkpoint is lost |
| damaged | something cannot be read |

"running" and "killed" are conclusions: a process that was killed a moment ago passes for running, one that has been
suspended, or evaluates for longer than ever before, for killed. A copy that lost the files' times is judged wrongly.
"""

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..configs.yaml_settings import parse_settings
from ..envs.registry import describe, game_names
from .config import ALGORITHMS
from .config_files import read_config
from .run_folder import RunFolder

FINISHED, STOPPED, RUNNING, KILLED, DAMAGED = "finished", "stopped", "running", "killed", "damaged"

SHORTEST_SILENCE = 120.0
"""Seconds without a line of metrics after which a run may pass for killed."""
PAUSES = 3.0
"""It has to be silent for so many times its longest pause, too."""
LONGEST_BEGINNING = 1200.0
"""Seconds that the first iteration may take, when there is no pause yet to judge by: some begin with lessons."""


@dataclass(frozen=True)
class ListedRun:
    """One run; what cannot be known is None.

    | field | meaning |
    |---|---|
    | `folder` | its path |
    | `state` | one of those above |
    | `detail` | what the state was concluded from, or what is damaged, in words |
    | `game`, `algorithm`, `options` | of the config; the number of players and all that differs from the defaults |
    | `decisions`, `planned_decisions`, `planned_minutes` | learned from, and the config's limits |
    | `seconds`, `decisions_per_second` | since the run began, evaluations included, stops left out |
    | `latest`, `best` | an evaluation: `decisions`, and `results` by opponent (win rate, interval, mean margin) |
    | `agent` | the policy of the best evaluation as the text of an agent |
    | `changed` | when something was last written, seconds of the epoch |
    """

    folder: str
    state: str
    detail: str
    game: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    algorithm: str | None = None
    decisions: int | None = None
    planned_decisions: int | None = None
    planned_minutes: float | None = None
    seconds: float | None = None
    decisions_per_second: float | None = None
    latest: dict[str, Any] | None = None
    best: dict[str, Any] | None = None
    agent: str | None = None
    changed: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON data."""
        return asdict(self)


def list_runs(paths: Iterable[Path], now: float | None = None) -> list[ListedRun]:
    """Return the runs in some folders, or that the folders are, newest first; `now` is for tests.

    A folder that holds one of a run's files is a run; any other is looked into, one level deep.
    """
    moment = time.time() if now is None else now
    found: dict[Path, Path] = {}
    for path in paths:
        for one in [path] if _is_run(path) else sorted(path.iterdir()):
            if _is_run(one):
                found.setdefault(one.resolve(), one)
    return sorted((_listed(RunFolder(path), moment) for path in found.values()), key=lambda run: -run.changed)


def _is_run(path: Path) -> bool:
    folder = RunFolder(path)
    return path.is_dir() and any(one.is_file() for one in (folder.config, folder.checkpoint, folder.metrics))


def _listed(folder: RunFolder, now: float) -> ListedRun:
    problems: list[str] = []
    settings = _settings(folder, problems)
    rows = _rows(folder, problems)
    last = rows[-1] if rows else {}
    done, seconds = last.get("decisions"), last.get("seconds")
    if problems:
        state, detail = DAMAGED, "; ".join(problems)
    else:
        state, detail = _state(folder, settings, rows, now)
    return ListedRun(
        folder=str(folder.path),
        state=state,
        detail=detail,
        **settings,
        decisions=done,
        seconds=seconds,
        decisions_per_second=done / seconds if done and seconds else None,
        **_evaluations(rows),
        agent=folder.best_agent(),
        changed=max(map(_time_of, (folder.config, folder.checkpoint, folder.metrics))),
    )


def _settings(folder: RunFolder, problems: list[str]) -> dict[str, Any]:
    """Return the fields that the config tells, as far as it can be read; add to the problems what cannot."""
    if not folder.config.is_file():
        problems.append(f"{folder.config.name} is missing")
        return {}
    try:
        settings = parse_settings(folder.config.read_text(encoding="utf-8"), folder.config.name)
    except (ValueError, OSError) as error:
        problems.append(_sentence(folder.config, error))
        return {}
    try:
        read_config(str(folder.config))
    except ValueError as error:
        # of another version, perhaps: the rest may be told all the same
        problems.append(_sentence(folder.config, error))
    options = settings.get("options")
    return {
        "game": settings.get("game"),
        "options": _unusual_options(settings.get("game"), options if isinstance(options, dict) else {}),
        "algorithm": settings.get("algorithm", ALGORITHMS[0]),
        "planned_decisions": _number(settings.get("decisions")),
        "planned_minutes": _number(settings.get("minutes")),
    }


def _unusual_options(game: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the number of players, and the options that are not the game's defaults."""
    usual = {one.name: one.default for one in describe(game).options} if game in game_names() else {}
    return {
        name: value
        for name, value in options.items()
        if name == "num_players" or name not in usual or value != usual[name]
    }


def _rows(folder: RunFolder, problems: list[str]) -> list[dict[str, Any]]:
    """Return the rows of the metrics, as far as they can be read."""
    try:
        rows = folder.read_metrics()
    except (ValueError, OSError) as error:
        problems.append(_sentence(folder.metrics, error))
        return []
    for row in rows:
        numbers = [row.get(name) for name in ("decisions", "seconds")] if isinstance(row, dict) else [None]
        if any(_number(number) is None for number in numbers) or not _sound(row.get("evaluation", {})):
            problems.append(f"{folder.metrics.name} has a line without the numbers of an iteration")
            return []
    return rows


def _sound(evaluation: Any) -> bool:
    """Return whether an evaluation of the metrics has all that is shown of it."""
    results = evaluation.values() if isinstance(evaluation, dict) else [None]
    return all(
        isinstance(one, dict)
        and all(_number(one.get(name)) is not None for name in ("win_rate", "mean_margin"))
        and isinstance(one.get("interval"), list)
        and [_number(end) is None for end in one["interval"]] == [False, False]
        for one in results
    )


def _evaluations(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the latest and the best evaluation; the best is chosen as the trainer chooses it."""
    evaluated = [row for row in rows if row.get("evaluation")]
    if not evaluated:
        return {}

    def score(row: dict[str, Any]) -> tuple[float, float]:
        results = row["evaluation"].values()
        count = len(results)
        return sum(one["win_rate"] for one in results) / count, sum(one["mean_margin"] for one in results) / count

    best = max(evaluated, key=score)
    return {
        name: {"decisions": row["decisions"], "results": row["evaluation"]}
        for name, row in (("latest", evaluated[-1]), ("best", best))
    }


def _state(folder: RunFolder, settings: dict[str, Any], rows: list[dict[str, Any]], now: float) -> tuple[str, str]:
    """Return the state of a run whose files can be read, and what it was concluded from."""
    saved = folder.checkpoint.is_file()
    last = rows[-1] if rows else {"decisions": 0, "seconds": 0.0}
    minutes = settings["planned_minutes"]
    reached = last["decisions"] >= settings["planned_decisions"]
    if saved and (reached or (minutes is not None and last["seconds"] >= 60 * minutes)):
        return FINISHED, "all decisions made" if reached else "its time is over"
    if rows and _time_of(folder.learning_curve) >= _time_of(folder.checkpoint) >= _time_of(folder.metrics):
        return STOPPED, "saved; can be resumed"
    times = [0.0, *(row["seconds"] for row in rows)]
    longest = max((after - before for before, after in pairwise(times)), default=0.0)
    silence = max(0.0, now - max(_time_of(folder.config), _time_of(folder.metrics)))
    what = "last line of metrics" if rows else "begun, no line of metrics yet,"
    if silence <= max(SHORTEST_SILENCE if len(rows) > 1 else LONGEST_BEGINNING, PAUSES * longest):
        return RUNNING, f"{what} {_ago(silence)}"
    way = "can be resumed from its last checkpoint" if saved else "no checkpoint, cannot be resumed"
    return KILLED, f"{what} {_ago(silence)}; {way}"


def _ago(seconds: float) -> str:
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        number = int(seconds // size)
        if number or unit == "second":
            return f"{number} {unit}{'' if number == 1 else 's'} ago"
    raise AssertionError


def _time_of(path: Path) -> float:
    """Return when a file was last written; 0.0 if it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _number(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _sentence(path: Path, error: Exception) -> str:
    """Return what is wrong with a file in one line that is not too long."""
    kind = "is no JSON: " if isinstance(error, json.JSONDecodeError) else ""
    text = " ".join(f"{kind}{error}".split())
    if len(text) > 160:
        text = f"{text[:157]}..."
    return f"{path.name}: {text}"
