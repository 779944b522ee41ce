"""`meeplezoo tournament`: any number of agents, rated against each other."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..configs.yaml_settings import parse_overrides, read_settings
from ..envs.options import parse
from ..envs.registry import describe, game_names
from ..envs.system.files import find_free_path, remove_leftovers, shown_path
from ..envs.system.locks import FolderInUse, lock_folder
from ..envs.system.messages import cut_middle, display_name, display_path, escape_controls, pluralize, shorten
from .arguments import CommandParser, describe_game, integer, list_full_names, number_up_to, refuse_people, secrets_of
from .errors import CommandError, UsageError
from .tables import align

if TYPE_CHECKING:
    from ..agents.arena.folder import TournamentFolder
    from ..agents.arena.match_seeds import Secrets
    from ..agents.arena.settings import TournamentSettings
    from ..agents.arena.standings import Standings

_INTERRUPTED = 130
_LONGEST_REASON = 200


def run(argv: list[str]) -> int:
    """Play the tournament, print the table, write results and report."""
    # networks play many times slower with several threads on busy cores; a user's own setting counts
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = _parser()
    arguments = parser.parse(argv)
    from ..agents.arena.folder import TournamentFolder
    from ..agents.arena.standings import INTERRUPTED
    from ..agents.arena.tournament import PlayersLost, count_cores

    secrets = secrets_of(arguments.secret) if arguments.secret else None
    try:
        if arguments.resume:
            if arguments.positional:
                parser.error("--resume takes no game, agents or config")
            folder = TournamentFolder(arguments.resume)
            settings = folder.read_settings()
            _check_secrets(settings, secrets)
            # before the folder's files are looked through, which cuts off what an interruption has left
            _check_agents(settings, arguments.trust)
        else:
            settings = _settings(parser, arguments)
            _check_secrets(settings, secrets)
            folder = TournamentFolder(arguments.out or _new_folder(settings.game))
            _check_agents(settings, arguments.trust)
            folder.create(settings)
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(f"folder: {display_path(folder.path)}", flush=True)
    processes = arguments.processes or count_cores()
    try:
        with lock_folder(folder.path):
            remove_leftovers(folder.path)
            table = _play(settings, folder, processes, secrets, arguments.trust)
            _show(table, folder)
    except FolderInUse as error:
        raise CommandError(error) from None
    except (ValueError, PlayersLost) as error:
        raise CommandError(f"{error}; {_resume_hint(folder)}") from None
    if table.stopped == INTERRUPTED:
        print(f"interrupted; {_resume_hint(folder)}")
        return _INTERRUPTED
    return 0


def _resume_hint(folder: TournamentFolder) -> str:
    return f"go on with: meeplezoo tournament --resume {display_path(folder.path, quoted=True)}"


def _parser() -> CommandParser:
    parser = CommandParser(
        "tournament",
        "Rate any number of agents. Every line-up plays the same deals in all seatings; the ratings are Elo, with\n"
        "95 % intervals. The games follow from the seed, with bots of your own from a secret besides. Ctrl-C stops;\n"
        "--resume goes on.",
        [
            "meeplezoo tournament {game} random greedy my_bot.py:choose",
            "meeplezoo tournament {game} random greedy greedy --option num_players=3 --rounds 100 --precision 10",
            'meeplezoo tournament {game} greedy "program:./my_bot --level 3" --move-seconds 2 --records',
            "meeplezoo tournament my_tournament.yaml rounds=50",
            "meeplezoo tournament --resume tournaments/FOLDER",
        ],
        [
            "[OPTION ...] GAME AGENT AGENT [AGENT ...]",
            "[OPTION ...] CONFIG [KEY=VALUE ...]",
            "--resume FOLDER [--processes N]",
        ],
    )
    parser.add_argument(
        "positional",
        metavar="GAME AGENT AGENT ..., or CONFIG KEY=VALUE ...",
        nargs="*",
        default=[],
        help="a game and its agents, or a YAML file with the settings and changes to them",
    )
    parser.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="an option of the game, repeatable"
    )
    parser.add_argument("--swiss", action="store_true", help="pair agents that do equally well, not all with all")
    parser.add_argument("--rounds", type=integer(1, 100_000), metavar="N", help="rounds at most (default: 10)")
    parser.add_argument(
        "--deals",
        type=integer(1, 5000),
        metavar="N",
        help="deals of every line-up in a round, each in all seatings (default: 10)",
    )
    parser.add_argument(
        "--precision",
        type=number_up_to(1_000_000),
        metavar="ELO",
        help="stop when neighbours' difference is known to this either way",
    )
    parser.add_argument(
        "--move-seconds",
        type=number_up_to(86_400),
        metavar="S",
        help="time limit for a move of your own agents and of searches",
    )
    parser.add_start_seconds()
    parser.add_argument("--anchor", metavar="NAME", help="the agent whose rating is 0 (default: random)")
    parser.add_argument("--records", action="store_true", help="keep the records of all games")
    parser.add_trust()
    parser.add_seed(0)
    # a config has a seed of its own, which stands unless one is given
    parser.set_defaults(seed=None)
    parser.add_secret()
    parser.add_argument(
        "--processes", type=integer(1, 1024), metavar="N", help="play in N processes (default: one per core)"
    )
    parser.add_argument("--out", metavar="FOLDER", help="where everything is written (default: tournaments/GAME-TIME)")
    parser.add_argument("--resume", metavar="FOLDER", help="go on with a tournament")
    return parser


def _settings(parser: CommandParser, arguments: argparse.Namespace) -> TournamentSettings:
    """Return the settings of the command line; ValueError if they are wrong."""
    if not arguments.positional:
        parser.error("the following arguments are required: GAME AGENT AGENT ..., CONFIG, or --resume FOLDER")
    from ..agents.arena.settings import SWISS, make_settings

    first, *rest = arguments.positional
    given: dict[str, Any] = {
        "rounds": arguments.rounds,
        "seed": arguments.seed,
        "deals": arguments.deals,
        "precision": arguments.precision,
        "move_seconds": arguments.move_seconds,
        "start_seconds": arguments.start_seconds,
        "anchor": arguments.anchor,
        "pairing": SWISS if arguments.swiss else None,
        "records": arguments.records or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if first not in game_names() and (first.endswith((".yaml", ".yml")) or os.path.exists(first)):
        if arguments.option:
            parser.error("the options of a config's game stand in the config")
        settings = _read_config(first)
        return make_settings({**settings, **given, **parse_overrides(rest)})
    if first not in game_names():
        raise ValueError(f"there is no game or config {shorten(first)}; the games are {', '.join(game_names())}")
    options = parse(first, describe(first).options, arguments.option)
    return make_settings({**given, "game": first, "options": options, "agents": rest})


def _read_config(text: str) -> dict[str, Any]:
    """Return the settings of a config; ValueError that names the file if it cannot be read."""
    try:
        return read_settings(Path(text))
    except FileNotFoundError:
        raise ValueError(f"there is no config {shown_path(text)}") from None
    except OSError as error:
        raise ValueError(f"{shown_path(text)} cannot be read: {error.strerror}") from None


def _check_agents(settings: TournamentSettings, trust: bool) -> None:
    """Raise ValueError for an agent that cannot be made, before anything is written."""
    from ..agents import make_agent

    refuse_people(participant.agent for participant in settings.agents)
    for participant in settings.agents:
        make_agent(participant.agent, settings.make_game(), start_seconds=settings.start_seconds, trust=trust)


def _check_secrets(settings: TournamentSettings, secrets: Secrets | None) -> None:
    """Raise ValueError for secrets that are of no use to the tournament."""
    if secrets is not None:
        from ..agents.arena.match_seeds import check_secrets

        check_secrets(secrets, settings.with_own_bots, settings.names)


def _new_folder(game: str) -> Path:
    return find_free_path(Path("tournaments") / f"{game}-{datetime.now():%Y%m%d-%H%M%S}")


def _play(
    settings: TournamentSettings, folder: TournamentFolder, processes: int, secrets: Secrets | None, trust: bool
) -> Standings:
    """Play the tournament and tell on standard error how far it is."""
    from ..agents.arena.tournament import play_tournament
    from ..training.progress import ProgressLine

    line = ProgressLine(sys.stderr)

    def show_progress(rounds: int, games: int) -> None:
        line.update(f"round {rounds} of {settings.rounds}: {pluralize(games, 'game')}")

    try:
        return play_tournament(settings, folder, processes, show_progress, secrets, trust=trust)
    finally:
        line.end()


def _show(table: Standings, folder: TournamentFolder) -> None:
    from ..agents.arena.report.page import render_report
    from ..agents.arena.standings import as_json

    results = as_json(table)
    folder.write_results(results, render_report(results))
    print(format_standings(results, describe_game(table.settings.make_game())))
    print(f"\nreport: {display_path(folder.report)}")
    if folder.secret.is_file():
        print(f"{display_path(folder.secret)}: the secret that repeats it with --secret")


def format_standings(results: dict[str, Any], title: str) -> str:
    """Return the results of a tournament as an aligned table."""
    head = ("", "agent", "Elo", "95 %", "games", "win rate", "mean score", "margin", "ms a move", "above next")
    rows = [head]
    agents = results["agents"]
    for rank, agent in enumerate(agents):
        surer = f"{100 * results['superiority'][rank][rank + 1]:.1f} %" if rank + 1 < len(agents) else ""
        rows.append(
            (
                str(rank + 1),
                display_name(agent["name"]),
                f"{agent['rating']:.0f}",
                f"+-{agent['interval'][1] - agent['rating']:.0f}",
                f"{agent['games']:,}",
                f"{100 * agent['win_rate']:.1f} %",
                _format_number(agent["mean_score"], ".2f"),
                _format_number(agent["mean_margin"], "+.2f"),
                _format_number(agent["milliseconds_per_move"], ".3f"),
                surer,
            )
        )
    lines = align(rows, left=[1])
    seats = ", ".join(f"{100 * seat['win_rate']:.1f} %" for seat in results["seats"])
    facts = [
        f"{results['pairing']}, {pluralize(results['rounds'], 'round')}, {pluralize(results['games'], 'game')}, "
        f"seed {results['seed']}: {results['stopped']}",
        f"seats win {seats}; {results['length']['mean']:.1f} plies a game; "
        f"{100 * results['truncated']:.1f} % cut off by a limit; {pluralize(results['forfeits'], 'game')} forfeited",
    ]
    failures = [
        f"{display_name(agent['name'])}: {pluralize(number, 'game')} lost: "
        f"{cut_middle(escape_controls(reason), _LONGEST_REASON)}"
        for agent in agents
        for reason, number in agent["failures"].items()
    ]
    full_names = list_full_names([agent["name"] for agent in agents], [agent["agent"] for agent in agents])
    return "\n".join([title, "", *lines, "", *facts, *failures, *full_names])


def _format_number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
