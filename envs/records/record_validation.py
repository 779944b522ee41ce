"""Checking records: every ply played again and compared with what the record says.

A record of this program is played again from its seed, chance and all, and has to agree in everything. A record of
another program, whose chance nobody can repeat, shows itself by a first position that its seed does not deal here;
it needs positions, and every ply is checked on its own: from the position given, its player, its legal moves and
its move, and then all of the next position that chance did not decide (`chance_free` of the game's notation).
"""

from typing import Any, NoReturn

import numpy as np

from ..game import Position
from ..system.messages import shorten
from ..system.strict_json import first_difference
from ..validation.states import State
from .record import RecordError, StoredRecord, check_end, check_player, play_ply, read_position

__all__ = ["check_record", "first_difference"]


def check_record(stored: StoredRecord) -> bool:
    """Check a whole record and return whether its chance is that of its seed.

    Raises RecordError that names line, ply and key of the first difference.
    """
    own_chance = _deals_the_first_position(stored)
    try:
        _check_plies(stored, own_chance)
    except RecordError as error:
        if own_chance:
            raise
        note = "the first position is not what the seed deals, so every ply is checked from the position given"
        raise RecordError(f"{error} ({note})") from None
    return own_chance


def _deals_the_first_position(stored: StoredRecord) -> bool:
    game, record = stored.game, stored.record
    if not record["plies"] or "position" not in record["plies"][0]:
        return True
    dealt = game.position(game.new(record["seed"]))
    given = record["plies"][0]["position"]
    if first_difference(dealt, given) is None:
        return True
    # lists without an order of their own may come in any order
    return first_difference(dealt, game.position(read_position(stored, given, f"{stored.at(0)}: position"))) is None


def _check_plies(stored: StoredRecord, own_chance: bool) -> None:
    game, plies = stored.game, stored.record["plies"]
    state = game.new(stored.record["seed"])
    for index, ply in enumerate(plies):
        if not own_chance:
            if "position" not in ply:
                raise RecordError(f"{stored.at(index)}: position: is missing")
            state = read_position(stored, ply["position"], f"{stored.at(index)}: position")
        check_player(stored, index, state)
        if "legal" in ply:
            _check_legal(stored, index, state)
        before = game.position(state)
        play_ply(stored, index, state)
        if index + 1 < len(plies):
            if "position" in plies[index + 1]:
                given, where = plies[index + 1]["position"], f"{stored.at(index + 1)}: position"
                _check_position(stored, before, game.position(state), given, where, own_chance)
        elif game.is_over(state) or "forfeit" in stored.record:
            given, where = stored.record["final"], f"line {stored.line}: final"
            _check_position(stored, before, game.position(state), given, where, own_chance)
    check_end(stored, state, f"the game is not over after its {len(plies)} plies")


def _check_position(
    stored: StoredRecord, before: Position, expected: Position, given: Any, where: str, own_chance: bool
) -> None:
    """Compare a position of the record with the one that the move from `before` leads to."""
    game = stored.game
    difference = first_difference(expected, given)
    if difference is None:
        return
    try:
        # lists without an order of their own may come in any order: reading puts them into ours
        read = game.position(game.from_position(given))
    except ValueError as error:
        if own_chance:
            _refuse(where, difference)
        raise RecordError(f"{where}: {str(error).removeprefix('position: ')}") from None
    if not own_chance:
        chance_free = game.spec.notation().chance_free
        expected, read = chance_free(before, expected), chance_free(before, read)
    difference = first_difference(expected, read)
    if difference is not None:
        _refuse(where, difference)


def _refuse(where: str, difference: tuple[str, str]) -> NoReturn:
    key, reason = difference
    raise RecordError(f"{where}{key}: {reason}")


def _check_legal(stored: StoredRecord, index: int, state: State) -> None:
    """Compare the legal moves of a ply, as a set, with those of the rules."""
    game, legal = stored.game, stored.record["plies"][index]["legal"]
    where = f"{stored.at(index)}: legal"
    if not isinstance(legal, list):
        raise RecordError(f"{where}: must be a list, not {shorten(legal)}")
    allowed = set(np.flatnonzero(game.mask(state)).tolist())
    listed = set()
    for move in legal:
        try:
            action = game.action(move, state)
        except ValueError as error:
            raise RecordError(f"{where}: {shorten(move)} is no move ({error})") from None
        if action in listed:
            raise RecordError(f"{where}: {shorten(move)} stands there twice")
        if action not in allowed:
            raise RecordError(f"{where}: {shorten(move)} stands there, but is not legal")
        listed.add(action)
    for action in sorted(allowed - listed):
        raise RecordError(f"{where}: {shorten(game.move(action, state))} is missing")
