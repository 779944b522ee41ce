"""Parsing of Qwirkle's positions into records; positions that the rules exclude are rejected."""

from typing import Any

import numpy as np

from ..engine.state import ENDED, TRUNCATED
from ..records.position_validation import OVER, check_integer, check_list, check_name, check_object, count_names, refuse
from ..system.messages import shorten
from .board import put_tile
from .placement import count_places, may_place, pickable, update_fits
from .rules import begin_turn
from .state import COPIES, HAND_SIZE, KINDS, NUM_KINDS, NUM_TILES, TORUS

_KEYS = ("turn_number", "passes", "board", "hands", "bag", "scores", "turn")
_MAX_SCORE = 30_000
Cell = tuple[int, int]


def fill(options: dict[str, Any], own: dict[str, Any], phase: str, state: np.void) -> None:
    """Fill a record, whose `status` and `to_move` are set, from Qwirkle's keys; ValueError if they are impossible."""
    check_object(own, "position", _KEYS)
    players = options["num_players"]
    state["turn_number"] = check_integer(own["turn_number"], "turn_number", 1, options["max_turns"])
    over = phase == OVER
    state["passes"] = check_integer(own["passes"], "passes", 0, players if over else players - 1)
    for player, score in enumerate(check_list(own["scores"], "scores", length=players)):
        state["score"][player] = check_integer(score, f"scores[{player}]", 0, _MAX_SCORE)
    _fill_hands(options, own, state)
    turn = check_object(own["turn"], "turn", ["placed", "returned", "picked"])
    state["returned"] = count_names(turn["returned"], "turn.returned", KINDS, at_most=HAND_SIZE)
    state["returned_count"] = state["returned"].sum()
    picked = None if turn["picked"] is None else check_name(turn["picked"], "turn.picked", KINDS)
    tiles = _read_board(options, own["board"])
    cells = check_list(turn["placed"], "turn.placed", at_most=HAND_SIZE)
    placed = [_read_cell(cell, f"turn.placed[{k}]") for k, cell in enumerate(cells)]
    _check_tiles(own, state, tiles, picked)
    _place_board(tiles, placed, state)
    if over:
        _check_over(options, state, placed, picked)
    else:
        _fill_turn(options, state, placed, tiles, picked)


def _fill_hands(options: dict[str, Any], own: dict[str, Any], state: np.void) -> None:
    for player, hand in enumerate(check_list(own["hands"], "hands", length=options["num_players"])):
        state["hands"][player] = count_names(hand, f"hands[{player}]", KINDS, at_most=HAND_SIZE)
        state["hand_size"][player] = len(hand)
        state["hand_kinds"][player] = sum(1 << int(kind) for kind in np.flatnonzero(state["hands"][player]))
    if not isinstance(own["bag"], dict):
        refuse("bag", f"must be an object, not {shorten(own['bag'])}")
    for name, tiles in own["bag"].items():
        kind = check_name(name, "bag", KINDS)
        state["bag"][kind] = check_integer(tiles, f"bag.{name}", 0, COPIES)
    state["bag_size"] = state["bag"].sum()


def _read_cell(value: Any, key: str) -> Cell:
    x, y = check_list(value, key, length=2)
    return check_integer(x, f"{key}[0]", -TORUS, TORUS), check_integer(y, f"{key}[1]", -TORUS, TORUS)


def _read_board(options: dict[str, Any], board: Any) -> dict[Cell, int]:
    tiles: dict[Cell, int] = {}
    for place, entry in enumerate(check_list(board, "board", at_most=NUM_TILES)):
        key = f"board[{place}]"
        check_object(entry, key, ["at", "tile"])
        cell = _read_cell(entry["at"], f"{key}.at")
        if cell in tiles:
            refuse(f"{key}.at", f"two tiles lie at {list(cell)}")
        tiles[cell] = check_name(entry["tile"], f"{key}.tile", KINDS)
    if tiles and (0, 0) not in tiles:
        refuse("board", "the first tile of a game lies at [0, 0], but nothing lies there")
    for axis, name in enumerate(("wide", "high")):
        cells_by_place = [cell[axis] for cell in tiles]
        if cells_by_place and max(cells_by_place) - min(cells_by_place) + 1 > options["board_size"] - 1:
            refuse("board", f"may be at most {options['board_size'] - 1} cells {name}")
    return tiles


def _check_tiles(own: dict[str, Any], state: np.void, tiles: dict[Cell, int], picked: int | None) -> None:
    """Check that there are three tiles of every kind (Q1)."""
    counts = state["hands"].sum(axis=0, dtype=int) + state["bag"] + state["returned"]
    for kind in tiles.values():
        counts[kind] += 1
    if picked is not None:
        counts[picked] += 1
    for kind in range(NUM_KINDS):
        if counts[kind] != COPIES:
            refuse("position", f"there are {COPIES} tiles {KINDS[kind]}, but {counts[kind]} are counted")


def _place_board(tiles: dict[Cell, int], placed: list[Cell], state: np.void) -> None:
    """Place the tiles of earlier turns, each next to one already placed; then check that every run is a line."""
    for k, cell in enumerate(placed):
        if cell not in tiles:
            refuse(f"turn.placed[{k}]", f"no tile lies at {list(cell)}")
        if cell in placed[:k]:
            refuse(f"turn.placed[{k}]", f"{list(cell)} is given twice")
    waiting = {cell for cell in tiles if cell not in placed}
    if waiting and (0, 0) not in waiting:
        refuse("turn.placed", "the first tile of the game, at [0, 0], cannot be placed in a later turn")
    edge = [(0, 0)] if waiting else []
    while edge:
        cell = edge.pop()
        if cell in waiting:
            waiting.remove(cell)
            put_tile(state, np.int64(_index(cell)), np.int64(tiles[cell]))
            x, y = cell
            edge += [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
    if waiting:
        refuse("board", f"the tile at {list(min(waiting))} is not connected with the first one by earlier tiles")
    _check_lines({cell: kind for cell, kind in tiles.items() if cell not in placed})


def _index(cell: Cell) -> int:
    return cell[1] % TORUS * TORUS + cell[0] % TORUS


def _check_lines(tiles: dict[Cell, int]) -> None:
    """Check that every run of two or more tiles is a line (Q8 b)."""
    for x, y in tiles:
        for right, down in ((1, 0), (0, 1)):
            if (x - right, y - down) in tiles:
                continue
            run = []
            at = (x, y)
            while at in tiles:
                run.append(tiles[at])
                at = (at[0] + right, at[1] + down)
            alike = len({kind // 6 for kind in run}) == 1 or len({kind % 6 for kind in run}) == 1
            if len(set(run)) < len(run) or not alike:
                names = ", ".join(KINDS[kind] for kind in run)
                refuse("board", f"the tiles from [{x}, {y}] on are not a line: {names}")


def _fill_turn(
    options: dict[str, Any], state: np.void, placed: list[Cell], tiles: dict[Cell, int], picked: int | None
) -> None:
    """Replay the current turn, from the hand at its beginning."""
    player = int(state["to_move"])
    returned = int(state["returned_count"])
    used = len(placed) + returned + (picked is not None)
    _check_hand_sizes(options, state, player, used)
    strict = options["opening"] == "strict"
    if strict and state["turn_number"] > 1 and state["tiles_on_table"] == 0:
        refuse("board", "is empty, although the opening was placed in turn 1")
    if state["turn_number"] == 1 and state["tiles_on_table"] > 0:
        refuse("board", "holds tiles of an earlier turn, but this is turn 1")
    if state["passes"] and state["bag"].any():
        refuse("passes", "nobody can have passed while the bag holds tiles")
    if returned and (placed or picked is not None):
        refuse("turn", "placing and returning exclude each other")
    laid_aside = state["returned"].copy()
    in_hand = state["hands"][player].copy()
    own = in_hand + laid_aside
    for kind in [*(tiles[cell] for cell in placed), *([] if picked is None else [picked])]:
        own[kind] += 1
    _set_hand(state, player, own)
    state["returned_count"] = 0
    begin_turn(state)
    for k, cell in enumerate(placed):
        _place_again(state, player, _index(cell), tiles[cell], f"turn.placed[{k}]")
    _set_hand(state, player, in_hand)
    state["returned_count"] = returned
    if returned:
        _check_exchange(state, returned)
    elif picked is not None:
        if int(state["fits"]) >> picked & 1 == 0:
            refuse("turn.picked", f"{KINDS[picked]} fits nowhere")
        state["picked"] = 1 + picked
        if count_places(state) == 0:
            refuse("turn.picked", f"{KINDS[picked]} fits nowhere")
    elif placed and (pickable(state) == 0 or _opening_is_complete(state)):
        refuse("turn", "nothing more can be placed, so the turn is over")


def _opening_is_complete(state: np.void) -> bool:
    return bool(state["opening_size"] > 0 and state["placed_count"] == state["opening_size"])


def _place_again(state: np.void, player: int, cell: int, kind: int, key: str) -> None:
    hand = state["hands"][player].copy()
    if _opening_is_complete(state) or int(pickable(state)) >> kind & 1 == 0:
        refuse(key, f"{KINDS[kind]} cannot have been placed there in this turn")
    hand[kind] -= 1
    _set_hand(state, player, hand)
    state["picked"] = 1 + kind
    if not may_place(state, np.int64(cell)):
        refuse(key, f"{KINDS[kind]} cannot have been placed there in this turn")
    put_tile(state, np.int64(cell), np.int64(kind))
    state["picked"] = 0
    state["placed"][int(state["placed_count"])] = cell
    state["placed_count"] += 1
    update_fits(state)


def _set_hand(state: np.void, player: int, hand: np.ndarray) -> None:
    state["hands"][player] = hand
    state["hand_size"][player] = hand.sum()
    state["hand_kinds"][player] = sum(1 << int(kind) for kind in np.flatnonzero(hand))


def _check_exchange(state: np.void, returned: int) -> None:
    limit = int(state["exchange_limit"])
    if limit == 0:
        refuse("turn.returned", "nothing can be returned in this turn")
    if returned >= limit:
        refuse("turn.returned", f"{returned} tiles are returned, but {limit} end the turn")


def _check_hand_sizes(options: dict[str, Any], state: np.void, mover: int, used: int) -> None:
    for player in range(options["num_players"]):
        size = int(state["hand_size"][player]) + (used if player == mover else 0)
        if state["bag"].any() and size != HAND_SIZE:
            refuse(f"hands[{player}]", f"the bag holds tiles, so the turn began with {HAND_SIZE} tiles, not {size}")
        if not 1 <= size <= HAND_SIZE:
            refuse(f"hands[{player}]", f"the turn began with 1 to {HAND_SIZE} tiles, not {size}")


def _check_over(options: dict[str, Any], state: np.void, placed: list[Cell], picked: int | None) -> None:
    if placed or picked is not None or state["returned_count"]:
        refuse("turn", "must be empty in a finished game")
    for player in range(options["num_players"]):
        if state["bag"].any() and state["hand_size"][player] != HAND_SIZE:
            refuse(f"hands[{player}]", f"the bag holds tiles, so every hand has {HAND_SIZE}")
    if (state["hand_size"][: options["num_players"]] == 0).sum() > 1:
        refuse("hands", "only one hand can be empty")


def ending_error(state: np.void) -> str | None:
    """Return why a finished game cannot have ended like this (Q18-Q21), or None if it can."""
    players = int(state["option_num_players"])
    ended = bool((state["hand_size"][:players] == 0).any() or state["passes"] == players)
    at_limit = state["turn_number"] == state["option_max_turns"]
    if state["status"] == TRUNCATED and (ended or not at_limit):
        return "truncated is true, but the game did not reach max_turns without another end"
    if state["status"] == ENDED and not ended:
        return "the game is over, but no hand is empty, not all have passed, and it is not truncated"
    return None
