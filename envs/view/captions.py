"""Sentences and orders that the pictures and texts of all games share."""

from __future__ import annotations

from typing import Any


def result_sentence(result: dict[str, Any]) -> str:
    """Returns who has won, and the scores; `result` is the key of a finished position."""
    winners = [str(winner) for winner in result["winners"]]
    scores = " : ".join(str(score) for score in result["scores"])
    if not winners:
        return f"Game over: nobody wins ({scores})"
    if len(winners) == 1:
        return f"Game over: player {winners[0]} wins ({scores})"
    return f"Game over: players {', '.join(winners[:-1])} and {winners[-1]} share the win ({scores})"


def winners(position: dict[str, Any]) -> list[int]:
    """Returns the winners of a position, none while the game runs."""
    found: list[int] = position["result"]["winners"] if "result" in position else []
    return found


def player_order(position: dict[str, Any], seat: int | None) -> list[int]:
    """Returns the players in the order in which they are shown: from `seat` on, or from player 0."""
    count = position["options"]["num_players"]
    return [((seat or 0) + place) % count for place in range(count)]


def points(count: int) -> str:
    """Returns the unit of a number of points: "point" or "points"."""
    return "point" if count == 1 else "points"


def two_digits(number: float) -> str:
    """Returns a positive number with at least two digits that count: 1,234, 57, 3.2, 0.045."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
