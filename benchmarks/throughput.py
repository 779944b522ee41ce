"""Decisions per second of every layer of the suite, on one core, beside other libraries.

python -m meeplezoo.benchmarks.throughput [--game NAME] [--option name=value]... [--only TEXT] [--json FILE]

The limit of a row is a kernel that only fills the same masks and observations; no step can be faster. The environment
variable NUMBA_CPU_NAME compiles for another processor, such as znver2, which has AVX2 and no AVX-512.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import llvmlite.binding
import numba

from ..envs import Game, game_names, make_game
from ..envs.options import parse
from ..envs.registry import describe
from ..envs.spec import COMPACT
from ..envs.system.files import write_json
from ..envs.system.messages import error_line, shorten
from . import layers
from .arguments import BenchmarkParser, output_path
from .other_libraries import PEERS
from .timing import decisions_per_second

BATCHES = (1, 256, 1024, 8192)

Make = Callable[[], layers.Work]
Measurement = tuple[dict[str, Any], Make, Make | None]
"""A row without its figure, what makes the work to be timed, and what makes that of its limit."""


def measurements(game: Game) -> Iterator[Measurement]:
    """Yield every row to be measured; rows of the compact encoding come after the others."""

    def row(layer: str, batch: int, make: Callable[..., layers.Work], *arguments: Any) -> Measurement:
        head = {"game": game.name, "options": game.options, "layer": layer, "batch": batch}
        limit = partial(layers.write_outputs, *arguments) if make is layers.engine_step and any(arguments[2:]) else None
        return head, partial(make, *arguments), limit

    for batch in BATCHES:
        yield row("step", batch, layers.engine_step, game, batch, False, False)
        yield row("step+mask", batch, layers.engine_step, game, batch, True, False)
        yield row("step+mask+observation", batch, layers.engine_step, game, batch, True, True)
        yield row("playout", batch, layers.playout, game, batch)
    compact = game.with_encoding(COMPACT)
    for batch in BATCHES:
        yield row("step+mask+observation compact", batch, layers.engine_step, compact, batch, True, True)
    for one, ending in ((game, ""), (compact, " compact")):
        yield row(f"aec raw{ending}", 1, layers.aec, one, False)
        yield row(f"aec wrapped{ending}", 1, layers.aec, one, True)
        yield row(f"gymnasium{ending}", 1, layers.gymnasium_loop, one)
        for batch in (256, 1024):
            yield row(f"gymnasium vector{ending}", batch, layers.gymnasium_vector, one, batch)
            yield row(f"sb3 vecenv{ending}", batch, layers.sb3_vecenv, one, batch)


def peer_measurements() -> Iterator[Measurement]:
    """Yield the rows of the other libraries."""
    for name, library, batch, make in PEERS:
        yield {"game": name, "options": {}, "layer": library, "batch": batch}, make, None


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
    print(f"{'game':<14}{'layer':<32}{'batch':>6}{'decisions/s':>14}{'limit':>14}{'share':>7}", flush=True)
    for row, make, make_limit in rows:
        heading = f"{row['game']:<14}{row['layer']:<32}{row['batch']:>6}"
        try:
            rate = decisions_per_second(make())
        except ImportError as error:
            print(f"{heading}  left out: {error}", flush=True)
            continue
        results.append({**row, "decisions_per_second": round(rate)})
        limit = ""
        if make_limit is not None:
            most = decisions_per_second(make_limit())
            limit = f"{most:>14,.0f}{rate / most:>7.0%}"
        print(f"{heading}{rate:>14,.0f}{limit}", flush=True)
    print(f"one core, kernels compiled for the processor {_processor()}")
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


def _processor() -> str:
    """Return the name of the processor that kernels are compiled for; NUMBA_CPU_NAME sets it."""
    # numba sets its configuration at run time, which type checkers do not see
    settings: Any = numba.config
    return settings.CPU_NAME or llvmlite.binding.get_host_cpu_name()


def _use_one_core() -> None:
    """Keep this process, and the thread pools that libraries start later, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


if __name__ == "__main__":
    sys.exit(main())
