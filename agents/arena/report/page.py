"""The page: its sections, from the results of a tournament."""

from typing import Any

from .dot_plot import ladder, seats_chart
from .markup import tag, text
from .method import method
from .score_plot import scores_chart
from .speed_plot import speed_chart, timed_agents
from .style import STYLE
from .tables import cross_table, failures, figures, superiority_table
from .wording import counted, ending, options, summary


def report(results: dict[str, Any]) -> str:
    """Return the report of a tournament as one HTML page that needs nothing from elsewhere.

    `results` is the content of a tournament's results.json. The page is well-formed XML as well.
    """
    title = f"{results['title']}: {counted(len(results['agents']), 'agent')}"
    head = tag(
        "head",
        '<meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>',
        '<meta name="color-scheme" content="light dark"/>',
        tag("title", text(title)),
        tag("style", STYLE),
    )
    body = tag("body", tag("main", _heading(results), *_sections(results)))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _heading(results: dict[str, Any]) -> str:
    facts = [
        counted(results["games"], "game"),
        counted(results["options"]["num_players"], "player"),
        options(results["options"]),
        results["pairing"],
        ending(results),
    ]
    return tag(
        "header",
        tag("p", "Tournament report", class_="kicker"),
        tag("h1", text(f"{results['title']}, {counted(len(results['agents']), 'agent')}")),
        tag("p", text(summary(results)), class_="lead"),
        tag("p", text(" · ".join(fact for fact in facts if fact)), class_="facts"),
    )


def _sections(results: dict[str, Any]) -> list[str]:
    sections = [
        _section(
            "ratings",
            "Ratings",
            "Dot: rating. Bar and ±: 95 %; the bars of any two agents can be compared. An arrow: it goes on beyond the "
            "axis.",
            ladder(results),
        ),
        _section("figures", "All figures", "Intervals of 95 % below the figures.", figures(results)),
        _section("cross", "Who finishes ahead of whom", _CROSS, cross_table(results), _superiority(results)),
    ]
    if all(agent["scores"] for agent in results["agents"]):
        sections.append(_section("scores", "Scores", _SCORES, scores_chart(results)))
    if any(seat["win_rate"] is not None for seat in results["seats"]):
        sections.append(_section("seats", "Seats", _seats(results), seats_chart(results)))
    if timed_agents(results):
        sections.append(_section("speed", "Speed and strength", _speed(results), speed_chart(results)))
    if any(agent["failures"] for agent in results["agents"]):
        lost = f"{counted(results['forfeits'], 'game')} lost because an agent failed."
        sections.append(_section("failures", "Failures", lost, failures(results)))
    return [*sections, _section("method", "How this was made", "", method(results))]


_CROSS = (
    "Share of common games in per cent in which the agent of the row finished ahead of the agent of the column, whose "
    "number is its place; ties count half. Blue: ahead more often, orange: behind."
)
_SCORES = "Share of games by score, the highest bin of each agent at the same height; upright line: mean."


def _section(name: str, heading: str, caption: str, *content: str) -> str:
    told = tag("p", text(caption), class_="caption") if caption else ""
    return tag("section", tag("h2", text(heading)), told, *content, id=name)


def _superiority(results: dict[str, Any]) -> str:
    opener = tag("summary", "Probability that the agent of the row is stronger than that of the column")
    return tag("details", opener, superiority_table(results))


def _seats(results: dict[str, Any]) -> str:
    players = results["options"]["num_players"]
    return (
        f"Win rate of each seat over all games, with its interval of 95 %. Line: 1/{players}, no effect. Every line-up "
        "sits in all seatings, so that this is the game's doing, not the agents'."
    )


def _speed(results: dict[str, Any]) -> str:
    missing = [agent["name"] for agent in results["agents"] if not agent["milliseconds_per_move"]]
    untimed = f" Not timed: {', '.join(missing)}." if missing else ""
    return (
        f"Line and filled dots: the strongest agent for any time a move (Pareto front). Up and left is better.{untimed}"
    )
