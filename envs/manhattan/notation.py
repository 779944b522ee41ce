"""Manhattan's moves and positions in the JSON notation."""

from typing import Any

import numpy as np

from ..records.notation import Notation
from ..records.position_validation import check_integer, check_name, check_object, refuse
from ..system.messages import shorten
from .parsing import ending_error, fill
from .state import (
    CITIES,
    COLOURS,
    DRAFT,
    NUM_CARDS,
    NUM_CITIES,
    NUM_LOTS,
    NUM_SIZES,
    SELECTIONS_OF_4,
    SELECTIONS_OF_6,
    colours_per_player,
    num_colours,
    num_selections,
)

PHASES = ("draft", "build")
_BUILDINGS = NUM_CARDS * NUM_CITIES * NUM_SIZES
_SIZE_NAMES = ("1", "2", "3", "4")


def _selections(options: dict[str, Any]) -> np.ndarray:
    return SELECTIONS_OF_6 if options["num_players"] == 4 else SELECTIONS_OF_4


def _colour(options: dict[str, Any], own: int, state: np.void | None) -> dict[str, Any]:
    """Return the key for the colour: by name, or without the state by the player's first or second colour."""
    if state is None:
        return {"own colour": own}
    return {"colour": COLOURS[int(state["to_move"]) + 2 * own]}


def move(options: dict[str, Any], action: int, state: np.void | None) -> dict[str, Any]:
    """Return the move of an action; without the state the colour is the player's first (0) or second (1)."""
    selections = num_selections(options["num_players"])
    if action < selections:
        parts = {name: int(number) for name, number in zip(_SIZE_NAMES, _selections(options)[action], strict=True)}
        own = 0 if state is None else int(state["draft_colour"]) // 2 if options["num_players"] == 2 else 0
        return {"draft": parts} if state is None else {"draft": parts, **_colour(options, own, state)}
    building = action - selections
    if building >= _BUILDINGS * colours_per_player(options["num_players"]):
        return {"discard": building - _BUILDINGS * colours_per_player(options["num_players"])}
    own, rest = divmod(building, _BUILDINGS)
    card, rest = divmod(rest, NUM_CITIES * NUM_SIZES)
    city, size = divmod(rest, NUM_SIZES)
    return {"card": card, "storeys": size + 1, "city": CITIES[city], **_colour(options, own, state)}


def action(options: dict[str, Any], move: Any, state: np.void | None) -> int:
    """Return the action of a move; ValueError that names the key if there is none.

    With the state the colour must belong to the player to move, and in the draft be the current one.
    """
    if not isinstance(move, dict):
        refuse("move", f"must be an object, not {shorten(move)}")
    selections = num_selections(options["num_players"])
    owned = colours_per_player(options["num_players"])
    if "draft" in move:
        return _draft_action(options, move, state)
    if "discard" in move:
        check_object(move, "move", ["discard"])
        card = check_integer(move["discard"], "discard", 0, NUM_CARDS - 1)
        return selections + _BUILDINGS * owned + card
    check_object(move, "move", ["card", "storeys", "city"], optional=["colour", "own colour"])
    card = check_integer(move["card"], "card", 0, NUM_CARDS - 1)
    size = check_integer(move["storeys"], "storeys", 1, NUM_SIZES) - 1
    city = check_name(move["city"], "city", CITIES)
    own = _own_index(options, move, state)
    return selections + ((own * NUM_CARDS + card) * NUM_CITIES + city) * NUM_SIZES + size


def _draft_action(options: dict[str, Any], move: dict[str, Any], state: np.void | None) -> int:
    check_object(move, "move", ["draft"], optional=["colour"])
    parts = check_object(move["draft"], "draft", _SIZE_NAMES)
    chosen = [check_integer(parts[name], f"draft.{name}", 0, 24) for name in _SIZE_NAMES]
    if "colour" in move:
        colour = check_name(move["colour"], "colour", COLOURS)
        drafting = state is not None and state["phase"] == DRAFT
        if state is not None and drafting and colour != state["draft_colour"]:
            refuse("colour", f"{COLOURS[int(state['draft_colour'])]} is selected for now, not {move['colour']}")
    elif state is not None:
        refuse("move", "the key 'colour' is missing")
    found = np.flatnonzero((_selections(options) == chosen).all(axis=1))
    if not len(found):
        number = 6 if options["num_players"] == 4 else 4
        refuse("draft", f"must be {number} parts of at most 11, 6, 4 and 3, not {chosen}")
    return int(found[0])


def _own_index(options: dict[str, Any], move: dict[str, Any], state: np.void | None) -> int:
    """Return 0 for the first, 1 for the second colour of a player."""
    owned = colours_per_player(options["num_players"])
    if "colour" not in move:
        if state is not None or "own colour" not in move:
            refuse("move", "the key 'colour' is missing")
        return check_integer(move["own colour"], "own colour", 0, owned - 1)
    colour = check_name(move["colour"], "colour", COLOURS[: num_colours(options["num_players"])])
    own = colour // 2 if owned == 2 else 0
    if state is not None and int(state["to_move"]) + 2 * own != colour:
        refuse("colour", f"{move['colour']} is not a colour of player {int(state['to_move'])}")
    return own


def position(options: dict[str, Any], state: np.void) -> dict[str, Any]:
    """Return the keys of a position that are Manhattan's own, with phase and to_move."""
    players = options["num_players"]
    colours = COLOURS[: num_colours(players)]
    described: dict[str, Any] = {
        "phase": PHASES[int(state["phase"])],
        "to_move": int(state["to_move"]),
        "round": int(state["round"]),
        "start": int(state["start"]),
        "cities": {city: [_lot(state, index, lot) for lot in range(NUM_LOTS)] for index, city in enumerate(CITIES)},
        "reserve": {colour: _parts(state["reserve"][index]) for index, colour in enumerate(colours)},
        "drafted": {colour: _parts(state["drafted"][index]) for index, colour in enumerate(colours)},
        "hands": [
            [card for card in range(NUM_CARDS) for _ in range(int(state["hands"][player, card]))]
            for player in range(players)
        ],
        "deck": _cards(state["deck"]),
        "discards": _cards(state["discards"]),
        "scores": state["score"][:players].tolist(),
    }
    if players == 2 and state["phase"] == DRAFT and not state["status"]:
        described["colour"] = COLOURS[int(state["draft_colour"])]
    return described


def _lot(state: np.void, city: int, lot: int) -> dict[str, Any] | None:
    owner = int(state["owner"][city, lot])
    if owner == 0:
        return None
    storeys = {COLOURS[colour]: int(number) for colour, number in enumerate(state["storeys"][city, lot]) if number}
    return {"owner": COLOURS[owner - 1], "storeys": storeys}


def _parts(parts: np.ndarray) -> dict[str, int]:
    return {name: int(number) for name, number in zip(_SIZE_NAMES, parts, strict=True)}


def _cards(cards: np.ndarray) -> dict[str, int]:
    return {str(card): int(number) for card, number in enumerate(cards) if number}


def chance_free(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a position that chance did not decide, one move after another position; both are valid.

    In every building turn a card is drawn from the deck, into the hand of the player whose turn it was. The sizes
    show whether the discards became a new deck.
    """
    if before["phase"] == "draft":
        return after
    player = before["to_move"]
    hands = [len(hand) if seat == player else hand for seat, hand in enumerate(after["hands"])]
    renewed = not after["discards"]
    deck = sum(after["deck"].values())
    return {**after, "hands": hands, "deck": deck, "discards": renewed or after["discards"]}


NOTATION = Notation(
    phases=PHASES,
    move=move,
    action=action,
    position=position,
    fill=fill,
    ending_error=ending_error,
    chance_free=chance_free,
)
