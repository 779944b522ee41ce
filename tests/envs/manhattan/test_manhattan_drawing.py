"""Pictures and text of Manhattan positions, and what they keep from whom."""

from __future__ import annotations

import copy
import re
from collections import Counter
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from reference_data import golden_files, read_lines

from meeplezoo.envs.manhattan.view.captions import last_move_sentence
from meeplezoo.envs.manhattan.view.svg import svg
from meeplezoo.envs.manhattan.view.text import text
from meeplezoo.envs.records.notation import LastMove
from meeplezoo.envs.view.pixels import rgb_array
from meeplezoo.envs.view.stroke_font import letters, text_width
from meeplezoo.envs.view.svg_theme import LAST_MOVE, MARGIN, WIDTH, pill_width

SVG = "{http://www.w3.org/2000/svg}"
COLOURS = ("blue", "black", "red", "green")
CITIES = ("manhattan", "sao paulo", "sydney", "cairo", "hong kong", "frankfurt")
LETTERS = {"blue": "B", "black": "K", "red": "R", "green": "G"}
LOTS = {  # of the cards 0 to 8, by seat
    "south": [0, 1, 2, 3, 4, 5, 6, 7, 8],
    "west": [2, 5, 8, 1, 4, 7, 0, 3, 6],
    "north": [8, 7, 6, 5, 4, 3, 2, 1, 0],
    "east": [6, 3, 0, 7, 4, 1, 8, 5, 2],
}
LARGEST_BOX = {"1": 11, "2": 6, "3": 4, "4": 3}
HANDS = [[0, 4, 4, 8], [1, 2, 5, 7], [3, 3, 6, 8], [0, 1, 6, 7]]
BUILD = LastMove(0, {"card": 2, "storeys": 3, "city": "cairo", "colour": "blue"})
DRAFT = LastMove(0, {"draft": {"1": 2, "2": 0, "3": 1, "4": 1}, "colour": "red"})
DISCARD = LastMove(1, {"discard": 5})


def tower(owner: str, **storeys: int) -> dict[str, Any]:
    return {"owner": owner, "storeys": storeys}


def parts(*counts: int) -> dict[str, int]:
    return {str(size): count for size, count in enumerate(counts, start=1)}


def with_deck(position: dict[str, Any]) -> dict[str, Any]:
    """The position with all cards in the deck that lie nowhere else."""
    used = Counter({int(card): count for card, count in position["discards"].items()})
    for hand in position["hands"]:
        used.update(hand)
    return position | {"deck": {str(card): 5 - used[card] for card in range(9) if used[card] < 5}}


def building(num_players: int = 4, seats: str = "opposite", **changes: Any) -> dict[str, Any]:
    """Round 2: player 1 is to build; the tallest tower is alone."""
    colours = COLOURS[: 3 if num_players == 3 else 4]
    cities: dict[str, list[Any]] = {city: [None] * 9 for city in CITIES}
    cities["cairo"][2] = tower("blue", blue=3, black=2, red=1)
    cities["cairo"][4] = tower("black", black=4)
    cities["cairo"][7] = tower("black", black=1)
    cities["sydney"][0] = tower("red", red=12, blue=3)
    cities["frankfurt"][8] = tower("black", blue=2, black=2)
    position: dict[str, Any] = {
        "game": "manhattan",
        "options": {"num_players": num_players, "seats": seats, "tiebreak": "towers"},
        "phase": "build",
        "to_move": 1,
        "round": 2,
        "start": 0,
        "cities": cities,
        "reserve": {colour: parts(7, 4, 2, 1) for colour in colours},
        "drafted": {colour: parts(1, 2, 0, 1) for colour in colours},
        "hands": copy.deepcopy(HANDS[:num_players]),
        "discards": {"2": 1, "5": 2},
        "scores": [12, 37, 5, 1][:num_players],
    }
    return with_deck(position | changes)


def drafting(num_players: int = 4) -> dict[str, Any]:
    """The first draft, or, with two players, the one after that of red."""
    position = building(num_players, phase="draft")
    for colour in position["drafted"]:
        position["drafted"][colour] = parts(2, 0, 1, 1) if colour in ("blue", "red") else parts(0, 0, 0, 0)
    return position | ({"colour": "black"} if num_players == 2 else {})


def fresh(num_players: int = 4) -> dict[str, Any]:
    position = drafting(num_players) | {"to_move": 0, "round": 1, "scores": [0] * num_players, "discards": {}}
    position["cities"] = {city: [None] * 9 for city in CITIES}
    for colour in position["drafted"]:
        position["reserve"][colour], position["drafted"][colour] = dict(LARGEST_BOX), parts(0, 0, 0, 0)
    return with_deck(position | ({"colour": "blue"} if num_players == 2 else {}))


def stuck() -> dict[str, Any]:
    """Player 1, in the west, holds four cards of the middle, where others have two storeys everywhere."""
    position = building()
    for city in CITIES:
        position["cities"][city][4] = tower("red", red=2)
    position["drafted"]["black"] = parts(2, 0, 0, 0)
    position["hands"] = [[0, 1, 1, 8], [4, 4, 4, 4], [3, 3, 6, 8], [0, 1, 6, 7]]
    return with_deck(position)


def finished(num_players: int = 4, winners: tuple[int, ...] = (1,)) -> dict[str, Any]:
    position = building(num_players, phase="over", round=4 if num_players == 4 else 6)
    del position["to_move"]
    for colour in position["drafted"]:
        position["drafted"][colour] = position["reserve"][colour] = parts(0, 0, 0, 0)
    return position | {"result": {"scores": position["scores"], "winners": list(winners), "truncated": False}}


def crowded(storeys: int) -> dict[str, Any]:
    """All lots have a tower of `storeys` storeys of each colour in the game; no reachable position."""
    position = building()
    for index, city in enumerate(CITIES):
        for lot in range(9):
            owner = COLOURS[(index + lot) % 4]
            position["cities"][city][lot] = tower(owner, **dict.fromkeys(COLOURS, storeys))
    return position


POSITIONS: dict[str, tuple[dict[str, Any], LastMove | None]] = {
    "start": (fresh(), None),
    "start, two players": (fresh(2), None),
    "draft": (drafting(), LastMove(2, DRAFT.move)),
    "draft, two players": (drafting(2), DRAFT),
    "draft, three players": (drafting(3), None),
    "build": (building(), BUILD),
    "build, two players": (building(2), BUILD),
    "build, adjacent": (building(2, "adjacent"), LastMove(1, BUILD.move | {"card": 0})),
    "build, three players": (building(3, start=1), BUILD),
    "stuck": (stuck(), BUILD),
    "discard": (building(to_move=2), DISCARD),
    "low towers": (crowded(1), None),
    "high towers": (crowded(11), BUILD),
    "all parts": (crowded(47), BUILD),
    "finished": (finished(), BUILD),
    "finished, two players": (finished(2, (0, 1)), None),
}

CHANGES: list[tuple[tuple[str | int, ...], Any]] = [
    (("scores", 0), 13),
    (("to_move",), 0),
    (("phase",), "draft"),
    (("round",), 3),
    (("start",), 1),
    (("options", "seats"), "adjacent"),
    (("options", "tiebreak"), "none"),
    (("cities", "cairo", 4), None),
    (("cities", "cairo", 4), tower("black", black=5)),
    (("cities", "cairo", 4), tower("blue", blue=4)),
    (("cities", "cairo", 4), tower("black", black=2, blue=2)),
    (("cities", "frankfurt", 8, "owner"), "blue"),
    (("cities", "hong kong", 6), tower("green", green=1)),
    (("reserve", "blue", "1"), 6),
    (("reserve", "green", "4"), 0),
    (("drafted", "blue", "2"), 1),
    (("drafted", "green", "4"), 0),
    (("hands", 0, 3), 7),
    (("deck", "0"), 1),
    (("discards", "2"), 2),
    (("discards",), {}),
]


def changed(position: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    copied = copy.deepcopy(position)
    place: Any = copied
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copied


class Rectangle(NamedTuple):
    """A place in the picture, by its four edges."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Rectangle) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def holds(self, other: Rectangle) -> bool:
        return (
            self.left <= other.left
            and self.top <= other.top
            and other.right <= self.right
            and other.bottom <= self.bottom
        )


def words(picture: str) -> list[str]:
    """Every line of text that the picture shows."""
    paths = ElementTree.fromstring(picture).iter(f"{SVG}path")
    return [path.attrib["aria-label"] for path in paths if "aria-label" in path.attrib]


def placed_words(picture: str) -> list[tuple[str, Rectangle]]:
    """Every upright line of text that the picture shows, and its place."""
    found = []
    for path in ElementTree.fromstring(picture).findall(f"{SVG}path"):
        if "aria-label" in path.attrib:
            x, y, scale = map(float, re.findall(r"-?[\d.]+", path.attrib["transform"]))
            width = text_width(path.attrib["aria-label"], 100 * scale)
            found.append((path.attrib["aria-label"], Rectangle(x, y - 70 * scale, x + width, y)))
    return found


def rectangles(picture: str, **attributes: str) -> list[Rectangle]:
    """Every upright rectangle with these attributes."""
    found = []
    for node in ElementTree.fromstring(picture).findall(f"{SVG}rect"):
        if all(node.attrib.get(key.replace("_", "-")) == value for key, value in attributes.items()):
            x, y, width, height = (float(node.attrib[key]) for key in ("x", "y", "width", "height"))
            found.append(Rectangle(x, y, x + width, y + height))
    return found


def lots(picture: str) -> list[Rectangle]:
    """The 54 lots, city by city."""
    by_size: dict[tuple[int, int], list[Rectangle]] = {}
    for shape in rectangles(picture):
        size = round(shape.right - shape.left), round(shape.bottom - shape.top)
        by_size.setdefault(size, []).append(shape)
    found = [shapes for size, shapes in by_size.items() if len(shapes) == 54 and size[0] > 50]
    assert len(found) == 1
    return found[0]


def cards(picture: str) -> list[str]:
    """Every card that the picture shows: the number of its kind, or "back"."""
    uses = ElementTree.fromstring(picture).iter(f"{SVG}use")
    return [use.attrib["href"].split("-")[-1] for use in uses]


def seat_words(player: int, position: dict[str, Any]) -> str:
    count, seats = position["options"]["num_players"], position["options"]["seats"]
    if count == 2:
        return ("south", "north" if seats == "opposite" else "west")[player]
    return ("south", "west", "north", "east")[player]


@pytest.mark.parametrize("seat", [None, 0, 1])
@pytest.mark.parametrize("name", POSITIONS)
def test_picture_is_xml_of_its_own(name: str, seat: int | None) -> None:
    position, last_move = POSITIONS[name]
    root = ElementTree.fromstring(svg(position, last_move, seat))
    assert root.tag == f"{SVG}svg"
    assert float(root.attrib["width"]) == 1200
    assert 1100 < float(root.attrib["height"]) < 1400
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
    position = building(2 if path[0] == "options" else 4)
    other = changed(position, path, value)
    assert svg(position) != svg(other)
    assert text(position) != text(other)


def test_colour_that_drafts_is_shown() -> None:
    for colour in ("black", "green"):
        sentence = f"Player 1 to move: draft 4 {colour} parts"
        position = changed(drafting(2), ("colour",), colour)
        assert sentence in words(svg(position))
        assert sentence in text(position).split("\n")


def test_order_of_lists_changes_nothing() -> None:
    position = building()
    other = copy.deepcopy(position)
    other["hands"][0].reverse()
    other["deck"] = dict(reversed(position["deck"].items()))
    other["cities"] = dict(reversed(position["cities"].items()))
    other["cities"]["cairo"][2]["storeys"] = {"red": 1, "black": 2, "blue": 3}
    assert position["hands"] != other["hands"]
    assert svg(position) == svg(other)
    assert text(position) == text(other)


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("make", [building, drafting, finished])
def test_other_hands_and_the_deck_are_hidden(make: Any, num_players: int) -> None:
    position = make(num_players)
    for seat in range(num_players):
        for player in range(num_players):
            hands = copy.deepcopy(position["hands"])
            hands[player] = [0, 2, 2, 5]
            other = with_deck(position | {"hands": hands})
            assert other["deck"] != position["deck"]
            same = player != seat
            assert (svg(position, BUILD, seat) == svg(other, BUILD, seat)) is same
            assert (text(position, BUILD, seat) == text(other, BUILD, seat)) is same
            assert svg(position) != svg(other)
            assert text(position) != text(other)


@pytest.mark.parametrize("seat", [None, 0, 1, 3])
def test_only_who_sees_the_hand_knows_that_it_is_stuck(seat: int | None) -> None:
    known = seat in (None, 1)
    sentence = "Player 1 to move: nothing fits, discard a card" if known else "Player 1 to move: build"
    assert sentence in words(svg(stuck(), seat=seat))
    assert sentence in text(stuck(), seat=seat).split("\n")
    for other in (
        changed(stuck(), ("hands", 1), [3, 4, 4, 4]),
        changed(stuck(), ("drafted", "black"), parts(0, 1, 0, 0)),
        changed(stuck(), ("cities", "cairo", 4), None),
        changed(stuck(), ("cities", "cairo", 4), tower("red", red=1)),
        changed(stuck(), ("cities", "cairo", 4), tower("red", red=2, black=1)),
        changed(stuck(), ("cities", "cairo", 4), tower("black", red=2, black=5)),
    ):
        assert "Player 1 to move: build" in words(svg(with_deck(other), seat=seat))


def test_stuck_agrees_with_the_legal_moves_of_golden_games() -> None:
    count = 0
    for name in golden_files("manhattan"):
        for record in read_lines(name):
            for ply in record["plies"]:
                discards = "discard" in ply["move"]
                assert ("nothing fits" in text(ply["position"])) is discards
                count += discards
    assert count > 0


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_counts_by_card(seat: int | None) -> None:
    position = building(3)
    expected = Counter({int(card): count for card, count in position["deck"].items()})
    if seat is not None:
        for player in range(3):
            expected.update(position["hands"][player] if player != seat else [])
    title = "in the deck" if seat is None else f"not seen by player {seat}"
    line = next(line for line in text(position, seat=seat).split("\n") if line.startswith(f"  {title} "))
    hidden = [int(count.replace(".", "0")) for count in line.removeprefix(f"  {title}").split()]
    assert hidden == [expected[card] for card in range(9)]
    assert "  face up                 .  .  1  .  .  2  .  .  .\n" in text(position, seat=seat)
    in_picture = words(svg(position, seat=seat))
    panel = in_picture[in_picture.index(title) :]
    assert panel[1] == "face up"
    rows = [[int(word) for word in panel[2 + 3 * card : 5 + 3 * card]] for card in range(9)]
    assert rows == [[card, expected[card], {2: 1, 5: 2}.get(card, 0)] for card in range(9)]
    size = f"{sum(position['deck'].values())} cards"
    assert size in in_picture
    assert f"Deck: {size}" in text(position, seat=seat).split("\n")


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_seat_comes_first(seat: int | None) -> None:
    first = seat or 0
    order = [(first + place) % 3 for place in range(3)]
    in_picture = [place for place in placed_words(svg(building(3), seat=seat)) if place[0].startswith("Player ")]
    headings = [heading for heading, place in in_picture if re.fullmatch(r"Player \d", heading)]
    assert headings == [f"Player {player}" for player in order]
    in_text = re.findall(r"^Player (\d), \w+: \d+ point", text(building(3), seat=seat), re.MULTILINE)
    assert in_text == [str(player) for player in order]


def test_hands_as_cards() -> None:
    assert cards(svg(building())) == [*"012345678", *"0448", *"1257", *"3368", *"0167"]
    assert cards(svg(building(), seat=1)) == [*"012345678", *"1257", *["back"] * 12]
    shown = text(building(), seat=1).split("\n")
    assert "Player 1, west: 37 points, to move             cards 1 2 5 7  lots 5 8 7 3" in shown
    assert "Player 3, east: 1 point                        cards ? ? ? ?" in shown


@pytest.mark.parametrize("name", POSITIONS)
def test_cards_name_the_lot_that_they_mean(name: str) -> None:
    position, _ = POSITIONS[name]
    shown = [word for word in words(svg(position)) if re.fullmatch(r"(card|lot) \d", word)]
    expected = []
    for player, hand in enumerate(position["hands"]):
        for card in sorted(hand):
            expected += [f"card {card}", f"lot {LOTS[seat_words(player, position)][card]}"]
    assert shown == expected


@pytest.mark.parametrize("name", POSITIONS)
def test_seats_are_named_around_the_table(name: str) -> None:
    position, _ = POSITIONS[name]
    picture = svg(position)
    middle = {}
    for group in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        names = [path.attrib["aria-label"] for path in group if "aria-label" in path.attrib]
        if len(names) > 1 and names[1].startswith("Player"):
            x, y, _ = map(float, re.findall(r"-?[\d.]+", group.attrib["transform"]))
            middle[names[1], names[-1]] = x, y
    places = lots(picture)
    left, right = min(lot.left for lot in places), max(lot.right for lot in places)
    top, bottom = min(lot.top for lot in places), max(lot.bottom for lot in places)
    beyond = {
        "south": lambda x, y: y > bottom and left < x < right,
        "north": lambda x, y: y < top and left < x < right,
        "west": lambda x, y: x < left and top < y < bottom,
        "east": lambda x, y: x > right and top < y < bottom,
    }
    for player in range(position["options"]["num_players"]):
        seat = seat_words(player, position)
        assert f"{seat} seat" in words(picture)
        assert beyond[seat](*middle[f"Player {player}", seat])
        assert f"Player {player}, {seat}: " in text(position)


@pytest.mark.parametrize("name", POSITIONS)
def test_towers_are_signed(name: str) -> None:
    position, last_move = POSITIONS[name]
    picture = svg(position, last_move)
    for index, (lot, place) in enumerate(zip(lots(picture), placed_lots(picture), strict=True)):
        stands = position["cities"][CITIES[index // 9]][index % 9]
        storeys = {} if stands is None else stands["storeys"]
        expected = [str(index % 9)]
        if stands is not None:
            expected += [LETTERS[stands["owner"]], str(sum(storeys.values()))]
        if len(storeys) > 1:
            expected += [f"{LETTERS[colour]}{count}" for colour, count in storeys.items()]
        assert sorted(place) == sorted(expected), (index, lot)


def placed_lots(picture: str) -> list[list[str]]:
    """What is written on each lot."""
    written = placed_words(picture)
    return [[word for word, place in written if lot.holds(place)] for lot in lots(picture)]


@pytest.mark.parametrize("name", POSITIONS)
def test_towers_stay_on_their_lots(name: str) -> None:
    picture = svg(*POSITIONS[name])
    places = lots(picture)
    table = Rectangle(places[0].left, places[0].top, places[-1].right, places[-1].bottom)
    signs = rectangles(picture, height="21", stroke="#FFFFFF")
    on_table = [shape for shape in signs if table.holds(shape)]
    shares = [shape for shape in rectangles(picture, width="20", height="12.5") if table.holds(shape)]
    position, _ = POSITIONS[name]
    towers = [stands for city in CITIES for stands in position["cities"][city] if stands is not None]
    mixed = [len(stands["storeys"]) for stands in towers if len(stands["storeys"]) > 1]
    assert len(on_table) == len(towers)
    assert len(shares) == sum(mixed)
    for node in ElementTree.fromstring(picture).findall(f"{SVG}polygon"):
        numbers = [float(value) for value in re.split("[ ,]", node.attrib["points"])]
        shape = Rectangle(min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2]))
        assert not table.meets(shape) or any(lot.holds(shape) for lot in places)
    stars = []
    for node in ElementTree.fromstring(picture).findall(f"{SVG}circle"):
        x, y, radius = (float(node.attrib[key]) for key in ("cx", "cy", "r"))
        stars.append(Rectangle(x - radius, y - radius, x + radius, y + radius))
    shapes = [*on_table, *shares, *(shape for shape in stars if table.holds(shape))]
    for index, shape in enumerate(shapes):
        assert any(lot.holds(shape) for lot in places)
        assert not any(shape.meets(other) for other in shapes[:index])


@pytest.mark.parametrize("seat", [None, 1])
@pytest.mark.parametrize("name", POSITIONS)
def test_words_do_not_run_into_each_other(name: str, seat: int | None) -> None:
    picture = svg(*POSITIONS[name], seat)
    height = float(ElementTree.fromstring(picture).attrib["height"])
    written = placed_words(picture)
    assert len(written) > 150
    page = Rectangle(MARGIN, 20, WIDTH - MARGIN + 1, height - MARGIN)
    for index, (word, place) in enumerate(written):
        assert page.holds(place), word
        assert not [other for other, taken in written[:index] if taken.meets(place)], word


def test_words_of_golden_games_do_not_run_into_each_other() -> None:
    for name in golden_files("manhattan"):
        for record in read_lines(name):
            for position in (record["final"], record["plies"][len(record["plies"]) // 2]["position"]):
                written = placed_words(svg(position))
                for index, (word, place) in enumerate(written):
                    assert not [other for other, taken in written[:index] if taken.meets(place)], word


def test_higher_towers_are_drawn_higher() -> None:
    position = building()
    for lot in range(9):
        position["cities"]["sydney"][lot] = tower("green", green=lot + 1)
    picture = svg(position)
    signs = rectangles(picture, height="21", stroke="#FFFFFF")
    rises = []
    for lot in lots(picture)[18:27]:
        sign = next(sign for sign in signs if lot.holds(sign))
        rises.append(lot.bottom - sign.bottom)
    steps = np.diff(rises)
    assert np.allclose(steps, steps[0], atol=0.02)
    assert steps[0] > 4


@pytest.mark.parametrize(
    ("cities", "sentence", "marks", "counts"),
    [
        ({}, "no tower yet", 0, {"blue": (0, 0, 0, 0), "black": (0, 0, 0, 0)}),
        (
            {"cairo": [("blue", 3), ("black", 2)]},
            "3 storeys on lot 0 of Cairo",
            1,
            {"blue": (1, 0, 1, 4), "black": (1, 0, 0, 1)},
        ),
        (
            {"cairo": [("blue", 3), ("black", 2), ("black", 1)], "sydney": [("red", 3)]},
            "2 towers of 3 storeys: no points",
            0,
            {"blue": (1, 0, 0, 1), "black": (2, 1, 0, 4), "red": (1, 1, 0, 3), "green": (0, 0, 0, 0)},
        ),
    ],
)
def test_what_the_towers_are_worth(
    cities: dict[str, list[tuple[str, int]]], sentence: str, marks: int, counts: dict[str, tuple[int, ...]]
) -> None:
    position = building()
    position["cities"] = {city: [None] * 9 for city in CITIES}
    for city, towers in cities.items():
        for lot, (owner, storeys) in enumerate(towers):
            position["cities"][city][lot] = tower(owner, **{owner: storeys})
    shown, in_picture = text(position), words(svg(position))
    assert sentence in in_picture
    assert f"Tallest tower: {sentence}" in shown.split("\n")
    assert shown.count("*") - shown.count("* tallest tower") == marks
    panel = in_picture[in_picture.index("If it were scored now") :]
    for colour, expected in counts.items():
        line = next(line for line in shown.split("\n") if re.match(rf"  \w {colour} +\d+ +\d", line))
        assert tuple(int(word) for word in line.split()[2:]) == expected
        first = panel.index(colour) + 1
        assert tuple(int(word) for word in panel[first : first + 4]) == expected
    assert "The last scoring" in words(svg(finished()))
    assert "The last scoring" in text(finished())


def test_majorities_are_named() -> None:
    position = building()
    shown = words(svg(position))
    for city, majority in (
        ("Cairo", "black majority"),
        ("Sydney", "red majority"),
        ("Frankfurt", "black majority"),
        ("Hong Kong", "no majority"),
    ):
        assert shown[shown.index(city) + 1] == majority
        assert f"{city}, {majority}" in text(position)
    even = changed(position, ("cities", "cairo", 0), tower("blue", blue=1))
    assert "Cairo, no majority" in text(even)
    assert words(svg(even)).count("no majority") == words(svg(position)).count("no majority") + 1


@pytest.mark.parametrize(
    ("position", "task"),
    [
        (fresh(), "draft 6 parts"),
        (fresh(3), "draft 4 parts"),
        (fresh(2), "draft 4 blue parts"),
        (building(to_move=0), "build"),
    ],
)
def test_status_names_the_task(position: dict[str, Any], task: str) -> None:
    sentence = f"Player 0 to move: {task}"
    assert sentence in words(svg(position))
    assert sentence in text(position).split("\n")


def test_start_player_is_shown() -> None:
    for start in (0, 1):
        position = building(start=start)
        assert words(svg(position)).count("started") == 1
        assert re.findall(r"Player (\d).*, started", text(position)) == [str(start)]


def test_parts_are_shown() -> None:
    shown = text(drafting(2), DRAFT, 0).split("\n")
    assert "  R red    to build 1 1 3 4                    in the box  7x1  4x2  2x3  1x4" in shown
    assert "  K black  to build nothing drafted yet        in the box  7x1  4x2  2x3  1x4" in shown
    assert words(svg(drafting(2))).count("nothing drafted yet") == 2
    assert words(svg(finished())).count("nothing") == 4


def test_result_is_shown() -> None:
    sentence = "Game over: player 1 wins (12 : 37 : 5 : 1)"
    assert sentence in words(svg(finished()))
    assert sentence in text(finished()).split("\n")
    assert words(svg(finished())).count("winner") == 1
    assert "Player 1, west: 37 points, winner " in text(finished())
    shared = finished(2, (0, 1))
    assert "Game over: players 0 and 1 share the win (12 : 37)" in words(svg(shared))
    assert words(svg(shared)).count("winner") == 2


@pytest.mark.parametrize(
    ("position", "last_move", "sentence", "marks"),
    [
        (building(), BUILD, "Player 0 built 3 blue storeys on lot 2 of Cairo (card 2)", 3),
        (
            building(),
            LastMove(3, {"card": 0, "storeys": 1, "city": "sao paulo", "colour": "green"}),
            "Player 3 built 1 green storey on lot 6 of Sao Paulo (card 0)",
            3,
        ),
        (drafting(2), DRAFT, "Player 0 drafted red parts of 1, 1, 3, 4 storeys", 2),
        (building(to_move=2), DISCARD, "Player 1 could not build and discarded card 5", 2),
        (finished(), BUILD, "Player 0 built 3 blue storeys on lot 2 of Cairo (card 2)", 3),
    ],
)
def test_last_move_is_marked(position: dict[str, Any], last_move: LastMove, sentence: str, marks: int) -> None:
    assert last_move_sentence(last_move, position) == sentence
    assert sentence in words(svg(position, last_move))
    assert f"Last move: {sentence}" in text(position, last_move).split("\n")
    assert svg(position, last_move).count("stroke-dasharray") == marks, "beside the sentence and at the places"
    assert "stroke-dasharray" not in svg(position)


@pytest.mark.parametrize("card", range(9))
@pytest.mark.parametrize("player", range(4))
def test_last_move_is_marked_on_the_lot_of_the_card(player: int, card: int) -> None:
    position = building()
    seat = seat_words(player, position)
    lot = LOTS[seat][card]
    position["cities"]["hong kong"][lot] = tower("green", green=3)
    last_move = LastMove(player, {"card": card, "storeys": 1, "city": "hong kong", "colour": COLOURS[player]})
    picture = svg(position, last_move)
    marks = rectangles(picture, stroke=LAST_MOVE)
    places = lots(picture)
    assert [index for index, place in enumerate(places) if any(mark.holds(place) for mark in marks)] == [36 + lot]
    rows = text(position, last_move).split("\n")
    first = next(index for index, row in enumerate(rows) if "Hong Kong, " in row) + 1
    row, column = divmod(lot, 3)
    at = 27 + 2 + 7 * column
    assert rows[first + row][at : at + 4].strip() == "G3<"
    assert sum(row.count("<") for row in rows) == 2, "at the lot and in the legend"


def test_mark_of_the_last_draft_surrounds_the_parts_of_its_colour() -> None:
    for colour in ("blue", "red"):
        picture = svg(drafting(2), LastMove(0, DRAFT.move | {"colour": colour}))
        headings = [place for word, place in placed_words(picture) if word in COLOURS]
        names = [word for word, _ in placed_words(picture) if word in COLOURS]
        heading = headings[len(names) - 4 + ("blue", "red").index(colour)]
        mark = max(rectangles(picture, stroke=LAST_MOVE), key=lambda shape: shape.top)
        assert mark.left < heading.left < mark.right
        assert mark.top > heading.bottom


def test_first_lines_of_the_picture_fit() -> None:
    room = WIDTH - 2 * MARGIN
    for make, phase in ((building, "build"), (drafting, "draft")):
        position = make(2, round=6) if make is building else make(2)
        below = f"Round {position['round']} of 6, {phase} phase, opposite seats, ties are shared"
        assert below in words(svg(changed(position, ("options", "tiebreak"), "none")))
        longest = LastMove(1, {"card": 4, "storeys": 4, "city": "manhattan", "colour": "black"})
        sentence = last_move_sentence(longest, position)
        assert text_width(below, 17) + text_width(sentence, 17) + 60 < room
    title = text_width("Manhattan", 50)
    shared = "Game over: players 0, 1, 2 and 3 share the win (120 : 120 : 120 : 120)"
    position = finished(winners=(0, 1, 2, 3))
    position["result"]["scores"] = [120] * 4
    for status in (shared, "Player 1 to move: nothing fits, discard a card"):
        assert title + pill_width(status, 21) + 24 < room
    assert shared in words(svg(position))


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
    rgb = rgb_array(svg(building(), BUILD), width=600)
    assert rgb.shape[1:] == (600, 3)
    assert len(np.unique(rgb.reshape(-1, 3), axis=0)) > 50
    for path, value in ((("cities", "cairo", 4), tower("blue", blue=4)), (("hands", 0, 3), 7), (("scores", 0), 8)):
        other = changed(building(), path, value)
        assert not np.array_equal(rgb, rgb_array(svg(other, BUILD), width=600))


def test_towers_of_two_colours_look_different_without_colour() -> None:
    pytest.importorskip("pygame")
    position = building()
    for lot, colour in enumerate(COLOURS):
        position["cities"]["manhattan"][lot] = tower(colour, **{colour: 4})
    picture = svg(position)
    grey = rgb_array(picture) @ np.array([0.299, 0.587, 0.114])
    pixels = []
    for lot in lots(picture)[:4]:
        left, top = round(lot.left), round(lot.top)
        pixels.append(grey[top : top + 65, left : left + 50])
    for index, shown in enumerate(pixels):
        for other in pixels[:index]:
            assert (np.abs(shown - other) > 20).mean() > 0.1


@pytest.mark.parametrize("seat", [None, 1])
@pytest.mark.parametrize("name", POSITIONS)
def test_text_fits_the_terminal(name: str, seat: int | None) -> None:
    position, last_move = POSITIONS[name]
    plain = text(position, last_move, seat)
    assert "\x1b" not in plain
    assert max(map(len, plain.split("\n"))) <= 80
    for index, score in enumerate(position["scores"]):
        assert f"Player {index}, {seat_words(index, position)}: {score} point" in plain


@pytest.mark.parametrize("seat", [None, 0])
@pytest.mark.parametrize("name", POSITIONS)
def test_coloured_text_reads_like_the_plain_one(name: str, seat: int | None) -> None:
    position, last_move = POSITIONS[name]
    coloured = text(position, last_move, seat, colour=True)
    assert "\x1b[" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == text(position, last_move, seat)


def test_text_of_a_position() -> None:
    assert text(building(), BUILD, seat=1).split("\n") == [
        "Manhattan, ties by towers",
        "Round 2 of 4, build phase",
        "Player 1 to move: build",
        "Last move: Player 0 built 3 blue storeys on lot 2 of Cairo (card 2)",
        "",
        "Manhattan, no majority     Sao Paulo, no majority     Sydney, red majority",
        "  .      .      .            .      .      .            R15*   .      .",
        "  .      .      .            .      .      .            .      .      .",
        "  .      .      .            .      .      .            .      .      .",
        "",
        "Cairo, black majority      Hong Kong, no majority     Frankfurt, black majority",
        "  .      .      B6<          .      .      .            .      .      .",
        "  .      K4     .            .      .      .            .      .      .",
        "  .      K1     .            .      .      .            .      .      K4",
        "",
        "Towers of several colours, by lot",
        "  Sydney      0: R12 B3",
        "  Cairo       2: B3 K2 R1",
        "  Frankfurt   8: K2 B2",
        "",
        "Player 1, west: 37 points, to move             cards 1 2 5 7  lots 5 8 7 3",
        "  K black  to build 1 2 2 4                    in the box  7x1  4x2  2x3  1x4",
        "Player 2, north: 5 points                      cards ? ? ? ?",
        "  R red    to build 1 2 2 4                    in the box  7x1  4x2  2x3  1x4",
        "Player 3, east: 1 point                        cards ? ? ? ?",
        "  G green  to build 1 2 2 4                    in the box  7x1  4x2  2x3  1x4",
        "Player 0, south: 12 points, started            cards ? ? ? ?",
        "  B blue   to build 1 2 2 4                    in the box  7x1  4x2  2x3  1x4",
        "",
        "Deck: 26 cards",
        "  card                    0  1  2  3  4  5  6  7  8",
        "  not seen by player 1    5  4  3  5  5  2  5  4  5",
        "  face up                 .  .  1  .  .  2  .  .  .",
        "",
        "If it were scored now     towers x1  cities x2  tallest x3  points",
        "  B blue                          1          0           0       1",
        "  K black                         3          2           0       7",
        "  R red                           1          1           1       6",
        "  G green                         0          0           0       0",
        "Tallest tower: 15 storeys on lot 0 of Sydney",
        "",
        "B blue  K black  R red  G green  . nothing",
        "lots 0 1 2 far, 6 7 8 near, as seen from south",
        "* tallest tower  < last move  ? face down",
    ]
