"""Processor seconds of the first start, which compiles, and of later ones.

python -m meeplezoo.benchmarks.startup [--game NAME]
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec

from ..agents.networks.network_agent import bundled_networks
from ..envs import game_names, make_game
from .arguments import BenchmarkParser

_LATER = 3
_FIRST_STEP = """
from meeplezoo.envs import GameBatch, make_game

batch = GameBatch(make_game({game!r}), 1)
batch.reset(1)
mask, observation = batch.mask(), batch.observe()
batch.step(batch.random_actions(), mask=mask, observation=observation)
"""
_COMMAND = """
from meeplezoo.cli.main import main

assert main({argv!r}) == 0
"""
# whatever the program prints goes to stderr, so that the number is alone on stdout
_MEASURED = """
import sys, time
out, sys.stdout = sys.stdout, sys.stderr
{program}
print(time.process_time(), file=out)
"""


def programs(game: str) -> Iterator[tuple[str, str]]:
    """Yield name and program of every kind of start that is measured."""
    yield "one step of a game", _FIRST_STEP.format(game=game)
    players = make_game(game).num_players
    agents = ["greedy", "mcts:sims=10"]
    if find_spec("torch") is not None:
        agents += [f"net:{name},sims=10" for name in bundled_networks() if name.startswith(f"{game}-")]
    for agent in agents:
        # the bundled networks are for two players
        others = ["random"] * (1 if agent.startswith("net:") else players - 1)
        argv = ["evaluate", game, agent, *others, "--games", "2"]
        yield f"evaluate {agent}", _COMMAND.format(argv=argv)
    yield "warm-up", _COMMAND.format(argv=["warm-up", game])


def start(program: str, cache: str) -> tuple[float, float]:
    """Return the processor seconds and the seconds on the clock of one process."""
    began = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-c", _MEASURED.format(program=program)],
        env={**os.environ, "MEEPLEZOO_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return float(run.stdout), time.perf_counter() - began


def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table."""
    parser = BenchmarkParser(prog="startup", description="Measure first starts ever and later ones.")
    parser.add_argument("--game", choices=game_names(), default=game_names()[0])
    game = parser.parse_args(arguments).game
    print(f"{game:<34}{'first ever':>20}{'later':>16}")
    print(f"{'':<34}{'processor s':>12}{'clock s':>8}{'processor s':>16}")
    for name, program in programs(game):
        with tempfile.TemporaryDirectory() as cache:
            processor, clock = start(program, cache)
            later = sorted(start(program, cache)[0] for _ in range(_LATER))[_LATER // 2]
        print(f"{name:<34}{processor:>12.1f}{clock:>8.1f}{later:>16.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
