"""Connect Four between `mcts` and OpenSpiel's MCTSBot at equal simulations: strength, and simulations per second.

python -m meeplezoo.benchmarks.search_match [--games N] [--sims N] [--json FILE]

Both search by UCT from a tree that is new in every decision, with one random playout to the end for a leaf, and play
the action that was tried most. Half of the games is begun by each. Needs the extra `bench` and the example
`examples/connect_four`, whose actions are OpenSpiel's: columns from the left.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

from ..agents import DecisionBatch, make_agent
from ..agents.arena.statistics import wilson_interval
from ..envs import make_game
from ..envs.game import as_batch
from ..envs.system.files import write_atomically
from ..envs.system.messages import error_line
from .arguments import BenchmarkParser, integer, output_path

SEED = 1
GAME = "connect_four"
SETTINGS = "leaf=random,select=uct,plies=0,win=1"
EXPLORATION = 1.0
"""OpenSpiel's returns are -1 to 1, ours 0 to 1: half of its constant is the same search."""


@dataclass(frozen=True)
class MatchResult:
    """What came out: points are ours, a draw counts half; seconds of both are processor time."""

    games: int
    sims: int
    wins: int
    draws: int
    points: float
    interval: tuple[float, float]
    sims_per_second: int
    openspiel_sims_per_second: int


def play_match(games: int, sims: int) -> MatchResult:
    """Play the games one after the other; ImportError if OpenSpiel is not installed."""
    import pyspiel

    spiel = pyspiel.load_game(GAME)
    game = make_game(GAME)
    agent = make_agent(f"mcts:sims={sims},c={EXPLORATION / 2},{SETTINGS}", game, SEED)
    evaluator = pyspiel.RandomRolloutEvaluator(1, SEED)
    bot = pyspiel.MCTSBot(spiel, evaluator, EXPLORATION, sims, 1000, False, SEED, False)
    agent.act(DecisionBatch(game, as_batch(game.new(SEED))))
    wins = draws = 0
    seconds, decisions = [0.0, 0.0], [0, 0]
    for number in range(games):
        own_seat = number % 2
        state, other = game.new(number), spiel.new_initial_state()
        while not game.is_over(state):
            side = int(state["to_move"] != own_seat)
            begin = time.process_time()
            searches_here = side == 0
            action = int(agent.act(DecisionBatch(game, as_batch(state)))[0] if searches_here else bot.step(other))
            seconds[side] += time.process_time() - begin
            decisions[side] += 1
            game.play_action(state, action)
            other.apply_action(action)
        scores = game.result(state)["scores"]
        wins += scores[own_seat] > scores[1 - own_seat]
        draws += scores[0] == scores[1]
    points = (wins + draws / 2) / games
    own, theirs = (round(sims * made / spent) for made, spent in zip(decisions, seconds, strict=True))
    return MatchResult(games, sims, wins, draws, points, wilson_interval(points * games, games), own, theirs)


def line(result: MatchResult) -> str:
    """Return the result in a sentence."""
    low, high = result.interval
    return (
        f"{result.games} games at {result.sims:,} simulations a decision: {100 * result.points:.1f} % of the points "
        f"({100 * low:.1f} to {100 * high:.1f} %, {result.draws} draws); {result.sims_per_second:,} simulations/s, "
        f"OpenSpiel {result.openspiel_sims_per_second:,}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Play the match, print its result and write the JSON file; return the exit code."""
    parser = BenchmarkParser(
        prog="python -m meeplezoo.benchmarks.search_match",
        description="Play Connect Four between mcts and OpenSpiel's MCTSBot at equal simulations.",
    )
    parser.add_argument("--games", type=integer(2, 100_000), default=200, help="games (default: 200)")
    parser.add_argument("--sims", type=integer(2, 100_000), default=1000, help="simulations (default: 1000)")
    parser.add_argument("--json", type=output_path, metavar="FILE", help="write the result to a JSON file")
    chosen = parser.parse_args(arguments)
    try:
        result = play_match(chosen.games, chosen.sims)
    except (ImportError, ValueError) as error:
        print(error_line(error), file=sys.stderr)
        return 2
    print(line(result))
    if chosen.json:
        written: dict[str, Any] = {"game": GAME, **asdict(result)}
        with write_atomically(chosen.json, "w") as file:
            json.dump(written, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
