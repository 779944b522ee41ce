"""The folder of a tournament: what lies where, written so that whatever was played is kept."""

import json
from pathlib import Path
from typing import Any

from ...configs.yaml_settings import read_settings, write_settings
from ...envs.files import append, remove_leftovers, write_atomically
from ...envs.locks import is_unused
from ...envs.records import Record, record_line
from .games import PlayedGames, as_lines, from_lines
from .play import Meeting
from .schedule import seatings
from .settings import TournamentSettings, make_settings


class TournamentFolder:
    """One tournament on disk.

    | file | content |
    |---|---|
    | `tournament.yaml` | every setting |
    | `games.jsonl` | one JSON object per game, whole meetings at a time |
    | `records.jsonl` | the records of the games, if they are wanted, in the same order |
    | `results.json` | the standings |
    | `report.html` | the standings as one page |
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.settings = self.path / "tournament.yaml"
        self.games = self.path / "games.jsonl"
        self.records = self.path / "records.jsonl"
        self.results = self.path / "results.json"
        self.report = self.path / "report.html"

    def begin(self, settings: TournamentSettings) -> None:
        """Make the folder with its settings; ValueError if it has been used already."""
        # what a process that was killed has left there is no use of it
        remove_leftovers(self.path)
        if not is_unused(self.path):
            raise ValueError(f"folder {self.path} is not empty; name another one or --resume {self.path}")
        with write_atomically(self.settings, "w") as file:
            file.write(write_settings(settings.to_mapping()))

    def read_settings(self) -> TournamentSettings:
        """Return the settings of a tournament that has begun; ValueError if there is none."""
        if not self.settings.is_file():
            raise ValueError(f"{self.path} is no folder of a tournament: it has no {self.settings.name}")
        return make_settings(read_settings(self.settings))

    def add(self, games: PlayedGames, records: list[Record], settings: TournamentSettings) -> None:
        """Append the games of a whole meeting, records first: a meeting without its games is played again."""
        if settings.records:
            append(self.records, b"".join(map(record_line, records)))
        append(self.games, as_lines(games, settings.names).encode())

    def read_games(self, settings: TournamentSettings) -> PlayedGames:
        """Return all games of whole meetings, and remove from the files what an interruption has left of others.

        Raises ValueError that names file and line if a line is damaged that is not the last one.
        """
        if not self.games.is_file():
            lines: list[str] = []
        else:
            # behind the last line end is what a killed process has not finished
            lines = self.games.read_text(encoding="utf-8").splitlines(keepends=True)
            lines = lines[:-1] if lines and not lines[-1].endswith("\n") else lines
        try:
            games = from_lines(lines, settings.names, settings.make_game().num_players)
        except ValueError as error:
            raise ValueError(f"{self.games}: {error}") from None
        whole = _whole_meetings(games, settings.deals)
        with write_atomically(self.games) as file:
            file.write("".join(lines[:whole]).encode())
        if settings.records:
            self._keep_records(whole)
        return games.chosen(slice(whole))

    def _keep_records(self, count: int) -> None:
        lines = self.records.read_bytes().splitlines(keepends=True)[:count] if self.records.is_file() else []
        if len(lines) < count or (lines and not lines[-1].endswith(b"\n")):
            raise ValueError(f"{self.records} lacks records of games that {self.games} has")
        with write_atomically(self.records) as file:
            file.write(b"".join(lines))

    def write_results(self, results: dict[str, Any], page: str) -> None:
        """Write the standings and the report."""
        with write_atomically(self.results) as file:
            file.write(json.dumps(results, ensure_ascii=False, indent=1).encode() + b"\n")
        with write_atomically(self.report) as file:
            file.write(page.encode())


def meetings_of(games: PlayedGames) -> list[Meeting]:
    """Return the meeting that each game belongs to."""
    line_ups = map(tuple, map(sorted, games.seats.tolist()))
    return [Meeting(number, line_up) for number, line_up in zip(games.rounds.tolist(), line_ups, strict=True)]


def _whole_meetings(games: PlayedGames, deals: int) -> int:
    """Return how many games from the first on make up whole meetings; they lie one meeting after the other."""
    meetings = meetings_of(games)
    start = 0
    while start < len(meetings):
        stop = start + deals * len(seatings(meetings[start].line_up))
        if meetings[start:stop] != [meetings[start]] * (stop - start):
            break
        start = stop
    return start
