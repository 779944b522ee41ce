"""Pictures and text of Qwirkle positions, and what they keep from whom."""

from __future__ import annotations

import copy
import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from meeplezoo.envs.qwirkle.view.captions import last_move_sentence, options_words, status_sentence, turn_sentence
from meeplezoo.envs.qwirkle.view.svg import svg
from meeplezoo.envs.qwirkle.view.text import text
from meeplezoo.envs.records.notation import LastMove
from meeplezoo.envs.view.pixels import rgb_array
from meeplezoo.envs.view.stroke_font import letters, text_width
from meeplezoo.envs.view.svg_theme import MARGIN, WIDTH, pill_width

SVG = "{http://www.w3.org/2000/svg}"
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple")
SHAPES = ("circle", "cross", "diamond", "square", "star", "clover")
KINDS = [f"{colour} {shape}" for colour in COLOURS for shape in SHAPES]

PICK = LastMove(1, {"pick": "red star"})
PLACE = LastMove(1, {"place": [2, 1]})
RETURN = LastMove(1, {"return": "green cross"})
END = LastMove(0, {"end": True})

TABLE = [
    ([0, 0], "red circle"),
    ([1, 0], "red cross"),
    ([2, 0], "red diamond"),
    ([2, 1], "blue diamond"),
    ([2, 2], "green diamond"),
]
HANDS = [
    ["orange circle", "orange circle", "yellow star", "green clover", "blue square", "purple cross"],
    ["yellow circle", "green cross", "green cross", "purple clover"],
    ["red clover", "orange square", "yellow diamond", "green star", "blue cross", "purple circle"],
    ["red cross", "orange diamond", "yellow clover", "green square", "blue circle", "purple star"],
]


def with_bag(position: dict[str, Any], size: int | None = None) -> dict[str, Any]:
    """The position with all tiles in the bag that lie nowhere else, or with only the first `size` of them."""
    turn = position["turn"]
    used = Counter(item["tile"] for item in position["board"])
    used.update([*turn["returned"], *([turn["picked"]] if turn["picked"] else [])])
    for hand in position["hands"]:
        used.update(hand)
    rest = [kind for kind in KINDS for _ in range(3 - used[kind])]
    return position | {"bag": dict(Counter(rest[:size]))}


def placing(num_players: int = 2, **changes: Any) -> dict[str, Any]:
    """Turn 7: player 1 has placed two diamonds and picked up a red star."""
    position: dict[str, Any] = {
        "game": "qwirkle",
        "options": {"num_players": num_players, "opening": "free", "board_size": 48, "max_turns": 200},
        "phase": "turn",
        "to_move": 1,
        "turn_number": 7,
        "passes": 0,
        "board": [{"at": list(at), "tile": tile} for at, tile in TABLE],
        "hands": copy.deepcopy(HANDS[:num_players]),
        "scores": [12, 37, 5, 1][:num_players],
        "turn": {"placed": [[2, 1], [2, 2]], "returned": [], "picked": "red star"},
    }
    position["hands"][1] = ["yellow circle", "green cross", "purple clover"]
    return with_bag(position | changes)


def exchanging(num_players: int = 2) -> dict[str, Any]:
    turn = {"placed": [], "returned": ["green cross", "red star"], "picked": None}
    position = placing(num_players, turn=turn)
    position["hands"][1] = ["yellow circle", "yellow circle", "green cross", "purple clover"]
    return with_bag(position)


def fresh(num_players: int = 2, opening: str = "strict") -> dict[str, Any]:
    """The first turn, nothing done yet."""
    position = placing(num_players, board=[], turn={"placed": [], "returned": [], "picked": None}, turn_number=1)
    position["options"]["opening"] = opening
    position["hands"][1] = ["yellow circle", "yellow circle", "green cross", "purple clover", "blue star", "red star"]
    return with_bag(position | {"scores": [0] * num_players})


def finished(truncated: bool = False) -> dict[str, Any]:
    position = placing(phase="over", turn={"placed": [], "returned": [], "picked": None})
    position["hands"] = [["orange circle"], []]
    del position["to_move"]
    position["result"] = {"scores": [12, 37], "winners": [1], "truncated": truncated}
    return with_bag(position, 0)


def wide(columns: int, rows: int) -> dict[str, Any]:
    """A table with a row and a column of the given lengths through [0, 0]; no legal one."""
    cells = [[x, 0] for x in range(-(columns // 2), columns - columns // 2)]
    cells += [[0, y] for y in range(-(rows // 2), rows - rows // 2) if y]
    board = [{"at": at, "tile": KINDS[index % 36]} for index, at in enumerate(cells)]
    return placing() | {"board": board, "turn": {"placed": [], "returned": [], "picked": None}}


POSITIONS: dict[str, tuple[dict[str, Any], LastMove | None]] = {
    "first turn": (fresh(), None),
    "first turn, free": (fresh(4, "free"), END),
    "two players, after a pick": (placing(), PICK),
    "three players, after a placement": (placing(3), PLACE),
    "four players": (placing(4), PLACE),
    "exchange": (exchanging(4), RETURN),
    "passes": (placing(3, passes=2, turn={"placed": [], "returned": [], "picked": None}), END),
    "wide": (wide(23, 12), None),
    "high": (wide(12, 30), None),
    "finished": (finished(), PLACE),
    "cut off": (finished(truncated=True), None),
}

CHANGES: list[tuple[tuple[str | int, ...], Any]] = [
    (("scores", 0), 13),
    (("to_move",), 0),
    (("turn_number",), 8),
    (("passes",), 1),
    (("options", "opening"), "strict"),
    (("options", "board_size"), 92),
    (("options", "max_turns"), 199),
    (("board", 0, "tile"), "orange circle"),
    (("board", 0, "tile"), "red square"),
    (("board", 0, "at"), [1, 1]),
    (("board", 0, "at"), [3, 0]),
    (("hands", 0, 5), "purple star"),
    (("hands", 1), ["yellow circle", "green cross"]),
    (("bag", "red circle"), 1),
    (("turn", "placed"), [[2, 2]]),
    (("turn", "placed"), [[2, 2], [2, 1]]),
    (("turn", "placed"), []),
    (("turn", "picked"), None),
    (("turn", "picked"), "red square"),
    (("turn", "returned"), ["red square"]),
]


def changed(position: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    copied = copy.deepcopy(position)
    place: Any = copied
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copied


def words(picture: str) -> list[str]:
    """Every line of text that the picture shows."""
    paths = ElementTree.fromstring(picture).iter(f"{SVG}path")
    return [path.attrib["aria-label"] for path in paths if "aria-label" in path.attrib]


def tiles(picture: str) -> list[tuple[str, float, float, float]]:
    """Every tile that the picture shows: its kind or "back", the middle, the length of a side."""
    found = []
    for use in ElementTree.fromstring(picture).iter(f"{SVG}use"):
        numbers = re.findall(r"-?[\d.]+", use.attrib["transform"])
        x, y, scale = map(float, numbers)
        found.append((use.attrib["href"].removeprefix("#qwirkle-").replace("-", " "), x, y, 100 * scale))
    return found


@pytest.mark.parametrize("seat", [None, 0, 1])
@pytest.mark.parametrize("name", POSITIONS)
def test_picture_is_xml_of_its_own(name: str, seat: int | None) -> None:
    position, last_move = POSITIONS[name]
    root = ElementTree.fromstring(svg(position, last_move, seat))
    assert root.tag == f"{SVG}svg"
    assert float(root.attrib["width"]) == 1200
    assert 800 < float(root.attrib["height"]) < 1250
    defined = {node.attrib["id"] for node in root.iter() if "id" in node.attrib}
    used = {node.attrib["href"].removeprefix("#") for node in root.iter(f"{SVG}use")}
    assert used <= defined
    assert not list(root.iter(f"{SVG}text")), "a font would be needed"


@pytest.mark.parametrize("name", POSITIONS)
def test_drawing_leaves_the_position_alone(name: str) -> None:
    position, last_move = POSITIONS[name]
    before = copy.deepcopy(position)
    for seat in (None, 1):
        assert svg(position, last_move, seat) == svg(position, last_move, seat)
        assert text(position, last_move, seat) == text(position, last_move, seat)
    assert position == before


@pytest.mark.parametrize(("path", "value"), CHANGES, ids=[f"{path} {value}" for path, value in CHANGES])
def test_every_part_of_a_position_is_shown(path: tuple[str | int, ...], value: Any) -> None:
    position = placing()
    other = changed(position, path, value)
    assert svg(position) != svg(other)
    assert text(position) != text(other)


def test_order_of_lists_changes_nothing() -> None:
    position = exchanging()
    other = copy.deepcopy(position)
    other["hands"][0].reverse()
    other["turn"]["returned"].reverse()
    other["bag"] = dict(reversed(position["bag"].items()))
    assert position != other
    assert svg(position) == svg(other)
    assert text(position) == text(other)


def swapped(position: dict[str, Any], hidden: list[str]) -> dict[str, Any]:
    """The position with all tiles of the list `hidden` (a part of it) exchanged for tiles of the bag."""
    old = list(hidden)
    new = [kind for kind in reversed(KINDS) if position["bag"].get(kind, 0) and kind not in old][: len(old)]
    assert len(new) == len(old) > 0
    hidden[:] = new
    bag = Counter(position["bag"])
    bag.subtract(new)
    bag.update(old)
    position["bag"] = {kind: count for kind, count in bag.items() if count}
    return position


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("make", [placing, exchanging])
def test_other_hands_are_hidden(make: Any, num_players: int) -> None:
    position = make(num_players)
    for seat in range(num_players):
        for player in range(num_players):
            other = copy.deepcopy(position)
            swapped(other, other["hands"][player])
            same = player != seat
            assert (svg(position, PLACE, seat) == svg(other, PLACE, seat)) is same
            assert (text(position, PLACE, seat) == text(other, PLACE, seat)) is same
            assert svg(position) != svg(other)
            assert text(position) != text(other)


def test_hands_stay_hidden_at_the_end() -> None:
    position = changed(finished(), ("hands", 0), ["purple star"])
    assert svg(finished(), seat=1) == svg(position, seat=1)
    assert text(finished(), seat=1) == text(position, seat=1)
    assert svg(finished(), seat=0) != svg(position, seat=0)


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_tiles_laid_aside_are_hidden_from_others(seat: int | None) -> None:
    position = exchanging(3)
    other = copy.deepcopy(position)
    swapped(other, other["turn"]["returned"])
    other_return = LastMove(1, {"return": other["turn"]["returned"][0]})
    same = seat in (0, 2)
    assert (svg(position, RETURN, seat) == svg(other, other_return, seat)) is same
    assert (text(position, RETURN, seat) == text(other, other_return, seat)) is same
    sentence = "Player 1 laid a tile aside" if same else "Player 1 laid the green cross aside"
    assert sentence in words(svg(position, RETURN, seat))
    assert f"Last move: {sentence}\n" in text(position, RETURN, seat)
    assert ("This turn: laid aside ?? ??" in text(position, RETURN, seat)) is same
    assert ("This turn: laid aside R* Gx" in text(position, RETURN, seat)) is not same


def test_picked_tile_is_seen_by_all() -> None:
    for seat in (None, 0, 1):
        other = changed(placing(), ("turn", "picked"), "blue star")
        assert svg(placing(), seat=seat) != svg(other, seat=seat)
        assert "picked up R*" in text(placing(), seat=seat)
        assert "Player 1 picked up the red star" in words(svg(placing(), PICK, seat))


@pytest.mark.parametrize("make", [placing, exchanging])
@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_counts_by_kind(seat: int | None, make: Any) -> None:
    position = make(3)
    expected = Counter(position["bag"])
    if seat is not None:
        for player in range(3):
            expected.update(position["hands"][player] if player != seat else [])
        expected.update(position["turn"]["returned"] if seat != 1 else [])
    shown = text(position, seat=seat).split("\n")
    title = "In the bag:" if seat is None else f"Not seen by player {seat}:"
    first = next(index for index, line in enumerate(shown) if line.endswith(title)) + 2
    rows = [re.search(r"\w [\d·](?: [\d·]){5}$", line) for line in shown[first : first + 6]]
    counts = [int(count.replace("·", "0")) for row in rows if row for count in row.group().split()[1:]]
    assert dict(zip(KINDS, counts, strict=True)) == {kind: expected[kind] for kind in KINDS}
    in_picture = words(svg(position, seat=seat))
    panel = in_picture[in_picture.index("By kind" if seat is None else title[:-1]) :]
    assert [int(word) for word in panel if re.fullmatch(r"\d", word)][:36] == counts
    assert f"{sum(position['bag'].values())} tiles" in in_picture
    assert f"Bag: {sum(position['bag'].values())} tiles" in text(position, seat=seat)


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_seat_comes_first(seat: int | None) -> None:
    headings = [line for line in words(svg(placing(3), seat=seat)) if re.fullmatch(r"Player \d", line)]
    first = seat or 0
    assert headings == [f"Player {(first + place) % 3}" for place in range(3)]
    in_text = re.findall(r"Player (\d): \d+ point", text(placing(3), seat=seat))
    assert in_text == [str((first + place) % 3) for place in range(3)]


def test_hands_as_tiles() -> None:
    hidden = [kind for kind, _, _, _ in tiles(svg(placing(3), seat=0))].count("back")
    assert hidden == 3 + 6
    assert "back" not in [kind for kind, _, _, _ in tiles(svg(placing(3)))]
    shown = text(placing(3), seat=0)
    assert re.search(r"Player 0: 12 points +Oo Oo Y\* Gc Bs Px ", shown)
    assert re.search(r"Player 1: 37 points, to move +\?\? \?\? \?\?  ", shown)
    assert {"6 tiles in hand", "3 tiles in hand"} <= set(words(svg(placing(3), seat=0)))


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (7, 3), (23, 12), (12, 30), (47, 47)])
def test_table_fits_its_place(columns: int, rows: int) -> None:
    picture = svg(wide(columns, rows))
    height = float(ElementTree.fromstring(picture).attrib["height"])
    on_table = tiles(picture)[: columns + rows - 1]
    side = on_table[0][3]
    assert len({shown[3] for shown in on_table}) == 1
    for index, (_, x, y, _) in enumerate(on_table):
        assert MARGIN < x - side < x + side < WIDTH - MARGIN
        assert MARGIN < y - side < y + side < height - MARGIN
        assert all(max(abs(x - left), abs(y - top)) > side for _, left, top, _ in on_table[:index])


def test_tiles_become_smaller_as_the_table_grows() -> None:
    sizes = [tiles(svg(wide(length, 5)))[0][3] for length in (3, 10, 15, 20, 30, 45)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    assert tiles(svg(wide(20, 17)))[0][3] > 30


@pytest.mark.parametrize(
    ("position", "task"),
    [
        (fresh(), "pick up a tile of the largest set"),
        (fresh(opening="free"), "pick up a tile or lay one aside"),
        (fresh(opening="free") | {"bag": {}}, "pick up a tile or pass"),
        (placing(), "place the red star"),
        (changed(placing(), ("turn", "picked"), None), "pick up a tile or end the turn"),
        (exchanging(), "lay aside a tile or end the turn"),
    ],
)
def test_status_names_the_task(position: dict[str, Any], task: str) -> None:
    sentence = f"Player 1 to move: {task}"
    assert sentence in words(svg(position))
    assert sentence in text(position).split("\n")


def test_strict_opening_cannot_be_ended_early() -> None:
    position = changed(fresh(), ("turn", "placed"), [[0, 0]]) | {"board": [{"at": [0, 0], "tile": "red circle"}]}
    assert status_sentence(position) == "Player 1 to move: pick up the next tile"


def test_result_is_shown() -> None:
    sentence = "Game over: player 1 wins (12 : 37)"
    for shown in (words(svg(finished())), text(finished()).split("\n")):
        assert sentence in shown
        assert not any("ut off by the turn limit" in line for line in shown)
    assert "cut off by the turn limit" in words(svg(finished(truncated=True)))
    assert "Cut off by the turn limit" in text(finished(truncated=True)).split("\n")
    assert "winner" in words(svg(finished()))
    shared = changed(finished(), ("result", "winners"), [0, 1])
    assert "Game over: players 0 and 1 share the win (12 : 37)" in words(svg(shared))
    assert words(svg(shared)).count("winner") == 2


@pytest.mark.parametrize(
    ("position", "last_move", "sentence", "marks"),
    [
        (placing(), PICK, "Player 1 picked up the red star", 2),
        (placing(), PLACE, "Player 1 placed the blue diamond at [2, 1]", 2),
        (exchanging(), RETURN, "Player 1 laid the green cross aside", 2),
        (placing(), END, "Player 0 ended the turn", 1),
        (placing(passes=1), END, "Player 0 passed", 1),
        (finished(), PLACE, "Player 1 placed the blue diamond at [2, 1]", 2),
    ],
)
def test_last_move_is_marked(position: dict[str, Any], last_move: LastMove, sentence: str, marks: int) -> None:
    assert last_move_sentence(last_move, position) == sentence
    assert sentence in words(svg(position, last_move))
    assert f"Last move: {sentence}" in text(position, last_move).split("\n")
    assert svg(position, last_move).count("stroke-dasharray") == marks, "beside the sentence and at the place"
    assert "stroke-dasharray" not in svg(position)


def test_first_line_of_the_picture_fits() -> None:
    options = {"num_players": 4, "opening": "strict", "board_size": 92, "max_turns": 10_000}
    position = placing(4, options=options, turn_number=10_000, passes=3)
    position["board"].append({"at": [-10, -10], "tile": "orange diamond"})
    sentence = last_move_sentence(LastMove(0, {"place": [-10, -10]}), position)
    room = WIDTH - 2 * MARGIN
    below = f"{turn_sentence(position)}, {options_words(position)}"
    assert below in words(svg(position))
    assert text_width(below, 17) + text_width(sentence, 17) + 50 < room
    status = status_sentence(changed(exchanging(), ("turn", "picked"), None))
    result = status_sentence(
        finished() | {"result": {"scores": [200, 200, 200, 200], "winners": [0, 1, 2, 3], "truncated": True}}
    )
    title = text_width("Qwirkle", 50)
    assert title + pill_width(status, 21) < room
    assert title + pill_width(result, 21) + pill_width("cut off by the turn limit", 17) + 24 < room


def test_every_character_shown_has_a_drawing() -> None:
    def strokes(character: str) -> str:
        return ElementTree.fromstring(letters(character, 0, 0, 100, "black")).attrib["d"]

    missing = strokes("\N{SNOWMAN}")
    shown = {
        character for position, move in POSITIONS.values() for line in words(svg(position, move)) for character in line
    }
    assert [character for character in sorted(shown - {" "}) if strokes(character) == missing] == []


def test_pixels() -> None:
    pytest.importorskip("pygame")
    rgb = rgb_array(svg(placing(), PLACE), width=600)
    assert rgb.shape[1:] == (600, 3)
    assert len(np.unique(rgb.reshape(-1, 3), axis=0)) > 50
    for other in (changed(placing(), ("board", 0, "tile"), "orange circle"), changed(placing(), ("scores", 0), 8)):
        assert not np.array_equal(rgb, rgb_array(svg(other, PLACE), width=600))


def test_every_kind_of_tile_looks_different() -> None:
    pytest.importorskip("pygame")
    board = [{"at": [index % 6, index // 6], "tile": kind} for index, kind in enumerate(KINDS)]
    picture = svg(placing(board=board, turn={"placed": [], "returned": [], "picked": None}))
    rgb = rgb_array(picture, width=1200)
    pixels = {}
    for kind, x, y, side in tiles(picture)[:36]:
        left, top, size = round(x - side / 2), round(y - side / 2), round(side)
        pixels[kind] = rgb[top : top + size, left : left + size].astype(int)
    assert list(pixels) == KINDS
    for index, kind in enumerate(KINDS):
        for other in KINDS[:index]:
            assert (np.abs(pixels[kind] - pixels[other]).sum(axis=2) > 90).mean() > 0.02, (kind, other)


@pytest.mark.parametrize("seat", [None, 1])
@pytest.mark.parametrize("name", [name for name in POSITIONS if name != "wide"])
def test_text_fits_the_terminal(name: str, seat: int | None) -> None:
    position, last_move = POSITIONS[name]
    plain = text(position, last_move, seat)
    assert "\x1b" not in plain
    assert max(map(len, plain.split("\n"))) <= 80
    for index, score in enumerate(position["scores"]):
        assert f"Player {index}: {score} point" in plain


def test_full_turn_fits_the_terminal() -> None:
    cells = [[x, 0] for x in range(6)]
    board = [{"at": at, "tile": KINDS[index]} for index, at in enumerate(cells)]
    turn = {"placed": cells[:5], "returned": [], "picked": KINDS[5]}
    lines = text(placing(board=board[:5], turn=turn)).split("\n")
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("This turn: placed Ro Rx Rd Rs R*; picked up Rc   ") for line in lines)


@pytest.mark.parametrize("seat", [None, 0])
@pytest.mark.parametrize("name", POSITIONS)
def test_coloured_text_reads_like_the_plain_one(name: str, seat: int | None) -> None:
    position, last_move = POSITIONS[name]
    coloured = text(position, last_move, seat, colour=True)
    assert "\x1b[" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == text(position, last_move, seat)


def test_text_of_a_position() -> None:
    assert text(placing(), LastMove(1, {"place": [2, 2]}), seat=1).split("\n") == [
        "Qwirkle, free opening, table up to 47 x 47",
        "Turn 7 of at most 200",
        "Player 1 to move: place the red star",
        "Last move: Player 1 placed the green diamond at [2, 2]",
        "",
        " y\\x -1  0  1  2  3",
        "  -1  ·  ·  ·  ·  ·",
        "   0  · Ro Rx Rd  ·",
        "   1  ·  ·  · Bd1 ·",
        "   2  ·  ·  · Gd< ·",
        "   3  ·  ·  ·  ·  ·",
        "",
        "This turn: placed Bd Gd; picked up R*                 Not seen by player 1:",
        "                                                         o x d s * c",
        "Player 1: 37 points, to move   Yo Gx Pc                R 2 2 2 3 2 3",
        "Player 0: 12 points            ?? ?? ?? ?? ?? ??       O 3 3 3 3 3 3",
        "                                                       Y 2 3 3 3 3 3",
        "Bag: 93 tiles                                          G 3 2 2 3 3 3",
        "                                                       B 3 3 2 3 3 3",
        "                                                       P 3 3 3 3 3 2",
        "",
        "R red  O orange  Y yellow  G green  B blue  P purple",
        "o circle  x cross  d diamond  s square  * star  c clover",
        "1-6 placed in this turn, in this order  < last move  ?? face down",
    ]


def test_coordinates_of_a_wide_text_stay_apart() -> None:
    heading = next(line for line in text(wide(23, 3)).split("\n") if line.startswith(" y\\x"))
    assert heading == " y\\x-12   -10" + "".join(f"{x:3}" for x in range(-9, 13))
