"""Simulations per second of the tree search from the opening of every game, on one core, beside OpenSpiel's.

python -m meeplezoo.benchmarks.search [--game NAME] [--sims N] [--json FILE]

All times are processor time of this process, which searches in one thread: other work on the machine takes less from
them than from the clock on the wall, but not nothing (caches and clock rates are shared). Such work only ever adds, so
every figure is the fastest of some repeats, OpenSpiel's too, and what is subtracted is timed in turns.

- `sims/s`: whole searches, each in a new tree, by `MCTSAgent.search`.
- `rollout`: the same search runs once more simulation by simulation and keeps the position of every leaf; then the
  rollouts from those very leaves are timed alone, in one compiled loop.
- `determinize`: the copy of the root and its determinization, in a compiled loop of its own.
- `tree`: the rest of a simulation: selecting and applying down the tree, opening nodes with their priors, valuing the
  end and backing up, and the share of what a search does once (reading the root's children in Python).
- `plies`: of a rollout, from its leaf; OpenSpiel's are those of random games from the same opening.
- `nodes`: of the tree after the search, by simulation; `bytes` of them. OpenSpiel does not say how large its nodes are.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..agents.search.mcts_agent import MCTSAgent, kernel_settings, read_settings
from ..agents.streams import agent_stream
from ..envs import Game, game_names, make_game
from ..envs.engine.compilation import kernel
from ..envs.engine.interface import determinize
from ..envs.engine.random_stream import renew_stream
from ..envs.engine.rollout import rollout, write_returns
from ..envs.engine.search_tree import Trees, back_up, make_trees, node_dtype
from ..envs.engine.tree_search import Search, descend_games
from ..envs.game import as_batch
from ..envs.registry import describe
from ..envs.system.files import write_json
from .arguments import BenchmarkParser, integer, output_path

SEED = 1
REPEATS = 9
SECONDS = 0.15
SETTINGS = ("leaf=random,select=uct,plies=0", "plies=0,mix=0.9", "")
"""Behind `mcts:`; random playouts and greedy-biased ones, both to the end, and what each game has as its default."""

PEERS = ("connect_four", "backgammon")
"""Games of OpenSpiel."""

COLUMNS = ("determinize", "tree", "rollout", "plies", "nodes", "bytes")


def seconds_of(*works: Callable[[], Any]) -> list[float]:
    """Return for each piece of work its processor seconds, the fastest of REPEATS in which all take turns.

    Each is run once before, so that nothing is compiled while the clock runs, and then about SECONDS in each repeat.
    """
    runs = []
    for work in works:
        work()
        begin = time.process_time()
        work()
        runs.append(max(1, round(SECONDS / max(1e-6, time.process_time() - begin))))
    fastest = [float("inf")] * len(works)
    for _ in range(REPEATS):
        for index, work in enumerate(works):
            begin = time.process_time()
            for _ in range(runs[index]):
                work()
            fastest[index] = min(fastest[index], (time.process_time() - begin) / runs[index])
    return fastest


@kernel
def search_keeping_leaves(root: np.ndarray, leaf: np.ndarray, leaves: np.ndarray, trees: Trees, search: Search) -> None:
    """Search as `search_games` does, a simulation for each of `leaves`, record [num_simulations], and keep its leaf."""
    root_action = np.full(1, -1)
    seat = np.int64(root[0]["to_move"])
    for index in range(len(leaves)):
        descend_games(root, leaf, root_action, trees, search)
        leaves[index] = leaf[0]
        rollout(leaf[0], seat, search.settings, search.streams[0], search.workspace)
        write_returns(leaf[0], search.settings, search.workspace)
        back_up(trees.nodes[0], trees.paths[0], trees.depths[0], search.workspace.returns)


@kernel
def determinize_again(root: np.ndarray, leaf: np.ndarray, stream: np.ndarray, count: int) -> None:
    """Copy a root and resample what its player cannot see, `count` times."""
    for _ in range(count):
        leaf[0] = root[0]
        renew_stream(leaf[0]["random"], stream)
        determinize(leaf[0], root[0]["to_move"])


@kernel
def roll_out_again(root: np.ndarray, leaf: np.ndarray, leaves: np.ndarray, search: Search) -> int:
    """Roll out from each of `leaves`, record [n]; return the plies played."""
    plies = 0
    seat = np.int64(root[0]["to_move"])
    for index in range(len(leaves)):
        leaf[0] = leaves[index]
        rollout(leaf[0], seat, search.settings, search.streams[0], search.workspace)
        plies += int(leaf[0]["ply"]) - int(leaves[index]["ply"])
    return plies


def own_row(game: Game, argument: str, sims: int) -> dict[str, Any]:
    """Measure one kind of search of a game; times in microseconds of a simulation."""
    settings = read_settings(f"mcts:{argument}", f"sims={sims},{argument}".rstrip(","), game.spec.search)
    agent = MCTSAgent(game, f"mcts:{argument}", settings, SEED)
    state = game.new(SEED)
    root, leaf, leaves = as_batch(state), game.template.copy(), np.repeat(game.template, sims)
    trees = make_trees(np.zeros((1, settings.nodes), node_dtype(game.spec.most_players)))
    search = Search(kernel_settings(game, settings), agent_stream(SEED)[None], game.make_workspace())
    search_keeping_leaves(root, leaf, leaves, trees, search)
    num_nodes = int(trees.num_nodes[0])
    plies = roll_out_again(root, leaf, leaves, search)

    def whole() -> None:
        agent.reset(SEED)
        agent.search(game, state)

    total, determinized, rolled_out = seconds_of(
        whole,
        lambda: determinize_again(root, leaf, search.streams[0], sims),
        lambda: roll_out_again(root, leaf, leaves, search),
    )
    row = {
        "game": game.name,
        "players": game.num_players,
        "search": f"mcts:{argument}".rstrip(":"),
        "sims": sims,
        "sims_per_second": round(sims / total),
    }
    costs = {"determinize": determinized, "tree": total - determinized - rolled_out, "rollout": rolled_out}
    return {
        **row,
        **{name: round(1e6 * seconds / sims, 2) for name, seconds in costs.items()},
        "plies": round(plies / sims, 1),
        "nodes": round(num_nodes / sims, 1),
        "bytes": round(num_nodes * node_dtype(game.spec.most_players).itemsize / sims),
    }


def openspiel_row(name: str, sims: int) -> dict[str, Any]:
    """Measure OpenSpiel's search (C++, UCT, one random playout for a leaf, no solver) from a game's opening."""
    import pyspiel

    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    evaluator = pyspiel.RandomRolloutEvaluator(1, SEED)
    # exploration 1 as `mcts` has it; memory enough that nothing is thrown away
    bot = pyspiel.MCTSBot(game, evaluator, 1.0, sims, 1000, False, SEED, False)
    (total,) = seconds_of(lambda: bot.mcts_search(state))
    return {
        "game": name,
        "players": game.num_players(),
        "search": "openspiel",
        "sims": sims,
        "sims_per_second": round(sims / total),
        "plies": round(_random_plies(state), 1),
        "nodes": round(_size(bot.mcts_search(state)) / sims, 1),
    }


def _random_plies(opening: Any, games: int = 200) -> float:
    """Return the mean number of decisions, chance not counted, of random games from a position of OpenSpiel."""
    rng = random.Random(SEED)
    plies = 0
    for _ in range(games):
        state = opening.clone()
        while not state.is_terminal():
            plies += not state.is_chance_node()
            outcomes = state.chance_outcomes() if state.is_chance_node() else []
            actions = [action for action, _ in outcomes] or state.legal_actions()
            state.apply_action(rng.choice(actions))
    return plies / games


def _size(node: Any) -> int:
    return 1 + sum(_size(child) for child in node.children)


def rows(games: list[str], sims: int) -> Iterator[dict[str, Any]]:
    """Yield every row as it is measured; of a library that is not installed, a row that says so."""
    for name in games:
        for players in sorted({2, describe(name).default_players}):
            for argument in SETTINGS:
                yield own_row(make_game(name, num_players=players), argument, sims)
    for name in PEERS:
        try:
            yield openspiel_row(name, sims)
        except ImportError as error:
            yield {"game": name, "search": "openspiel", "left_out": str(error)}


def line(row: dict[str, Any]) -> str:
    """Return one row of the table."""
    begin = f"{row['game']:<14}{row.get('players', ''):>3}  {row['search']:<36}"
    if "left_out" in row:
        return f"{begin}  left out: {row['left_out']}"
    return f"{begin}{row['sims_per_second']:>9,}" + "".join(f"{row.get(name, '-'):>9}" for name in COLUMNS)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table (times in microseconds of a simulation) and write the JSON file; return the exit code."""
    parser = BenchmarkParser(
        prog="python -m meeplezoo.benchmarks.search",
        description="Measure simulations per second of the tree search, and what one costs, beside OpenSpiel's.",
    )
    parser.add_argument("--game", choices=game_names(), help="this game only (default: all)")
    parser.add_argument(
        "--sims", type=integer(1, 100_000), default=1000, help="simulations of a search (default: 1000)"
    )
    parser.add_argument("--json", type=output_path, metavar="FILE", help="write the rows to a JSON file")
    chosen = parser.parse_args(arguments)
    heads = "".join(f"{name:>9}" for name in ("sims/s", *COLUMNS))
    print(f"{'game':<14}{'pl.':>3}  {'search':<36}{heads}", flush=True)
    measured = []
    for row in rows([chosen.game] if chosen.game else list(game_names()), chosen.sims):
        print(line(row), flush=True)
        if "left_out" not in row:
            measured.append(row)
    if chosen.json:
        write_json(chosen.json, measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
