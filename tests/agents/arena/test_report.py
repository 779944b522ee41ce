"""The HTML report of a tournament: its sections, what its charts and tables show, and the preparation of their data."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest

from meeplezoo.agents.arena.report.axes import Axis, decade_ticks, rating_range, round_ticks, score_range, share_range
from meeplezoo.agents.arena.report.charts import boxes_along, front_corners, outline_histogram, pareto_front
from meeplezoo.agents.arena.report.formatting import (
    decimal,
    format_with_sign,
    interval,
    milliseconds,
    probability,
    tick,
)
from meeplezoo.agents.arena.report.labels import place_labels, text_width
from meeplezoo.agents.arena.report.page import render_report
from meeplezoo.envs.view.svg import Box

DASH = "\N{EN DASH}"
SECTIONS = ["ratings", "figures", "cross", "scores", "seats", "speed", "method"]
NOT_PLAYED = """{
"mean_score": null, "mean_margin": null, "score_interval": null, "margin_interval": null, "win_rate": null,
"milliseconds_per_move": null, "scores": {"edges": [0, 20, 40, 60, 80, 100], "counts": [0, 0, 0, 0, 0]}}"""
PLAYED = """{
"games": 800, "wins": 500, "draws": 3, "losses": 297, "win_rate": 0.62, "win_rate_interval": [0.586, 0.653],
"mean_score": 63.2, "score_interval": [62.0, 64.4], "mean_margin": 10.1, "margin_interval": [9.0, 11.2],
"milliseconds_per_move": 0.02, "forfeits": 0, "failures": {},
"scores": {"edges": [0, 20, 40, 60, 80, 100], "counts": [0, 100, 200, 400, 100]}}"""
TOURNAMENT = """{
"title": "Azul", "pairing": "round robin", "rounds": 12, "deals_per_round": 10, "seed": 7, "games": 2400,
"stopped": "all rounds played", "precision": null, "design_effect": 0.81, "anchor": null,
"length": {"mean": 55.2, "interval": [54.8, 55.6]}, "truncated": 0.0}"""


def agent(name: str, rating: float, error: float = 12.0, **changes: Any) -> dict[str, Any]:
    bounds = [rating - 1.96 * error, rating + 1.96 * error]
    figures = {"name": name, "agent": name, "rating": rating, "error": error, "interval": bounds}
    return figures | json.loads(PLAYED) | changes


def tournament(agents: list[dict[str, Any]], num_players: int = 2, **changes: Any) -> dict[str, Any]:
    def square(below: Any, itself: Any, above: Any) -> list[list[Any]]:
        numbers = range(len(agents))
        return [[above if i < j else itself if i == j else below for j in numbers] for i in numbers]

    played: dict[str, Any] = {
        "options": {"num_players": num_players, "wall": "grey"},
        "forfeits": sum(each["forfeits"] for each in agents),
        "seats": [{"seat": seat, "win_rate": 0.52, "interval": [0.5, 0.54]} for seat in range(num_players)],
        "agents": agents,
        "ahead": square(0.3, None, 0.7),
        "ahead_games": square(400, 0, 400),
        "superiority": square(0.01, 0.5, 0.99),
    }
    return json.loads(TOURNAMENT) | played | changes


TWO = tournament([agent("greedy", 812.3), agent("random", 0.0, milliseconds_per_move=0.001)], anchor="random")
CHECKPOINTS = [f"ppo:runs/2024-05-01-self-play/checkpoints/step-{step:09d}.zip" for step in range(16)]
SIXTEEN = [
    agent(name, 900.0 - 40 * index, milliseconds_per_move=0.001 * 2.5**index) for index, name in enumerate(CHECKPOINTS)
]
WIDE = [agent("a", -1234.0, 1000.0), agent("b", -1888.0, 1000.0, milliseconds_per_move=1e5, mean_score=-1234.5)]
CROWDED = [
    agent(f"WWW-{index}.py:choose", 100.0 + index % 3, milliseconds_per_move=1.0 + index / 50) for index in range(14)
]


def root(page: str) -> ElementTree.Element:
    doctype, markup = page.split("\n", 1)
    assert doctype == "<!DOCTYPE html>"
    return ElementTree.fromstring(markup)


def section(page: str, name: str) -> ElementTree.Element:
    (found,) = root(page).findall(f".//section[@id='{name}']")
    return found


def words(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def of_class(element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in element.iter() if name in each.get("class", "").split()]


def table_rows(element: ElementTree.Element) -> list[list[str]]:
    return [[words(cell) for cell in row] for row in element.iter("tr")]


def position(element: ElementTree.Element, name: str) -> float:
    return float(element.attrib[name])


def values_of(chart: ElementTree.Element, name: str, attribute: str) -> Any:
    """Return the values of all marks of a class by the numbers along the axis below a chart, which is linear."""
    ticks = [
        each for each in of_class(chart, "tick") if re.fullmatch("[\N{MINUS SIGN}\\d.,]+(\xa0%)?", each.text or "")
    ]
    numbers = [(each.text or "").rstrip("\xa0%").replace("\N{MINUS SIGN}", "-").replace(",", "") for each in ticks]
    start, low, high = position(ticks[0], "x"), float(numbers[0]), float(numbers[-1])
    scale = (high - low) / (position(ticks[-1], "x") - start)
    values = [low + scale * (position(mark, attribute) - start) for mark in of_class(chart, name)]
    return pytest.approx(values, abs=0.1)


def shared_area(one: Box, other: Box) -> float:
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(width, 0.0) * max(height, 0.0)


def text_box(text: ElementTree.Element, size: float = 13) -> Box:
    """Return what a text of a chart covers, without the space above and below its letters."""
    width = text_width(text.text or "", size)
    before = {"start": 0.0, "middle": width / 2, "end": width}[text.get("text-anchor", "start")]
    return Box(position(text, "x") - before, position(text, "y") - 9, width, 11)


@pytest.mark.parametrize(
    "results", [TWO, tournament(SIXTEEN, 4), tournament(CROWDED)], ids=["two", "sixteen", "crowded"]
)
def test_page_is_html_and_xml_needs_nothing_from_elsewhere_and_scrolls_what_is_wide(results: dict[str, Any]) -> None:
    page = render_report(results)
    # in HTML <td/> is an opening tag
    assert set(re.findall(r"<([\w-]+)[^<>]*/>", page)) <= {"meta", "line", "path", "circle", "polygon", "polyline"}
    assert not re.search(r"http|url\(|@import", page)
    assert {each.tag for each in root(page).iter()}.isdisjoint({"script", "link", "img", "iframe", "object", "image"})
    assert {name for each in root(page).iter() for name in each.attrib}.isdisjoint({"src", "href"})
    inside = [child.tag for box in of_class(root(page), "scrolled") for child in box]
    assert inside.count("svg") == len(list(root(page).iter("svg"))) == 4
    assert inside.count("table") == len(list(root(page).iter("table"))) == 3
    # text that would be a hole in a template
    assert not re.search(r"\bNone\b|[{}]{2}|\bnan\b", words(root(page)))


def test_colours_are_variables_with_values_for_light_and_dark() -> None:
    page = render_report(TWO)
    style = root(page).findtext(".//style") or ""
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    defined = {name for name, value in re.findall(r"(--[\w-]+): ([^;]+);", light)}
    assert defined == {name for name, value in re.findall(r"(--[\w-]+): ([^;]+);", dark)}
    assert "prefers-color-scheme: dark" in style
    rest = style.replace(light, "").replace(dark, "")
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgba?\(\d", rest)
    assert set(re.findall(r"var\((--[\w-]+)", rest)) == defined | {"--tint"}
    assert not [each for each in root(page).iter() if {"fill", "stroke"} & each.attrib.keys()]
    # every mark of the charts has a colour
    for each in root(page).iter():
        if each.tag in ("line", "path", "circle", "polygon", "polyline"):
            assert f".{each.attrib['class'].split()[0]} {{" in style


def test_page_has_all_sections_and_says_who_is_first() -> None:
    page = render_report(TWO)
    assert [each.get("id") for each in root(page).iter("section")] == SECTIONS
    (header,) = root(page).iter("header")
    assert "greedy comes first of 2 agents after 2,400 games, and is stronger than random" in words(header)
    assert "with a probability of 99.0 %." in words(header)
    assert "2,400 games · 2 players · wall = grey · round robin · all rounds played" in words(header)


def test_summary_admits_doubt_and_never_claims_certainty() -> None:
    agents = [agent("a", 10.0), agent("b", 9.0)]
    close = render_report(tournament(agents, superiority=[[0.5, 0.6], [0.4, 0.5]]))
    assert "games, but is stronger than b only with a probability of 60.0 %." in words(root(close))
    sure = render_report(tournament(agents, superiority=[[0.5, 1.0], [0.0, 0.5]]))
    assert "with a probability of more than 99.9 %." in words(root(sure))
    (details,) = section(sure, "cross").iter("details")
    assert table_rows(details)[1:] == [["1", "a", "", "> 99.9"], ["2", "b", "< 0.1", ""]]


def test_foreign_text_is_escaped_everywhere() -> None:
    name = "<b>&\"'{{7*7}}"
    failures = {"crashed: ValueError: <x> \x00 \ud800 \u202e \x9b {% endif %}": 2}
    bad = agent(name, 100.0, agent='bot:<i onload="', forfeits=2, failures=failures, milliseconds_per_move=None)
    options = {"num_players": 2, "<o>": "<v>"}
    page = render_report(tournament([agent("greedy", 200.0), bad], title="A & B", anchor=name, options=options))
    assert page.encode().decode() == page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert {each.tag for each in root(page).iter()}.isdisjoint({"i", "x", "v", "o"})
    assert not [each for each in root(page).iter("b") if name[3:] in words(each)]
    assert name in [words(cell) for cell in of_class(section(page, "figures"), "name")]
    assert name in [each.get("title") for each in section(page, "cross").iter("th")]
    for part in ("ratings", "scores"):
        assert name in [each.text for each in section(page, part).iter("text")]
        assert any((each.text or "").startswith(name) for each in section(page, part).iter("title"))
    assert f"Not timed: {name}." in words(section(page, "speed"))
    assert "ValueError: <x> \ufffd \ufffd \ufffd \ufffd {% endif %}" in words(section(page, "failures"))
    assert 'bot:<i onload="' in [words(each) for each in section(page, "method").iter("code")]
    assert f"shifted so that {name} has 0" in words(section(page, "method"))
    assert f"rating (Elo), {name} = 0" in words(section(page, "ratings"))
    assert "<o> = <v>" in words(section(page, "method"))
    assert root(page).findtext(".//h1") == "A & B, 2 agents"


def test_figures_are_written_with_their_intervals() -> None:
    rows = list(section(render_report(TWO), "figures").iter("tr"))
    assert [words(cell) for cell in rows[0]][:5] == ["", "Agent", "Rating", "95 %", "Stronger than the next"]
    first = ["|".join(part.strip() for part in cell.itertext() if part.strip()) for cell in rows[1]]
    assert first == [
        *["1", "greedy", "812|789 to 836", "±\u00a023.5", "99.0\u00a0%", "800", "500", "3", "297"],
        *["62.0\u00a0%|58.6 to 65.3", "63.2|62.0 to 64.4", "+10.1|9.0 to 11.2", "0.020", "0"],
    ]
    assert words(rows[2][2]) == "0\N{MINUS SIGN}24 to 24"


def test_cross_table_holds_shares_and_games() -> None:
    three = tournament([agent("a", 30.0), agent("b", 20.0), agent("c", 10.0)])
    three["ahead"][0][2] = three["ahead"][2][0] = None
    three["ahead_games"][0][2] = three["ahead_games"][2][0] = 0
    cross = next(section(render_report(three), "cross").iter("table"))
    assert table_rows(cross) == [
        ["", "Agent", "1", "2", "3"],
        ["1", "a", "", "70.0", DASH],
        ["2", "b", "30.0", "", "70.0"],
        ["3", "c", DASH, "30.0", ""],
    ]
    titles = [cell.get("title") for cell in list(cross.iter("tr"))[1]]
    assert titles[3:] == ["a ahead of b in 70.0\u00a0% of 400 games", "a and c never met"]
    assert [len(of_class(cross, side)) for side in ("ahead", "behind", "unknown", "itself")] == [2, 2, 2, 3]


def test_colours_of_the_cross_table_grow_with_the_distance_from_one_half() -> None:
    six = tournament([agent(name, 0.0) for name in "abcdef"])
    six["ahead"][0] = [None, 0.5, 0.6, 0.25, 0.0, 1.0]
    cells = list(list(section(render_report(six), "cross").iter("tr"))[1])[3:]
    tints = [float(cell.attrib["style"].removeprefix("--tint:")) for cell in cells]
    assert tints[0] == 0 < tints[1] < tints[2] < tints[3] == tints[4] < 1


def test_failures_are_listed_only_if_there_are_any() -> None:
    assert root(render_report(TWO)).find(".//section[@id='failures']") is None
    failures = {"rare": 1, "took longer than 2 s for a move": 12, "also rare": 1}
    bot = agent("bot", 5.0, forfeits=14, failures=failures)
    shown = section(render_report(tournament([agent("greedy", 200.0), bot])), "failures")
    reasons = ["took longer than 2 s for a move", "also rare", "rare"]
    assert [row[1] for row in table_rows(shown)[1:]] == reasons
    assert table_rows(shown)[1] == ["bot", reasons[0], "12"]
    assert "14 games lost because an agent failed." in words(shown)


def test_dots_and_bars_lie_where_the_numbers_along_the_axis_say() -> None:
    agents = [agent("a", 310.0, 40.0), agent("b", 200.0, 10.0), agent("c", -55.0, 25.0)]
    seats = [{"seat": seat, "win_rate": rate, "interval": [0.2, 0.7]} for seat, rate in enumerate((0.3, 0.6))]
    page = render_report(tournament(agents, seats=seats))
    ladder = section(page, "ratings")
    assert values_of(ladder, "dot", "cx") == [310, 200, -55]
    assert [each["interval"][0] for each in agents] == values_of(ladder, "bar", "x1")
    assert [each["interval"][1] for each in agents] == values_of(ladder, "bar", "x2")
    assert values_of(section(page, "seats"), "dot", "cx") == [30, 60]
    assert values_of(section(page, "seats"), "bar", "x2") == [70, 70]
    assert values_of(section(page, "seats"), "reference", "x1") == [50]
    assert values_of(section(page, "scores"), "mean", "x1") == [63.2] * 3
    first, second, third = (position(dot, "cy") for dot in of_class(section(page, "speed"), "dot"))
    assert third > first
    assert (second - first) / (third - first) == pytest.approx(110 / 365, abs=0.001)


def test_enormous_bars_are_cut_off_with_an_arrow() -> None:
    strong = [agent("a", 850.0), agent("b", 840.0), agent("c", 830.0), agent("d", 820.0)]
    near = section(render_report(tournament([*strong, agent("hopeless", 830.0, error=400.0)])), "ratings")
    assert [len(of_class(row, "arrow")) for row in of_class(near, "row")] == [0, 0, 0, 0, 2]
    assert len(of_class(near, "dot")) == 5
    page = render_report(tournament([*strong, agent("hopeless", 0.0, error=400.0)]))
    ladder = section(page, "ratings")
    assert [len(of_class(row, "arrow")) for row in of_class(ladder, "row")] == [0, 0, 0, 0, 1]
    assert of_class(ladder, "arrow")[0].attrib["transform"].endswith(" rotate(180)")
    # in the plot of the speed its arrow points down from the axis
    assert of_class(section(page, "speed"), "arrow")[0].attrib["transform"].endswith("312) rotate(90)")
    assert [len(of_class(row, "dot")) for row in of_class(ladder, "row")] == [1, 1, 1, 1, 0]
    # ± is half the interval of 95 %, here as in the table and on the terminal
    assert "0 ± 784" in words(ladder)
    assert table_rows(section(page, "figures"))[5][3] == "± 784.0"
    first, *_, fourth, last = of_class(ladder, "bar")
    assert last.get("x1") == last.get("x2") == of_class(ladder, "axis")[0].get("x1")
    # the four well-known agents fill most of the chart
    assert position(first, "x1") - position(fourth, "x1") > 120


def test_agents_without_results_are_shown_with_dashes() -> None:
    page = render_report(tournament([agent("greedy", 200.0), agent("gone", 0.0, **json.loads(NOT_PLAYED))]))
    cells = table_rows(section(page, "figures"))[2]
    assert cells[4] == cells[10] == cells[11] == cells[12] == DASH
    scores = section(page, "scores")
    assert "no game that counts" in words(scores)
    assert len(of_class(scores, "histogram")) == len(of_class(scores, "mean")) == 1
    assert "Not timed: gone." in words(section(page, "speed"))
    assert len(of_class(section(page, "speed"), "dot")) == 1


def test_tournament_without_any_game() -> None:
    agents = [agent(name, 0.0, 0.0, games=0, win_rate_interval=None, **json.loads(NOT_PLAYED)) for name in "ab"]
    seats = [{"seat": seat, "win_rate": None, "interval": None} for seat in range(2)]
    nothing = {"truncated": None, "design_effect": None, "length": {"mean": None, "interval": None}, "seats": seats}
    squares = {"ahead": [[None] * 2] * 2, "superiority": [[None] * 2] * 2, "ahead_games": [[0] * 2] * 2}
    page = render_report(tournament(agents, games=0, stopped="interrupted", **nothing, **squares))
    assert "No game has been played to its end." in page
    assert [each.get("id") for each in root(page).iter("section")] == [*SECTIONS[:4], "method"]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_sixteen_agents_with_long_names(num_players: int) -> None:
    page = render_report(tournament(SIXTEEN, num_players))
    assert len(list(section(page, "cross").iter("td"))) == 2 * (16 * 16 + 16)
    for part in ("ratings", "scores", "speed"):
        chart = section(page, part)
        cut = [each.text or "" for each in of_class(chart, "name")]
        assert len(cut) == len(set(cut)) == 16
        assert all("…" in name and name.endswith(".zip") and len(name) < 32 for name in cut)
        assert [(title.text or "").split(": ")[0] for title in chart.iter("title")] == CHECKPOINTS
    assert len(of_class(section(page, "seats"), "dot")) == num_players
    assert f"1/{num_players}" in words(section(page, "seats"))
    # all are slower and weaker than the first
    assert len(of_class(section(page, "speed"), "hollow")) == 15


@pytest.mark.parametrize("agents", [TWO["agents"], WIDE, SIXTEEN, CROWDED], ids=["two", "wide", "sixteen", "crowded"])
def test_no_text_of_a_chart_covers_another_text_or_a_mark(agents: list[dict[str, Any]]) -> None:
    page = render_report(tournament(agents))
    speed = section(page, "speed")
    boxes = [text_box(each) for each in of_class(speed, "name")]
    assert all(shared_area(one, other) == 0 for one, other in combinations(boxes, 2))
    dots = [Box(position(dot, "cx") - 4.5, position(dot, "cy") - 4.5, 9, 9) for dot in of_class(speed, "dot")]
    assert all(shared_area(box, dot) == 0 for box in boxes for dot in dots)
    for mark, box in zip(of_class(speed, "mark"), boxes, strict=True):
        # whose label is not at hand has a line that leads there
        dot = of_class(mark, "dot")[0]
        near = Box(position(dot, "cx"), position(dot, "cy"), 0, 0).grown(14)
        assert shared_area(near, box) > 0 or len(of_class(mark, "leader")) == 1
    for part in ("ratings", "scores"):
        chart = section(page, part)
        (axis,) = of_class(chart, "axis")
        assert all(box.x + box.width < position(axis, "x1") for box in map(text_box, of_class(chart, "name")))
        assert all(box.x > position(axis, "x2") for box in map(text_box, of_class(chart, "value")))
    for chart in root(page).iter("svg"):
        numbers = [text_box(each, 12) for each in of_class(chart, "tick") if not each.get("transform")]
        assert all(shared_area(one, other) == 0 for one, other in combinations(numbers, 2))


def test_seats_of_a_single_deal_have_no_intervals() -> None:
    seats = [{"seat": seat, "win_rate": 0.5, "interval": None} for seat in range(2)]
    shown = section(render_report(tournament([agent("a", 10.0), agent("b", 9.0)], seats=seats)), "seats")
    assert len(of_class(shown, "dot")) == 2
    assert not of_class(shown, "bar")
    assert f"seat 1: 50.0\u00a0%, 95 % interval {DASH}" in [title.text for title in shown.iter("title")]


def test_method_names_settings_and_reservations() -> None:
    agents = [agent("a", 10.0), agent("b", 9.0, agent="program:b --level 3")]
    page = render_report(tournament(agents, 3, stopped="precision reached", precision=10))
    method = section(page, "method")
    settings = {words(each[0]): words(each[1]) for each in method.iter("div") if each.find("dt") is not None}
    assert (settings["Game"], settings["Ended"]) == ("Azul", "precision of 10 Elo reached")
    assert settings["Pairing"] == "round robin, 12 rounds, 10 deals in each"
    assert settings["Plies a game"] == "55.2 (54.8 to 55.6)"
    assert "shifted so that their mean is 0" in words(method)
    assert table_rows(method) == [["b", "program:b --level 3"]]


def test_evaluations_do_not_load_jinja2() -> None:
    code = (
        "import sys; from meeplezoo.cli.main import main; "
        "main(['evaluate', 'azul', 'random', 'random', '--games', '2', '--seed', '1']); print('jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_pareto_front_is_a_line_in_steps() -> None:
    times = [5.0, 1.0, 2.0, 2.0, 0.1, 9.0]
    ratings = [700.0, 500.0, 500.0, 650.0, 100.0, 690.0]
    assert pareto_front(times, ratings) == [4, 1, 3, 0]
    assert pareto_front([1.0], [0.0]) == [0]
    # equals do not beat each other
    assert pareto_front([1.0, 1.0, 1.0], [5.0, 5.0, 4.0]) == [0, 1]
    corners = front_corners([(10, 90), (30, 60), (50, 20)], 100)
    assert corners == [(10, 90), (30, 90), (30, 60), (50, 60), (50, 20), (100, 20)]
    assert boxes_along(corners[:3]) == [Box(8, 88, 24, 4), Box(28, 58, 4, 34)]


def test_round_and_decade_ticks() -> None:
    assert round_ticks(0, 10, 6) == [0, 2, 4, 6, 8, 10]
    assert round_ticks(-30, 812, 6) == [0, 200, 400, 600, 800]
    assert round_ticks(-95, -12, 5) == [-80, -60, -40, -20]
    assert round_ticks(0.446, 0.554, 6) == [0.46, 0.48, 0.5, 0.52, 0.54]
    assert round_ticks(0.3, 0.5, 3) == [0.3, 0.4, 0.5]
    assert round_ticks(0, 1, 2) == [0, 1]
    assert decade_ticks(0.0005, 2000) == [0.001, 0.01, 0.1, 1, 10, 100, 1000]
    assert decade_ticks(0.8, 30) == [1, 2, 5, 10, 20]
    assert decade_ticks(1.1, 1.9) == [1.2, 1.4, 1.6, 1.8]


def test_ranges_of_axes() -> None:
    assert rating_range([100, 0], [10, 10], bar=2) == (-30, 130)
    # far off and hardly known: left out; hardly known but near: in with its rating, not with its bar
    assert rating_range([850, 830, 0], [10, 10, 400], bar=1) == (810, 870)
    assert rating_range([850, 830, 800], [10, 10, 400], bar=1) == (790, 870)
    # far off but well known: in
    assert rating_range([850, 830, 0], [10, 10, 10], bar=0) == (-42.5, 892.5)
    assert rating_range([5, 5], [0, 0]) == (-5, 15)
    assert share_range([(0.48, 0.6), (0.45, 0.5)], 0.5) == pytest.approx((0.385, 0.615))
    assert share_range([(0.5, 0.5)], 0.5) == pytest.approx((0.4885, 0.5115))
    assert score_range([0, 10, 20, 30, 40], [[0, 3, 0, 0], [0, 0, 1, 0]]) == (10, 30)
    assert score_range([0, 10, 20], [[0, 0]]) == (0, 20)


def test_histogram_has_heights_in_proportion_and_no_empty_ends() -> None:
    outline = outline_histogram([0, 10, 20, 30, 40], [0, 4, 1, 0], Axis(0, 40, 0, 400))
    assert outline == [(100, 0), (100, -32), (200, -32), (200, -8), (300, -8), (300, 0)]
    assert outline_histogram([0, 10], [0], Axis(0, 10, 0, 100)) == []


def test_labels_stand_beside_their_points() -> None:
    plot = Box(0, 0, 400, 200)
    (free,) = place_labels([(100, 100)], [80], 16, plot)
    assert (free.x, free.anchor, free.is_far) == (109, "start", False)
    assert free.box == Box(109, 92, 80, 16)
    (at_the_edge,) = place_labels([(390, 100)], [80], 16, plot)
    assert (at_the_edge.x, at_the_edge.anchor) == (381, "end")
    (off_the_line,) = place_labels([(100, 100)], [80], 16, plot, [Box(0, 99, 400, 2)])
    assert off_the_line.box.y + 16 <= 99


def test_labels_without_room_stand_off_their_points_at_the_end_of_a_line() -> None:
    labels = place_labels([(350, 175)] * 12, [150] * 12, 16, Box(0, 0, 700, 350))
    assert [labels[index].is_far for index in (0, 1, -1)] == [False, False, True]
    for label in labels:
        x, y = label.leader_end(350, 175)
        assert shared_area(Box(x, y, 0, 0).grown(3), label.box) > 0
    # even where there is no room for all, everything gets a label
    assert len(place_labels([(10, 10)] * 30, [30] * 30, 16, Box(0, 0, 60, 40))) == 30


def test_text_width_and_numbers_as_text() -> None:
    assert text_width("棋棋", 10) == pytest.approx(21)
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert [decimal(value) for value in (None, 1234.56, -3.25, -0.01)] == [DASH, "1,234.6", "\u22123.2", "0.0"]
    assert [format_with_sign(value) for value in (10.1, 0.0, 0.01, -2.0)] == ["+10.1", "0.0", "0.0", "\u22122.0"]
    assert interval([-0.5, 1.25], 2, unit="%") == "\u22120.50 to 1.25\u00a0%"
    assert interval([None, 1.0]) == interval(None) == DASH
    times = [0.00123, 0.0000516, 0.0996, 0.02, 1.24, 9.96, 41.3, 99.6, 900.0, 12345.0, None]
    written = ["0.0012", "0.000052", "0.10", "0.020", "1.2", "10", "41", "100", "900", "12,345", DASH]
    assert [milliseconds(time) for time in times] == written
    certain = [probability(value) for value in (0.5, 1.0, 0.0, None)]
    assert certain == ["50.0\u00a0%", ">\u00a099.9\u00a0%", "<\u00a00.1\u00a0%", DASH]
    ticks = [tick(value) for value in (0.001, -20.0, 1000.0, 0.30000000000000004)]
    assert ticks == ["0.001", "\u221220", "1,000", "0.3"]
