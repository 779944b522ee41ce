"""Numbers and sentences of the report; what is not known is written as a dash."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

INTERVAL_ERRORS = 1.959963984540054
"""Half a 95 % interval in standard errors; that half is what ± means everywhere."""
UNKNOWN = "\u2013"
_MINUS = "\u2212"
_SPACE = "\u00a0"  # keeps a number and its unit on one line


def signed(value: str) -> str:
    """Return a number's text with the minus sign of print."""
    return value.replace("-", _MINUS)


def decimal(value: float | None, ranks: int = 1) -> str:
    """Return a number with so many decimals and commas between thousands."""
    if value is None:
        return UNKNOWN
    written = f"{value:,.{ranks}f}"
    return signed(written if float(written.replace(",", "")) else written.replace("-", ""))


def whole(value: float | None) -> str:
    """Return a number rounded to a whole one."""
    return decimal(value, 0)


def plus(value: float | None, ranks: int = 1) -> str:
    """Return a number with its sign."""
    written = decimal(value, ranks)
    return f"+{written}" if value is not None and value > 0 and written.strip("0.") else written


def plus_or_minus(error: float | None, ranks: int = 1) -> str:
    """Return half the 95 % interval of a standard error, after a ±."""
    return UNKNOWN if error is None else f"±{_SPACE}{decimal(INTERVAL_ERRORS * error, ranks)}"


def percent(share: float | None) -> str:
    """Return a share as a percentage."""
    return UNKNOWN if share is None else f"{decimal(100 * share)}{_SPACE}%"


def probability(value: float | None) -> str:
    """Return a probability as a percentage, never as a certainty."""
    if value is None:
        return UNKNOWN
    if value > 0.999:
        return f">{_SPACE}99.9{_SPACE}%"
    if value < 0.001:
        return f"<{_SPACE}0.1{_SPACE}%"
    return percent(value)


def interval(bounds: Sequence[float | None] | None, ranks: int = 1, scale: float = 1, unit: str = "") -> str:
    """Return an interval, scaled, in words; `unit` follows its end."""
    if bounds is None or None in bounds:
        return UNKNOWN
    low, high = (decimal(scale * bound, ranks) for bound in bounds if bound is not None)
    return f"{low} to {high}{unit and _SPACE + unit}"


def milliseconds(value: float | None) -> str:
    """Return a time with two significant digits, or all those before the point."""
    if value is None:
        return UNKNOWN
    if value <= 0:
        return "0"
    ranks = max(1 - floor(log10(value)), 0)
    rounded = round(value, ranks)
    return decimal(rounded, max(1 - floor(log10(rounded)), 0))


def tick(value: float) -> str:
    """Return a round number as briefly as possible."""
    return signed(f"{value:,.12g}" if abs(value) < 1e9 else f"{value:.3g}")


def counted(number: int, noun: str) -> str:
    """Return a number and its noun, which takes an s in the plural."""
    return f"{number:,}{_SPACE}{noun}{'' if number == 1 else 's'}"


def options(given: dict[str, Any]) -> str:
    """Return a game's options but for the number of players, which stands elsewhere."""
    rest = [f"{name}{_SPACE}={_SPACE}{value}" for name, value in given.items() if name != "num_players"]
    return ", ".join(rest)


def summary(results: dict[str, Any]) -> str:
    """Return one sentence: who leads, after how many games, how sure it is."""
    if not results["games"]:
        return "No game has been played to its end."
    agents = results["agents"]
    place = (
        f"{agents[0]['name']} comes first of {counted(len(agents), 'agent')} after {counted(results['games'], 'game')}"
    )
    sure = results["superiority"][0][1]
    if sure is None:
        return f"{place}."
    other = agents[1]["name"]
    if sure < 0.95:
        return f"{place}, but is stronger than {other} only with a probability of {percent(sure)}."
    written = f"more than 99.9{_SPACE}%" if sure > 0.999 else percent(sure)
    return f"{place}, and is stronger than {other} with a probability of {written}."


def ending(results: dict[str, Any]) -> str:
    """Return why the tournament ended when it did."""
    if results["stopped"] != "precision reached":
        return str(results["stopped"])
    return f"precision of {tick(results['precision'])}{_SPACE}Elo reached"
