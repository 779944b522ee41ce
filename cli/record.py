"""`meeplezoo record`: games between agents as records, one line of JSON each."""

from __future__ import annotations

import re

from ..envs import IllegalMove
from ..envs.records.record import write_records
from ..envs.system.messages import display_path, pluralize
from .arguments import (
    CommandParser,
    against,
    agents_for,
    describe_game,
    describe_secret,
    game_for,
    output_file,
    secret_for,
    write_secret,
)
from .errors import CommandError


def run(argv: list[str]) -> int:
    """Play the games and write the file."""
    arguments = _parser().parse(argv)
    names = split_agents(arguments.agents)
    game = game_for(arguments.game, arguments.option, names)
    secret = secret_for(arguments.secret, names)
    agents = agents_for(game, names, arguments.seed, secret, arguments.start_seconds, trust=arguments.trust)
    path = output_file(arguments.out)
    from ..agents.arena.recording import record_games

    records = record_games(game, agents, arguments.games, arguments.seed, arguments.positions, secret)
    try:
        write_records(path, records)
    except IllegalMove as error:
        raise CommandError(f"{error}{describe_secret(secret)}") from None
    print(f"{display_path(path)}: {pluralize(arguments.games, 'game')} of {describe_game(game)}, {against(names)}")
    if secret is not None:
        print(write_secret(path, secret))
    return 0


def split_agents(text: str) -> list[str]:
    """Return the agents of a text like "greedy,mcts:sims=50,leaf=greedy"; a setting belongs to the agent before it."""
    return [agent.strip() for agent in re.split(r",(?!\s*\w+=)", text)]


def _parser() -> CommandParser:
    parser = CommandParser(
        "record",
        "Play games between agents and write them as records (JSON Lines). The same command gives the same file,\n"
        "byte for byte, and record i does not depend on how many are made.",
        [
            "meeplezoo record {game} --agents random,greedy --games 100 --seed 7 --out games.jsonl",
            "meeplezoo record {game} --option {option} --agents greedy,greedy,greedy --positions --out three.jsonl",
        ],
    )
    parser.add_game()
    parser.add_argument(
        "--agents", required=True, metavar="A,B[,C,D]", help="one agent per player, in the order of the seats"
    )
    # agents.recording.MOST_GAMES
    parser.add_games(1, 1_000_000_000)
    parser.add_seed(0)
    parser.add_secret()
    parser.add_start_seconds()
    parser.add_trust()
    parser.add_argument(
        "--positions", action="store_true", help="write position and legal moves before every move, too"
    )
    parser.add_argument("--out", required=True, metavar="FILE.jsonl", help="the file to be written")
    return parser
