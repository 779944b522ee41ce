"""Learning algorithms at equal time on equal cores: how strong each has become after how many minutes of training.

python -m meeplezoo.benchmarks.learning [--games NAME ...] [--algorithms NAME ...] [--seeds N] [--minutes M] [--quick]
    [--players N] [--points N] [--processes N] [--games-per-evaluation N] [--set KEY=VALUE ...] [--out FOLDER]
    [--resume] [--json FILE]

docs/learning_benchmark.md describes the method. Every run is a process of its own (`learning_run`) on one thread;
finished ones are kept if others fail.
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..agents.arena.tournament import count_cores
from ..agents.warm_up import warm_up
from ..configs.yaml_settings import parse_overrides
from ..envs import game_names, make_game
from ..envs.system.files import write_json
from ..envs.system.messages import error_line, shorten
from ..training.config import ALGORITHMS, TrainingConfig, settings_of
from ..training.config_files import config_names, read_config
from ..training.progress import format_duration
from .arguments import BenchmarkParser, integer, number_up_to, output_path, read_json
from .head_to_head import play_head_to_head
from .learning_picture import draw
from .learning_processes import Interrupted, Job, run_jobs
from .learning_run import NEVER, RESULT_KEYS, THROUGHPUT_KEYS, Plan
from .learning_statistics import compare

REFERENCES = ("random", "greedy")
"""Opponents at every point in time; the mean win rate against them is the score."""
FINAL_REFERENCES = (*REFERENCES, "mcts:sims=100")
DONE, FAILED, USAGE_ERROR, INTERRUPTED = 0, 1, 2, 130

_EXCLUDED = ("quick", "demo")
_RESERVED = ("seed", "run", "decisions", "minutes", "threads", "players", "device", "game", "algorithm", "options")
"""Settings that the benchmark itself sets."""


@dataclass(frozen=True)
class Settings:
    """Settings that compared runs must share; the references are fixed agents."""

    minutes: float
    points: int
    games_per_evaluation: int
    players: int
    changes: list[str]
    references: tuple[str, ...] = REFERENCES
    final_references: tuple[str, ...] = FINAL_REFERENCES


def choose_configs(
    games: list[str], algorithms: list[str], players: int, names: list[str] | None = None
) -> dict[tuple[str, str], str]:
    """Return a config of the package for each game and algorithm that has one: the first full one by name.

    Configs called quick or demo are not full ones. `names` are those to choose from, by default the package's.
    """
    chosen: dict[tuple[str, str], str] = {}
    for name in config_names() if names is None else names:
        if any(word in Path(name).stem for word in _EXCLUDED):
            continue
        config = read_config(name)
        if config.make_game().num_players == players and config.game in games and config.algorithm in algorithms:
            chosen.setdefault((config.game, config.algorithm), name)
    return {(game, one): chosen[game, one] for game in games for one in algorithms if (game, one) in chosen}


def overrides_for(config: TrainingConfig, settings: Settings) -> list[str]:
    """Return the overrides of every run: one thread, the references, and those of the user."""
    known = [one.name for one in settings_of(config.algorithm)]
    fixed = {
        "threads": "1",
        # threads that play
        "players": "1",
        "device": "cpu",
        "evaluation_opponents": json.dumps(settings.references),
        "evaluation_games": str(settings.games_per_evaluation),
        # without search: all algorithms take equally long for a move
        "evaluation_simulations": "0",
        "evaluation_interval": str(NEVER),
        "checkpoint_interval": str(NEVER),
    }
    changes = [f"{name}={value}" for name, value in fixed.items() if name in known]
    return changes + [text for text in settings.changes if text.partition("=")[0].strip() in known]


def make_plans(
    chosen: dict[tuple[str, str], str], settings: Settings, seeds: int, out: Path
) -> tuple[list[Plan], dict[str, list[Plan]]]:
    """Return the measurements of throughput, and by their folder the runs that use them, one for each seed."""
    measurements, runs = [], {}
    for (game, algorithm), name in chosen.items():
        overrides = overrides_for(read_config(name), settings)
        rest = (settings.minutes, settings.points, list(settings.final_references), settings.games_per_evaluation)
        measurement = Plan(name, overrides, str(out / "throughputs" / f"{game}-{algorithm}"), True, None, *rest)
        measurements.append(measurement)
        runs[measurement.folder] = [
            Plan(
                name,
                [*overrides, f"seed={seed}"],
                str(out / "runs" / f"{game}-{algorithm}-{seed}"),
                False,
                None,
                *rest,
            )
            for seed in range(seeds)
        ]
    return measurements, runs


def train_all(
    measurements: list[Plan], runs: dict[str, list[Plan]], processes: int, out: Path
) -> tuple[list[Path], list[Job]]:
    """Do the work that is left, measurements first; return all results, and the jobs that failed.

    Raises Interrupted after Ctrl-C.
    """
    for game in dict.fromkeys(read_config(plan.config).game for plan in measurements):
        # here, so that the processes find compiled kernels
        warm_up(make_game(game))
    failed = run_jobs([_job(plan, out) for plan in measurements], processes, "throughputs")
    ready = [plan for plan in measurements if plan.result.is_file()]
    throughputs = {plan.folder: read_json(plan.result, THROUGHPUT_KEYS) for plan in ready}
    plans = [
        Plan(**{**asdict(plan), "throughput": throughput})
        for folder, throughput in throughputs.items()
        for plan in runs[folder]
    ]
    # the first seed of all, then the second: interrupted benchmarks stay comparable
    plans.sort(key=lambda plan: int(plan.folder.rpartition("-")[2]))
    failed += run_jobs([_job(plan, out) for plan in plans], processes, "runs")
    return [plan.result for plan in plans if plan.result.is_file()], failed


def _job(plan: Plan, out: Path) -> Job:
    name = "-".join(Path(plan.folder).parts[-2:])
    return Job(name, asdict(plan), plan.result, out / "plans" / f"{name}.json", out / "logs" / f"{name}.txt")


def prepare_folder(out: Path, settings: Settings, *, resume: bool) -> None:
    """Make the folder with its settings, or check that it has the same; ValueError otherwise."""
    path = out / "settings.json"
    if not resume:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise ValueError(f"folder {out} is not empty; name another one or go on with --resume")
        write_json(path, asdict(settings))
        return
    if not path.is_file():
        raise ValueError(f"{out} is no folder of this benchmark: it has no {path.name}")
    before = read_json(path)
    for name, value in json.loads(json.dumps(asdict(settings))).items():
        if before.get(name) != value:
            raise ValueError(f"{out} was begun with {name} = {shorten(before.get(name))}, which cannot become {value}")


def report(results: list[Path], settings: Settings, out: Path, copy: Path | None) -> None:
    """Write the JSON file and the picture of finished runs and print the tables."""
    runs = [read_json(path, RESULT_KEYS) for path in results]
    found = compare(runs, settings.minutes, settings.points)
    matches = play_head_to_head(runs, [path.parent for path in results], settings.games_per_evaluation)
    content = {"settings": asdict(settings), **found, "head_to_head": matches, "runs": runs}
    for path in [out / "learning.json", *([copy] if copy else [])]:
        write_json(path, content)
    draw(found, settings.references, out / "learning.png")
    print("\n".join([*time_table(found, settings), "", *final_table(found), *head_to_head_table(matches)]))
    print(f"\ndata: {out / 'learning.json'}\npicture: {out / 'learning.png'}")


def time_table(found: dict[str, Any], settings: Settings) -> list[str]:
    """Return the scores over time as a Markdown table: one row per game and algorithm."""
    rows = [(row["game"], row["algorithm"], str(len(row["seeds"])), row["over_minutes"]) for row in found["rows"]]
    rows += [("all games", row["algorithm"], "", row["over_minutes"]) for row in found["overall"]]
    minutes = rows[0][3]["minutes"]
    points = [f"{'after ' if place == 0 else ''}{point:.3g} min" for place, point in enumerate(minutes)]
    lines = [
        f"Mean win rate (%) against {', '.join(settings.references)}: interquartile mean of the runs (95 % interval)",
        "",
        _line(["game", "algorithm", "runs", *points]),
        _line(["---"] * (3 + len(points))),
    ]
    for game, algorithm, number, curve in rows:
        cells = [_percent({key: curve[key] and curve[key][place] for key in curve}) for place in range(len(minutes))]
        lines.append(_line([game, algorithm, number, *cells]))
    return lines


def final_table(found: dict[str, Any]) -> list[str]:
    """Return the final results of the runs as a Markdown table."""
    references = list(found["rows"][0]["final"])
    header = ["game", "algorithm", "minutes", "decisions", "of schedule", *(f"against {name}" for name in references)]
    lines = [
        "At the end: means of time, decisions and fraction of the learning-rate schedule, win rates (%) as above",
        "",
        _line(header),
        _line(["---"] * len(header)),
    ]
    for row in found["rows"]:
        cells = [f"{row['training_minutes']:.2f}", f"{row['decisions']:,.0f}", f"{100 * row['schedule']:.0f} %"]
        rates = [_percent(row["final"][name]) for name in references]
        lines.append(_line([row["game"], row["algorithm"], *cells, *rates]))
    return lines


def head_to_head_table(matches: list[dict[str, Any]]) -> list[str]:
    """Return the results between algorithms as a Markdown table after an empty line; nothing without results."""
    if not matches:
        return []
    lines = [
        "",
        "Last policies against each other, seed by seed: win rates (%) of the first algorithm as above",
        "",
        _line(["game", "algorithm", "against", "win rate", "by seed"]),
        _line(["---"] * 5),
    ]
    for match in matches:
        by_seed = ", ".join(f"{100 * rate:.1f}" for rate in match["win_rates"])
        lines.append(_line([match["game"], match["algorithm"], match["opponent"], _percent(match), by_seed]))
    return lines


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(one: dict[str, Any]) -> str:
    text = f"{100 * one['iqm']:.1f}"
    return text if one["low"] is None else f"{text} ({100 * one['low']:.1f} - {100 * one['high']:.1f})"


def _parser() -> BenchmarkParser:
    parser = BenchmarkParser(
        prog="python -m meeplezoo.benchmarks.learning",
        description="Compare learning algorithms at equal time, one core for each run.",
    )
    parser.add_argument("--games", nargs="+", metavar="NAME", help="default: all; with --quick the first one")
    parser.add_argument("--algorithms", nargs="+", metavar="NAME", default=list(ALGORITHMS), help="default: all")
    parser.add_argument(
        "--players", type=integer(1, 100), default=2, metavar="N", help="configs of so many players (default: 2)"
    )
    parser.add_argument("--seeds", type=integer(1, 1000), metavar="N", help="runs of each (default: 5; with --quick 2)")
    parser.add_argument(
        "--minutes", type=number_up_to(100_000), metavar="M", help="training of a run (default: 20; with --quick 2)"
    )
    parser.add_argument(
        "--points", type=integer(1, 1000), metavar="N", help="equal parts of it (default: 10; with --quick 4)"
    )
    parser.add_argument(
        "--games-per-evaluation",
        type=integer(1, 1_000_000),
        metavar="N",
        help="for each reference (default: 200; with --quick 100)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one game, 2 seeds, 2 minutes, 4 points, 100 games: about ten minutes on two cores",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting of all configs whose algorithm has it, repeatable",
    )
    parser.add_argument(
        "--processes",
        type=integer(1, 1024),
        default=count_cores(),
        metavar="N",
        help="runs side by side (default: one per core)",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="output folder (default: runs/learning-TIME)")
    parser.add_argument("--resume", action="store_true", help="resume in --out: finished work is not repeated")
    parser.add_argument("--json", type=output_path, metavar="FILE", help="write the data to this file, too")
    return parser


def _check_arguments(chosen: argparse.Namespace) -> Settings:
    """Fill in defaults that depend on --quick and return the settings; ValueError if an argument is invalid."""
    defaults = (2, 2.0, 4, 100) if chosen.quick else (5, 20.0, 10, 200)
    for name, value in zip(("seeds", "minutes", "points", "games_per_evaluation"), defaults, strict=True):
        if getattr(chosen, name) is None:
            setattr(chosen, name, value)
    chosen.games = chosen.games or list(game_names()[:1] if chosen.quick else game_names())
    for name, given, valid in (("game", chosen.games, game_names()), ("algorithm", chosen.algorithms, ALGORITHMS)):
        for one in given:
            if one not in valid:
                raise ValueError(f"there is no {name} {shorten(one)}; the {name}s are {', '.join(valid)}")
    known = {one.name for algorithm in ALGORITHMS for one in settings_of(algorithm)}
    for name in parse_overrides(chosen.set):
        if name not in known or name in _RESERVED:
            raise ValueError(f"--set cannot change {shorten(name)}")
    if chosen.resume and chosen.out is None:
        raise ValueError("--resume needs the folder to go on in: --out FOLDER")
    return Settings(chosen.minutes, chosen.points, chosen.games_per_evaluation, chosen.players, chosen.set)


def main(arguments: list[str] | None = None) -> int:
    """Train the runs that are left, print tables and write files; return the exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        settings = _check_arguments(chosen)
        configs = choose_configs(chosen.games, chosen.algorithms, chosen.players)
        if not configs:
            raise ValueError(f"no config of the package is of these games and algorithms for {chosen.players} players")
        out: Path = chosen.out or Path("runs") / f"learning-{datetime.now():%Y%m%d-%H%M%S}"
        measurements, runs = make_plans(configs, settings, chosen.seeds, out)
        for plan in measurements:
            read_config(plan.config, plan.overrides)
        prepare_folder(out, settings, resume=chosen.resume)
    except ValueError as error:
        print(error_line(error), file=sys.stderr)
        return USAGE_ERROR
    for game in chosen.games:
        for algorithm in chosen.algorithms:
            if (game, algorithm) not in configs:
                print(f"left out: {game} has no config of {algorithm}", file=sys.stderr)
    number = sum(map(len, runs.values()))
    total = format_duration(60 * settings.minutes * -(-number // chosen.processes))
    print(f"{number} runs, {chosen.processes} side by side: {total} of training, and more around it", file=sys.stderr)
    try:
        results, failed = train_all(measurements, runs, chosen.processes, out)
        if results:
            report(results, settings, out, chosen.json)
    except Interrupted:
        print(f"interrupted; go on with the same command and --resume --out {out}", file=sys.stderr)
        return INTERRUPTED
    except ValueError as error:
        print(error_line(error), file=sys.stderr)
        return FAILED
    for job in failed:
        print(error_line(f"{job.name} has failed; see {job.log}"), file=sys.stderr)
    return FAILED if failed else DONE


if __name__ == "__main__":
    sys.exit(main())
