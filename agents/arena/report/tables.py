"""The tables of the report: all figures, who beats whom, failures."""

from collections.abc import Callable, Sequence
from typing import Any

from .markup import scrolled, tag, text
from .wording import UNKNOWN, counted, decimal, interval, milliseconds, percent, plus, plus_or_minus, probability, whole

_STRONGEST_TINT = 0.62  # more would make the figures in the cells hard to read

_HEADS = (
    *("", "Agent", "Rating", "95\u00a0%", "Stronger than the next"),
    *("Games", "Won", "Drawn", "Lost", "Win rate", "Mean score", "Mean margin", "ms a move", "Forfeits"),
)

Matrix = Sequence[Sequence[float | None]]


def figures(results: dict[str, Any]) -> str:
    """Return the table of all that was measured, one agent in a row, intervals below their figures."""
    head = tag("tr", *(tag("th", text(name), scope="col", class_=_side(name)) for name in _HEADS))
    rows = [_figures_row(results, index) for index in range(len(results["agents"]))]
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="figures")
    return scrolled(table, "All figures")


def _figures_row(results: dict[str, Any], index: int) -> str:
    agents = results["agents"]
    agent = agents[index]
    above_next = results["superiority"][index][index + 1] if index + 1 < len(agents) else None
    cells = [
        rank_cell(index),
        name_cell(agent),
        _figure(whole(agent["rating"]), interval(agent["interval"], 0)),
        _figure(plus_or_minus(agent["error"])),
        _figure(probability(above_next)),
        *(_figure(whole(agent[name])) for name in ("games", "wins", "draws", "losses")),
        _figure(percent(agent["win_rate"]), interval(agent["win_rate_interval"], scale=100)),
        _figure(decimal(agent["mean_score"]), interval(agent["score_interval"])),
        _figure(plus(agent["mean_margin"]), interval(agent["margin_interval"])),
        _figure(milliseconds(agent["milliseconds_per_move"])),
        _figure(whole(agent["forfeits"])),
    ]
    return tag("tr", *cells)


def _side(head: str) -> str | None:
    return "left" if head in ("Agent", "Reason") else None


def _figure(value: str, bounds: str | None = None) -> str:
    below = "" if bounds is None or bounds == UNKNOWN else tag("small", text(bounds))
    return tag("td", text(value), below)


def rank_cell(index: int) -> str:
    """Return the cell with an agent's place."""
    return tag("td", str(index + 1), class_="rank")


def name_cell(agent: dict[str, Any]) -> str:
    """Return the cell with an agent's name, and what it is as a tooltip."""
    # bdi: a name written from right to left must not turn its neighbours round
    return tag("th", tag("bdi", text(agent["name"])), scope="row", class_="name", title=agent["agent"])


def cross_table(results: dict[str, Any]) -> str:
    """Return the table of who finished ahead of whom how often."""
    agents = results["agents"]

    def tooltip(row: int, column: int) -> str:
        games = results["ahead_games"][row][column]
        names = agents[row]["name"], agents[column]["name"]
        if not games:
            return f"{names[0]} and {names[1]} never met"
        share = percent(results["ahead"][row][column])
        return f"{names[0]} ahead of {names[1]} in {share} of {counted(games, 'game')}"

    def written(share: float) -> str:
        return decimal(100 * share)

    return _heat_table(agents, results["ahead"], written, tooltip, "Who finishes ahead of whom, in per cent")


def superiority_table(results: dict[str, Any]) -> str:
    """Return the table of the probabilities that one agent is stronger than another."""
    agents = results["agents"]

    def tooltip(row: int, column: int) -> str:
        sure = probability(results["superiority"][row][column])
        return f"{agents[row]['name']} is stronger than {agents[column]['name']}: {sure}"

    def written(sure: float) -> str:
        return probability(sure).removesuffix("\u00a0%")

    return _heat_table(agents, results["superiority"], written, tooltip, "Who is stronger than whom, in per cent")


def _heat_table(
    agents: Sequence[dict[str, Any]],
    matrix: Matrix,
    written: Callable[[float], str],
    tooltip: Callable[[int, int], str],
    label: str,
) -> str:
    """Return a square table whose columns are the places of the rows' agents."""
    numbers = [
        tag("th", str(index + 1), scope="col", title=agent["name"], class_="column")
        for index, agent in enumerate(agents)
    ]
    head = tag("tr", tag("th", class_="rank"), tag("th", "Agent", scope="col", class_="left name"), *numbers)
    rows = []
    for row, agent in enumerate(agents):
        cells = [
            tag("td", class_="itself") if row == column else _heat_cell(share, written, tooltip(row, column))
            for column, share in enumerate(matrix[row])
        ]
        rows.append(tag("tr", rank_cell(row), name_cell(agent), *cells))
    return scrolled(tag("table", tag("thead", head), tag("tbody", *rows), class_="cross"), label)


def _heat_cell(share: float | None, written: Callable[[float], str], tooltip: str) -> str:
    if share is None:
        return tag("td", UNKNOWN, title=tooltip, class_="unknown")
    side = "ahead" if share >= 0.5 else "behind"
    return tag("td", text(written(share)), title=tooltip, class_=side, style=f"--tint:{tint(share):.3f}")


def tint(share: float) -> float:
    """Return how strongly a share is coloured: not at all for one half, the most for 0 and 1."""
    return _STRONGEST_TINT * abs(2 * share - 1)


def failures(results: dict[str, Any]) -> str:
    """Return the table of why games were lost without being played on, the most frequent reason of an agent first."""
    heads = (("Agent", "left"), ("Reason", "left"), ("Games", None))
    head = tag("tr", *(tag("th", name, scope="col", class_=side) for name, side in heads))
    rows = []
    for agent in results["agents"]:
        for reason, count in sorted(agent["failures"].items(), key=lambda item: (-item[1], item[0])):
            cell = tag("td", text(reason), class_="left reason")
            rows.append(tag("tr", name_cell(agent), cell, _figure(whole(count))))
    return scrolled(tag("table", tag("thead", head), tag("tbody", *rows), class_="failures"), "Failures")
