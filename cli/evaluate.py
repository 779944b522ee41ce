"""`meeplezoo evaluate`: agents against each other over many games, all seatings equally often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..envs import IllegalMove
from ..envs.system.files import write_json
from ..envs.system.messages import display_name, pluralize
from ..envs.view.captions import two_digits
from .arguments import (
    CommandParser,
    agents_for,
    describe_game,
    describe_secret,
    game_for,
    list_full_names,
    output_file,
    secret_for,
    write_secret,
)
from .errors import CommandError
from .tables import align

if TYPE_CHECKING:
    from ..agents.arena.evaluation import Evaluation


def run(argv: list[str]) -> int:
    """Play the games, print the table and write the JSON file."""
    arguments = _parser().parse(argv)
    game = game_for(arguments.game, arguments.option, arguments.agents)
    secret = secret_for(arguments.secret, arguments.agents)
    agents = agents_for(game, arguments.agents, arguments.seed, secret, arguments.start_seconds, trust=arguments.trust)
    path = output_file(arguments.json) if arguments.json else None
    from ..agents.arena.evaluation import evaluate

    try:
        evaluation = evaluate(game, agents, arguments.games, arguments.seed, secret)
    except IllegalMove as error:
        raise CommandError(f"{error}{describe_secret(secret)}") from None
    # first of all what cannot be had again if nobody reads the output any more
    kept = None
    if path is not None:
        write_json(path, evaluation.as_json(), indent=2)
        kept = None if secret is None else write_secret(path, secret)
    print(format_table(evaluation))
    if secret is not None:
        print(kept or f"secret {secret.hex()}: in a file for --secret it repeats these games")
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        "evaluate",
        "Play many games between agents, one per player, every deal in all seatings, and print how they did.\n"
        "The same seed gives the same table; with bots of your own, the same seed and --secret.",
        [
            "meeplezoo evaluate {game} greedy random --games 1000",
            "meeplezoo evaluate {game} greedy random random --games 600 --seed 7 --json result.json",
            "meeplezoo evaluate {game} ppo:runs/RUN/best.zip greedy --games 200",
        ],
    )
    parser.add_game()
    parser.add_argument("agents", metavar="AGENT", nargs="+", help="one per player; the same twice is two agents")
    # agents.evaluation.MOST_GAMES, which is not loaded before a command is known to be right
    parser.add_games(1000, 1_000_000)
    parser.add_seed(0)
    parser.add_secret()
    parser.add_start_seconds()
    parser.add_trust()
    parser.add_argument("--json", metavar="FILE", help="also write the results as JSON")
    return parser


def format_table(evaluation: Evaluation) -> str:
    """Return an evaluation as an aligned table with a line above and below."""
    from ..agents.arena.short_names import short_names

    names = short_names([agent.name for agent in evaluation.agents])
    head = ("agent", "wins", "draws", "losses", "win rate", "95 % interval", "mean score", "margin")
    rows = [head]
    for agent, name in zip(evaluation.agents, names, strict=True):
        low, high = agent.interval
        interval = f"{100 * low:.1f} - {100 * high:.1f} %"
        counts = (f"{agent.wins:,}", f"{agent.draws:,}", f"{agent.losses:,}")
        rate = f"{100 * agent.win_rate:.1f} %"
        rows.append(
            (display_name(name), *counts, rate, interval, f"{agent.mean_score:.2f}", f"{agent.mean_margin:+.2f}")
        )
    lines = align(rows, left=[0])
    games = pluralize(evaluation.games, "game")
    dealt = "all" if evaluation.secret is None else "each with its own deal, all"
    title = f"{describe_game(evaluation.game)}: {games}, seed {evaluation.seed}, {dealt} {evaluation.seatings} seatings"
    speed = f"{two_digits(evaluation.games / evaluation.seconds)} games per second"
    cut_off = f"{pluralize(evaluation.truncated, 'game')} cut off by a limit"
    full_names = list_full_names(names, [agent.name for agent in evaluation.agents])
    return "\n".join([title, "", *lines, "", *full_names, f"{speed}, {cut_off}"])
