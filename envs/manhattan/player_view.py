"""What one seat sees of a Manhattan position."""

from __future__ import annotations

from typing import Any, NamedTuple

from .state import CITIES, COPIES, NUM_CARDS
from .view.towers import lot_of_card, player_colours

Card = int | None  # a building card 0-8; None is face down


class PlayerView(NamedTuple):
    """The parts of a position that may be hidden, as one seat sees them."""

    hands: list[list[Card]]
    deck_size: int
    counts: list[int]
    """By card: the cards in the deck or, for a seat, all cards that it does not see."""
    stuck: bool
    """The player to move cannot build, and the seat can see it."""


def view_position(position: dict[str, Any], seat: int | None) -> PlayerView:
    """Return what `seat` sees of a valid position in JSON notation (None: everything).

    Hands are sorted. A seat does not see other hands or the deck, and therefore not whether another player is stuck.
    """
    hands: list[list[Card]] = [sorted(hand) for hand in position["hands"]]
    deck = _by_card(position["deck"])
    stuck = seat in (None, position.get("to_move")) and _is_stuck(position)
    if seat is None:
        return PlayerView(hands, sum(deck), deck, stuck)
    discards = _by_card(position["discards"])
    unseen = [COPIES - discards[card] - hands[seat].count(card) for card in range(NUM_CARDS)]
    hands = [hand if player == seat else [None] * len(hand) for player, hand in enumerate(hands)]
    return PlayerView(hands, sum(deck), unseen, stuck)


def discards(position: dict[str, Any]) -> list[int]:
    """Return the number of face-up cards of each kind."""
    return _by_card(position["discards"])


def _by_card(counts: dict[str, int]) -> list[int]:
    return [counts.get(str(card), 0) for card in range(NUM_CARDS)]


def _is_stuck(position: dict[str, Any]) -> bool:
    """Return whether the current building turn has no legal combination of card, part and city."""
    if position["phase"] != "build":
        return False
    player = position["to_move"]
    lots = {lot_of_card(position, player, card) for card in position["hands"][player]}
    largest = {
        colour: max((size for size in range(1, 5) if position["drafted"][colour][str(size)]), default=0)
        for colour in player_colours(position, player)
    }
    return not any(
        _fits(position["cities"][city][lot], colour, storeys)
        for city in CITIES
        for lot in lots
        for colour, storeys in largest.items()
        if storeys
    )


def _fits(tower: dict[str, Any] | None, colour: str, storeys: int) -> bool:
    """Return whether a part may be put on a lot."""
    if tower is None or tower["owner"] == colour:
        return True
    return bool(tower["storeys"].get(colour, 0) + storeys >= tower["storeys"][tower["owner"]])
