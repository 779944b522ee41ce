"""Parsing of Azul's positions into records; positions that the rules exclude are rejected."""

from typing import Any

import numpy as np

from ..engine.state import ENDED, TRUNCATED
from ..records.position_validation import (
    OVER,
    check_boolean,
    check_integer,
    check_list,
    check_name,
    check_object,
    count_names,
    refuse,
)
from ..system.messages import shorten
from .placement import update_derived_fields
from .scoring import complete_rows, open_columns
from .state import (
    COLOURS,
    FLOOR_SPACES,
    MARKER_IN_CENTRE,
    NUM_COLOURS,
    OFFER,
    SIZE,
    TILES_PER_COLOUR,
    TILING,
    num_factories,
)

_KEYS = ("round", "start", "marker", "factories", "centre", "bag", "lid", "players")
_MAX_SCORE = 30_000


def fill(options: dict[str, Any], own: dict[str, Any], phase: str, state: np.void) -> None:
    """Fill a record, whose `status` and `to_move` are set, from Azul's keys; ValueError if they are impossible."""
    keys = [*_KEYS, "row"] if phase == "tiling" else list(_KEYS)
    check_object(own, "position", keys)
    players = options["num_players"]
    state["round"] = check_integer(own["round"], "round", 1, options["max_rounds"])
    state["start"] = check_integer(own["start"], "start", 0, players - 1)
    marker = own["marker"]
    if not isinstance(marker, str):
        state["marker"] = check_integer(marker, "marker", 0, players - 1)
    elif marker == "centre":
        state["marker"] = MARKER_IN_CENTRE
    else:
        refuse("marker", f"must be 'centre' or a player, not {shorten(marker)}")
    _fill_table(options, own, state)
    for player, board in enumerate(check_list(own["players"], "players", length=players)):
        _fill_board(options, board, player, state)
    _check_tiles(state)
    update_derived_fields(state)
    _check_markers(options, state)
    if phase == OVER:
        _check_over(options, state)
    elif phase == "tiling":
        _check_tiling(options, own, state)
    else:
        _check_offer(options, state)


def _fill_table(options: dict[str, Any], own: dict[str, Any], state: np.void) -> None:
    factories = num_factories(options["num_players"])
    for factory, tiles in enumerate(check_list(own["factories"], "factories", length=factories)):
        state["sources"][1 + factory] = count_names(tiles, f"factories[{factory}]", COLOURS, at_most=4)
    state["sources"][0] = count_names(own["centre"], "centre", COLOURS, at_most=3 * factories)
    state["tiles_left"] = state["sources"].sum()
    for name in ("bag", "lid"):
        check_object(own[name], name, COLOURS)
        for colour, tiles in own[name].items():
            key = f"{name}.{colour}"
            state[name][COLOURS.index(colour)] = check_integer(tiles, key, 0, TILES_PER_COLOUR)


def _fill_board(options: dict[str, Any], board: Any, player: int, state: np.void) -> None:
    key = f"players[{player}]"
    check_object(board, key, ["score", "lines", "wall", "floor", "marker"])
    state["score"][player] = check_integer(board["score"], f"{key}.score", 0, _MAX_SCORE)
    marker = check_boolean(board["marker"], f"{key}.marker")
    tiles = count_names(board["floor"], f"{key}.floor", COLOURS, at_most=FLOOR_SPACES - marker)
    state["floor"][player] = tiles
    state["floor_marker"][player] = marker
    state["floor_count"][player] = tiles.sum() + marker
    _fill_wall(options, board["wall"], player, state)
    for line, content in enumerate(check_list(board["lines"], f"{key}.lines", length=SIZE)):
        if content is None:
            continue
        here = f"{key}.lines[{line}]"
        check_object(content, here, ["colour", "count"])
        colour = check_name(content["colour"], f"{here}.colour", COLOURS)
        state["line_count"][player, line] = check_integer(content["count"], f"{here}.count", 1, line + 1)
        state["line_colour"][player, line] = 1 + colour
        if (state["wall"][player, line] == 1 + colour).any():
            refuse(here, f"row {line} of the wall holds {COLOURS[colour]} already")


def _fill_wall(options: dict[str, Any], wall: Any, player: int, state: np.void) -> None:
    key = f"players[{player}].wall"
    for row, cells in enumerate(check_list(wall, key, length=SIZE)):
        for column, tile in enumerate(check_list(cells, f"{key}[{row}]", length=SIZE)):
            if tile is None:
                continue
            here = f"{key}[{row}][{column}]"
            colour = check_name(tile, here, COLOURS)
            if options["wall"] == "coloured" and (row + colour) % SIZE != column:
                refuse(here, f"{tile} belongs to column {(row + colour) % SIZE} of this row")
            if (state["wall"][player, row] == 1 + colour).any():
                refuse(here, f"row {row} holds {tile} twice")
            if (state["wall"][player, :, column] == 1 + colour).any():
                refuse(here, f"column {column} holds {tile} twice")
            state["wall"][player, row, column] = 1 + colour


def _check_tiles(state: np.void) -> None:
    """Check that there are 20 tiles of every colour (A1)."""
    for colour in range(NUM_COLOURS):
        tiles = int(state["sources"][:, colour].sum()) + int(state["bag"][colour]) + int(state["lid"][colour])
        tiles += int(state["floor"][:, colour].sum()) + int((state["wall"] == 1 + colour).sum())
        tiles += int(state["line_count"][state["line_colour"] == 1 + colour].sum())
        if tiles != TILES_PER_COLOUR:
            refuse("position", f"there are {TILES_PER_COLOUR} {COLOURS[colour]} tiles, but {tiles} are counted")


def _check_markers(options: dict[str, Any], state: np.void) -> None:
    for player in range(options["num_players"]):
        if state["floor_marker"][player] and state["marker"] != player:
            refuse(f"players[{player}].marker", "is true, but the marker is not this player's")


def _has_full_line(state: np.void, player: int) -> bool:
    return bool((state["line_count"][player] == np.arange(1, SIZE + 1)).any())


def _check_offer(options: dict[str, Any], state: np.void) -> None:
    state["phase"] = OFFER
    if state["tiles_left"] == 0:
        refuse("factories", "no tiles are in the factories and the centre, so the offer is over")
    factories = state["sources"][1:].sum(axis=1)[: num_factories(options["num_players"])]
    partial = np.flatnonzero((factories > 0) & (factories < 4))
    if len(partial) and (len(partial) > 1 or factories[partial[0] + 1 :].any() or state["bag"].any()):
        refuse(
            f"factories[{partial[-1]}]",
            "one to three tiles lie on the last factory that was filled alone, when bag and lid ran out",
        )
    taken = int((factories == 0).sum())
    if state["sources"][0].sum() > 3 * taken:
        refuse("centre", f"holds more tiles than the {taken} empty factories can have left there")
    marker = int(state["marker"])
    if marker != MARKER_IN_CENTRE:
        if taken == 0:
            refuse("marker", "was taken, although no factory has been taken and the centre was empty")
        if not state["floor_marker"][marker] and state["floor_count"][marker] < FLOOR_SPACES:
            refuse(f"players[{marker}].marker", "must be true: the marker was taken and the floor line has room")
    for player in range(options["num_players"]):
        if complete_rows(state, player):
            refuse(f"players[{player}].wall", "a row is complete, so the game is over")


def _check_tiling(options: dict[str, Any], own: dict[str, Any], state: np.void) -> None:
    if options["wall"] != "grey":
        refuse("phase", "tiling is a phase of the grey wall only")
    state["phase"] = TILING
    _check_table_empty(state)
    row = check_integer(own["row"], "row", 0, SIZE - 1)
    state["row"] = row
    player = int(state["to_move"])
    if state["line_count"][player, row] != row + 1:
        refuse("row", f"line {row} of player {player} is not full")
    columns = open_columns(state, player, row)
    if columns & (columns - 1) == 0:
        refuse("row", "fewer than two columns are open, so there is no choice")
    for line in range(row):
        if state["line_count"][player, line] == line + 1:
            refuse(f"players[{player}].lines[{line}]", f"is full, but row {row} is being tiled already")
    done = int(state["start"])
    while done != player:
        if state["floor_count"][done] or _has_full_line(state, done):
            refuse(f"players[{done}]", "has tiled already: no full line, nothing on the floor line")
        done = (done + 1) % options["num_players"]
    marker = int(state["marker"])
    waiting = [(player + turn) % options["num_players"] for turn in range(options["num_players"])]
    waiting = waiting[: (int(state["start"]) - player - 1) % options["num_players"] + 1]
    full = marker in waiting and state["floor_count"][marker] == FLOOR_SPACES
    if marker in waiting and not state["floor_marker"][marker] and not full:
        refuse(f"players[{marker}].marker", "must be true: this floor line has room and is not paid yet")


def _check_over(options: dict[str, Any], state: np.void) -> None:
    state["phase"] = OFFER
    _check_table_empty(state)
    for player in range(options["num_players"]):
        if state["floor_count"][player] or _has_full_line(state, player):
            refuse(f"players[{player}]", "in a finished game no line is full and nothing is on the floor line")


def _check_table_empty(state: np.void) -> None:
    if state["tiles_left"]:
        refuse("factories", "there are tiles in the factories or the centre, so the offer is not over")


def ending_error(state: np.void) -> str | None:
    """Return why a finished game cannot have ended like this (A26-A28), or None if it can."""
    complete = any(complete_rows(state, player) for player in range(state["option_num_players"]))
    at_limit = state["round"] == state["option_max_rounds"]
    empty = not state["bag"].any() and not state["lid"].any()
    if state["status"] == TRUNCATED and (complete or not at_limit):
        return "truncated is true, but the game did not reach max_rounds without a complete row"
    if state["status"] == ENDED and not complete and (at_limit or not empty):
        return "the game is over, but no row is complete, bag and lid are not empty, and it is not truncated"
    return None
