"""Seats, owners and points of the towers in a Manhattan position in JSON notation."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..scoring import MAJORITY, TALLEST, TOWER
from ..state import CITIES, COLOURS, LOT_OF_CARD, SEAT_NAMES, num_colours


class Tallest(NamedTuple):
    """The greatest height of all cities (0 without towers), and the towers that have it."""

    height: int
    lots: list[tuple[str, int]]

    @property
    def alone(self) -> bool:
        """Whether a single tower has it, which is the only case that scores."""
        return len(self.lots) == 1


class Tally(NamedTuple):
    """The points of a colour if the towers were scored now."""

    towers: int
    majorities: int
    tallest: int

    @property
    def points(self) -> int:
        """The sum of the points."""
        return TOWER * self.towers + MAJORITY * self.majorities + TALLEST * self.tallest


def colours_in_game(position: dict[str, Any]) -> tuple[str, ...]:
    """Return the colours in the game, in their order."""
    return COLOURS[: num_colours(position["options"]["num_players"])]


def player_colours(position: dict[str, Any], player: int) -> tuple[str, ...]:
    """Return the colours of a player: one, or two with two players."""
    return colours_in_game(position)[player :: position["options"]["num_players"]]


def seat_name(position: dict[str, Any], player: int) -> str:
    """Return a player's seat: "south", "west", "north" or "east"."""
    return SEAT_NAMES[_seat(position, player)]


def lot_of_card(position: dict[str, Any], player: int, card: int) -> int:
    """Return the lot of a card in a player's hand."""
    return int(LOT_OF_CARD[_seat(position, player), card])


def layers(tower: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the storeys of a tower by colour: the owner's first, the others in the order of the colours."""
    owner, storeys = tower["owner"], tower["storeys"]
    order = [owner, *(colour for colour in COLOURS if colour != owner)]
    return [(colour, storeys[colour]) for colour in order if storeys.get(colour, 0)]


def height(tower: dict[str, Any]) -> int:
    """Return the storeys of a tower, of all colours."""
    return sum(tower["storeys"].values())


def towers_by_colour(position: dict[str, Any], city: str) -> dict[str, int]:
    """Return the number of towers in a city for each colour in the game."""
    owners = [tower["owner"] for tower in position["cities"][city] if tower is not None]
    return {colour: owners.count(colour) for colour in colours_in_game(position)}


def majority(position: dict[str, Any], city: str) -> str | None:
    """Return the colour with more towers in a city than any other, None on a tie."""
    counts = towers_by_colour(position, city)
    most = max(counts.values())
    first = [colour for colour, count in counts.items() if count == most]
    return first[0] if len(first) == 1 else None


def tallest(position: dict[str, Any]) -> Tallest:
    """Return the tallest tower of all cities, or all towers with the greatest height."""
    heights = {
        (city, lot): height(tower)
        for city in CITIES
        for lot, tower in enumerate(position["cities"][city])
        if tower is not None
    }
    most = max(heights.values(), default=0)
    return Tallest(most, [place for place, found in heights.items() if found == most])


def tally(position: dict[str, Any]) -> dict[str, Tally]:
    """Return for each colour in the game its points if the towers were scored now."""
    holders = [majority(position, city) for city in CITIES]
    first = tallest(position)
    winner = None
    if first.alone:
        city, lot = first.lots[0]
        winner = position["cities"][city][lot]["owner"]
    counts = [towers_by_colour(position, city) for city in CITIES]
    return {
        colour: Tally(sum(count[colour] for count in counts), holders.count(colour), int(winner == colour))
        for colour in colours_in_game(position)
    }


def _seat(position: dict[str, Any], player: int) -> int:
    """Return the position of a player around the table, clockwise from the south."""
    options = position["options"]
    return 2 * player if options["num_players"] == 2 and options["seats"] == "opposite" else player
