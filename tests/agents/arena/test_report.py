"""The HTML report of a tournament: its sections, its charts, and the preparation of their data."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from meeplezoo.agents.arena.report.axes import (
    Axis,
    decade_ticks,
    pareto_front,
    rating_range,
    round_ticks,
    score_range,
    share_range,
)
from meeplezoo.agents.arena.report.labels import place_labels, shortened, text_width
from meeplezoo.agents.arena.report.markup import tag
from meeplezoo.agents.arena.report.page import report
from meeplezoo.agents.arena.report.score_plot import hill_path
from meeplezoo.agents.arena.report.speed_plot import boxes_along, front_corners
from meeplezoo.agents.arena.report.tables import tint
from meeplezoo.agents.arena.report.wording import decimal, interval, milliseconds, plus, probability, summary, tick
from meeplezoo.envs.view.svg import Box

SECTIONS = ["ratings", "figures", "cross", "scores", "seats", "speed", "method"]


def agent(name: str, rating: float, error: float = 12.0, **changes: Any) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "name": name,
        "agent": name,
        "rating": rating,
        "error": error,
        "interval": [rating - 30, rating + 30],
        "games": 800,
        "wins": 500,
        "draws": 3,
        "losses": 297,
        "win_rate": 0.62,
        "win_rate_interval": [0.586, 0.653],
        "mean_score": 63.2,
        "score_interval": [62.0, 64.4],
        "mean_margin": 10.1,
        "margin_interval": [9.0, 11.2],
        "milliseconds_per_move": 0.02,
        "forfeits": 0,
        "failures": {},
        "scores": {"edges": [0, 20, 40, 60, 80, 100], "counts": [0, 100, 200, 400, 100]},
    }
    return figures | changes


def tournament(agents: list[dict[str, Any]], num_players: int = 2, **changes: Any) -> dict[str, Any]:
    count = len(agents)

    def square(below: Any, itself: Any, above: Any) -> list[list[Any]]:
        numbers = range(count)
        return [[above if i < j else itself if i == j else below for j in numbers] for i in numbers]

    results: dict[str, Any] = {
        "format": "meeplezoo-tournament/1",
        "game": "azul",
        "title": "Azul",
        "options": {"num_players": num_players, "wall": "grey"},
        "pairing": "round robin",
        "rounds": 12,
        "deals_per_round": 10,
        "seed": 7,
        "games": 2400,
        "stopped": "all rounds played",
        "precision": None,
        "design_effect": 0.81,
        "anchor": None,
        "length": {"mean": 55.2, "interval": [54.8, 55.6]},
        "truncated": 0.0,
        "forfeits": sum(each["forfeits"] for each in agents),
        "seats": [{"seat": seat, "win_rate": 0.52, "interval": [0.5, 0.54]} for seat in range(num_players)],
        "agents": agents,
        "ahead": square(0.3, None, 0.7),
        "ahead_games": square(400, 0, 400),
        "superiority": square(0.01, 0.5, 0.99),
    }
    return results | changes


def root(page: str) -> ElementTree.Element:
    doctype, markup = page.split("\n", 1)
    assert doctype == "<!DOCTYPE html>"
    return ElementTree.fromstring(markup)


def section(page: str, name: str) -> ElementTree.Element:
    found = root(page).find(f".//section[@id='{name}']")
    assert found is not None
    return found


def words(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def of_class(element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in element.iter() if name in each.get("class", "").split()]


TWO = tournament([agent("greedy", 812.3), agent("random", 0.0, milliseconds_per_move=0.001)], anchor="random")


def test_page_has_all_sections_and_says_who_is_first() -> None:
    page = report(TWO)
    assert [each.get("id") for each in root(page).iter("section")] == SECTIONS
    header = root(page).find(".//header")
    assert header is not None
    assert "greedy comes first of 2 agents after 2,400 games" in words(header)
    assert "stronger than random with a probability of 99.0 %" in words(header)
    assert "wall = grey" in words(header)


def test_page_needs_nothing_from_elsewhere() -> None:
    page = report(TWO)
    assert "http" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert {each.tag for each in root(page).iter()}.isdisjoint({"script", "link", "img", "iframe", "object"})
    assert not [name for each in root(page).iter() for name in each.attrib if name in ("src", "href")]
    assert "prefers-color-scheme: dark" in page


def test_every_chart_is_well_formed_and_every_wide_thing_scrolls() -> None:
    page = report(TWO)
    charts = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(charts) == 4
    for chart in charts:
        assert ElementTree.fromstring(chart).get("viewBox", "").startswith("0 0 780 ")
    scrolled = of_class(root(page), "scrolled")
    inside = [child.tag for box in scrolled for child in box]
    assert inside.count("svg") == 4
    assert inside.count("table") == len(list(root(page).iter("table")))


def test_names_and_reasons_are_escaped_everywhere() -> None:
    name = "<b>&\"'my bot"
    bad = agent(name, 100.0, agent="bot:<i>", forfeits=2, failures={"crashed: ValueError: <x> \x00 \ud800": 2})
    page = report(tournament([agent("greedy", 200.0), bad], title="A & B"))
    assert "<b>&" not in page
    assert "<i>" not in page
    assert page.encode().decode() == page
    assert name in [words(cell) for cell in of_class(section(page, "figures"), "name")]
    assert name in [words(each) for each in section(page, "ratings").iter("text")]
    assert "ValueError: <x> \ufffd \ufffd" in words(section(page, "failures"))
    assert "bot:<i>" in words(section(page, "method"))
    assert root(page).findtext(".//h1") == "A & B, 2\u00a0agents"


def test_figures_are_written_with_their_intervals() -> None:
    rows = list(section(report(TWO), "figures").iter("tr"))
    assert [words(cell) for cell in rows[0]][:5] == ["", "Agent", "Rating", "95 %", "Stronger than the next"]
    first = ["".join(f"{part}|" for part in cell.itertext()) for cell in rows[1]]
    assert first == [
        *["1|", "greedy|", "812|782 to 842|", "±\u00a023.5|", "99.0\u00a0%|", "800|", "500|", "3|", "297|"],
        *["62.0\u00a0%|58.6 to 65.3|", "63.2|62.0 to 64.4|", "+10.1|9.0 to 11.2|", "0.020|", "0|"],
    ]
    assert "".join(rows[2][2].itertext()) == "0\u221230 to 30"


def test_cross_table_holds_shares_and_games() -> None:
    three = tournament([agent("a", 30.0), agent("b", 20.0), agent("c", 10.0)])
    three["ahead"][0][2] = three["ahead"][2][0] = None
    three["ahead_games"][0][2] = three["ahead_games"][2][0] = 0
    cross = next(section(report(three), "cross").iter("table"))
    rows = [[words(cell) for cell in row] for row in cross.iter("tr")]
    assert rows == [
        ["", "Agent", "1", "2", "3"],
        ["1", "a", "", "70.0", "–"],  # noqa: RUF001
        ["2", "b", "30.0", "", "70.0"],
        ["3", "c", "–", "30.0", ""],  # noqa: RUF001
    ]
    titles = [cell.get("title") for cell in list(cross.iter("tr"))[1]]
    assert titles[3:] == ["a ahead of b in 70.0\u00a0% of 400\u00a0games", "a and c never met"]
    assert [len(of_class(cross, side)) for side in ("ahead", "behind", "unknown", "itself")] == [2, 2, 2, 3]
    assert tint(0.5) == 0
    assert tint(0.0) == tint(1.0) == pytest.approx(0.62)


def test_superiority_table_never_claims_certainty() -> None:
    sure = tournament([agent("a", 900.0), agent("b", 0.0)], superiority=[[0.5, 1.0], [0.0, 0.5]])
    details = section(report(sure), "cross").find("details")
    assert details is not None
    rows = [[words(cell) for cell in row] for row in details.iter("tr")]
    assert rows[1:] == [["1", "a", "", "> 99.9"], ["2", "b", "< 0.1", ""]]
    assert "with a probability of more than 99.9\u00a0%" in summary(sure)


def test_failures_are_listed_only_if_there_are_any() -> None:
    assert root(report(TWO)).find(".//section[@id='failures']") is None
    failures = {"rare": 1, "took longer than 2 s for a move": 12}
    bot = agent("bot", 5.0, forfeits=13, failures=failures)
    shown = section(report(tournament([agent("greedy", 200.0), bot])), "failures")
    rows = [[words(cell) for cell in row] for row in shown.iter("tr")]
    assert rows[1:] == [["bot", "took longer than 2 s for a move", "12"], ["bot", "rare", "1"]]
    assert "13 games lost because an agent failed." in words(shown)


def test_enormous_bars_are_cut_off_with_an_arrow() -> None:
    strong = [agent("a", 850.0), agent("b", 840.0), agent("c", 830.0), agent("d", 820.0)]
    page = report(tournament([*strong, agent("hopeless", 830.0, error=400.0)]))
    assert len(of_class(section(page, "ratings"), "arrow")) == 2
    assert len(of_class(section(page, "ratings"), "dot")) == 5
    page = report(tournament([*strong, agent("hopeless", 0.0, error=400.0)]))
    ladder = section(page, "ratings")
    assert len(of_class(ladder, "arrow")) == 1
    assert len(of_class(ladder, "dot")) == 4
    # ± is half the interval of 95 %, here as in the table and on the terminal
    assert "0 ± 784" in words(ladder)
    assert [words(cell) for cell in list(section(page, "figures").iter("tr"))[5]][3] == "± 784.0"
    bars = of_class(ladder, "bar")
    start, end = min(float(bar.get("x1", "")) for bar in bars), max(float(bar.get("x2", "")) for bar in bars)
    assert bars[4].get("x1") == bars[4].get("x2") == f"{start:.2f}"
    # the four well-known agents fill most of the chart
    assert float(bars[0].get("x2", "")) == end
    assert float(bars[0].get("x1", "")) - float(bars[3].get("x1", "")) > 120


def test_agents_without_results_are_shown_with_dashes() -> None:
    nothing = dict.fromkeys(
        ["mean_score", "mean_margin", "score_interval", "margin_interval", "milliseconds_per_move", "win_rate"]
    )
    counts = {"edges": [0, 20, 40, 60, 80, 100], "counts": [0] * 5}
    page = report(tournament([agent("greedy", 200.0), agent("gone", 0.0, scores=counts, **nothing)]))
    cells = [words(cell) for cell in list(section(page, "figures").iter("tr"))[2]]
    assert cells[4] == cells[10] == cells[11] == cells[12] == "–"  # noqa: RUF001
    assert "no game that counts" in words(section(page, "scores"))
    assert "Not timed: gone." in words(section(page, "speed"))
    assert len(of_class(section(page, "speed"), "dot")) == 1


def test_tournament_without_any_game() -> None:
    nothing = dict.fromkeys(
        ["mean_score", "mean_margin", "score_interval", "margin_interval", "milliseconds_per_move", "win_rate"]
    )
    counts = {"edges": [0, 20], "counts": [0]}
    agents = [agent(name, 0.0, 0.0, games=0, scores=counts, win_rate_interval=None, **nothing) for name in "ab"]
    page = report(
        tournament(
            agents,
            games=0,
            stopped="interrupted",
            truncated=None,
            design_effect=None,
            length={"mean": None, "interval": None},
            seats=[{"seat": seat, "win_rate": None, "interval": None} for seat in range(2)],
            superiority=[[None, None], [None, None]],
            ahead=[[None, None], [None, None]],
            ahead_games=[[0, 0], [0, 0]],
        )
    )
    assert "No game has been played to its end." in page
    assert [each.get("id") for each in root(page).iter("section")] == [
        "ratings",
        "figures",
        "cross",
        "scores",
        "method",
    ]


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_sixteen_agents_with_long_names(num_players: int) -> None:
    names = [f"ppo:runs/2024-05-01-self-play/checkpoints/step-{step:09d}.zip" for step in range(16)]
    times = [0.001 * 2.5**index for index in range(16)]
    agents = [
        agent(name, 900.0 - 40 * index, milliseconds_per_move=time)
        for index, (name, time) in enumerate(zip(names, times, strict=True))
    ]
    page = report(tournament(agents, num_players))
    assert len(list(section(page, "cross").iter("td"))) == 2 * (16 * 16 + 16)
    ladder = section(page, "ratings")
    cut = [each.text or "" for each in ladder.iter("text") if (each.text or "").startswith("ppo:")]
    assert len(cut) == len(set(cut)) == 16
    assert all("…" in name and name.endswith(".zip") and len(name) < 32 for name in cut)
    assert [(title.text or "").split(": ")[0] for title in ladder.iter("title")] == names
    assert len(of_class(section(page, "seats"), "dot")) == num_players
    assert f"1/{num_players}" in words(section(page, "seats"))
    # all are slower and weaker than the first
    assert len(of_class(section(page, "speed"), "hollow")) == 15


def test_seats_of_a_single_deal_have_no_intervals() -> None:
    seats = [{"seat": seat, "win_rate": 0.5, "interval": None} for seat in range(2)]
    shown = section(report(tournament([agent("a", 10.0), agent("b", 9.0)], seats=seats)), "seats")
    assert len(of_class(shown, "dot")) == 2
    assert "seat 1: 50.0\u00a0%, 95 % interval –" in [title.text for title in shown.iter("title")]  # noqa: RUF001


def test_terms_name_the_anchor_even_with_braces() -> None:
    page = report(tournament([agent("{even}", 10.0), agent("b", 0.0)], anchor="{even}"))
    assert "shifted so that {even} has 0" in words(section(page, "method"))
    assert "shifted so that their mean is 0" in report(tournament([agent("a", 10.0), agent("b", 0.0)]))


def test_summary_admits_doubt() -> None:
    close = tournament([agent("a", 10.0), agent("b", 9.0)], superiority=[[0.5, 0.6], [0.4, 0.5]])
    assert summary(close) == (
        "a comes first of 2\u00a0agents after 2,400\u00a0games, but is stronger than b only with a probability of "
        "60.0\u00a0%."
    )


def test_ending_names_the_precision() -> None:
    page = report(tournament([agent("a", 10.0), agent("b", 9.0)], stopped="precision reached", precision=10))
    assert "precision of 10 Elo reached" in words(section(page, "method"))


def test_pareto_front() -> None:
    times = [5.0, 1.0, 2.0, 2.0, 0.1, 9.0]
    ratings = [700.0, 500.0, 500.0, 650.0, 100.0, 690.0]
    assert pareto_front(times, ratings) == [4, 1, 3, 0]
    assert pareto_front([1.0], [0.0]) == [0]
    # equals do not beat each other
    assert pareto_front([1.0, 1.0, 1.0], [5.0, 5.0, 4.0]) == [0, 1]


def test_front_is_a_line_in_steps() -> None:
    corners = front_corners([(10, 90), (30, 60), (50, 20)], 100)
    assert corners == [(10, 90), (30, 90), (30, 60), (50, 60), (50, 20), (100, 20)]
    assert boxes_along(corners[:3]) == [Box(8, 88, 24, 4), Box(28, 58, 4, 34)]


@pytest.mark.parametrize(
    ("low", "high", "at_most", "ticks"),
    [
        (0, 10, 6, [0, 2, 4, 6, 8, 10]),
        (-30, 812, 6, [0, 200, 400, 600, 800]),
        (-95, -12, 5, [-80, -60, -40, -20]),
        (0.446, 0.554, 6, [0.46, 0.48, 0.5, 0.52, 0.54]),
        (0.3, 0.5, 3, [0.3, 0.4, 0.5]),
        (0, 1, 2, [0, 1]),
    ],
)
def test_round_ticks(low: float, high: float, at_most: int, ticks: list[float]) -> None:
    assert round_ticks(low, high, at_most) == ticks


def test_decade_ticks() -> None:
    assert decade_ticks(0.0005, 2000) == [0.001, 0.01, 0.1, 1, 10, 100, 1000]
    assert decade_ticks(0.8, 30) == [1, 2, 5, 10, 20]
    assert decade_ticks(1.1, 1.9) == [1.2, 1.4, 1.6, 1.8]


def test_axis_keeps_values_inside() -> None:
    axis = Axis(0, 10, 100, 200)
    assert [axis.at(value) for value in (0, 2.5, 10, -5, 99)] == [100, 125, 200, 100, 200]
    assert [axis.shows(value) for value in (0, 10, -0.1, 10.1)] == [True, True, False, False]
    assert Axis(0, 10, 200, 100).at(2.5) == 175


def test_rating_range() -> None:
    low, high = rating_range([100, 0], [10, 10], bar=2)
    assert (low, high) == (-30, 130)
    # far off and hardly known: left out; hardly known but near: in with its rating, not with its bar
    assert rating_range([850, 830, 0], [10, 10, 400], bar=1) == (810, 870)
    assert rating_range([850, 830, 800], [10, 10, 400], bar=1) == (790, 870)
    # far off but well known: in
    assert rating_range([850, 830, 0], [10, 10, 10], bar=0) == (-42.5, 892.5)
    assert rating_range([5, 5], [0, 0]) == (-5, 15)


def test_other_ranges() -> None:
    assert share_range([(0.48, 0.6), (0.45, 0.5)], 0.5) == pytest.approx((0.385, 0.615))
    assert share_range([(0.5, 0.5)], 0.5) == pytest.approx((0.4885, 0.5115))
    assert score_range([0, 10, 20, 30, 40], [[0, 3, 0, 0], [0, 0, 1, 0]]) == (10, 30)
    assert score_range([0, 10, 20], [[0, 0]]) == (0, 20)


def test_hill_is_a_histogram() -> None:
    path = hill_path([0, 10, 20, 30], [0, 4, 1], Axis(0, 30, 0, 300), 100)
    assert path == "M100.00 100.00V68.00H200.00V92.00H300.00V100.00Z"


def covered(labels: list[Any]) -> float:
    """Return the area that labels share."""
    shared = 0.0
    for index, one in enumerate(labels):
        for other in labels[:index]:
            a, b = one.box, other.box
            width = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
            height = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
            shared += max(width, 0) * max(height, 0)
    return shared


def test_labels_stand_beside_their_points() -> None:
    plot = Box(0, 0, 400, 200)
    (free,) = place_labels([(100, 100)], [80], 16, plot)
    assert (free.x, free.anchor, free.led) == (109, "start", False)
    assert free.box == Box(109, 92, 80, 16)
    (at_the_edge,) = place_labels([(390, 100)], [80], 16, plot)
    assert (at_the_edge.x, at_the_edge.anchor) == (381, "end")
    (off_the_line,) = place_labels([(100, 100)], [80], 16, plot, [Box(0, 99, 400, 2)])
    assert off_the_line.box.y + 16 <= 99


def test_labels_do_not_collide() -> None:
    plot = Box(0, 0, 700, 350)
    same_place = place_labels([(350, 175)] * 12, [150] * 12, 16, plot)
    assert covered(same_place) == 0
    assert all(plot.x <= label.box.x and label.box.x + label.box.width <= 700 for label in same_place)
    assert [label.led for label in same_place[:2]] == [False, False]
    assert same_place[-1].led
    # even where there is no room for all, everything gets a label
    assert len(place_labels([(10, 10)] * 30, [30] * 30, 16, Box(0, 0, 60, 40))) == 30


def test_names_are_shortened_in_the_middle() -> None:
    assert shortened("greedy", 100, 13) == "greedy"
    cut = shortened("ppo:runs/azul/step-1000000.zip", 150, 13)
    assert cut.startswith("ppo:runs")
    assert cut.endswith("00.zip")
    assert text_width(cut, 13) <= 150
    assert text_width("棋棋", 10) == pytest.approx(21)
    assert text_width("e\u0301", 10) == text_width("e", 10)


def test_numbers_as_text() -> None:
    assert [decimal(value) for value in (None, 1234.56, -3.25, -0.01)] == ["–", "1,234.6", "\u22123.2", "0.0"]  # noqa: RUF001
    assert [plus(value) for value in (10.1, 0.0, 0.01, -2.0)] == ["+10.1", "0.0", "0.0", "\u22122.0"]
    assert interval([-0.5, 1.25], 2, unit="%") == "\u22120.50 to 1.25\u00a0%"
    assert interval([None, 1.0]) == interval(None) == "–"  # noqa: RUF001
    times = [0.00123, 0.0996, 0.02, 1.24, 9.96, 41.3, 900.0, 12345.0]
    assert [milliseconds(time) for time in times] == ["0.0012", "0.10", "0.020", "1.2", "10", "41", "900", "12,345"]
    assert [probability(value) for value in (0.5, 1.0, 0.0)] == [
        "50.0\u00a0%",
        ">\u00a099.9\u00a0%",
        "<\u00a00.1\u00a0%",
    ]
    assert [tick(value) for value in (0.001, -20.0, 1000.0, 0.30000000000000004)] == [
        "0.001",
        "\u221220",
        "1,000",
        "0.3",
    ]


def test_tags() -> None:
    assert tag("rect", x=1.0, class_="a", stroke_width=2.345, fill=None) == (
        '<rect x="1" class="a" stroke-width="2.35"></rect>'
    )
    assert tag("td", "x", title="a\u202eb\x9bc\u2066") == '<td title="a\ufffdb\ufffdc\ufffd">x</td>'
    assert tag("td", "x", title='"<&>\x01') == "<td title='\"&lt;&amp;&gt;\ufffd'>x</td>"
