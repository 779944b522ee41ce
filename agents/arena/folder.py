"""The folder of a tournament: what lies where, written so that whatever was played is kept."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...configs.yaml_settings import read_settings, write_settings
from ...envs.records.record import LONGEST_LINE, Record, record_line
from ...envs.system.files import append, read_lines, remove_leftovers, shown_path, write_atomically, write_json
from ...envs.system.locks import is_unused
from ...envs.system.messages import shorten
from ...envs.system.strict_json import first_difference, parse_json
from .games import GameResults, as_lines, from_lines, no_games
from .match_runner import Match
from .match_seeds import add_secret, secret_line
from .schedule import list_seatings
from .settings import TournamentSettings, make_settings

_LONGEST_GAME = 2**20
"""Bytes of a line of games."""


class TournamentFolder:
    """One tournament on disk.

    | file | content |
    |---|---|
    | `tournament.yaml` | every setting |
    | `games.jsonl` | one JSON object per game, whole matches at a time |
    | `records.jsonl` | the records of the games, if they are wanted, in the same order |
    | `secret` | with bots of the user's own, what each match was dealt from; written when it is over |
    | `results.json` | the standings |
    | `report.html` | the standings as one page |
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.settings = self.path / "tournament.yaml"
        self.games = self.path / "games.jsonl"
        self.records = self.path / "records.jsonl"
        self.secret = self.path / "secret"
        self.results = self.path / "results.json"
        self.report = self.path / "report.html"

    def create(self, settings: TournamentSettings) -> None:
        """Make the folder with its settings; ValueError if it has been used already, or is none."""
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path} is a file, not a folder")
        # what a process that was killed has left there is no use of it
        remove_leftovers(self.path)
        if not is_unused(self.path):
            raise ValueError(f"folder {self.path} is not empty; name another one or --resume {self.path}")
        with write_atomically(self.settings, "w") as file:
            file.write(write_settings(settings.to_mapping()))

    def read_settings(self) -> TournamentSettings:
        """Return the settings of a tournament that has begun; ValueError that names the file if there are none."""
        if not self.settings.is_file():
            raise ValueError(f"{self.path} is no folder of a tournament: it has no {self.settings.name}")
        given = read_settings(self.settings)
        try:
            return make_settings(given)
        except ValueError as error:
            raise ValueError(f"{self.settings}: {error}") from None

    def add(
        self,
        games: GameResults,
        records: list[Record],
        settings: TournamentSettings,
        secret: bytes | None = None,
    ) -> None:
        """Append the games of a whole match, the rest first: a match without its games is played again."""
        if secret is not None:
            (match,) = set(matches_of(games))
            add_secret(self.secret, secret_line(secret, (match.round, match.names(settings.names))))
        if settings.records:
            append(self.records, b"".join(map(record_line, records)))
        append(self.games, as_lines(games, settings.names).encode())

    def read_games(self, settings: TournamentSettings) -> GameResults:
        """Return all games of whole matches, and remove from the files what an interruption has left of others.

        That is lines at the end. Raises ValueError that names file and line, with nothing removed, if another line is
        damaged or is not what these settings lead to.
        """
        names, num_players = settings.names, settings.make_game().num_players
        if not os.path.lexists(self.games):
            games, whole = no_games(num_players), 0
        else:
            try:
                games = from_lines(self._finished_lines(), names, num_players)
                whole = count_whole_matches(games, settings)
            except ValueError as error:
                raise _name_leftover(self.games, error) from None
        games = games.select(slice(whole))
        keeps_records = settings.records and (whole > 0 or self.records.exists())
        if keeps_records:
            self._check_records(games, names)
            _keep_lines(self.records, whole)
        _keep_lines(self.games, whole)
        _cut_unfinished_line(self.secret)
        return games

    def _finished_lines(self) -> Iterator[bytes]:
        """Yield the lines of games but what is behind the last line end: a killed process has not finished it."""
        return (line for line in read_lines(self.games, _LONGEST_GAME) if line.endswith(b"\n"))

    def _check_records(self, games: GameResults, names: Sequence[str]) -> None:
        """Raise ValueError unless the first records are those of the games."""
        number = 0
        try:
            for number, line in zip(range(1, len(games) + 1), read_lines(self.records, LONGEST_LINE), strict=False):
                seats = [names[agent] for agent in games.seats[number - 1]]
                _check_record(number, line, int(games.deals[number - 1]), seats)
        except FileNotFoundError:
            pass
        except ValueError as error:
            raise _name_leftover(self.records, error) from None
        if number < len(games):
            raise ValueError(f"{self.records} lacks records of games that {self.games} has")

    def write_results(self, results: dict[str, Any], page: str) -> None:
        """Write the standings and the report."""
        write_json(self.results, results)
        with write_atomically(self.report) as file:
            file.write(page.encode())


def _cut_unfinished_line(path: Path) -> None:
    if path.is_file():
        with path.open("rb+") as file:
            file.truncate(file.read().rfind(b"\n") + 1)


def matches_of(games: GameResults) -> list[Match]:
    """Return the match that each game belongs to."""
    line_ups = map(tuple, map(sorted, games.seats.tolist()))
    return [Match(number, line_up) for number, line_up in zip(games.rounds.tolist(), line_ups, strict=True)]


def count_whole_matches(games: GameResults, settings: TournamentSettings) -> int:
    """Return how many games from the first on make up whole matches; they lie one match after the other.

    Raises ValueError that names the line of a game that is not the next one of its match, unless games end there, or
    of a match that has been there before.
    """
    met: set[Match] = set()
    start = 0
    while start < len(games):
        match = matches_of(games.select(slice(start, start + 1)))[0]
        if match in met:
            raise ValueError(f"line {start + 1}: all games of its round and line-up have been there before")
        ways = list_seatings(match.line_up)
        num_games = settings.deals * len(ways)
        deals = match.seeds(settings).of_games(0, num_games, len(ways)).astype(np.int64)
        found = games.select(slice(start, start + num_games))
        if settings.with_own_bots:
            # these deals follow from the secret of the match
            deals = found.deals
        seats = np.tile(ways, (settings.deals, 1))[: len(found)]
        right = (found.rounds == match.round) & (found.deals == deals[: len(found)]) & (found.seats == seats).all(1)
        if not right.all():
            index = int(np.argmin(right))
            names = shorten([settings.names[agent] for agent in seats[index]])
            raise ValueError(
                f"line {start + index + 1}: must be round {match.round}, deal {deals[index]}, seats {names}; a line "
                "is missing, or the settings are others than those that were played"
            )
        if len(found) < num_games:
            break
        met.add(match)
        start += len(found)
    return start


def _check_record(number: int, line: bytes, deal: int, agents: list[str]) -> None:
    """Raise ValueError unless the line of a number is a record of a game of this deal and these agents."""
    if not line.endswith(b"\n"):
        raise ValueError(f"line {number}: the record is cut off in the middle")
    try:
        record = parse_json(line)
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None
    expected = {"seed": deal, "agents": agents}
    found = {name: record.get(name) for name in expected} if isinstance(record, dict) else record
    difference = first_difference(expected, found)
    if difference is not None:
        key, reason = difference
        raise ValueError(f"line {number}: {key.lstrip('.') or 'record'}: {reason} by the line of its game")


def _name_leftover(path: Path, error: ValueError) -> ValueError:
    """Return an error that names the file, if it does not yet."""
    text = str(error)
    return error if text.startswith(shown_path(path)) else ValueError(f"{shown_path(path)}: {text}")


def _keep_lines(path: Path, count: int) -> None:
    """Cut a file off behind its first lines; one that has no more stays as it is."""
    if not path.exists():
        return
    lines = read_lines(path, LONGEST_LINE)
    kept = sum(map(len, islice(lines, count)))
    if kept == path.stat().st_size:
        return
    with write_atomically(path) as file:
        file.writelines(islice(read_lines(path, LONGEST_LINE), count))
