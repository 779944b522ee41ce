"""Simulations per second of the tree search from the opening of every game, on one core, beside OpenSpiel's.

python -m meeplezoo.benchmarks.search [--game NAME] [--sims N] [--json FILE]

All times are processor time of this process, which searches in one thread: other work on the machine takes less from
them than from the clock on the wall, but not nothing (caches and clock rates are shared). Such work only ever adds, so
every figure is the fastest of some repeats, OpenSpiel's too, and what is subtracted is timed in turns.

- `sims/s`: whole searches, each in a new tree, by `MCTSAgent.search`.
- `playout`: the same search runs once more simulation by simulation and keeps the position of every leaf; then the
  playouts from those very leaves are timed alone, in one compiled loop.
- `determinize`: the copy of the root and its deal anew, in a compiled loop of its own.
- `tree`: the rest of a simulation: selecting and applying down the tree, opening nodes with their priors, valuing the
  end and backing up, and the share of what a search does once (reading the root's children in Python).
- `plies`: of a playout, from its leaf; OpenSpiel's are those of random games from the same opening.
- `nodes`: of the tree after the search, by simulation; `bytes` of them. OpenSpiel does not say how large its nodes are.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np

from ..agents.search.mcts_agent import make
from ..envs import Game, game_names, make_game
from ..envs.engine.random_stream import renew_stream
from ..envs.engine.search_tree import back_up, clear_node
from ..envs.game import as_batch
from ..envs.registry import describe
from ..envs.search import node_dtype, search_kernels
from ..envs.system.files import write_atomically
from .arguments import BenchmarkParser, integer, output_path

SEED = 1
REPEATS = 9
SECONDS = 0.15
SETTINGS = ("leaf=random,select=uct,plies=0", "plies=0,mix=0.9", "")
"""Behind `mcts:`; random playouts and greedy-biased ones, both to the end, and what each game has as its default."""

PEERS = ("connect_four", "backgammon")
"""Games of OpenSpiel."""

COLUMNS = ("determinize", "tree", "playout", "plies", "nodes", "bytes")

Loops = tuple[Callable[..., int], Callable[..., None], Callable[..., int]]


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


def compiled_loops(game: Game) -> Loops:
    """Return the parts of a simulation as loops: search that keeps its leaves, deals alone, playouts alone.

    The first returns the nodes in use, the last the plies played; arguments are as in the search kernels.
    """
    kernels = search_kernels(game.spec)
    rollout, write_returns = kernels.playouts.rollout, kernels.playouts.write_returns
    descend = kernels._descend
    determinize = kernels.rules.determinize
    depths, players, free = kernels.MAX_DEPTH, game.spec.most_players, np.int64(-1)
    compile_lazily: Any = numba.njit(nogil=True, error_model="numpy")

    def search(
        root: Any,
        room: Any,
        leaves: Any,
        nodes: Any,
        settings: Any,
        stream: Any,
        mask: Any,
        child_of_action: Any,
        values: Any,
        scratch: Any,
        observation: Any,
        encoding: int,
    ) -> int:
        path = np.zeros(depths, np.int32)
        returns = np.zeros(players, np.float32)
        scores = np.zeros(players, np.int32)
        ranks = np.zeros(players, np.int32)
        clear_node(nodes[0], 0, np.uint64(0), 1.0)
        num_nodes = 1
        for index in range(len(leaves)):
            room[0] = root[0]
            state = room[0]
            seat = np.int64(root[0]["to_move"])
            renew_stream(state["random"], stream)
            determinize(state, seat)
            depth, num_nodes = descend(
                state,
                free,
                nodes,
                num_nodes,
                path,
                settings,
                stream,
                mask,
                child_of_action,
                values,
                scratch,
                observation,
                encoding,
            )
            leaves[index] = state
            rollout(state, seat, settings, stream, values, scratch)
            write_returns(state, settings, scores, ranks, returns)
            back_up(nodes, path, depth, returns)
        return num_nodes

    def deals(root: Any, room: Any, stream: Any, count: int) -> None:
        for _ in range(count):
            room[0] = root[0]
            renew_stream(room[0]["random"], stream)
            determinize(room[0], np.int64(root[0]["to_move"]))

    def playouts(leaves: Any, room: Any, seat: int, settings: Any, stream: Any, values: Any, scratch: Any) -> int:
        plies = 0
        for index in range(len(leaves)):
            room[0] = leaves[index]
            rollout(room[0], seat, settings, stream, values, scratch)
            plies += int(room[0]["ply"]) - int(leaves[index]["ply"])
        return plies

    return compile_lazily(search), compile_lazily(deals), compile_lazily(playouts)


def own_row(game: Game, argument: str, sims: int, loops: Loops) -> dict[str, Any]:
    """Measure one kind of search of a game; times in microseconds of a simulation."""
    search, deals, playouts = loops
    agent = make(game, f"mcts:{argument}", f"sims={sims},{argument}".rstrip(","), SEED)
    state = game.new(SEED)
    root, room, leaves, stream = as_batch(state), game.template.copy(), np.repeat(game.template, sims), agent._stream
    settings, values, scratch = agent._kernel_settings, agent._values, agent._scratch
    child_of_action = (agent._mask, agent._slots, values, scratch, agent._observation, game.encoding)
    num_nodes = search(root, room, leaves, agent._nodes, settings, stream, *child_of_action)
    plies = playouts(leaves, room, int(state["to_move"]), settings, stream, values, scratch)

    def whole() -> None:
        agent.reset(SEED)
        agent.search(game, state)

    total, determinize, playout = seconds_of(
        whole,
        lambda: deals(root, room, stream, sims),
        lambda: playouts(leaves, room, int(state["to_move"]), settings, stream, values, scratch),
    )
    row = {
        "game": game.name,
        "players": game.num_players,
        "search": f"mcts:{argument}".rstrip(":"),
        "sims": sims,
        "sims_per_second": round(sims / total),
    }
    costs = {"determinize": determinize, "tree": total - determinize - playout, "playout": playout}
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
        loops = compiled_loops(make_game(name))
        for players in sorted({2, describe(name).default_players}):
            for argument in SETTINGS:
                yield own_row(make_game(name, num_players=players), argument, sims, loops)
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
        with write_atomically(chosen.json, "w") as file:
            json.dump(measured, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
