"""Decisions per second of every layer of the suite, on one core, beside other libraries.

python -m meeplezoo.benchmarks.throughput [--game NAME] [--option name=value]... [--only TEXT] [--json FILE]
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..envs import Game, game_names, make_game
from ..envs.options import parse
from ..envs.registry import describe
from ..envs.system.files import write_json
from ..envs.system.messages import error_line, shorten
from . import layers
from .arguments import BenchmarkParser, output_path
from .other_libraries import PEERS
from .timing import decisions_per_second

BATCHES = (1, 256, 1024, 8192)

Measurement = tuple[dict[str, Any], Callable[[], layers.Work]]


def measurements(game: Game) -> Iterator[Measurement]:
    """Yield every row to be measured, without its figure, and what makes the work to be timed."""

    def row(layer: str, batch: int, make: Callable[[], layers.Work]) -> Measurement:
        return {"game": game.name, "options": game.options, "layer": layer, "batch": batch}, make

    for batch in BATCHES:
        yield row("step", batch, partial(layers.engine_step, game, batch, False, False))
        yield row("step+mask", batch, partial(layers.engine_step, game, batch, True, False))
        yield row("step+mask+observation", batch, partial(layers.engine_step, game, batch, True, True))
        yield row("playout", batch, partial(layers.playout, game, batch))
    yield row("aec raw", 1, partial(layers.aec, game, wrapped=False))
    yield row("aec wrapped", 1, partial(layers.aec, game, wrapped=True))
    yield row("gymnasium", 1, partial(layers.gymnasium_loop, game))
    for batch in (256, 1024):
        yield row("gymnasium vector", batch, partial(layers.gymnasium_vector, game, batch))
        yield row("sb3 vecenv", batch, partial(layers.sb3_vecenv, game, batch))


def peer_measurements() -> Iterator[Measurement]:
    """Yield the rows of the other libraries."""
    for name, library, batch, make in PEERS:
        yield {"game": name, "options": {}, "layer": library, "batch": batch}, make


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table and write the JSON file; return the exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        games = [
            make_game(name, **parse(name, describe(name).options, chosen.option))
            for name in ([chosen.game] if chosen.game else game_names())
        ]
    except ValueError as error:
        print(error_line(error), file=sys.stderr)
        return 2
    if chosen.json and chosen.json.is_dir():
        print(error_line(f"{chosen.json} is a folder, not a file"), file=sys.stderr)
        return 2
    _use_one_core()
    rows = [*(row for game in games for row in measurements(game)), *peer_measurements()]
    text = chosen.only or ""
    rows = [entry for entry in rows if text in f"{entry[0]['game']} {entry[0]['layer']} {entry[0]['batch']}"]
    if not rows:
        print(error_line(f"nothing to measure contains {shorten(text)}"), file=sys.stderr)
        return 2
    results = []
    print(f"{'game':<14}{'layer':<24}{'batch':>6}{'decisions/s':>14}", flush=True)
    for row, make in rows:
        try:
            rate = decisions_per_second(make())
        except ImportError as error:
            print(f"{row['game']:<14}{row['layer']:<24}{row['batch']:>6}  left out: {error}", flush=True)
            continue
        results.append({**row, "decisions_per_second": round(rate)})
        print(f"{row['game']:<14}{row['layer']:<24}{row['batch']:>6}{rate:>14,.0f}", flush=True)
    if chosen.json:
        write_json(chosen.json, results)
    return 0


def _parser() -> BenchmarkParser:
    examples = ["meeplezoo bench", f"meeplezoo bench --game {game_names()[0]} --only step+mask --json speed.json"]
    parser = BenchmarkParser(
        prog="meeplezoo bench",
        description="Measure decisions per second of every layer, on one core, beside other libraries'.",
        epilog="\n  ".join(["examples:", *examples]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--game", help="measure this game only (default: all)")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game, repeatable"
    )
    parser.add_argument(
        "--only", metavar="TEXT", help='measure rows that contain this text only, like "aec" or "step 1024"'
    )
    parser.add_argument("--json", type=output_path, metavar="FILE", help="write the rows to a JSON file")
    return parser


def _use_one_core() -> None:
    """Keep this process, and the thread pools that libraries start later, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


if __name__ == "__main__":
    sys.exit(main())
