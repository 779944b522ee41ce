"""The status of training runs, read from disk without importing torch; damaged files are reported.

A run does not record its process. Whether it is running is inferred from the modification times of its files:

| state | evidence |
|---|---|
| finished | the metrics have reached the config's decisions or minutes |
| stopped | the learning curve is younger than the checkpoint, which is younger than the metrics: the order in which a |
| | run that was asked to stop ends; it can be resumed |
| running | the metrics have grown recently, compared with the longest pause of the run so far |
| killed | they have not, and nothing was saved after them; what came after the last checkpoint is lost |
| damaged | something cannot be read |

"running" and "killed" are inferred: a process killed a moment ago appears as running; one that is suspended, or that
evaluates for longer than ever before, as killed. A copy without the modification times is misjudged.
"""

import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..configs.yaml_settings import read_settings
from ..envs.registry import describe, game_names
from ..envs.system.messages import pluralize
from .config import ALGORITHMS
from .config_files import read_config
from .metrics import is_number, read_rows
from .run_folder import RunFolder

FINISHED, STOPPED, RUNNING, KILLED, DAMAGED = "finished", "stopped", "running", "killed", "damaged"

MIN_SILENCE = 120.0
"""Seconds without a line of metrics after which a run may pass for killed."""
PAUSE_FACTOR = 3.0
"""Multiple of its longest pause that must pass too."""
MAX_FIRST_ITERATION = 1200.0
"""Seconds that the first iteration may take, which can be an imitation, before there is a pause to compare with."""
_COLUMNS = ("iteration", "decisions", "seconds", "evaluation")


@dataclass(frozen=True)
class RunStatus:
    """The status of a run; unknown fields are None.

    | field | meaning |
    |---|---|
    | `folder` | its path |
    | `state` | one of those above |
    | `detail` | the evidence for the state, or what is damaged |
    | `game`, `algorithm`, `options` | of the config; the number of players and all that differs from the defaults |
    | `decisions`, `planned_decisions`, `planned_minutes` | learned from, and the config's limits |
    | `seconds`, `decisions_per_second` | since the run began, evaluations included, stops left out |
    | `latest`, `best` | an evaluation: `decisions`, and `results` by opponent (win rate, interval, mean margin) |
    | `agent` | the policy of the best evaluation as the text of an agent |
    | `changed` | when a file was last written, seconds since the epoch |
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


def list_runs(paths: Iterable[Path], now: float | None = None) -> list[RunStatus]:
    """Return the runs in some folders, or that the folders are, newest first; `now` is for tests.

    A folder with one of the files of a run is a run; others are searched, one level deep. Raises OSError only if one of
    the given folders cannot be read.
    """
    moment = time.time() if now is None else now
    found: dict[str, Path] = {}
    for path in paths:
        for one in [path] if _is_run(path) else sorted(path.iterdir()):
            if _is_run(one):
                found.setdefault(os.path.realpath(one), one)
    return sorted((_read_or_report(RunFolder(path), moment) for path in found.values()), key=lambda run: -run.changed)


def _is_run(path: Path) -> bool:
    folder = RunFolder(path)
    return os.path.isdir(path) and any(map(os.path.lexists, (folder.config, folder.checkpoint, folder.metrics)))


def _read_or_report(folder: RunFolder, now: float) -> RunStatus:
    """Return the status of a run; one that cannot be read must not hide the others."""
    try:
        return _read_status(folder, now)
    except OSError as error:
        return RunStatus(str(folder.path), DAMAGED, f"cannot be read: {error.strerror}")


def _read_status(folder: RunFolder, now: float) -> RunStatus:
    problems: list[str] = []
    settings = _settings(folder, problems)
    rows = _rows(folder, problems)
    if os.path.lexists(folder.checkpoint) and not folder.checkpoint.is_file():
        problems.append(f"{folder.checkpoint.name}: is not a regular file")
    last = rows[-1] if rows else {}
    done, seconds = last.get("decisions"), last.get("seconds")
    if problems:
        state, detail = DAMAGED, "; ".join(problems)
    else:
        state, detail = _state(folder, settings, rows, now)
    return RunStatus(
        folder=str(folder.path),
        state=state,
        detail=detail,
        **settings,
        decisions=done,
        seconds=seconds,
        decisions_per_second=done / seconds if done and seconds else None,
        **_evaluations(rows),
        agent=folder.best_agent(),
        changed=max(map(_mtime, (folder.config, folder.checkpoint, folder.metrics))),
    )


def _settings(folder: RunFolder, problems: list[str]) -> dict[str, Any]:
    """Return the fields from the config as far as it can be read; append problems."""
    if not os.path.lexists(folder.config):
        problems.append(f"{folder.config.name} is missing")
        return {}
    try:
        settings = read_settings(folder.config)
    except (ValueError, OSError) as error:
        problems.append(_sentence(folder.config, error))
        return {}
    try:
        read_config(str(folder.config))
    except ValueError as error:
        # perhaps of another version: show the rest all the same
        problems.append(_sentence(folder.config, error))
    game, options = settings.get("game"), settings.get("options")
    algorithm, decisions = settings.get("algorithm", ALGORITHMS[0]), settings.get("decisions")
    return {
        "game": game if isinstance(game, str) else None,
        "options": _unusual_options(game, options if isinstance(options, dict) else {}),
        "algorithm": algorithm if isinstance(algorithm, str) else None,
        "planned_decisions": decisions if isinstance(decisions, int) and is_number(decisions) else None,
        "planned_minutes": settings.get("minutes") if is_number(settings.get("minutes")) else None,
    }


def _unusual_options(game: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the number of players, and the options that are not the game's defaults."""
    defaults = {one.name: one.default for one in describe(game).options} if game in game_names() else {}
    return {
        name: value
        for name, value in options.items()
        if name == "num_players" or name not in defaults or value != defaults[name]
    }


def _rows(folder: RunFolder, problems: list[str]) -> list[dict[str, Any]]:
    """Return the displayed columns of the metrics as far as they can be read; append problems."""
    rows: list[dict[str, Any]] = []
    try:
        if os.path.lexists(folder.metrics):
            for row in read_rows(folder.metrics):
                rows.append({name: row[name] for name in _COLUMNS if name in row})
    except (ValueError, OSError) as error:
        problems.append(_sentence(folder.metrics, error))
    return rows


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
    """Infer the state of a run whose files can be read; return it with the evidence."""
    saved = folder.checkpoint.is_file()
    last = rows[-1] if rows else {"iteration": 0, "decisions": 0, "seconds": 0.0}
    minutes = settings["planned_minutes"]
    reached = last["decisions"] >= settings["planned_decisions"]
    if saved and (reached or (minutes is not None and last["seconds"] >= 60 * minutes)):
        return FINISHED, "all decisions made" if reached else "its time is over"
    if rows and _mtime(folder.learning_curve) >= _mtime(folder.checkpoint) >= _mtime(folder.metrics):
        return STOPPED, "saved; can be resumed"
    times = [0.0, *(row["seconds"] for row in rows)]
    longest = max((after - before for before, after in pairwise(times)), default=0.0)
    silence = max(0.0, now - max(_mtime(folder.config), _mtime(folder.metrics)))
    what = "last line of metrics" if rows else "begun, no line of metrics yet,"
    if silence <= max(MIN_SILENCE if len(rows) > 1 else MAX_FIRST_ITERATION, PAUSE_FACTOR * longest):
        return RUNNING, f"{what} {_ago(silence)}"
    if saved:
        way = "can be resumed from its last checkpoint"
    elif last["iteration"] == 0:
        way = "no checkpoint yet, begins anew when resumed"
    else:
        way = "no checkpoint, cannot be resumed"
    return KILLED, f"{what} {_ago(silence)}; {way}"


def _ago(seconds: float) -> str:
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        number = int(seconds // size)
        if number or unit == "second":
            return f"{pluralize(number, unit)} ago"
    raise AssertionError


def _mtime(path: Path) -> float:
    """Return when a file was last written; 0.0 if it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _sentence(path: Path, error: Exception) -> str:
    """Return what is wrong with a file in one short line that begins with its name."""
    text = str(error.strerror if isinstance(error, OSError) else error).replace(str(path), path.name)
    text = " ".join(text.split()).removeprefix(path.name).removeprefix("config ").lstrip(":, ")
    if len(text) > 160:
        text = f"{text[:157]}..."
    return f"{path.name}: {text}"
