"""Sentences about a Manhattan position, for its SVG and its text."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...system.messages import pluralize
from ...view.captions import points, result_sentence
from ..player_view import PlayerView
from ..state import num_rounds, parts_per_round
from .towers import Tallest, lot_of_card

COLOUR_LETTERS = {"blue": "B", "black": "K", "red": "R", "green": "G"}


def status_sentence(position: dict[str, Any], seen: PlayerView) -> str:
    """Return who has to do what, or who has won."""
    if "result" in position:
        return result_sentence(position["result"])
    return f"Player {position['to_move']} to move: {_task(position, seen)}"


def _task(position: dict[str, Any], seen: PlayerView) -> str:
    count = position["options"]["num_players"]
    if position["phase"] == "draft":
        colour = f"{position['colour']} " if "colour" in position else ""
        return f"draft {parts_per_round(count)} {colour}parts"
    return "nothing fits, discard a card" if seen.stuck else "build"


def last_move_sentence(last_move: LastMove, position: dict[str, Any]) -> str:
    """Return the last move in words; `position` is the one after it."""
    player, move = last_move
    if "draft" in move:
        sizes = ", ".join(str(size) for size in part_sizes(move["draft"]))
        return f"Player {player} drafted {move['colour']} parts of {sizes} storeys"
    if "discard" in move:
        return f"Player {player} could not build and discarded card {move['discard']}"
    built = pluralize(move["storeys"], f"{move['colour']} storey")
    lot = lot_of_card(position, player, move["card"])
    return f"Player {player} built {built} on lot {lot} of {city_title(move['city'])} (card {move['card']})"


def round_sentence(position: dict[str, Any]) -> str:
    """Return the round and its phase."""
    count = num_rounds(position["options"]["num_players"])
    if position["phase"] == "over":
        return f"Ended in round {position['round']} of {count}"
    return f"Round {position['round']} of {count}, {position['phase']} phase"


def options_words(position: dict[str, Any]) -> str:
    """Return how ties are broken and, with two players, where they sit."""
    options = position["options"]
    ties = "ties by towers" if options["tiebreak"] == "towers" else "ties are shared"
    return f"{options['seats']} seats, {ties}" if options["num_players"] == 2 else ties


def tallest_sentence(tallest: Tallest) -> str:
    """Return where the tallest tower is, or how many towers are equally tall."""
    if not tallest.lots:
        return "no tower yet"
    if not tallest.alone:
        return f"{len(tallest.lots)} towers of {pluralize(tallest.height, 'storey')}: no points"
    city, lot = tallest.lots[0]
    return f"{pluralize(tallest.height, 'storey')} on lot {lot} of {city_title(city)}"


def tally_title(position: dict[str, Any]) -> str:
    """Return the title of the towers' current points."""
    return "The last scoring" if "result" in position else "If it were scored now"


def counts_title(seat: int | None) -> str:
    """Return the title of the counts by card: the deck, or all cards that a seat does not see."""
    return "in the deck" if seat is None else f"not seen by player {seat}"


def nothing_to_build(position: dict[str, Any]) -> str:
    """Return the note for a colour without parts to build."""
    return "nothing drafted yet" if position["phase"] == "draft" else "nothing"


def city_title(city: str) -> str:
    """Return the name of a city with capitals."""
    return city.title()


def points_words(count: int) -> str:
    """Return a number of points in words."""
    return f"{count} {points(count)}"


def part_sizes(parts: dict[str, int]) -> list[int]:
    """Return the sizes of parts, one entry per part, ascending."""
    return [size for size in range(1, 5) for _ in range(parts[str(size)])]
