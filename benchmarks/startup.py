"""Seconds from nothing to the first step: the first start ever, and later ones.

python -m meeplezoo.benchmarks.startup [--game NAME]
"""

import os
import subprocess
import sys
import tempfile
import time

from ..envs import game_names
from .arguments import BenchmarkParser

_PROGRAM = """
import time
from meeplezoo.envs import GameBatch, make_game

batch = GameBatch(make_game({game!r}), 1)
batch.reset(1)
mask, observation = batch.mask(), batch.observe()
batch.step(batch.random_actions(), mask=mask, observation=observation)
print(time.process_time())
"""


def start(game: str, cache: str) -> tuple[float, float]:
    """Return the processor seconds and the seconds on the clock of one process up to its first step."""
    environment = {**os.environ, "MEEPLEZOO_CACHE_DIR": cache}
    began = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(game=game)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return float(run.stdout), time.perf_counter() - began


def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table."""
    parser = BenchmarkParser(prog="startup", description="Measure the time to the first step.")
    parser.add_argument("--game", choices=game_names(), default=game_names()[0])
    game = parser.parse_args(arguments).game
    print(f"{'start':<12}{'processor s':>12}{'clock s':>10}")
    with tempfile.TemporaryDirectory() as cache:
        for name in ("first ever", "later", "later", "later"):
            processor, clock = start(game, cache)
            print(f"{name:<12}{processor:>12.2f}{clock:>10.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
