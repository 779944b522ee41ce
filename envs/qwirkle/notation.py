"""Qwirkle's moves and positions in the JSON notation."""

from typing import Any

import numpy as np

from ..records.notation import Notation
from ..records.position_validation import check_list, check_object, list_names, refuse
from ..system.messages import shorten
from .parsing import ending_error, fill
from .placement import action_of_cell, cell_of_action
from .state import COLOURS, END, FIRST_SLOT, KINDS, NUM_KINDS, PICK, PLACE, RETURN, SHAPES, TORUS

PHASES = ("turn",)
_MOVES = ("pick", "place", "return", "end")


def move(options: dict[str, Any], action: int, state: np.void | None) -> dict[str, Any]:
    """Return the move of an action; without a state a placement has its cell in the window."""
    if action < RETURN:
        return {"pick": KINDS[action]}
    if action < END:
        return {"return": KINDS[action - RETURN]}
    if action == END:
        return {"end": True}
    if state is None:
        y, x = divmod(action - PLACE, options["board_size"])
        return {"window": [x, y]}
    cell = int(cell_of_action(state, action))
    return {"place": list(_coordinates(state, cell))} if cell >= 0 else {"place": _outside(options, action, state)}


def _outside(options: dict[str, Any], action: int, state: np.void) -> list[int]:
    """Return the coordinates of a cell of the window that is neither in the table nor next to it."""
    y, x = divmod(action - PLACE, options["board_size"])
    left, top = int(state["left"]), int(state["top"])
    width, height = int(state["right"]) - left + 1, int(state["bottom"]) - top + 1
    return [x - (options["board_size"] - width) // 2 + left, y - (options["board_size"] - height) // 2 + top]


def _coordinates(state: np.void, cell: int) -> tuple[int, int]:
    """Return the x and y of a cell in the table or next to it."""
    left, top = int(state["left"]), int(state["top"])
    x = (cell % TORUS - left + 1) % TORUS - 1 + left
    y = (cell // TORUS - top + 1) % TORUS - 1 + top
    return x, y


def action(options: dict[str, Any], move: Any, state: np.void | None) -> int:
    """Return the action of a move; ValueError that names the key if there is none.

    A placement needs the state, which determines the position of the window, or the cell in the window.
    """
    check_object(move, "move", (), optional=(*_MOVES, "window"))
    if len(move) != 1:
        refuse("move", f"must have one of the keys {', '.join(_MOVES)}, not {len(move)} of them")
    key, value = next(iter(move.items()))
    if key == "end":
        if value is not True:
            refuse("end", f"must be true, not {shorten(value)}")
        return END
    if key in ("pick", "return"):
        if not isinstance(value, str) or value not in KINDS:
            refuse(key, _kind_error(value))
        return KINDS.index(value) + (RETURN if key == "return" else PICK)
    return _place_action(options, key, value, state)


def _kind_error(value: Any) -> str:
    return f"must be a tile, one of {', '.join(COLOURS)} and one of {', '.join(SHAPES)}, not {shorten(value)}"


def _place_action(options: dict[str, Any], key: str, value: Any, state: np.void | None) -> int:
    size = options["board_size"]
    for coordinate in check_list(value, key, length=2):
        if type(coordinate) is not int or abs(coordinate) > TORUS:
            refuse(key, f"must be two small integers, [x, y], not {shorten(value)}")
    x, y = value
    if key == "window":
        if not (0 <= x < size and 0 <= y < size):
            refuse(key, f"must be a cell of the window of {size} x {size}, not {value!r}")
        return int(PLACE + y * size + x)
    if state is None:
        refuse(key, "the cell of the window depends on the table: the state is needed")
    width = int(state["right"]) - int(state["left"]) + 1
    height = int(state["bottom"]) - int(state["top"]) + 1
    inside = -1 <= x - int(state["left"]) <= width and -1 <= y - int(state["top"]) <= height
    if not inside:
        refuse(key, f"{value!r} is not beside a tile")
    found = int(action_of_cell(state, np.int64(y % TORUS * TORUS + x % TORUS)))
    if move(options, found, state) != {"place": [x, y]}:
        refuse(key, f"{value!r} is not beside a tile")
    return found


def position(options: dict[str, Any], state: np.void) -> dict[str, Any]:
    """Return the keys of a position that are Qwirkle's own, with phase and to_move."""
    players = options["num_players"]
    cells = np.flatnonzero((state["board"] > 0) & (state["board"] < FIRST_SLOT)).tolist()
    tiles = [(*_coordinates(state, cell), int(state["board"][cell]) - 1) for cell in cells]
    tiles.sort(key=lambda tile: (tile[1], tile[0]))
    placed = state["placed"][: int(state["placed_count"])].tolist()
    picked = int(state["picked"])
    return {
        "phase": PHASES[0],
        "to_move": int(state["to_move"]),
        "turn_number": int(state["turn_number"]),
        "passes": int(state["passes"]),
        "board": [{"at": [x, y], "tile": KINDS[kind]} for x, y, kind in tiles],
        "hands": [list_names(state["hands"][player], KINDS) for player in range(players)],
        "bag": {KINDS[kind]: int(state["bag"][kind]) for kind in range(NUM_KINDS) if state["bag"][kind]},
        "scores": state["score"][:players].tolist(),
        "turn": {
            "placed": [list(_coordinates(state, cell)) for cell in placed],
            "returned": list_names(state["returned"], KINDS),
            "picked": KINDS[picked - 1] if picked else None,
        },
    }


def chance_free(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a position that chance did not decide, one move after another position; both are valid.

    Tiles are drawn from the bag when a turn ends, into the hand of the player whose turn it was. Their numbers follow
    from the rules.
    """
    if after["turn_number"] == before["turn_number"] and "to_move" in after:
        return after
    player = before["to_move"]
    hands = [len(hand) if seat == player else hand for seat, hand in enumerate(after["hands"])]
    return {**after, "bag": sum(after["bag"].values()), "hands": hands}


NOTATION = Notation(
    phases=PHASES,
    move=move,
    action=action,
    position=position,
    fill=fill,
    ending_error=ending_error,
    chance_free=chance_free,
)
