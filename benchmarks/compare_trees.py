"""What a change costs: two source trees timed alternately in one run, in processor time.

python -m meeplezoo.benchmarks.compare_trees OLD NEW [--game NAME] [--rounds N] [--starts N] [--only TEXT]

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

PARTS = ("__init__.py", "envs", "agents", "training", "configs", "benchmarks", "cli")
WORK = {
    "step": ((1, 2000), (1024, 40)),
    "step unchecked": ((1, 2000), (1024, 40)),
    "step+mask+observation": ((1, 2000), (1024, 40)),
    "playout": ((1024, 1),),
    "mcts uct": ((1, 2000),),
    "mcts": ((1, 400),),
    "minimax": ((1, 4),),
    "aec raw": ((1, 2000),),
    "aec wrapped": ((1, 1000),),
    "gymnasium": ((1, 200),),
    "gymnasium vector": ((64, 20),),
    "sb3 vecenv": ((64, 20),),
}
"""Kind of work -> batch size and steps (or simulations, samples) of one measurement."""

# runs in either tree, so it knows no more than what both have
_WORKER = """
import importlib, json, sys, time, warnings
import gymnasium, numpy as np
import meeplezoo.envs
from meeplezoo.agents import make_agent
from meeplezoo.envs import GameBatch, make_game

warnings.simplefilter("ignore")
print(json.dumps(meeplezoo.envs.__file__), flush=True)
VEC_ENVS = ("envs.interfaces.sb3_vec_env", "training.self_play_env")

def batches(name, size, steps, kind, seed):
    batch = GameBatch(make_game(name), size, auto_reset=kind != "playout")
    batch.reset(seed)
    if kind == "playout":
        return batch.play_out
    actions = []
    for _ in range(steps):
        actions.append(batch.random_actions())
        batch.step(actions[-1])
    outputs = {"mask": batch.mask(), "observation": batch.observe()} if "mask" in kind else {}
    check, step = kind != "step unchecked", batch.step
    batch.reset(seed)
    step(actions[0], check=check, **outputs)
    batch.reset(seed)
    def work():
        for chosen in actions:
            step(chosen, check=check, **outputs)
    return work

def searches(name, size, steps, kind, seed):
    texts = {"mcts uct": f"mcts:sims={steps},leaf=random,select=uct", "mcts": f"mcts:sims={steps}"}
    game = make_game(name, num_players=2)
    agent = make_agent(texts.get(kind, f"minimax:samples={steps}"), game, seed)
    state = game.new(seed)
    agent.search(game, state)
    return lambda: agent.search(game, state)

def turns(name, size, steps, kind, seed):
    module = importlib.import_module("meeplezoo.envs")
    env = getattr(getattr(module, f"{name}_v0"), "raw_env" if kind == "aec raw" else "env")()
    def work():
        env.reset(seed=seed)
        random = np.random.default_rng(seed)
        for _ in range(steps):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset(seed=seed)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[random.integers(len(legal))]))
    work()
    return work

def learners(name, size, steps, kind, seed):
    if kind == "sb3 vecenv":
        for place in VEC_ENVS:
            try:
                vec = importlib.import_module(f"meeplezoo.{place}").SelfPlayVecEnv
                break
            except ModuleNotFoundError:
                continue
        game = make_game(name)
        env = vec(game, size, [make_agent("random", game, 1)])
        env.seed(seed); env.reset()
        masks = lambda: np.stack(env.env_method("action_masks"))
    elif kind == "gymnasium vector":
        env = gymnasium.make_vec(f"meeplezoo/{name.title()}-v0", num_envs=size, opponents="random").unwrapped
        _, info = env.reset(seed=seed)
    else:
        env = gymnasium.make(f"meeplezoo/{name.title()}-v0", opponents="random").unwrapped
        _, info = env.reset(seed=seed)
    random = np.random.default_rng(seed)
    def choose(mask):
        return (random.random(mask.shape) * (mask != 0)).argmax(axis=-1)
    def work():
        state = None if kind == "sb3 vecenv" else env.reset(seed=seed)[1]
        for _ in range(steps):
            if kind == "sb3 vecenv":
                env.step(choose(masks()))
            elif kind == "gymnasium vector":
                state = env.step(choose(state["action_mask"]))[4]
            else:
                _, _, ended, cut, state = env.step(int(choose(state["action_mask"])))
                if ended or cut:
                    state = env.reset()[1]
    work()
    return work

for line in sys.stdin:
    name, size, steps, kind, seed = json.loads(line)
    if kind in ("mcts", "mcts uct", "minimax"):
        make = searches
    elif kind.startswith("aec"):
        make = turns
    else:
        make = batches if kind.startswith(("step", "playout")) else learners
    work = make(name, size, steps, kind, seed)
    began = time.process_time()
    work()
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
    parser = argparse.ArgumentParser(prog="compare_trees", description="Compare the speed of two source trees.")
    parser.add_argument("old", type=Path, help="folder of the tree to compare with")
    parser.add_argument("new", type=Path, help="folder of the tree to be measured")
    parser.add_argument("--game", choices=game_names(), help="this game only (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="alternations for each row and start (default: 5)")
    parser.add_argument("--starts", type=int, default=11, help="pairs of processes (default: 11)")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds of work with this text in their names")
    chosen = parser.parse_args(arguments)
    games = [chosen.game] if chosen.game else game_names()
    times: dict[Row, Times] = {
        (game, size, steps, kind): []
        for game in games
        for kind, sizes in WORK.items()
        if chosen.only in kind
        for size, steps in sizes
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
