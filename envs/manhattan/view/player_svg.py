"""The drawing of a Manhattan player's card: score, hand, the parts of this round and those in the box."""

from __future__ import annotations

from typing import Any

from ...records.notation import LastMove
from ...view.captions import points, winners
from ...view.stroke_font import letters, text_width
from ...view.svg import Box, element, fade
from ...view.svg_theme import (
    CARD,
    CARD_EDGE,
    INK,
    MUTED,
    TURN,
    WINNER,
    last_move_mark,
    pill,
    pill_width,
    player_card,
    player_colour,
)
from ..player_view import Card, PlayerView
from ..state import HAND_SIZE, NUM_SIZES, parts_per_round
from .captions import nothing_to_build, part_sizes
from .tower_svg import building_card, colour_plate, stack, stack_depth
from .towers import lot_of_card, player_colours, seat_name

_HEAD = 102.0  # the height of name, score, seat and notes
_HAND = 96.0
_PARTS = 150.0
_PADDING = 20.0
_HAND_COLUMN = 214.0  # where it stands beside the parts
_COLUMN_GAP = 22.0
_LARGEST_CARD = 50.0
_PART_FRONT, _PART_STOREY = 20.0, 7.0
_BOX_FRONT, _BOX_STOREY = 13.0, 4.4


def player_height(num_players: int) -> float:
    """Return the height of a player's card; with two players its parts are side by side."""
    return _HEAD + _PARTS if num_players == 2 else _HEAD + _HAND + _PARTS


def player(position: dict[str, Any], seen: PlayerView, index: int, box: Box, last_move: LastMove | None) -> str:
    """Return the card of player `index` drawn into `box`."""
    colours = player_colours(position, index)
    inner = box.grown(-_PADDING)
    head = Box(inner.x, box.y, inner.width, _HEAD)
    parts = [_head(position, index, box)]
    if len(colours) == 1:
        hand = Box(inner.x, head.y + _HEAD, inner.width, _HAND)
        stock = [Box(inner.x, hand.y + _HAND, inner.width, _PARTS)]
    else:
        hand = Box(inner.x, head.y + _HEAD, _HAND_COLUMN, _PARTS)
        width = (inner.width - _HAND_COLUMN - 2 * _COLUMN_GAP) / 2
        first = inner.x + _HAND_COLUMN + _COLUMN_GAP
        stock = [Box(first + place * (width + _COLUMN_GAP), hand.y, width, _PARTS) for place in range(2)]
    parts.append(_hand(position, seen.hands[index], index, hand))
    marked = None
    if last_move is not None and last_move.player == index:
        marked = last_move.move["colour"] if "draft" in last_move.move else None
    for colour, place in zip(colours, stock, strict=True):
        parts.append(_stock(position, colour, place, colour == marked))
    return "".join(parts)


def _head(position: dict[str, Any], index: int, box: Box) -> str:
    to_move, winner = index == position.get("to_move"), index in winners(position)
    middle, right = box.y + 35, box.x + box.width - _PADDING
    score = position["scores"][index]
    unit_x = right - text_width(points(score), 14)
    parts = [
        player_card(box, to_move, winner),
        element("circle", cx=box.x + 33, cy=middle, r=15.5, fill=player_colour(to_move, winner)),
        letters(str(index), box.x + 33, middle + 7.5, 21, "#FFFFFF", bold=True, anchor="middle"),
        letters(f"Player {index}", box.x + 57, middle + 7, 19, INK, bold=True),
        letters(points(score), right, middle + 10, 14, MUTED, anchor="end"),
        letters(str(score), unit_x - 8, middle + 10, 32, INK, bold=True, anchor="end"),
        letters(f"{seat_name(position, index)} seat", box.x + _PADDING, box.y + 85, 15, MUTED),
    ]
    x = right
    if winner or to_move:
        note, colour = ("winner", WINNER) if winner else ("to move", TURN)
        x -= pill_width(note, 13)
        parts.append(pill(note, x, box.y + 80, 13, "#FFFFFF", colour))
        x -= 6
    if index == position["start"]:
        x -= pill_width("started", 13)
        parts.append(pill("started", x, box.y + 80, 13, MUTED, CARD, CARD_EDGE))
    return "".join(parts)


def _hand(position: dict[str, Any], cards: list[Card], index: int, box: Box) -> str:
    """Return the cards as their holder sees them, each with its lot."""
    pitch = box.width / HAND_SIZE
    size = min(_LARGEST_CARD, pitch - 9)
    parts = []
    for place, card in enumerate(cards):
        x = box.x + place * pitch
        parts.append(building_card(card, x, box.y, size))
        if card is not None:
            lot = lot_of_card(position, index, card)
            parts.append(letters(f"card {card}", x + size / 2, box.y + size + 16, 12, MUTED, anchor="middle"))
            parts.append(letters(f"lot {lot}", x + size / 2, box.y + size + 32, 13, INK, bold=True, anchor="middle"))
    return "".join(parts)


def _stock(position: dict[str, Any], colour: str, box: Box, marked: bool) -> str:
    """Return the parts of a colour: those drafted and not yet placed, and how many of each size are in the box."""
    sizes = part_sizes(position["drafted"][colour])
    pitch = box.width / parts_per_round(position["options"]["num_players"])
    ground = box.y + 64
    parts = [
        element("path", d=f"M{box.x:.2f} {ground + 0.75:.2f} h{box.width:.2f}", stroke=CARD_EDGE, stroke_width=1.5),
        colour_plate(colour, box.x, box.y, 20),
        letters(colour, box.x + 27, box.y + 15, 15, INK, bold=True),
        letters("to build", box.x + box.width, box.y + 15, 13, MUTED, anchor="end"),
    ]
    for place, size in enumerate(sizes):
        parts.append(stack([(colour, size)], box.x + 3 + place * pitch, ground, _PART_FRONT, _PART_STOREY))
    if not sizes:
        parts.append(letters(nothing_to_build(position), box.x + 2, ground - 7, 13, MUTED))
    if marked:
        width = (len(sizes) - 1) * pitch + _PART_FRONT + stack_depth(_PART_FRONT)[0]
        parts.append(last_move_mark(Box(box.x + 3, ground - 33, width, 34).grown(4), 6))
    return "".join(parts) + _reserve(position["reserve"][colour], colour, box._replace(y=ground + 14))


def _reserve(parts_left: dict[str, int], colour: str, box: Box) -> str:
    ground, pitch = box.y + 35, box.width / NUM_SIZES
    deep = stack_depth(_BOX_FRONT)[0]
    parts = [letters("in the box", box.x, box.y + 9, 13, MUTED)]
    for size in range(1, NUM_SIZES + 1):
        x, count = box.x + 3 + (size - 1) * pitch, parts_left[str(size)]
        shown = stack([(colour, size)], x, ground, _BOX_FRONT, _BOX_STOREY)
        parts.append(shown if count else fade(shown, CARD, 0.25))
        ink, middle = INK if count else CARD_EDGE, x + (_BOX_FRONT + deep) / 2
        parts.append(letters(str(count), middle, ground + 17, 14, ink, bold=count > 0, anchor="middle"))
    return "".join(parts)
