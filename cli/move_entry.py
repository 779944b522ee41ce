"""How a person enters a move: by its number in the list, in a short form, or as JSON.

The short form of a move is its values in order, lists and objects spread out ("0 red 2", "centre blue floor"); a move
of one key alone says the key first ("pick red circle"), and says nothing else if its value is true ("end"). Words may
be shortened as long as one legal move alone fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..envs.system.messages import shorten

if TYPE_CHECKING:
    from ..envs.game import Move

_GAP = 3
_FEW = 6
_LONGEST_NUMBER = 20


def short_form(move: Move) -> str:
    """Return the short form of a move."""
    parts = [word for value in move.values() for word in _words(value)]
    return " ".join([*move, *parts] if len(move) == 1 else parts)


def _words(value: Any) -> list[str]:
    if value is True:
        return []
    if isinstance(value, dict):
        return [word for part in value.values() for word in _words(part)]
    if isinstance(value, list):
        return [word for part in value for word in _words(part)]
    return str(value).split()


def read_move(text: str, legal: Sequence[Move]) -> Move:
    """Return the legal move that a text stands for; ValueError that says what to do instead if there is none."""
    text = text.strip()
    if text.startswith("{"):
        return _from_json(text, legal)
    if text.isascii() and text.isdigit():
        if len(text) > 9 or not 1 <= int(text) <= len(legal):
            raise ValueError(f"there is no move {text[:_LONGEST_NUMBER]}; the moves are 1 to {len(legal)}")
        return legal[int(text) - 1]
    parts = text.lower().split()
    for fits in (_equal, _begins):
        found = [move for move in legal if fits(parts, short_form(move).lower().split())]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(short_form(move) for move in found[:_FEW])
            raise ValueError(f"{shorten(text)} may be {shown}{' ...' if len(found) > _FEW else ''}")
    raise ValueError(
        f"{shorten(text)} is no legal move; type a number, a move like {short_form(legal[0])!r}, or ? for all"
    )


def _equal(parts: list[str], of_move: list[str]) -> bool:
    return parts == of_move


def _begins(parts: list[str], of_move: list[str]) -> bool:
    """Tell whether every word begins the move's word in its place; numbers have to be whole."""
    return len(parts) == len(of_move) and all(
        full == word or (not full.isdigit() and full.startswith(word))
        for word, full in zip(parts, of_move, strict=True)
    )


def _from_json(text: str, legal: Sequence[Move]) -> Move:
    from ..envs.system.strict_json import first_difference, parse_json

    try:
        given = parse_json(text)
    except ValueError as error:
        raise ValueError(f"{shorten(text)} {error}") from None
    for move in legal:
        # as data: 1.0 and true are equal to 1 in Python
        if first_difference(move, given) is None:
            return move
    raise ValueError(f"{shorten(text)} is no legal move; type ? for all legal moves")


def number_moves(legal: Sequence[Move], width: int) -> str:
    """Return all legal moves with their numbers, in columns that fill `width` characters."""
    digits = len(str(len(legal)))
    cells = [f"{number:{digits}}) {short_form(move)}" for number, move in enumerate(legal, start=1)]
    cell = max(map(len, cells)) + _GAP
    columns = max(1, (width + _GAP) // cell)
    rows = -(-len(cells) // columns)
    # down the columns first, so that moves with the same beginning stand below each other
    lines = ["".join(f"{text:{cell}}" for text in cells[row::rows]).rstrip() for row in range(rows)]
    keys = {tuple(move) for move in legal if len(move) > 1}
    form = f" ({' '.join(*keys)})" if len(keys) == 1 else ""
    return "\n".join([f"Legal moves{form}:", *lines])
