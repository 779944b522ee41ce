"""Sentences about a Qwirkle position, for its SVG and its text."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...system.messages import pluralize
from ...view.captions import result_sentence


def status_sentence(position: dict[str, Any]) -> str:
    """Return who has to do what, or who has won."""
    if "result" in position:
        return result_sentence(position["result"])
    return f"Player {position['to_move']} to move: {_task(position)}"


def _task(position: dict[str, Any]) -> str:
    turn = position["turn"]
    strict = position["options"]["opening"] == "strict" and position["turn_number"] == 1
    if turn["picked"] is not None:
        return f"place the {turn['picked']}"
    if turn["placed"]:
        return "pick up the next tile" if strict else "pick up a tile or end the turn"
    if turn["returned"]:
        return "lay aside a tile or end the turn"
    if strict:
        return "pick up a tile of the largest set"
    return "pick up a tile or lay one aside" if position["bag"] else "pick up a tile or pass"


def last_move_sentence(last_move: LastMove, position: dict[str, Any]) -> str:
    """Return the last move in words; `position` is the one after it.

    The tile of a return may be None: the reader may not see it.
    """
    player, move = last_move
    if "pick" in move:
        return f"Player {player} picked up the {move['pick']}"
    if "place" in move:
        tiles = [item["tile"] for item in position["board"] if item["at"] == move["place"]]
        return f"Player {player} placed the {' '.join(tiles)} at {cell_name(move['place'])}"
    if "return" in move:
        tile = "a tile" if move["return"] is None else f"the {move['return']}"
        return f"Player {player} laid {tile} aside"
    # every placement and every exchange resets the count of passes
    return f"Player {player} passed" if position["passes"] else f"Player {player} ended the turn"


def turn_sentence(position: dict[str, Any]) -> str:
    """Return the number of the turn, and the consecutive passes before it."""
    start = "Ended in turn" if "result" in position else "Turn"
    passes = position["passes"]
    after = f" after {pluralize(passes, 'pass')}" if passes else ""
    return f"{start} {position['turn_number']} of at most {position['options']['max_turns']}{after}"


def options_words(position: dict[str, Any]) -> str:
    """Return the opening rule and the largest size of the table."""
    options = position["options"]
    extent = options["board_size"] - 1
    return f"{options['opening']} opening, table up to {extent} x {extent}"


def counts_title(seat: int | None) -> str:
    """Return the title of the counts by kind: the bag, or all tiles that a seat does not see."""
    return "By kind" if seat is None else f"Not seen by player {seat}"


def cell_name(cell: list[int]) -> str:
    """Return a cell as in the JSON notation: [x, y]."""
    return f"[{cell[0]}, {cell[1]}]"
