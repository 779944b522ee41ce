"""How a tournament was made and what the terms of its report mean."""

from typing import Any

from .markup import scrolled, tag, text
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
        (
            "Plies a game",
            decimal(length["mean"]) + (f" ({interval(length['interval'])})" if length["interval"] else ""),
        ),
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
    return scrolled(tag("table", *rows, class_="agents"), "What the agents are")


def terms(results: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the terms and what they mean, in the order in which a reader meets them."""
    anchor = results["anchor"]
    zero = f"{anchor} has 0" if anchor else "their mean is 0"
    even = "50 %" if results["options"]["num_players"] == 2 else "1 / number of players"
    return [(name, meaning.format(zero=zero, even=even)) for name, meaning in _TERMS]


_TERMS = (
    (
        "Rating.",
        "Strength in the Plackett-Luce model with ties (Davidson-Luce), fitted to the orders of finish of all "
        "games, on the scale of Elo: 400 more are ten times the odds to finish ahead, 100 more a share of 64 %. "
        "With two players it is the model of Bradley, Terry and Davidson. Only differences count; the ratings are "
        "shifted so that {zero}. A weak normal prior (1,000 Elo) keeps the rating of an agent finite that never "
        "lost; such a rating says how much was played rather than how strong the agent is.",
    ),
    (
        "±.",
        "Half of the 95 % interval, 1.96 quasi standard errors (Firth and de Menezes 2004): for the difference of any "
        "two agents it is the root of the sum of both squares, whichever agent the zero is. Two agents whose bars do "
        "not overlap differ in strength.",
    ),
    (
        "Stronger than the next.",
        "The probability, given the games, that an agent is stronger than the one below it.",
    ),
    (
        "Design effect.",
        "The games of one deal, which all line-ups of a round play in all their seatings, are not independent. The "
        "design effect is the ratio of the ratings' variances to those from as many independent games: below 1, the "
        "same deals have cancelled luck; above 1, they have added dependence. It is in all errors.",
    ),
    (
        "Win rate.",
        "Games won, a win shared by k agents counting 1 / k; agents of equal strength get {even}. The margin is the "
        "own score minus the best other one. A game in which an agent fails counts as lost for it and as a shared "
        "win of the others; scores and margins leave it out.",
    ),
    (
        "Seats.",
        "Every line-up plays every deal in all its seatings, so that no agent gains by its seat.",
    ),
    (
        "Intervals.",
        "All are those of 95 %: Wilson's for win rates of agents, from sums per deal for scores, margins, seats and "
        "plies.",
    ),
)
