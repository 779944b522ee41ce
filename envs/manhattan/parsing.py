"""Parsing of Manhattan's positions into records; positions that the rules exclude are rejected."""

from typing import Any

import numpy as np

from ..engine.state import ENDED
from ..records.position_validation import OVER, check_integer, check_list, check_name, check_object, refuse
from .state import (
    BUILD,
    CITIES,
    COLOURS,
    COPIES,
    DRAFT,
    HAND_SIZE,
    NUM_CARDS,
    NUM_LOTS,
    NUM_PARTS,
    NUM_SIZES,
    PARTS,
    colours_per_player,
    num_colours,
    num_rounds,
    parts_per_round,
)

_KEYS = ("round", "start", "cities", "reserve", "drafted", "hands", "deck", "discards", "scores")
_SIZE_NAMES = ("1", "2", "3", "4")
_CARD_NAMES = tuple(str(card) for card in range(NUM_CARDS))
_SIZES = np.arange(1, NUM_SIZES + 1)
_MAX_SCORE = 30_000


def fill(options: dict[str, Any], own: dict[str, Any], phase: str, state: np.void) -> None:
    """Fill a record, whose `status` and `to_move` are set, from Manhattan's keys; ValueError if they are impossible."""
    players = options["num_players"]
    asks_colour = players == 2 and phase == "draft"
    check_object(own, "position", [*_KEYS, "colour"] if asks_colour else _KEYS)
    state["round"] = check_integer(own["round"], "round", 1, num_rounds(players))
    state["start"] = check_integer(own["start"], "start", 0, players - 1)
    if state["start"] != (state["round"] - 1) % players:
        refuse("start", f"round {state['round']} is begun by player {(int(state['round']) - 1) % players}")
    for player, score in enumerate(check_list(own["scores"], "scores", length=players)):
        state["score"][player] = check_integer(score, f"scores[{player}]", 0, _MAX_SCORE)
    _fill_cities(options, own["cities"], state)
    for name in ("reserve", "drafted"):
        _fill_parts(options, own[name], name, state)
    _fill_cards(options, own, state)
    state["phase"] = BUILD if phase == "build" else DRAFT
    state["parts_left"] = state["drafted"].sum()
    if phase == OVER:
        _check_over(options, state)
    elif phase == "draft":
        _check_draft(options, own, state)
    else:
        _check_build(options, state)
    _check_storeys(options, state)


def _fill_cities(options: dict[str, Any], cities: Any, state: np.void) -> None:
    check_object(cities, "cities", CITIES)
    colours = COLOURS[: num_colours(options["num_players"])]
    for index, city in enumerate(CITIES):
        for lot, tower in enumerate(check_list(cities[city], f"cities.{city}", length=NUM_LOTS)):
            if tower is None:
                continue
            key = f"cities.{city}[{lot}]"
            check_object(tower, key, ["owner", "storeys"])
            owner = check_name(tower["owner"], f"{key}.owner", colours)
            check_object(tower["storeys"], f"{key}.storeys", (), optional=colours)
            for name, storeys in tower["storeys"].items():
                number = check_integer(storeys, f"{key}.storeys.{name}", 1, 47)
                state["storeys"][index, lot, colours.index(name)] = number
            if state["storeys"][index, lot, owner] == 0:
                refuse(f"{key}.owner", f"{tower['owner']} is on top, but has no storey there")
            if state["storeys"][index, lot].max() > state["storeys"][index, lot, owner]:
                refuse(f"{key}.owner", f"{tower['owner']} is on top with fewer storeys than another colour")
            state["owner"][index, lot] = 1 + owner
            state["height"][index, lot] = state["storeys"][index, lot].sum()


def _fill_parts(options: dict[str, Any], parts: Any, name: str, state: np.void) -> None:
    colours = COLOURS[: num_colours(options["num_players"])]
    check_object(parts, name, colours)
    for index, colour in enumerate(colours):
        check_object(parts[colour], f"{name}.{colour}", _SIZE_NAMES)
        for size, key in enumerate(_SIZE_NAMES):
            here = f"{name}.{colour}.{key}"
            state[name][index, size] = check_integer(parts[colour][key], here, 0, PARTS[size])


def _fill_cards(options: dict[str, Any], own: dict[str, Any], state: np.void) -> None:
    for player, hand in enumerate(check_list(own["hands"], "hands", length=options["num_players"])):
        for place, card in enumerate(check_list(hand, f"hands[{player}]", length=HAND_SIZE)):
            state["hands"][player, check_integer(card, f"hands[{player}][{place}]", 0, NUM_CARDS - 1)] += 1
    for name in ("deck", "discards"):
        check_object(own[name], name, (), optional=_CARD_NAMES)
        for card, number in own[name].items():
            state[name][int(card)] = check_integer(number, f"{name}.{card}", 1, COPIES)
    state["deck_size"] = state["deck"].sum()
    counts = state["hands"].sum(axis=0, dtype=int) + state["deck"] + state["discards"]
    for card in range(NUM_CARDS):
        if counts[card] != COPIES:
            refuse("position", f"there are {COPIES} cards {card}, but {counts[card]} are counted")
    if state["deck_size"] == 0:
        refuse("deck", "is never empty: with its last card the discards become a new one")


def _check_storeys(options: dict[str, Any], state: np.void) -> None:
    """Check that no colour has more storeys on the table than its missing parts allow."""
    for colour in range(num_colours(options["num_players"])):
        name = COLOURS[colour]
        used = np.array(PARTS) - state["reserve"][colour] - state["drafted"][colour]
        if (used < 0).any():
            size = int(np.argmax(used < 0))
            refuse(f"drafted.{name}.{size + 1}", f"more parts of {size + 1} than the {PARTS[size]} of a colour")
        storeys = int(state["storeys"][:, :, colour].sum())
        if storeys > (used * _SIZES).sum():
            refuse("cities", f"{name} has {storeys} storeys, but only {(used * _SIZES).sum()} have been in play")


def _check_stock(options: dict[str, Any], state: np.void, player: int, rounds: int, drafted: int) -> None:
    """Check that a player's colours have the number of parts in reserve and selected that the round implies."""
    each = parts_per_round(options["num_players"])
    colours = [player + 2 * own for own in range(colours_per_player(options["num_players"]))]
    for colour in colours:
        if state["reserve"][colour].sum() != NUM_PARTS - rounds * each:
            refuse(f"reserve.{COLOURS[colour]}", f"must hold {NUM_PARTS - rounds * each} parts in this round")
        if state["drafted"][colour].sum() > each:
            refuse(f"drafted.{COLOURS[colour]}", f"at most {each} parts are selected in a round")
    if state["drafted"][colours].sum() != drafted:
        names = " and ".join(COLOURS[colour] for colour in colours)
        refuse(f"drafted.{names}", f"must hold {drafted} parts now, not {state['drafted'][colours].sum()}")


def _check_draft(options: dict[str, Any], own: dict[str, Any], state: np.void) -> None:
    players, each = options["num_players"], parts_per_round(options["num_players"])
    player, done = int(state["to_move"]), int(state["round"]) - 1
    state["draft_colour"] = player
    if players == 2:
        colour = check_name(own["colour"], "colour", COLOURS)
        if colour % 2 != player:
            refuse("colour", f"{own['colour']} is not a colour of player {player}")
        state["draft_colour"] = colour
    turn = int(state["start"])
    while turn != player:
        _check_stock(options, state, turn, done + 1, each * colours_per_player(players))
        turn = (turn + 1) % players
    for later in range((player - int(state["start"])) % players + 1, players):
        _check_stock(options, state, (int(state["start"]) + later) % players, done, 0)
    for index in range(colours_per_player(players)):
        colour = player + 2 * index
        selected = colour < state["draft_colour"]
        expected = NUM_PARTS - (done + selected) * each
        if state["reserve"][colour].sum() != expected or state["drafted"][colour].sum() != each * selected:
            refuse(f"drafted.{COLOURS[colour]}", f"reserve must hold {expected} and this {each * selected} parts now")


def _check_build(options: dict[str, Any], state: np.void) -> None:
    players = options["num_players"]
    player, start = int(state["to_move"]), int(state["start"])
    left = int(state["drafted"][[player + 2 * own for own in range(colours_per_player(players))]].sum())
    if left == 0:
        refuse("drafted", f"player {player} is to build, but has no selected part")
    for turn in range(players):
        other = (start + turn) % players
        has_built = turn < (player - start) % players
        _check_stock(options, state, other, int(state["round"]), left - has_built)


def _check_over(options: dict[str, Any], state: np.void) -> None:
    if state["round"] != num_rounds(options["num_players"]):
        refuse("round", f"the game is over after round {num_rounds(options['num_players'])}, not before")
    for name in ("reserve", "drafted"):
        if state[name].any():
            refuse(name, "all parts have been used when the game is over")


def ending_error(state: np.void) -> str | None:
    """Return why a finished game cannot have ended like this (M23), or None if it can."""
    return None if state["status"] == ENDED else "truncated is true, but this game is never truncated"
