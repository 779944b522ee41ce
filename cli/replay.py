"""`meeplezoo replay`: recorded games shown ply by ply, or checked."""

from __future__ import annotations

from pathlib import Path

from ..envs.records.record import RecordError, StoredRecord, read_records, replay
from ..envs.records.record_validation import check_record
from ..envs.system.messages import pluralize
from .arguments import CommandParser, against, describe_game, input_file, wants_colour
from .errors import CommandError


def run(argv: list[str]) -> int:
    """Show or check a file of records."""
    parser = CommandParser(
        "replay",
        "Show recorded games ply by ply, or check them: --check plays every game again and compares players,\n"
        "legality, positions and legal moves where they are given, and the final position. Exit code 1 if\n"
        "anything differs or the file is damaged.",
        ["meeplezoo replay games.jsonl --colour always | less -R", "meeplezoo replay games.jsonl --check"],
    )
    parser.add_argument("file", metavar="FILE.jsonl", help="records, one line of JSON each")
    parser.add_argument("--check", action="store_true", help="compare everything instead of showing it")
    parser.add_colour()
    arguments = parser.parse(argv)
    path = input_file(arguments.file)

    try:
        return _check(path) if arguments.check else _show(path, wants_colour(arguments.colour))
    except RecordError as error:
        raise CommandError(f"{path}: {error}") from None


def _check(path: Path) -> int:
    games = plies = other_chance = 0
    for stored in read_records(path):
        other_chance += not check_record(stored)
        games += 1
        plies += len(stored.record["plies"])
    print(f"{pluralize(games, 'game')}, {pluralize(plies, 'ply')}: all agree")
    if other_chance:
        print(
            f"chance differs in {pluralize(other_chance, 'game')} (the seed deals another first position here): "
            "checked ply by ply from the positions given, all but what chance decides"
        )
    return 0


def _show(path: Path, colour: bool) -> int:
    for stored in read_records(path):
        _show_game(stored, colour)
    return 0


def _show_game(stored: StoredRecord, colour: bool) -> None:
    game, record = stored.game, stored.record
    plies = len(record["plies"])
    agents = against(record["agents"])
    print(f"Game {stored.line}: {describe_game(game)}, seed {record['seed']}, {agents}, {pluralize(plies, 'ply')}\n")
    text = game.spec.view().text
    for ply, (position, last_move) in enumerate(replay(stored)):
        print(f"Game {stored.line}, " + (f"ply {ply} of {plies}" if ply < plies else "the end"))
        print(text(position, last_move, None, colour) + "\n")
