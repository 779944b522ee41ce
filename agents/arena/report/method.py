"""How a tournament was made and what the terms of its report mean."""

from typing import Any

from .markup import tag, text
from .wording import UNKNOWN, counted, decimal, ending, interval, options, percent


def method(results: dict[str, Any]) -> str:
    """Return the settings as a list, and the terms as paragraphs in small print."""
    listed = [tag("div", tag("dt", text(name)), tag("dd", text(value))) for name, value in settings(results)]
    agents = _agents(results)
    told = [tag("p", tag("b", text(name)), " ", text(meaning)) for name, meaning in terms(results)]
    return tag("div", tag("dl", *listed), agents, *told, class_="method")


def settings(results: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names and values of all settings and counts."""
    length = results["length"]
    rounds = f"{counted(results['rounds'], 'round')}, {counted(results['deals_per_round'], 'deal')} in each"
    rows = [
        ("Game", results["title"]),
        ("Players", str(results["options"]["num_players"])),
        ("Options", options(results["options"]) or UNKNOWN),
        ("Pairing", f"{results['pairing']}, {rounds}"),
        ("Games", f"{results['games']:,}"),
        ("Ended", ending(results)),
        ("Seed", str(results["seed"])),
        ("Plies a game", f"{decimal(length['mean'])} ({interval(length['interval'])})"),
        ("Cut off by a limit", percent(results["truncated"])),
        ("Lost by a failure", counted(results["forfeits"], "game")),
        ("Design effect", decimal(results["design_effect"], 2)),
        ("Rating 0", results["anchor"] or "the mean of all agents"),
    ]
    return rows


def _agents(results: dict[str, Any]) -> str:
    """Return what the agents are whose names do not say it."""
    renamed = [agent for agent in results["agents"] if agent["name"] != agent["agent"]]
    if not renamed:
        return ""
    rows = [
        tag(
            "tr",
            tag("th", text(agent["name"]), scope="row", class_="name"),
            tag("td", tag("code", text(agent["agent"]))),
        )
        for agent in renamed
    ]
    return tag("div", tag("table", *rows, class_="agents"), class_="scrolled")


def terms(results: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the terms and what they mean, in the order in which a reader meets them."""
    even = "50 %" if results["options"]["num_players"] == 2 else "1 / number of players"
    zero = f"so that {results['anchor']} has 0" if results["anchor"] else "so that their mean is 0"
    return [
        (
            "Rating.",
            "Strength in the Plackett-Luce model with ties (Davidson-Luce), fitted to the orders of finish of all games, "
            "on the scale of Elo: 400 more are ten times the odds to finish ahead, 100 more a share of 64 %. With two "
            "players it is the model of Bradley, Terry and Davidson. Only differences "
            f"count; the ratings are shifted {zero}. The interval in the table is that of the difference to this zero.",
        ),
        (
            "± error.",
            "Quasi standard error of a rating (Firth and de Menezes 2004): the error of the difference of any two "
            "agents is the root of the sum of their squares, whichever agent the zero is. Two agents whose thin bars do not "
            "overlap differ in strength.",
        ),
        (
            "Stronger than the next.",
            "The probability, given the games, that an agent is stronger than the one below it.",
        ),
        (
            "Design effect.",
            "The games of one deal, which all line-ups play in all their seatings, are not independent; the variances "
            "are those of whole deals. The design effect is the ratio to the variance of as many independent games: less "
            "than 1 means that playing the same deals has made the comparison more precise.",
        ),
        (
            "Win rate.",
            f"Games won, a win shared by k agents counting 1 / k; agents of equal strength get {even}. The margin is "
            "the own score minus the best other one. Games that an agent forfeits are lost for it.",
        ),
        (
            "Seats.",
            "Every line-up plays every deal in all its seatings, so that no agent gains by its seat.",
        ),
        ("Intervals.", "All intervals are those of 95 %."),
    ]
