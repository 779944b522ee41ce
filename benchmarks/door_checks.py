"""What checks cost a step: two source trees timed alternately in one run, in processor time.

python -m meeplezoo.benchmarks.door_checks OLD NEW [--game NAME] [--rounds N] [--starts N]

OLD and NEW are folders that hold `envs/` and its neighbours, as `git worktree add` or `git archive` make them. Each
tree runs in a process of its own; the two take turns, so that a busy machine troubles both alike. Both play the same
games: the actions are chosen before the clock runs. Where its arrays lie in memory makes a process some percent faster
or slower for all its life, so both are restarted several times.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..envs import game_names

PARTS = ("envs", "agents", "training", "configs", "benchmarks", "cli")
KINDS = ("step", "step unchecked", "step+mask+observation")
STEPS = {1: 2000, 1024: 40}
"""Steps of one measurement, by batch size."""

# runs in either tree, so it knows no more than what both have
_WORKER = """
import json, sys, time
from meeplezoo.envs import GameBatch, make_game
import meeplezoo.envs

print(json.dumps(meeplezoo.envs.__file__), flush=True)
for line in sys.stdin:
    name, size, steps, kind, seed = json.loads(line)
    batch = GameBatch(make_game(name), size)
    batch.reset(seed)
    actions = []
    for _ in range(steps):
        actions.append(batch.random_actions())
        batch.step(actions[-1])
    outputs = {"mask": batch.mask(), "observation": batch.observe()} if "mask" in kind else {}
    check = kind != "step unchecked"
    step = batch.step
    batch.reset(seed)
    step(actions[0], check=check, **outputs)
    batch.reset(seed)
    began = time.process_time()
    for chosen in actions:
        step(chosen, check=check, **outputs)
    print(json.dumps((time.process_time() - began) / steps), flush=True)
"""


class Worker:
    """A process that steps games of one source tree, whose kernels are compiled once into `folder`."""

    def __init__(self, tree: Path, folder: Path) -> None:
        package = folder / "links" / "meeplezoo"
        if not package.exists():
            package.mkdir(parents=True)
            for part in PARTS:
                (package / part).symlink_to((tree / part).resolve())
        environment = {
            **os.environ,
            "PYTHONPATH": str(package.parent),
            "MEEPLEZOO_CACHE_DIR": str(folder / "cache"),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        imported = Path(self._answer())
        if imported.resolve().parent != (tree / "envs").resolve():
            raise RuntimeError(f"{tree} was to be measured, but {imported} was imported")

    def measure(self, row: tuple[Any, ...]) -> float:
        """Return the processor seconds of one step."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(row) + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a measuring process has ended early; see its message above")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def workers(trees: list[Path], folder: str) -> Iterator[list[Worker]]:
    """Yield a process for each tree."""
    started = [Worker(tree, Path(folder) / str(index)) for index, tree in enumerate(trees)]
    try:
        yield started
    finally:
        for worker in started:
            worker.close()


Row = tuple[str, int, int, str]
Times = list[tuple[float, float]]


def compare(old: Worker, new: Worker, row: Row, rounds: int) -> Times:
    """Return the processor seconds of a step in either tree, round after round."""
    times = []
    for seed in range(rounds):
        seeded = (*row, seed)
        # whoever comes second may find warmer caches, so they change places
        if seed % 2:
            later = new.measure(seeded)
            times.append((old.measure(seeded), later))
        else:
            times.append((old.measure(seeded), new.measure(seeded)))
    return times


def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="door_checks", description="Compare the cost of a step in two source trees.")
    parser.add_argument("old", type=Path, help="folder of the tree to compare with")
    parser.add_argument("new", type=Path, help="folder of the tree to be measured")
    parser.add_argument("--game", choices=game_names(), help="this game only (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="alternations for each row and start (default: 5)")
    parser.add_argument("--starts", type=int, default=11, help="pairs of processes (default: 11)")
    chosen = parser.parse_args(arguments)
    games = [chosen.game] if chosen.game else game_names()
    times: dict[Row, Times] = {
        (game, size, steps, kind): [] for game in games for size, steps in STEPS.items() for kind in KINDS
    }
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(chosen.starts):
            with workers([chosen.old, chosen.new], folder) as (old, new):
                for row, so_far in times.items():
                    # the first round loads or compiles the kernels
                    compare(old, new, row, 1)
                    so_far += compare(old, new, row, chosen.rounds)
    print(f"{'game':<12}{'batch':>6}  {'kind':<24}{'old ns':>12}{'new ns':>12}{'ratio':>8}")
    for (game, size, _, kind), measured in times.items():
        before, after = (statistics.median(column) * 1e9 for column in zip(*measured, strict=True))
        ratio = statistics.median(new / old for old, new in measured)
        print(f"{game:<12}{size:>6}  {kind:<24}{before:>12,.0f}{after:>12,.0f}{ratio:>8.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
