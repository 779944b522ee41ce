"""Pictures and text of Azul positions, the pixels made from them, and the window that shows them."""

from __future__ import annotations

import copy
import io
import re
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from meeplezoo.envs.azul.view.captions import last_move_sentence
from meeplezoo.envs.azul.view.svg import svg
from meeplezoo.envs.azul.view.text import text
from meeplezoo.envs.records.notation import LastMove
from meeplezoo.envs.view.ansi import supports_colour
from meeplezoo.envs.view.pixels import Window, rgb_array
from meeplezoo.envs.view.stroke_font import letters, text_width
from meeplezoo.envs.view.svg import number

SVG = "{http://www.w3.org/2000/svg}"
TAKE = LastMove(1, {"source": 2, "colour": "red", "line": 4})
TAKE_FROM_CENTRE = LastMove(0, {"source": "centre", "colour": "black", "line": "floor"})
TILE = LastMove(1, {"row": 2, "column": 4})


def player(**changes: Any) -> dict[str, Any]:
    board: dict[str, Any] = {
        "score": 0,
        "lines": [None] * 5,
        "wall": [[None] * 5 for _ in range(5)],
        "floor": [],
        "marker": False,
    }
    return board | changes


def offer(num_players: int = 2, wall: str = "coloured") -> dict[str, Any]:
    """Round 3: two factories are filled, player 1 has tiles everywhere, the marker is in the centre."""
    players = [player() for _ in range(num_players)]
    players[1] = player(
        score=37,
        lines=[None, {"colour": "red", "count": 2}, None, {"colour": "white", "count": 1}, None],
        floor=["blue", "black"],
    )
    players[1]["wall"][0][0] = "blue"
    factories: list[list[str]] = [[] for _ in range(2 * num_players + 1)]
    factories[0] = ["blue", "blue", "red", "white"]
    factories[3] = ["yellow", "yellow", "yellow", "yellow"]
    return {
        "game": "azul",
        "options": {"num_players": num_players, "wall": wall, "max_rounds": 30},
        "phase": "offer",
        "to_move": 0,
        "round": 3,
        "start": 1,
        "marker": "centre",
        "factories": factories,
        "centre": ["red", "black", "black"],
        "bag": {"blue": 12, "yellow": 11, "red": 9, "black": 14, "white": 10},
        "lid": {"blue": 1, "yellow": 2, "red": 3, "black": 4, "white": 5},
        "players": players,
    }


def tiling() -> dict[str, Any]:
    position = offer(wall="grey") | {"phase": "tiling", "to_move": 1, "row": 1, "marker": 0, "centre": []}
    position["factories"] = [[] for _ in range(5)]
    position["players"][0]["marker"] = True
    return position


def finished(truncated: bool = False) -> dict[str, Any]:
    position = offer() | {"phase": "over", "marker": 0, "centre": [], "factories": [[] for _ in range(5)]}
    del position["to_move"]
    position["result"] = {"scores": [0, 37], "winners": [1], "truncated": truncated}
    return position


POSITIONS = {
    "two players": (offer(), None),
    "two players, after a take": (offer(), TAKE),
    "two players, after a take from the centre": (offer(), TAKE_FROM_CENTRE),
    "three players": (offer(3), TAKE),
    "four players, grey": (offer(4, "grey"), TAKE),
    "tiling": (tiling(), TILE),
    "finished": (finished(), TAKE),
    "cut off": (finished(truncated=True), None),
}

CHANGES: list[tuple[tuple[str | int, ...], Any]] = [
    (("players", 0, "score"), 1),
    (("players", 1, "lines", 1, "colour"), "blue"),
    (("players", 1, "lines", 3, "count"), 2),
    (("players", 0, "lines", 4), {"colour": "black", "count": 5}),
    (("players", 1, "wall", 0, 0), None),
    (("players", 0, "wall", 4, 4), "blue"),
    (("players", 1, "floor"), ["blue"]),
    (("players", 0, "marker"), True),
    (("marker",), 0),
    (("start",), 0),
    (("to_move",), 1),
    (("round",), 4),
    (("options", "max_rounds"), 29),
    (("options", "wall"), "grey"),
    (("factories", 3), ["yellow", "yellow", "yellow", "white"]),
    (("factories", 4), ["red"]),
    (("centre",), ["red", "black"]),
    (("bag", "white"), 9),
    (("lid", "blue"), 0),
]


def changed(position: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    copied = copy.deepcopy(position)
    place: Any = copied
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copied


def needs_pixels() -> None:
    pytest.importorskip("pygame")


def words(picture: str) -> list[str]:
    """Every line of text that the picture shows."""
    paths = ElementTree.fromstring(picture).iter(f"{SVG}path")
    return [path.attrib["aria-label"] for path in paths if "aria-label" in path.attrib]


@pytest.mark.parametrize("name", POSITIONS)
def test_picture_is_xml_of_its_own(name: str) -> None:
    position, last_move = POSITIONS[name]
    root = ElementTree.fromstring(svg(position, last_move))
    assert root.tag == f"{SVG}svg"
    assert float(root.attrib["width"]) == 1200
    defined = {node.attrib["id"] for node in root.iter() if "id" in node.attrib}
    used = {node.attrib["href"].removeprefix("#") for node in root.iter(f"{SVG}use")}
    assert used <= defined
    assert not list(root.iter(f"{SVG}text")), "a font would be needed"


@pytest.mark.parametrize("name", POSITIONS)
def test_drawing_leaves_the_position_alone(name: str) -> None:
    position, last_move = POSITIONS[name]
    before = copy.deepcopy(position)
    assert svg(position, last_move) == svg(position, last_move)
    assert text(position, last_move) == text(position, last_move)
    assert position == before


@pytest.mark.parametrize(("path", "value"), CHANGES, ids=[str(path) for path, _ in CHANGES])
def test_every_part_of_a_position_is_shown(path: tuple[str | int, ...], value: Any) -> None:
    position = offer()
    other = changed(position, path, value)
    assert svg(position) != svg(other)
    assert text(position) != text(other)


def test_phase_and_row_are_shown() -> None:
    pictures = [tiling(), changed(tiling(), ("row",), 3), offer(wall="grey")]
    assert len({svg(position) for position in pictures}) == 3
    assert len({text(position) for position in pictures}) == 3


def test_result_is_shown() -> None:
    assert "Game over: player 1 wins (0 : 37)" in words(svg(finished()))
    assert "cut off by the round limit" not in words(svg(finished()))
    assert "cut off by the round limit" in words(svg(finished(truncated=True)))
    assert "Game over: player 1 wins (0 : 37)" in text(finished())
    assert "Cut off" not in text(finished())
    assert "Cut off" in text(finished(truncated=True))
    shared = changed(finished(), ("result", "winners"), [0, 1])
    assert "Game over: players 0 and 1 share the win (0 : 37)" in words(svg(shared))


@pytest.mark.parametrize(
    ("last_move", "sentence"),
    [
        (TAKE, "Player 1 took red from factory 2 to line 4"),
        (TAKE_FROM_CENTRE, "Player 0 took black from the centre to the floor"),
        (TILE, "Player 1 tiled row 2 at column 4"),
    ],
)
def test_last_move_is_marked(last_move: LastMove, sentence: str) -> None:
    assert last_move_sentence(last_move) == sentence
    assert sentence in words(svg(offer(), last_move))
    assert sentence in text(offer(), last_move)
    marks = svg(offer(), last_move).count("stroke-dasharray")
    assert marks == (2 if last_move is TILE else 3), "beside the sentence, at the source, at the destination"
    assert "stroke-dasharray" not in svg(offer())


@pytest.mark.parametrize("seat", [None, 0, 1, 2])
def test_seat_comes_first(seat: int | None) -> None:
    headings = [line for line in words(svg(offer(3), seat=seat)) if re.fullmatch(r"Player \d", line)]
    first = seat or 0
    assert headings == [f"Player {(first + place) % 3}" for place in range(3)]
    in_text = re.findall(r"Player (\d): \d+ point", text(offer(3), seat=seat))
    assert in_text == [str((first + place) % 3) for place in range(3)]


def test_picture_names_turn_and_tiles() -> None:
    shown = words(svg(offer()))
    for words_shown in (
        "Player 0 to move: take tiles",
        "to move",
        "started",
        "37",
        "costs 2 points",
        "in the centre",
    ):
        assert words_shown in shown
    assert "Player 1 to move: choose a column for red in row 1" in words(svg(tiling()))


def test_every_character_shown_has_a_drawing() -> None:
    def strokes(character: str) -> str:
        return ElementTree.fromstring(letters(character, 0, 0, 100, "black")).attrib["d"]

    missing = strokes("\N{SNOWMAN}")
    shown = {
        character for position, move in POSITIONS.values() for line in words(svg(position, move)) for character in line
    }
    assert [character for character in sorted(shown - {" "}) if strokes(character) == missing] == []


def test_letters_stand_where_they_are_asked_to() -> None:
    width = text_width("Azul", 20)
    assert width > 0
    assert text_width("Azul", 40) == pytest.approx(2 * width)
    assert text_width("", 20) == 0
    for anchor, left in (("start", 100.0), ("middle", 100 - width / 2), ("end", 100 - width)):
        assert f"translate({number(left)} 0)" in letters("Azul", 100, 0, 20, "black", anchor=anchor)
    assert 'aria-label="a &lt; b"' in letters("a < b", 0, 0, 20, "black")


def test_pixels() -> None:
    needs_pixels()
    rgb = rgb_array(svg(offer(), TAKE), width=600)
    assert rgb.dtype == np.uint8
    assert rgb.ndim == 3
    assert rgb.shape[1:] == (600, 3)
    assert rgb.shape[0] > 300
    assert len(np.unique(rgb.reshape(-1, 3), axis=0)) > 50
    assert not np.array_equal(rgb, rgb_array(svg(changed(offer(), ("players", 0, "score"), 8), TAKE), width=600))


def test_pixels_show_words_without_fonts() -> None:
    needs_pixels()
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40">{}</svg>'
    blank = rgb_array(picture.format(""), width=200)
    written = rgb_array(picture.format(letters("Azul 0123", 5, 30, 30, "#000000", bold=True)), width=200)
    assert (blank == 255).all()
    assert blank.shape == written.shape == (40, 200, 3)
    assert (written < 64).all(axis=2).sum() > 300


def test_no_svg_is_refused() -> None:
    needs_pixels()
    for document in ("no picture", '<svg width="10" height="10"'):
        with pytest.raises(ValueError, match="no valid SVG document"):
            rgb_array(document)
    unknown = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><defs></defs><use href="#x"/></svg>'
    with pytest.raises(ValueError, match="uses #x, which is no group among its definitions"):
        rgb_array(unknown)


def test_references_are_drawn_where_they_stand_and_transparency_is_white() -> None:
    needs_pixels()
    square = '<rect x="0" y="0" width="10" height="10" fill="#FF0000"/>'
    picture = rgb_array(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" viewBox="0 0 40 20">'
        f'<defs><g id="a">{square}</g><g id="b"><g><rect width="10" height="10" fill="#0000FF"/></g></g></defs>'
        '<use href="#a" transform="translate(20 10)"/><use href="#b" transform="scale(0.5)" opacity="1"/></svg>',
        80,
    )
    assert picture.shape == (40, 80, 3)
    assert picture[30, 50].tolist() == [255, 0, 0]
    assert picture[5, 5].tolist() == [0, 0, 255]
    assert picture[30, 10].tolist() == [255, 255, 255]


@pytest.mark.parametrize("call", [lambda: rgb_array(svg(offer())), Window])
def test_missing_package_names_the_extra(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ImportError, match=r"meeplezoo\[render\]"):
        call()


@pytest.mark.parametrize("name", POSITIONS)
def test_text_fits_the_terminal(name: str) -> None:
    position, last_move = POSITIONS[name]
    plain = text(position, last_move)
    assert "\x1b" not in plain
    lines = plain.split("\n")
    assert max(map(len, lines)) <= 80
    assert len(lines) < 50
    for index, board in enumerate(position["players"]):
        assert f"Player {index}: {board['score']} point" in plain


@pytest.mark.parametrize("name", POSITIONS)
def test_coloured_text_reads_like_the_plain_one(name: str) -> None:
    position, last_move = POSITIONS[name]
    coloured = text(position, last_move, colour=True)
    assert "\x1b[" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == text(position, last_move)


def test_text_of_a_board() -> None:
    lines = text(offer(), seat=1).split("\n")
    start = next(index for index, line in enumerate(lines) if line.startswith("Player 1: 37 points"))
    assert [line[:38].rstrip() for line in lines[start : start + 8]] == [
        "Player 1: 37 points",
        "                    0 1 2 3 4",
        "line 0         · |  B y r k w",
        "line 1       R R |  w b y r k",
        "line 2     · · · |  k w b y r",
        "line 3   · · · W |  r k w b y",
        "line 4 · · · · · |  y r k w b",
        "floor  B K · · · · ·  costs 2",
    ]


def test_colour_needs_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert not supports_colour(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert supports_colour(Terminal())
    # standard output that was closed when Python started
    assert not supports_colour(None)
    assert not supports_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not supports_colour(Terminal())


def test_window_shows_and_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window, other = Window(), Window("another game")
    picture = np.zeros((60, 80, 3), dtype=np.uint8)
    picture[:, :, 0] = 200
    window.show(picture)
    other.show(picture)
    window.show(np.zeros((90, 40, 3), dtype=np.uint8))
    window.close()
    window.close()
    assert window.closed
    assert not other.closed
    window.show(picture)
    other.show(picture)
    other.close()


def test_window_closed_by_hand_stays_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window, other = Window(), Window()
    picture = np.zeros((60, 80, 3), dtype=np.uint8)
    window.show(picture)
    other.show(picture)
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window._window))
    other.show(picture)
    assert not other.closed
    window.show(picture)
    assert window.closed
    other.close()
