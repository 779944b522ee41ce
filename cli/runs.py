"""`meeplezoo runs`: the training runs in some folders, newest first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..envs.system.messages import display_name, display_path, escape_controls, pluralize
from ..envs.view.captions import two_digits
from .arguments import CommandParser, input_folder

if TYPE_CHECKING:
    from ..training.run_status import RunStatus

_FOLDER = "runs"


def run(argv: list[str]) -> int:
    """Print the runs, or their data as JSON."""
    arguments = _parser().parse(argv)
    folders = [input_folder(text) for text in arguments.folders]
    # where nobody has trained yet there is no folder to be missed
    looked_into = folders or [path for path in [Path(_FOLDER)] if path.is_dir()]
    from ..training.run_status import list_runs

    runs = list_runs(looked_into)
    if arguments.json:
        print(_json_text([one.as_json() for one in runs]))
    elif runs:
        print("\n\n".join("\n".join(run_lines(one)) for one in runs))
    else:
        print(f"no training runs in {', '.join(map(display_path, folders)) or _FOLDER}")
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        "runs",
        "List training runs, newest first: how far they are, how fast, how good, and the agent to play with.",
        [
            "meeplezoo runs",
            "meeplezoo runs runs/RUN elsewhere/runs",
            "meeplezoo runs --json",
        ],
    )
    parser.add_argument(
        "folders",
        metavar="FOLDER",
        nargs="*",
        default=[],
        help=f"a run, or a folder with runs in it (default: {_FOLDER})",
    )
    parser.add_argument("--json", action="store_true", help="print the data as JSON")
    return parser


def _json_text(data: Any) -> str:
    """Return data as JSON that any stream can encode and that does not act on a terminal."""
    # of all control characters JSON leaves the last one as it is
    return json.dumps(data, indent=2).replace("\x7f", "\\u007f")


def run_lines(one: RunStatus) -> list[str]:
    """Return what is known about a run as some lines, the first with its name."""
    name = display_name(Path(one.folder).name or one.folder)
    lines = [f"{name}  {_experiment(one)}".rstrip(), f"  {one.state}: {escape_controls(one.detail)}"]
    if one.decisions is not None and one.seconds is not None:
        lines.append(f"  {_progress(one)}")
    for name, evaluation in (("latest", one.latest), ("best", one.best)):
        if evaluation is not None:
            lines.append(f"  {name:6}  {_results(evaluation)}")
    if one.agent is not None:
        lines.append(f"  agent   {display_path(one.agent)}")
    return lines


def _experiment(one: RunStatus) -> str:
    """Return game, options and algorithm, like "azul (num_players=2), ppo"."""
    if one.game is None:
        return ""

    # of a config that nobody has checked
    options = ", ".join(display_name(f"{name}={value}") for name, value in one.options.items())
    return f"{display_name(one.game)}{f' ({options})' if options else ''}, {display_name(one.algorithm)}"


def _progress(one: RunStatus) -> str:
    from ..training.progress import format_duration

    limit = "" if one.planned_minutes is None else f" of {format_duration(60 * one.planned_minutes)}"
    speed = "" if one.decisions_per_second is None else f", {two_digits(one.decisions_per_second)}/s"
    assert one.decisions is not None
    assert one.seconds is not None
    made = pluralize(one.decisions, "decision")
    if one.planned_decisions is not None:
        made = f"{one.decisions:,} of {pluralize(one.planned_decisions, 'decision')}"
    return f"{made} in {format_duration(one.seconds)}{limit}{speed}"


def _results(evaluation: dict[str, Any]) -> str:
    """Return the win rates of an evaluation with their intervals, and when it was made."""
    rates = []
    for opponent, one in evaluation["results"].items():
        low, high = one["interval"]
        rates.append(f"{display_name(opponent)} {100 * one['win_rate']:.1f} % ({100 * low:.1f} - {100 * high:.1f})")
    return f"{', '.join(rates)}, after {pluralize(evaluation['decisions'], 'decision')}"
