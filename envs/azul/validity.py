"""Invariants of Azul's reachable records, as a kernel on one record (see state.py)."""

import numpy as np

from ..engine.compilation import Integer, Truth, kernel
from ..engine.state import RUNNING
from .placement import update_derived_fields
from .scoring import pending_column_choices
from .state import COLOURED, FLOOR_SPACES, GREY, MARKER_IN_CENTRE, NUM_COLOURS, OFFER, SIZE, TILES_PER_COLOUR, TILING

FAULTS = (
    "",
    "fields of players or factories that are not in the game are not 0",
    "round, start or marker is impossible with these options",
    "a pattern line has a colour and no tiles, tiles and no colour, or more tiles than spaces",
    "the number of pieces on a floor line differs from its count",
    "a tile of a wall, or a line beside it, has a colour that is not allowed there",
    f"there are not {TILES_PER_COLOUR} tiles of each colour",
    "the number of tiles in factories and centre differs from the record's count",
    "the derived fields differ from those computed from the others",
    "the phase is impossible with these tiles and lines",
)
_ABSENT, _OPTIONS, _LINE, _FLOOR, _WALL, _TILES, _TABLE, _DERIVED, _PHASE = range(1, len(FAULTS))


@kernel
def find_fault(state: np.void, spare: np.void) -> Integer:
    """Return the index in FAULTS of a violated invariant, 0 if there is none; all fields are in range."""
    players = np.int64(state["option_num_players"])
    if state["round"] > state["option_max_rounds"] or state["start"] >= players or state["marker"] >= players:
        return _OPTIONS
    for player in range(players):
        code = _board_fault(state, player)
        if code > 0:
            return code
    for player in range(players, 4):
        if not _is_empty(state, player):
            return _ABSENT
    return _table_fault(state, spare, players)


@kernel
def _board_fault(state: np.void, player: Integer) -> Integer:
    pieces = np.int64(state["floor_marker"][player])
    for colour in range(NUM_COLOURS):
        pieces += state["floor"][player, colour]
    if pieces != state["floor_count"][player]:
        return _FLOOR
    if state["floor_marker"][player] > 0 and state["marker"] != player:
        return _FLOOR
    for line in range(SIZE):
        count = np.int64(state["line_count"][player, line])
        if count > line + 1 or (count > 0) != (state["line_colour"][player, line] > 0):
            return _LINE
    return 0 if _wall_is_possible(state, player) else _WALL


@kernel
def _wall_is_possible(state: np.void, player: Integer) -> Truth:
    """Tell whether no colour is twice in a row or column of the wall, or on the line of a row that has it."""
    for row in range(SIZE):
        for column in range(SIZE):
            tile = np.int64(state["wall"][player, row, column])
            if tile == 0:
                continue
            if state["option_wall"] == COLOURED and (tile - 1 + row) % SIZE != column:
                return False
            if state["line_colour"][player, row] == tile:
                return False
            for other in range(SIZE):
                if other != column and state["wall"][player, row, other] == tile:
                    return False
                if other != row and state["wall"][player, other, column] == tile:
                    return False
    return True


@kernel
def _is_empty(state: np.void, player: Integer) -> Truth:
    """Tell whether all fields of a player are zero."""
    found = np.int64(state["score"][player]) | np.int64(state["floor_count"][player])
    found |= np.int64(state["floor_marker"][player]) | np.int64(state["targets"][player])
    for row in range(SIZE):
        found |= np.int64(state["line_colour"][player, row]) | np.int64(state["line_count"][player, row])
        found |= np.int64(state["floor"][player, row])
        found |= np.int64(state["row_colours"][player, row]) | np.int64(state["column_colours"][player, row])
        found |= np.int64(state["row_cells"][player, row]) | np.int64(state["column_cells"][player, row])
        for column in range(SIZE):
            found |= np.int64(state["wall"][player, row, column])
    return found == 0


@kernel
def _table_fault(state: np.void, spare: np.void, players: Integer) -> Integer:
    sources = 2 * players + 2
    tiles_left = np.int64(0)
    for source in range(len(state["sources"])):
        for colour in range(NUM_COLOURS):
            tiles_left += state["sources"][source, colour]
            if source >= sources and state["sources"][source, colour] > 0:
                return _ABSENT
    if tiles_left != state["tiles_left"]:
        return _TABLE
    for colour in range(NUM_COLOURS):
        if _count_tiles(state, players, colour) != TILES_PER_COLOUR:
            return _TILES
    update_derived_fields(spare)
    if not _derived_fields_match(state, spare):
        return _DERIVED
    return 0 if _phase_is_possible(state, players) else _PHASE


@kernel
def _count_tiles(state: np.void, players: Integer, colour: Integer) -> Integer:
    """Return the total number of tiles of a colour."""
    tiles = np.int64(state["bag"][colour]) + np.int64(state["lid"][colour])
    for source in range(len(state["sources"])):
        tiles += state["sources"][source, colour]
    for player in range(players):
        tiles += state["floor"][player, colour]
        for row in range(SIZE):
            if state["line_colour"][player, row] == 1 + colour:
                tiles += state["line_count"][player, row]
            for column in range(SIZE):
                tiles += state["wall"][player, row, column] == 1 + colour
    return tiles


@kernel
def _derived_fields_match(state: np.void, spare: np.void) -> Truth:
    for source in range(len(state["present"])):
        if state["present"][source] != spare["present"][source]:
            return False
    for player in range(len(state["targets"])):
        if state["targets"][player] != spare["targets"][player]:
            return False
        for index in range(SIZE):
            same = state["row_colours"][player, index] == spare["row_colours"][player, index]
            same = same and state["column_colours"][player, index] == spare["column_colours"][player, index]
            same = same and state["row_cells"][player, index] == spare["row_cells"][player, index]
            if not same or state["column_cells"][player, index] != spare["column_cells"][player, index]:
                return False
    return True


@kernel
def _phase_is_possible(state: np.void, players: Integer) -> Truth:
    marker = np.int64(state["marker"])
    # the player with the marker has it on the floor line, if there was room, until the line is paid
    kept = marker == MARKER_IN_CENTRE
    if not kept:
        kept = state["floor_marker"][marker] > 0 or state["floor_count"][marker] == FLOOR_SPACES
    if state["status"] == RUNNING and state["phase"] == OFFER:
        return state["tiles_left"] > 0 and kept
    if state["tiles_left"] > 0:
        return False
    # players tile in turn order, beginning with the start player
    waiting: Integer = np.int64(0)
    if state["status"] == RUNNING:
        if state["phase"] != TILING or state["option_wall"] != GREY:
            return False
        # the row to tile is the first full line, and there is a choice
        columns = np.int64(pending_column_choices(state))
        if _first_full_line(state, np.int64(state["to_move"])) != state["row"] or columns & (columns - 1) == 0:
            return False
        waiting = players - (np.int64(state["to_move"]) - np.int64(state["start"])) % players
    for turn in range(players):
        player = (np.int64(state["start"]) + turn) % players
        if turn < players - waiting:
            if state["floor_count"][player] > 0 or _first_full_line(state, player) < SIZE:
                return False
        elif marker == player and not kept:
            return False
    return True


@kernel
def _first_full_line(state: np.void, player: Integer) -> Integer:
    """Return a player's first full line, SIZE if none is."""
    for line in range(SIZE):
        if state["line_count"][player, line] == line + 1:
            return np.int64(line)
    return np.int64(SIZE)
