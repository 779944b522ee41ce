"""Azul's moves and positions in the JSON notation."""

from typing import Any

import numpy as np

from ..records.notation import Notation
from ..records.position_validation import check_integer, check_name, check_object, list_names, refuse
from ..system.messages import shorten
from .parsing import ending_error, fill
from .state import (
    COLOURS,
    FLOOR,
    MARKER_IN_CENTRE,
    NUM_DESTINATIONS,
    NUM_TARGETS,
    SIZE,
    TILING,
    num_factories,
)

PHASES = ("offer", "tiling")


def move(options: dict[str, Any], action: int, state: np.void | None) -> dict[str, Any]:
    """Return the move of an action; without the state a column action has no row."""
    source, target = divmod(action, NUM_TARGETS)
    if source > num_factories(options["num_players"]):
        if state is None:
            return {"column": target}
        return {"row": int(state["row"]), "column": target}
    colour, destination = divmod(target, NUM_DESTINATIONS)
    return {
        "source": "centre" if source == 0 else source - 1,
        "colour": COLOURS[colour],
        "line": "floor" if destination == FLOOR else destination,
    }


def action(options: dict[str, Any], move: Any, state: np.void | None) -> int:
    """Return the action of a move; ValueError that names the key if there is none.

    A column may come without its row; a row other than the one being tiled in the state is rejected.
    """
    if isinstance(move, dict) and "column" in move:
        return _column_action(options, move, state)
    check_object(move, "move", ["source", "colour", "line"])
    factories = num_factories(options["num_players"])
    source, line = move["source"], move["line"]
    if not (_is_index(source, factories) or (isinstance(source, str) and source == "centre")):
        refuse("source", f"must be 'centre' or a factory from 0 to {factories - 1}, not {shorten(source)}")
    colour = check_name(move["colour"], "colour", COLOURS)
    if not (_is_index(line, SIZE) or (isinstance(line, str) and line == "floor")):
        refuse("line", f"must be 'floor' or a line from 0 to {SIZE - 1}, not {shorten(line)}")
    destination = FLOOR if isinstance(line, str) else line
    first = 0 if isinstance(source, str) else (1 + source) * NUM_TARGETS
    return first + colour * NUM_DESTINATIONS + destination


def _column_action(options: dict[str, Any], move: dict[str, Any], state: np.void | None) -> int:
    if options["wall"] != "grey":
        refuse("column", "columns are chosen on the grey wall only")
    check_object(move, "move", ["column"], optional=["row"])
    column = check_integer(move["column"], "column", 0, SIZE - 1)
    row = check_integer(move.get("row", 0), "row", 0, SIZE - 1)
    if state is not None and "row" in move:
        if state["phase"] != TILING:
            refuse("row", "no row is being tiled now")
        if row != state["row"]:
            refuse("row", f"row {state['row']} is to be tiled now, not {row}")
    return (num_factories(options["num_players"]) + 1) * NUM_TARGETS + column


def _is_index(value: Any, size: int) -> bool:
    return type(value) is int and 0 <= value < size


def position(options: dict[str, Any], state: np.void) -> dict[str, Any]:
    """Return the keys of a position that are Azul's own, with phase and to_move."""
    factories = num_factories(options["num_players"])
    marker = int(state["marker"])
    described: dict[str, Any] = {
        "phase": PHASES[int(state["phase"])],
        "to_move": int(state["to_move"]),
        "round": int(state["round"]),
        "start": int(state["start"]),
        "marker": "centre" if marker == MARKER_IN_CENTRE else marker,
        "factories": [list_names(state["sources"][1 + factory], COLOURS) for factory in range(factories)],
        "centre": list_names(state["sources"][0], COLOURS),
        "bag": _counts(state["bag"]),
        "lid": _counts(state["lid"]),
        "players": [_board(state, player) for player in range(options["num_players"])],
    }
    if state["phase"] == TILING and not state["status"]:
        described["row"] = int(state["row"])
    return described


def _counts(counts: np.ndarray) -> dict[str, int]:
    return {colour: int(count) for colour, count in zip(COLOURS, counts, strict=True)}


def _board(state: np.void, player: int) -> dict[str, Any]:
    lines = [
        {"colour": COLOURS[int(colour) - 1], "count": int(count)} if count else None
        for colour, count in zip(state["line_colour"][player], state["line_count"][player], strict=True)
    ]
    wall = [[COLOURS[int(tile) - 1] if tile else None for tile in row] for row in state["wall"][player]]
    return {
        "score": int(state["score"][player]),
        "lines": lines,
        "wall": wall,
        "floor": list_names(state["floor"][player], COLOURS),
        "marker": bool(state["floor_marker"][player]),
    }


def chance_free(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a position that chance did not decide, one move after another position; both are valid.

    Chance fills the factories when a new round begins. The rules determine how many tiles each factory gets and how
    many stay in the bag (A5, A6), and the lid: unchanged, or emptied into the bag.
    """
    if after["round"] == before["round"]:
        return after
    return {
        **after,
        "factories": [len(tiles) for tiles in after["factories"]],
        "bag": sum(after["bag"].values()),
    }


NOTATION = Notation(
    phases=PHASES,
    move=move,
    action=action,
    position=position,
    fill=fill,
    ending_error=ending_error,
    chance_free=chance_free,
)
