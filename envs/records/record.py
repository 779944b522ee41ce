"""Records: one whole game as one line of JSON, made, written, read and played again.

| key | value |
|---|---|
| `format` | "meeplezoo-record/1" |
| `game`, `options` | name, and every option spelled out |
| `seed` | `game.new(seed)` and the moves below give the game again |
| `agents` | who sat in each seat, one text per player |
| `plies` | per decision `player` and `move`; with positions also `position` (before the move) and `legal` |
| `final` | the last position, with its result |
| `forfeit` | only if an agent failed: `player` and `reason`; the game then ends early, and `final` has no result |
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.random_stream import check_seed
from ..game import Game, IllegalMove, Position, make_game
from ..options import with_later_ones
from ..records.notation import LastMove
from ..registry import describe
from ..system.files import read_lines, write_atomically
from ..system.messages import shorten
from ..system.strict_json import json_bytes, parse_json
from ..validation.states import State
from .position_validation import check_list, check_object

FORMAT = "meeplezoo-record/1"
LONGEST_LINE = 16 * 2**20
"""Bytes of a record that is read; with all positions a long game takes two million."""
KEYS = ("format", "game", "options", "seed", "agents", "plies", "final")

Record = dict[str, Any]


class RecordError(ValueError):
    """A file of records that is damaged, or a record that does not agree with the rules."""


@dataclass(frozen=True)
class StoredRecord:
    """A record read from a file: the number of its line from 1, its game, and the record, whole and of the right form.

    What the moves and positions say is not checked yet.
    """

    line: int
    game: Game
    record: Record

    def at(self, ply: int) -> str:
        """Return where a ply stands, for error messages; plies count from 0."""
        return f"line {self.line}, ply {ply}"


def make_record(
    game: Game,
    seed: int,
    agents: Sequence[str],
    history: Iterable[tuple[State, int]],
    final: State,
    positions: bool = False,
    forfeit: tuple[int, str] | None = None,
) -> Record:
    """Return the record of a finished game from the (state before, action) of its plies and its last state.

    With `positions` every ply also holds its position and all legal moves. `forfeit` is the player whose agent
    failed in the last state, and why.
    """
    plies = []
    for state, action in history:
        ply: dict[str, Any] = {"player": int(state["to_move"]), "move": game.move(action, state)}
        if positions:
            ply["position"] = game.position(state)
            ply["legal"] = game.legal_moves(state)
        plies.append(ply)
    record = {
        "format": FORMAT,
        "game": game.name,
        "options": dict(game.options),
        "seed": seed,
        "agents": list(agents),
        "plies": plies,
        "final": game.position(final),
    }
    return record if forfeit is None else {**record, "forfeit": {"player": forfeit[0], "reason": forfeit[1]}}


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records to a file, one line each; the file is complete or it is not there."""
    with write_atomically(path) as file:
        for record in records:
            file.write(record_line(record))


def record_line(record: Record) -> bytes:
    """Return a record as its line of a file."""
    return json_bytes(record, separators=(",", ":")) + b"\n"


def read_records(path: Path) -> Iterator[StoredRecord]:
    """Yield the records of a file, one after the other; RecordError that names line and reason where one is damaged."""
    line = 0
    try:
        for line, text in enumerate(read_lines(path, LONGEST_LINE), start=1):
            yield _read_line(line, text)
    except RecordError:
        raise
    except ValueError as error:
        # of the file or a line that is too long; what the caller raises does not come here
        raise RecordError(str(error)) from None
    if line == 0:
        raise RecordError("the file is empty")


def _read_line(line: int, text: bytes) -> StoredRecord:
    where = f"line {line}"
    try:
        record = parse_json(text.rstrip(b"\r\n"))
    except ValueError as error:
        if not text.strip():
            raise RecordError(f"{where}: is empty, where a record should be") from None
        if not text.endswith(b"\n"):
            raise RecordError(f"{where}: the record is cut off in the middle ({error})") from None
        raise RecordError(f"{where}: {error}") from None
    try:
        return StoredRecord(line, _check_form(record), record)
    except ValueError as error:
        raise RecordError(f"{where}, {error}" if str(error).startswith("ply ") else f"{where}: {error}") from None


def _check_form(record: Any) -> Game:
    """Return the game of a record; ValueError that names the key if the record has not the right form."""
    if isinstance(record, dict) and record.get("format", FORMAT) != FORMAT:
        raise ValueError(f"format: must be {FORMAT!r}, not {shorten(record['format'])}")
    check_object(record, "record", KEYS, optional=["forfeit"])
    if not isinstance(record["game"], str):
        raise ValueError(f"game: must be a name, not {shorten(record['game'])}")
    known = describe(record["game"]).options
    given = record["options"]
    options = with_later_ones(known, given) if isinstance(given, dict) else given
    game = make_game(record["game"], **check_object(options, "options", [option.name for option in known]))
    if record["seed"] is None:
        raise ValueError("seed: must be an integer, not null")
    check_seed(record["seed"])
    for agent in check_list(record["agents"], "agents", length=game.num_players):
        if not isinstance(agent, str):
            raise ValueError(f"agents: must be texts, not {shorten(agent)}")
    for index, ply in enumerate(check_list(record["plies"], "plies")):
        check_object(ply, f"ply {index}", ["player", "move"], optional=["position", "legal"])
    if "forfeit" in record:
        _check_forfeit(check_object(record["forfeit"], "forfeit", ["player", "reason"]))
    return game


def _check_forfeit(forfeit: dict[str, Any]) -> None:
    if type(forfeit["player"]) is not int or not isinstance(forfeit["reason"], str):
        raise ValueError("forfeit: needs the number of a player and a text as its reason")


def check_end(stored: StoredRecord, state: State, where: str) -> None:
    """Raise RecordError unless the game is over, or goes on with the player to move who forfeits it."""
    forfeit = stored.record.get("forfeit")
    if forfeit is None:
        if not stored.game.is_over(state):
            raise RecordError(f"line {stored.line}: {where}")
    elif stored.game.is_over(state) or forfeit["player"] != state["to_move"]:
        raise RecordError(f"line {stored.line}: forfeit: player: must be the one to move in a game that goes on")


def check_player(stored: StoredRecord, index: int, state: State) -> None:
    """Raise RecordError unless the game goes on and the ply's player is the one to move."""
    player = stored.record["plies"][index]["player"]
    if stored.game.is_over(state):
        raise RecordError(f"{stored.at(index)}: the game is over before this ply")
    if type(player) is not int or player != state["to_move"]:
        raise RecordError(f"{stored.at(index)}: player: is {shorten(player)}, but player {state['to_move']} is to move")


def play_ply(stored: StoredRecord, index: int, state: State) -> None:
    """Play the move of a ply in place; RecordError if it is not legal."""
    try:
        stored.game.play(state, stored.record["plies"][index]["move"])
    except IllegalMove as error:
        raise RecordError(f"{stored.at(index)}: move: {error}") from None


def replay(stored: StoredRecord) -> Iterator[tuple[Position, LastMove | None]]:
    """Yield every position of a record, the final one last, each with the move that led to it.

    Positions come from the record where it has them, otherwise from the seed and the moves. Raises RecordError
    where a position cannot be or a move is not legal.
    """
    game, plies = stored.game, stored.record["plies"]
    state = game.new(stored.record["seed"])
    last_move = None
    for index, ply in enumerate(plies):
        if "position" in ply:
            state = read_position(stored, ply["position"], f"{stored.at(index)}: position")
        check_player(stored, index, state)
        yield game.position(state), last_move
        play_ply(stored, index, state)
        last_move = LastMove(ply["player"], ply["move"])
    final = read_position(stored, stored.record["final"], f"line {stored.line}: final")
    check_end(stored, final, "final: phase: must be 'over'")
    yield game.position(final), last_move


def read_position(stored: StoredRecord, position: Any, where: str) -> np.ndarray:
    """Return the state of a position of the record; RecordError that says where it stands if it cannot be."""
    try:
        return stored.game.from_position(position, stored.record["seed"])
    except ValueError as error:
        raise RecordError(f"{where}: {str(error).removeprefix('position: ')}") from None
