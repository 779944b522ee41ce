"""`meeplezoo evaluate`: agents against each other over many games, all seatings equally often."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .arguments import CommandParser, agents_for, counted, described, game_for, output_file
from .errors import CommandError

if TYPE_CHECKING:
    from ..agents.evaluation import Evaluation


def run(words: list[str]) -> int:
    """Play the games, print the table and write the JSON file."""
    arguments = _parser().read(words)
    game = game_for(arguments.game, arguments.option, len(arguments.agents))
    agents = agents_for(game, arguments.agents, arguments.seed, trust=arguments.trust)
    path = output_file(arguments.json) if arguments.json else None
    from ..agents.evaluation import evaluate
    from ..envs import IllegalMove
    from ..envs.files import write_atomically

    try:
        evaluation = evaluate(game, agents, arguments.games, arguments.seed)
    except IllegalMove as error:
        raise CommandError(error) from None
    print(table(evaluation))
    if path is not None:
        with write_atomically(path) as file:
            text = json.dumps(evaluation.as_json(), ensure_ascii=False, indent=2)
            file.write(text.encode() + b"\n")
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        "evaluate",
        "Play many games between agents, one per player, every deal in all seatings, and print how they did.\n"
        "The same seed gives the same table.",
        [
            "meeplezoo evaluate {game} greedy random --games 1000",
            "meeplezoo evaluate {game} greedy random random --games 600 --seed 7 --json result.json",
            "meeplezoo evaluate {game} ppo:runs/RUN/best.zip greedy",
        ],
    )
    parser.add_game()
    parser.add_argument("agents", metavar="AGENT", nargs="+", help="one per player; the same twice is two agents")
    parser.add_games(1000)
    parser.add_seed(0)
    parser.add_trust()
    parser.add_argument("--json", metavar="FILE", help="also write the results as JSON")
    return parser


def table(evaluation: Evaluation) -> str:
    """Return an evaluation as an aligned table with a line above and below."""
    head = ("agent", "wins", "draws", "losses", "win rate", "95 % interval", "mean score", "margin")
    rows = [head]
    for agent in evaluation.agents:
        low, high = agent.interval
        interval = f"{100 * low:.1f} - {100 * high:.1f} %"
        counts = (f"{agent.wins:,}", f"{agent.draws:,}", f"{agent.losses:,}")
        rate = f"{100 * agent.win_rate:.1f} %"
        rows.append((agent.name, *counts, rate, interval, f"{agent.mean_score:.2f}", f"{agent.mean_margin:+.2f}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        aligned = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        lines.append("  ".join([f"{name:{widths[0]}}", *aligned]))
    games = counted(evaluation.games, "game")
    title = f"{described(evaluation.game)}: {games}, seed {evaluation.seed}, all {evaluation.seatings} seatings"
    speed = f"{evaluation.games / evaluation.seconds:,.0f} games per second"
    cut_off = f"{counted(evaluation.truncated, 'game')} cut off by a limit"
    return "\n".join([title, "", *lines, "", f"{speed}, {cut_off}"])
