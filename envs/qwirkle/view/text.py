"""A Qwirkle position as plain text for the terminal."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from ...records.notation import LastMove
from ...system.messages import pluralize
from ...view.ansi import FAINT, LAST_MOVE, STRONG, join_columns, pad, paint
from ...view.captions import player_order, points
from ..player_view import Kind, PlayerView, view_move, view_position, window
from ..state import COLOURS, SHAPES
from .captions import counts_title, last_move_sentence, options_words, status_sentence, turn_sentence

_SHAPE_LETTERS = {"circle": "o", "cross": "x", "diamond": "d", "square": "s", "star": "*", "clover": "c"}
_CODES = {  # bright on a dark background, like the tiles
    "red": "1;38;5;203;48;5;235",
    "orange": "1;38;5;208;48;5;235",
    "yellow": "1;38;5;227;48;5;235",
    "green": "1;38;5;41;48;5;235",
    "blue": "1;38;5;75;48;5;235",
    "purple": "1;38;5;177;48;5;235",
}
_FACE_DOWN = "??"
_EMPTY = "\N{MIDDLE DOT}"
_LAST_MARK = "<"
_HANDS_WIDTH = 54


def text(
    position: dict[str, Any], last_move: LastMove | None = None, seat: int | None = None, colour: bool = False
) -> str:
    """Return a Qwirkle position as lines of text, without a line break at the end.

    They are at most 80 columns wide as long as the table is not wider than 23 tiles. `position` is a valid
    position in JSON notation. `seat` is the viewer: the own hand comes first, other hands and tiles that
    others return are face down, and are counted together with the bag. With None player 0 comes first and
    everything is open. With `colour` the text has ANSI codes and is otherwise the same. A tile is the
    first letter of its colour and o (circle), x (cross), d (diamond), s (square), * (star) or c (clover).
    Raises KeyError for a position that lacks a key.
    """
    seen, move = view_position(position, seat), view_move(last_move, seat)
    lines = [f"Qwirkle, {options_words(position)}", turn_sentence(position), paint(status_sentence(position), STRONG)]
    if "result" in position and position["result"]["truncated"]:
        lines.append("Cut off by the turn limit")
    if move is not None:
        lines.append(paint(f"Last move: {last_move_sentence(move, position)}", LAST_MOVE))
    lines += ["", *_table(position, move), ""]
    hands = [_turn(position, seen), "", *(_hand(position, seen, player) for player in player_order(position, seat))]
    hands += ["", f"Bag: {pluralize(seen.bag_size, 'tile')}"]
    lines += [pad(left, _HANDS_WIDTH) + right for left, right in zip_longest(hands, _counts(seen, seat), fillvalue="")]
    return join_columns([*lines, "", *_legend()], colour)


def _table(position: dict[str, Any], last_move: LastMove | None) -> list[str]:
    """Return the rows of the table below a line of x coordinates; a cell is three columns wide."""
    columns, rows = window(position)
    laid = {tuple(item["at"]): item["tile"] for item in position["board"]}
    marks = {tuple(at): paint(str(count), STRONG) for count, at in enumerate(position["turn"]["placed"], start=1)}
    if last_move is not None and "place" in last_move.move:
        marks[tuple(last_move.move["place"])] = paint(_LAST_MARK, LAST_MOVE)
    # three columns are too few for -12 and -11 side by side
    numbers = [f"{x:3}" if x > -10 or x % 2 == 0 else "   " for x in columns]
    lines = [paint(f" y\\x{''.join(numbers)}", FAINT)]
    for y in rows:
        line = paint(f"{y:4}", FAINT) + " "
        for x in columns:
            cell = _tile(laid[x, y]) if (x, y) in laid else paint(f" {_EMPTY}", FAINT)
            line += cell + marks.get((x, y), " ")
        lines.append(line)
    return lines


def _turn(position: dict[str, Any], seen: PlayerView) -> str:
    """Return what the player to move has done in this turn."""
    if "result" in position:
        return "The game is over"
    turn = position["turn"]
    laid = {tuple(item["at"]): item["tile"] for item in position["board"]}
    done = []
    if turn["placed"]:
        done.append(f"placed {_tiles([laid[tuple(at)] for at in turn['placed']])}")
    if turn["picked"] is not None:
        done.append(f"picked up {_tile(turn['picked'])}")
    if seen.returned:
        done.append(f"laid aside {_tiles(seen.returned)}")
    return "This turn: " + ("; ".join(done) or "nothing yet")


def _hand(position: dict[str, Any], seen: PlayerView, player: int) -> str:
    score = position["scores"][player]
    heading = f"Player {player}: {score} {points(score)}"
    if "result" in position:
        heading = paint(f"{heading}, winner", STRONG) if player in position["result"]["winners"] else heading
    elif player == position["to_move"]:
        heading = paint(f"{heading}, to move", STRONG)
    return f"{pad(heading, 31)}{_tiles(seen.hands[player]) or _EMPTY}"


def _counts(seen: PlayerView, seat: int | None) -> list[str]:
    """Return a table of six by six, one row per colour, one column per shape."""
    title = "In the bag" if seat is None else counts_title(seat)
    lines = [f"{title}:", "   " + " ".join(_SHAPE_LETTERS[shape] for shape in SHAPES)]
    for colour in COLOURS:
        counts = [seen.counts[f"{colour} {shape}"] for shape in SHAPES]
        shown = " ".join(str(count) if count else paint(_EMPTY, FAINT) for count in counts)
        lines.append(f" {paint(colour[0].upper(), _CODES[colour])} {shown}")
    return lines


def _legend() -> list[str]:
    colours = "  ".join(f"{paint(name[0].upper(), _CODES[name])} {name}" for name in COLOURS)
    shapes = "  ".join(f"{letter} {name}" for name, letter in _SHAPE_LETTERS.items())
    marks = f"1-6 placed in this turn, in this order  {_LAST_MARK} last move  {_FACE_DOWN} face down"
    return [colours, shapes, marks]


def _tiles(tiles: list[Kind]) -> str:
    return " ".join(_tile(kind) for kind in tiles)


def _tile(kind: Kind) -> str:
    if kind is None:
        return paint(_FACE_DOWN, FAINT)
    colour, shape = kind.split(" ")
    return paint(colour[0].upper() + _SHAPE_LETTERS[shape], _CODES[colour])
