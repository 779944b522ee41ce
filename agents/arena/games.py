"""Results of games: arrays of what counts, and the JSON Lines that they are kept in.

| field | dtype, shape | meaning |
|---|---|---|
| `rounds` | int64 [n] | the round that a game belongs to |
| `deals` | int64 [n] | its seed; games with the same one began with the same deal |
| `seats` | int64 [n, players] | the number of the agent in each seat |
| `scores` | int64 [n, players] | points at the end |
| `ranks` | int64 [n, players] | 0 wins; ties share a rank |
| `moves` | int64 [n, players] | decisions of each seat |
| `seconds` | float64 [n, players] | time that each seat used |
| `truncated` | bool [n] | cut off by a limit |
| `failed` | int64 [n] | the seat whose agent failed and so lost, or -1 |
| `reasons` | n texts | why it failed, or "" |
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

import numpy as np

from ...envs.batch import GameBatch
from ...envs.engine.random_stream import MAX_SEED
from ...envs.engine.state import TRUNCATED
from ...envs.records.position_validation import check_boolean, check_integer, check_list, check_object, refuse
from ...envs.system.messages import shorten
from ...envs.system.strict_json import parse_json
from .matches import MatchLog
from .schedule import MOST_ROUNDS

NOBODY = -1

_SECONDS_DIGITS = 7
_KEYS_PER_SEAT = ("seats", "scores", "ranks", "moves", "seconds")
_KEYS = ("round", "deal", *_KEYS_PER_SEAT, "truncated")
_MOST = 2**31 - 1
_LINES_AT_ONCE = 4096


@dataclass(frozen=True)
class GameResults:
    """n games of one kind; see the table above."""

    rounds: np.ndarray
    deals: np.ndarray
    seats: np.ndarray
    scores: np.ndarray
    ranks: np.ndarray
    moves: np.ndarray
    seconds: np.ndarray
    truncated: np.ndarray
    failed: np.ndarray
    reasons: np.ndarray

    def __len__(self) -> int:
        return len(self.rounds)

    @property
    def plies(self) -> np.ndarray:
        """Return the decisions of every game, int64 [n]."""
        return self.moves.sum(axis=1)

    @property
    def finished(self) -> np.ndarray:
        """Return which games came to their end without a failure, bool [n]."""
        return self.failed == NOBODY

    def select(self, which: np.ndarray | slice) -> "GameResults":
        """Return some of the games, by a mask, indices or a slice."""
        return GameResults(*(getattr(self, field.name)[which] for field in fields(self)))


def no_games(num_players: int) -> GameResults:
    """Return no games at all."""
    seat = np.zeros((0, num_players), np.int64)
    one = np.zeros(0, np.int64)
    reasons = np.zeros(0, object)
    return GameResults(one, one, seat, seat, seat, seat, seat.astype(float), one.astype(bool), one, reasons)


def concatenate(parts: Sequence[GameResults]) -> GameResults:
    """Return the games of at least one part, one after the other."""
    return GameResults(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(GameResults)))


def collect_results(batch: GameBatch, seats: np.ndarray, log: MatchLog | None = None) -> GameResults:
    """Return the results of the finished games of a batch, as round 0; moves and seconds are those of the log.

    An agent that failed comes last, the others share the first rank: nobody can tell how it would have gone on.
    """
    num_games, num_players = seats.shape
    log = log or MatchLog(num_games, num_players)
    scores, ranks = batch.results()
    failed = np.full(num_games, NOBODY)
    reasons = np.full(num_games, "", object)
    for game, (seat, reason) in log.failures.items():
        failed[game], reasons[game] = seat, reason
        ranks[game] = np.where(np.arange(num_players) == seat, max(num_players - 1, 1), 0)
    return GameResults(
        rounds=np.zeros(num_games, np.int64),
        deals=batch.states["seed"].astype(np.int64),
        seats=seats,
        scores=scores.astype(np.int64),
        ranks=ranks.astype(np.int64),
        moves=log.moves,
        # as the lines have it, so that games read again are the same
        seconds=np.round(log.seconds, _SECONDS_DIGITS),
        truncated=batch.states["status"] == TRUNCATED,
        failed=failed,
        reasons=reasons,
    )


def as_lines(games: GameResults, names: Sequence[str]) -> str:
    """Return games as JSON Lines in ASCII; `names` are those of the agents."""
    # names and reasons may hold what else ends a line (U+2028) or is not UTF-8 (of a file's name): all is escaped
    return "".join(json.dumps(_as_json(games, index, names)) + "\n" for index in range(len(games)))


def _as_json(games: GameResults, index: int, names: Sequence[str]) -> dict[str, Any]:
    line: dict[str, Any] = {
        "round": int(games.rounds[index]),
        "deal": int(games.deals[index]),
        "seats": [names[agent] for agent in games.seats[index]],
        "scores": games.scores[index].tolist(),
        "ranks": games.ranks[index].tolist(),
        "moves": games.moves[index].tolist(),
        "seconds": games.seconds[index].tolist(),
        "truncated": bool(games.truncated[index]),
    }
    if games.failed[index] != NOBODY:
        line["forfeit"] = {"seat": int(games.failed[index]), "reason": games.reasons[index]}
    return line


def from_lines(lines: Iterable[str | bytes], names: Sequence[str], num_players: int) -> GameResults:
    """Return the games of JSON Lines; ValueError that names the line and the reason if one is damaged."""
    number_of = {name: number for number, name in enumerate(names)}
    parts = [no_games(num_players)]
    numbered = enumerate(lines, start=1)
    # arrays take a tenth of the memory of what is read
    while rows := [_read_line(*one, number_of, num_players) for one in islice(numbered, _LINES_AT_ONCE)]:
        *columns, reasons = zip(*rows, strict=True)
        texts = np.empty(len(rows), object)
        texts[:] = reasons
        parts.append(GameResults(*[*map(np.array, columns), texts]))
    return concatenate(parts)


def _read_line(line_number: int, line: str | bytes, number_of: dict[str, int], num_players: int) -> tuple[Any, ...]:
    try:
        return _from_json(parse_json(line), number_of, num_players)
    except ValueError as error:
        raise ValueError(f"line {line_number} is no game of this tournament ({error})") from None


def _from_json(row: Any, number_of: dict[str, int], num_players: int) -> tuple[Any, ...]:
    check_object(row, "game", _KEYS, optional=["forfeit"])
    per_seat = {name: check_list(row[name], name, length=num_players) for name in _KEYS_PER_SEAT}
    seats = [_agent(name, f"seats[{seat}]", number_of) for seat, name in enumerate(per_seat["seats"])]
    # everybody once, or with fewer agents than seats at least once
    if len(set(seats)) < min(len(number_of), num_players):
        refuse("seats", f"are no line-up of this tournament: {shorten(row['seats'])}")
    ranks = [check_integer(rank, "ranks", 0, num_players - 1) for rank in per_seat["ranks"]]
    if any(rank != sum(other < rank for other in ranks) for rank in ranks):
        refuse("ranks", f"there is no such ranking: {ranks}")
    seat, reason = NOBODY, ""
    if "forfeit" in row:
        forfeit = check_object(row["forfeit"], "forfeit", ["seat", "reason"])
        seat, reason = check_integer(forfeit["seat"], "forfeit.seat", 0, num_players - 1), forfeit["reason"]
        if not isinstance(reason, str):
            refuse("forfeit.reason", f"must be a text, not {shorten(reason)}")
        if ranks != [num_players - 1 if other == seat else 0 for other in range(num_players)]:
            refuse("ranks", f"who forfeits comes last, and the others win, but they are {ranks}")
    return (
        check_integer(row["round"], "round", 0, MOST_ROUNDS - 1),
        check_integer(row["deal"], "deal", 0, MAX_SEED),
        seats,
        [check_integer(score, "scores", -_MOST, _MOST) for score in per_seat["scores"]],
        ranks,
        [check_integer(count, "moves", 0, _MOST) for count in per_seat["moves"]],
        [_seconds(time) for time in per_seat["seconds"]],
        check_boolean(row["truncated"], "truncated"),
        seat,
        reason,
    )


def _agent(name: Any, key: str, number_of: dict[str, int]) -> int:
    if not isinstance(name, str) or name not in number_of:
        refuse(key, f"{shorten(name)} is no agent of this tournament")
    return number_of[name]


def _seconds(time: Any) -> float:
    if type(time) not in (int, float) or not 0 <= time <= _MOST:
        refuse("seconds", f"must be numbers from 0 to {_MOST}, not {shorten(time)}")
    return float(time)
