"""Decisions a second of the policy-gradient algorithms, play and training together, at equal settings on one core.

python -m meeplezoo.benchmarks.training_throughput [--game NAME] [--json FILE] [KEY=VALUE ...]

A decision is one that is learned from. The settings are those of `SETTINGS`, but for what stands in the row, and for
what KEY=VALUE says: half of the games, or opponents, are the baseline, the others the current policy. Each algorithm
makes one iteration that does not count and then REPEATS that do; the figure is that of the fastest.

All times are processor time of this process, which works in one thread: other work on the machine takes less from them
than from the clock on the wall, but not nothing (caches, memory and clock rates are shared). `product` is what the
processor makes of a matrix product of the network's size at that time, in billions of additions and multiplications a
second: compare rows, and runs, in its light.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any

from ..configs.yaml_settings import parse_overrides
from ..envs import game_names
from ..envs.options import Number
from ..envs.registry import describe
from ..envs.system.files import write_json
from ..envs.system.messages import error_line
from ..training.algorithm import make_algorithm, prepare_torch
from ..training.config import settings_of
from ..training.config_reading import make_config
from .arguments import BenchmarkParser, output_path

REPEATS = 6
SETTINGS = {
    "decisions": 10**9,
    "games": 256,
    "rollout": 32,
    "hidden": [256, 256],
    "minibatch": 1024,
    "epochs": 4,
    "baselines": ["random"],
    "share_current": 0.5,
    "share_past": 0.0,
    "share_baselines": 0.5,
    "share_league": 0.5,
}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "maskable_ppo": {"algorithm": "maskable_ppo"},
    "ppo": {"algorithm": "ppo"},
    "ppo, shared": {"algorithm": "ppo", "shared": True},
    "ppo, shared, bfloat16": {"algorithm": "ppo", "shared": True, "precision": "bfloat16"},
}
"""The rows of each game; the first is what the others are compared with."""


def decisions_per_second(settings: dict[str, Any]) -> float:
    """Return decisions by second of processor time of the fastest of REPEATS iterations of a new algorithm."""
    config = make_config(settings)
    prepare_torch(config)
    algorithm = make_algorithm(config, config.make_game())
    algorithm.train_iteration(0)
    fastest = 0.0
    for iteration in range(1, 1 + REPEATS):
        before, began = algorithm.decisions, time.process_time()
        algorithm.train_iteration(iteration)
        fastest = max(fastest, (algorithm.decisions - before) / (time.process_time() - began))
    return fastest


def measure_matrix_products() -> float:
    """Return multiplications and additions by second of processor time in a product of 1024 x 512 and 512 x 256."""
    import torch

    left, right, number = torch.randn(1024, 512), torch.randn(512, 256), 20
    fastest = float("inf")
    for _ in range(REPEATS):
        began = time.process_time()
        for _ in range(number):
            left @ right
        fastest = min(fastest, time.process_time() - began)
    return number * 2 * 1024 * 512 * 256 / fastest


def rows(games: list[str], overrides: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every row as it is measured."""
    for game in games:
        (option,) = (one for one in describe(game).options if isinstance(one, Number) and one.name == "num_players")
        for players in sorted({2, option.default}):
            first = None
            for name, changes in ALGORITHMS.items():
                known = {one.name for one in settings_of(changes["algorithm"])}
                chosen = {key: value for key, value in {**SETTINGS, **overrides}.items() if key in known}
                rate = decisions_per_second({**chosen, **changes, "game": game, "options": {"num_players": players}})
                first = first or rate
                yield {
                    "game": game,
                    "players": players,
                    "algorithm": name,
                    "decisions_per_second": round(rate),
                    "times_the_first": round(rate / first, 2),
                    "product": round(measure_matrix_products() / 1e9),
                }


def line(row: dict[str, Any]) -> str:
    """Return one row of the table."""
    begin = f"{row['game']:<12}{row['players']:>3}  {row['algorithm']:<24}"
    return f"{begin}{row['decisions_per_second']:>13,}{row['times_the_first']:>7.2f}{row['product']:>10}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table and write the JSON file; return the exit code."""
    parser = BenchmarkParser(
        prog="python -m meeplezoo.benchmarks.training_throughput",
        description="Measure decisions per second of processor time of the policy-gradient algorithms.",
    )
    parser.add_argument("--game", choices=game_names(), help="this game only (default: all)")
    parser.add_argument("--json", type=output_path, metavar="FILE", help="write the rows to a JSON file")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="other settings of training, for all rows")
    chosen = parser.parse_args(arguments)
    print(f"{'game':<12}{'pl.':>3}  {'algorithm':<24}{'decisions/s':>13}{'times':>7}{'product':>10}", flush=True)
    measured = []
    try:
        for row in rows([chosen.game] if chosen.game else list(game_names()), parse_overrides(chosen.settings)):
            print(line(row), flush=True)
            measured.append(row)
    except ValueError as error:
        print(error_line(error), file=sys.stderr)
        return 2
    if chosen.json:
        write_json(chosen.json, measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
