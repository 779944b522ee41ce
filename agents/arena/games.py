"""Games that were played: arrays of what counts, and the JSON Lines that they are kept in.

| field | dtype, shape | meaning |
|---|---|---|
| `rounds` | int64 [n] | the round that a game belongs to |
| `deals` | int64 [n] | its seed; games with the same one began with the same deal |
| `seats` | int64 [n, players] | the number of the agent in each seat |
| `scores` | int64 [n, players] | points at the end |
| `places` | int64 [n, players] | 0 wins; ties share a place |
| `moves` | int64 [n, players] | decisions of each seat |
| `seconds` | float64 [n, players] | time that each seat used |
| `truncated` | bool [n] | cut off by a limit |
| `failed` | int64 [n] | the seat whose agent failed and so lost, or -1 |
| `reasons` | n texts | why it failed, or "" |
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...envs.batch import GameBatch
from ...envs.engine.state import CUT_OFF
from ..matches import Conduct

NOBODY = -1

_SECONDS_DIGITS = 7


@dataclass(frozen=True)
class PlayedGames:
    """n games of one kind; see the table above."""

    rounds: np.ndarray
    deals: np.ndarray
    seats: np.ndarray
    scores: np.ndarray
    places: np.ndarray
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

    def chosen(self, which: np.ndarray | slice) -> "PlayedGames":
        """Return some of the games, by a mask, indices or a slice."""
        return PlayedGames(*(getattr(self, field.name)[which] for field in fields(self)))


def no_games(num_players: int) -> PlayedGames:
    """Return no games at all."""
    seat = np.zeros((0, num_players), np.int64)
    one = np.zeros(0, np.int64)
    reasons = np.zeros(0, object)
    return PlayedGames(one, one, seat, seat, seat, seat, seat.astype(float), one.astype(bool), one, reasons)


def joined(parts: Sequence[PlayedGames]) -> PlayedGames:
    """Return the games of at least one part, one after the other."""
    return PlayedGames(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(PlayedGames)))


def played_games(round_number: int, batch: GameBatch, seats: np.ndarray, conduct: Conduct) -> PlayedGames:
    """Return the games of a batch at their end.

    An agent that failed comes last, the others share the first place: nobody can tell how it would have gone on.
    """
    scores, places = batch.results()
    num_games, num_players = seats.shape
    failed = np.full(num_games, NOBODY)
    reasons = np.full(num_games, "", object)
    for game, (seat, reason) in conduct.failures.items():
        failed[game], reasons[game] = seat, reason
        places[game] = np.where(np.arange(num_players) == seat, max(num_players - 1, 1), 0)
    return PlayedGames(
        rounds=np.full(num_games, round_number),
        deals=batch.states["seed"].astype(np.int64),
        seats=seats,
        scores=scores.astype(np.int64),
        places=places.astype(np.int64),
        moves=conduct.moves,
        # as the lines have it, so that games read again are the same
        seconds=np.round(conduct.seconds, _SECONDS_DIGITS),
        truncated=batch.states["over"] == CUT_OFF,
        failed=failed,
        reasons=reasons,
    )


def as_lines(games: PlayedGames, names: Sequence[str]) -> str:
    """Return games as JSON Lines; `names` are those of the agents."""
    return "".join(json.dumps(_as_json(games, index, names), ensure_ascii=False) + "\n" for index in range(len(games)))


def _as_json(games: PlayedGames, index: int, names: Sequence[str]) -> dict[str, Any]:
    line: dict[str, Any] = {
        "round": int(games.rounds[index]),
        "deal": int(games.deals[index]),
        "seats": [names[agent] for agent in games.seats[index]],
        "scores": games.scores[index].tolist(),
        "places": games.places[index].tolist(),
        "moves": games.moves[index].tolist(),
        "seconds": games.seconds[index].tolist(),
        "truncated": bool(games.truncated[index]),
    }
    if games.failed[index] != NOBODY:
        line["forfeit"] = {"seat": int(games.failed[index]), "reason": games.reasons[index]}
    return line


def from_lines(lines: Iterable[str], names: Sequence[str], num_players: int) -> PlayedGames:
    """Return the games of JSON Lines; ValueError that names the line and the reason if one is damaged."""
    number_of = {name: number for number, name in enumerate(names)}
    rows = []
    for line_number, line in enumerate(lines, start=1):
        try:
            rows.append(_from_json(json.loads(line), number_of, num_players))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {line_number} is no game of this tournament ({error!r})") from None
    if not rows:
        return no_games(num_players)
    *columns, reasons = zip(*rows, strict=True)
    texts = np.empty(len(rows), object)
    texts[:] = reasons
    return PlayedGames(*[*map(np.array, columns), texts])


def _from_json(row: dict[str, Any], number_of: dict[str, int], num_players: int) -> tuple[Any, ...]:
    per_seat = [row[name] for name in ("seats", "scores", "places", "moves", "seconds")]
    if any(len(values) != num_players for values in per_seat):
        raise ValueError(f"it needs {num_players} seats")
    seats, scores, places, moves, seconds = per_seat
    forfeit = row.get("forfeit", {"seat": NOBODY, "reason": ""})
    return (
        int(row["round"]),
        int(row["deal"]),
        [number_of[name] for name in seats],
        [int(score) for score in scores],
        [int(place) for place in places],
        [int(count) for count in moves],
        [float(time) for time in seconds],
        bool(row["truncated"]),
        int(forfeit["seat"]),
        str(forfeit["reason"]),
    )
