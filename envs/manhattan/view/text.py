"""A Manhattan position as plain text for the terminal."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...system.messages import pluralize
from ...view.ansi import FAINT, LAST_MOVE, STRONG, join_columns, pad, paint, plain
from ...view.captions import player_order
from ..player_view import PlayerView, discards, view_position
from ..state import CITIES, NUM_CARDS, NUM_LOTS
from .captions import (
    COLOUR_LETTERS,
    city_title,
    counts_title,
    last_move_sentence,
    nothing_to_build,
    options_words,
    part_sizes,
    points_words,
    round_sentence,
    status_sentence,
    tallest_sentence,
    tally_title,
)
from .towers import (
    colours_in_game,
    height,
    layers,
    lot_of_card,
    majority,
    player_colours,
    seat_name,
    tallest,
    tally,
)

_CODES = {  # white on the colour of the parts
    "blue": "1;97;48;5;26",
    "black": "1;97;48;5;236",
    "red": "1;97;48;5;160",
    "green": "1;97;48;5;28",
}
_EMPTY = "."
_FACE_DOWN = "?"
_LAST_MARK = "<"
_TALLEST_MARK = "*"
_WIDTH = 80
_CITY_WIDTH = 27
_LOT_WIDTH = 7


def text(
    position: dict[str, Any], last_move: LastMove | None = None, seat: int | None = None, colour: bool = False
) -> str:
    """Return a Manhattan position as lines of text, at most 80 columns wide, without a line break at the end.

    `position` is a valid position in JSON notation. The cities are shown from the south seat; a tower
    is the letter of its owner and its storeys. `seat` is the viewer: the own hand comes first, other hands are
    face down, and are counted together with the deck. With None player 0 comes first and everything is open.
    With `colour` the text has ANSI codes and is otherwise the same. Raises KeyError for a
    position that lacks a key.
    """
    seen = view_position(position, seat)
    lines = [
        f"Manhattan, {options_words(position)}",
        round_sentence(position),
        paint(status_sentence(position, seen), STRONG),
    ]
    if last_move is not None:
        lines.append(paint(f"Last move: {last_move_sentence(last_move, position)}", LAST_MOVE))
    for row in (CITIES[:3], CITIES[3:]):
        lines += ["", *_cities(position, row, last_move)]
    lines += ["", *_mixed_towers(position), ""]
    for player in player_order(position, seat):
        lines += _player(position, seen, player)
    lines += ["", *_cards(position, seen, seat), "", *_tally(position), "", *_legend(position)]
    return join_columns(lines, colour)


def _cities(position: dict[str, Any], cities: tuple[str, ...], last_move: LastMove | None) -> list[str]:
    """Return some cities side by side: name and majority, then the rows of lots."""
    heading = ""
    for city in cities:
        holder = majority(position, city)
        most = "no majority" if holder is None else paint(f"{holder} majority", STRONG)
        heading += pad(f"{city_title(city)}, {most}", _CITY_WIDTH)
    marks = _marks(position, last_move)
    lines = [heading]
    for first in range(0, NUM_LOTS, 3):
        line = ""
        for city in cities:
            lots = range(first, first + 3)
            cells = [_lot(position["cities"][city][lot]) + marks.get((city, lot), "") for lot in lots]
            line += pad("  " + "".join(pad(cell, _LOT_WIDTH) for cell in cells), _CITY_WIDTH)
        lines.append(line)
    return lines


def _marks(position: dict[str, Any], last_move: LastMove | None) -> dict[tuple[str, int], str]:
    """Return the marks behind towers, by city and lot."""
    marks = {}
    first = tallest(position)
    if first.alone:
        marks[first.lots[0]] = paint(_TALLEST_MARK, STRONG)
    if last_move is not None and "city" in last_move.move:
        move = last_move.move
        place = move["city"], lot_of_card(position, last_move.player, move["card"])
        marks[place] = marks.get(place, "") + paint(_LAST_MARK, LAST_MOVE)
    return marks


def _lot(tower: dict[str, Any] | None) -> str:
    return paint(_EMPTY, FAINT) if tower is None else _storeys(tower["owner"], height(tower))


def _storeys(colour: str, count: int) -> str:
    return paint(f"{COLOUR_LETTERS[colour]}{count}", _CODES[colour])


def _mixed_towers(position: dict[str, Any]) -> list[str]:
    """Return the towers of more than one colour by city: the lot, and the storeys of each colour."""
    lines = []
    for city in CITIES:
        fractions = {lot: layers(tower) for lot, tower in enumerate(position["cities"][city]) if tower is not None}
        towers = [
            f"{lot}: " + " ".join(_storeys(colour, count) for colour, count in parts)
            for lot, parts in fractions.items()
            if len(parts) > 1
        ]
        lines += _wrap(f"  {city_title(city)}", towers) if towers else []
    return ["Towers of several colours, by lot", *lines] if lines else ["No towers of several colours"]


def _wrap(heading: str, pieces: list[str]) -> list[str]:
    """Return a heading followed by pieces, on as many lines as needed."""
    indent = 14
    lines = [pad(heading, indent)]
    for piece in pieces:
        if len(plain(lines[-1])) + len(plain(piece)) > _WIDTH:
            lines.append(" " * indent)
        lines[-1] += piece + "   "
    return lines


def _player(position: dict[str, Any], seen: PlayerView, player: int) -> list[str]:
    """Return a player's score and hand, and a line for the parts of each colour."""
    heading = f"Player {player}, {seat_name(position, player)}: {points_words(position['scores'][player])}"
    if player == position["start"]:
        heading += ", started"
    if "result" in position:
        heading = paint(f"{heading}, winner", STRONG) if player in position["result"]["winners"] else heading
    elif player == position["to_move"]:
        heading = paint(f"{heading}, to move", STRONG)
    hand = seen.hands[player]
    cards = " ".join(paint(_FACE_DOWN, FAINT) if card is None else str(card) for card in hand)
    lots = " ".join(str(lot_of_card(position, player, card)) for card in hand if card is not None)
    lines = [pad(heading, 47) + f"cards {cards}" + (f"  lots {lots}" if lots else "")]
    for colour in player_colours(position, player):
        to_build = " ".join(str(size) for size in part_sizes(position["drafted"][colour])) or nothing_to_build(position)
        in_box = "  ".join(f"{position['reserve'][colour][str(size)]}x{size}" for size in range(1, 5))
        name = paint(f"{COLOUR_LETTERS[colour]} {colour}", _CODES[colour])
        lines.append(pad(f"  {pad(name, 9)}to build {to_build}", 47) + f"in the box  {in_box}")
    return lines


def _cards(position: dict[str, Any], seen: PlayerView, seat: int | None) -> list[str]:
    """Return the size of the deck, and a table of the hidden and the face-up cards."""
    title = counts_title(seat)
    return [
        f"Deck: {pluralize(seen.deck_size, 'card')}",
        paint(f"  {pad('card', 24)}{'  '.join(str(card) for card in range(NUM_CARDS))}", FAINT),
        f"  {pad(title, 24)}{_counts(seen.counts)}",
        f"  {pad('face up', 24)}{_counts(discards(position))}",
    ]


def _counts(counts: list[int]) -> str:
    return "  ".join(str(count) if count else paint(_EMPTY, FAINT) for count in counts)


def _tally(position: dict[str, Any]) -> list[str]:
    """Return a table of the towers' current points."""
    lines = [f"{pad(tally_title(position), 26)}towers x1  cities x2  tallest x3  points"]
    for colour, worth in tally(position).items():
        name = paint(f"{COLOUR_LETTERS[colour]} {colour}", _CODES[colour])
        counts = f"{worth.towers:9}{worth.majorities:11}{worth.tallest:12}{worth.points:8}"
        lines.append(f"  {pad(name, 24)}{counts}")
    return [*lines, f"Tallest tower: {tallest_sentence(tallest(position))}"]


def _legend(position: dict[str, Any]) -> list[str]:
    names = colours_in_game(position)
    colours = "  ".join(paint(f"{COLOUR_LETTERS[name]} {name}", _CODES[name]) for name in names)
    lots = "lots 0 1 2 far, 6 7 8 near, as seen from south"
    marks = f"{_TALLEST_MARK} tallest tower  {_LAST_MARK} last move  {_FACE_DOWN} face down"
    return [f"{colours}  {_EMPTY} nothing", lots, marks]
