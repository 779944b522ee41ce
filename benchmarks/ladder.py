"""The reference ladder: every agent of the package, rated in every game for every number of players.

python -m meeplezoo.benchmarks.ladder [--game NAME] [--players N] [--deals D] [--processes N] [--json FILE]
"""

import sys
from collections.abc import Iterator
from typing import Any

from ..agents.arena.settings import make_settings
from ..agents.arena.standings import as_json
from ..agents.arena.tournament import count_cores, play_tournament
from ..envs import game_names
from ..envs.registry import describe
from ..envs.system.files import write_json
from ..envs.system.messages import error_line
from .arguments import BenchmarkParser, integer, output_path

AGENTS = ("random", "greedy", "mcts:sims=50")
"""The bundled agents that need no file; the search has a budget that a ladder can afford."""
FOR_TWO_PLAYERS = ("minimax:depth=1,samples=8,plies=10",)

ROUNDS = 10
RESULT_KEYS = ("game", "options", "pairing", "rounds", "deals_per_round", "seed", "games", "anchor", "seats")
AGENT_KEYS = (
    "name",
    "rating",
    "interval",
    "games",
    "win_rate",
    "win_rate_interval",
    "mean_score",
    "mean_margin",
    "milliseconds_per_move",
)


def ladders(games: list[str], players: list[int], deals: int, processes: int) -> Iterator[dict[str, Any]]:
    """Yield the results of one tournament per game and number of players, without what only a report needs."""
    for name in games:
        for number in describe(name).player_counts:
            if players and number not in players:
                continue
            settings = make_settings(
                {
                    "game": name,
                    "options": {"num_players": number},
                    "agents": [*AGENTS, *(FOR_TWO_PLAYERS if number == 2 else ())],
                    "rounds": ROUNDS,
                    "deals": deals,
                }
            )
            results = as_json(play_tournament(settings, processes=processes))
            agents = [{key: agent[key] for key in AGENT_KEYS} for agent in results["agents"]]
            yield {**{key: results[key] for key in RESULT_KEYS}, "agents": agents}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the ladders as one table in Markdown."""
    lines = [
        "| game | players | agent | Elo | 95 % | win rate | mean score | margin | games |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        for agent in row["agents"]:
            half = agent["interval"][1] - agent["rating"]
            cells = (
                describe(row["game"]).title,
                row["options"]["num_players"],
                f"`{agent['name']}`",
                f"{agent['rating']:.0f}",
                f"± {half:.0f}",
                f"{100 * agent['win_rate']:.1f} %",
                f"{agent['mean_score']:.1f}",
                f"{agent['mean_margin']:+.1f}",
                f"{agent['games']:,}",
            )
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Play the tournaments, print the table and write the JSON file; return the exit code."""
    parser = BenchmarkParser(
        prog="python -m meeplezoo.benchmarks.ladder",
        description="Rate every agent of the package in every game for every number of players.",
    )
    parser.add_argument("--game", choices=game_names(), help="this game only (default: all)")
    parser.add_argument(
        "--players", type=integer(1, 100), action="append", default=[], help="this number of players only"
    )
    parser.add_argument(
        "--deals", type=integer(1, 5000), default=1, help=f"deals in each of the {ROUNDS} rounds (default: 1)"
    )
    parser.add_argument("--processes", type=integer(1, 1024), default=count_cores(), help="default: one per core")
    parser.add_argument("--json", type=output_path, metavar="FILE", help="write the ladders to a JSON file")
    chosen = parser.parse_args(arguments)
    games = [chosen.game] if chosen.game else list(game_names())
    try:
        rows = list(ladders(games, chosen.players, chosen.deals, chosen.processes))
    except ValueError as error:
        print(error_line(error), file=sys.stderr)
        return 2
    print(table(rows))
    if chosen.json:
        write_json(chosen.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
