"""Numbers as the report writes them; what is not known is a dash."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ..statistics import NORMAL_QUANTILE

_UNKNOWN = "\N{EN DASH}"
_SPACE = "\N{NO-BREAK SPACE}"  # keeps a number and its unit on one line


def decimal(value: float | None, digits: int = 1, scale: float = 1, unit: str = "") -> str:
    """Return a scaled number with some digits after the point, commas between thousands, and its unit."""
    if value is None:
        return _UNKNOWN
    written = f"{scale * value:z,.{digits}f}"
    return written.replace("-", "\N{MINUS SIGN}") + (_SPACE + unit if unit else "")


def format_with_sign(value: float | None) -> str:
    """Return a number with its sign, unless it is written as zero."""
    written = decimal(value)
    return f"+{written}" if value is not None and value > 0 and written.strip("0.") else written


def plus_or_minus(error: float | None, digits: int = 1) -> str:
    """Return half the 95 % interval of a standard error after a ±."""
    return _UNKNOWN if error is None else f"±{_SPACE}{decimal(error, digits, NORMAL_QUANTILE)}"


def percent(fraction: float | None) -> str:
    """Return a share as a percentage."""
    return decimal(fraction, scale=100, unit="%")


def probability(value: float | None, unit: str = "%") -> str:
    """Return a probability as a percentage, never as a certainty."""
    if value is None or 0.001 <= value <= 0.999:
        return decimal(value, scale=100, unit=unit)
    bound = f">{_SPACE}99.9" if value > 0.5 else f"<{_SPACE}0.1"
    return bound + (_SPACE + unit if unit else "")


def interval(bounds: Sequence[float | None] | None, digits: int = 1, scale: float = 1, unit: str = "") -> str:
    """Return a scaled interval; `unit` follows its end."""
    if bounds is None or None in bounds:
        return _UNKNOWN
    return f"{decimal(bounds[0], digits, scale)} to {decimal(bounds[1], digits, scale, unit)}"


def milliseconds(value: float | None) -> str:
    """Return a time with two significant digits, or all those before the point."""
    if value is None or value >= 99.5:
        return decimal(value, 0)
    return f"{Decimal(f'{value:.1e}'):f}"


def tick(value: float) -> str:
    """Return a round number with as few digits as possible."""
    written = f"{value:,.12g}" if abs(value) < 1e9 else f"{value:.3g}"
    return written.replace("-", "\N{MINUS SIGN}")


def list_options(options: dict[str, Any]) -> str:
    """Return a game's options but for the number of players, which the report states elsewhere."""
    rest = {name: value for name, value in options.items() if name != "num_players"}
    return ", ".join(f"{name}{_SPACE}={_SPACE}{value}" for name, value in rest.items())
