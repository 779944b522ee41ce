"""The picture of the learning benchmark: strength over minutes and over decisions, a row of panels per game."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..envs.registry import describe
from ..envs.system.files import write_atomically

_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#b83280", "#4a5568")
_INK = "#1a202c"
_FAINT = "#a0aec0"


def draw(found: dict[str, Any], references: Sequence[str], path: Path) -> None:
    """Write the picture (PNG) of what `learning_statistics.compare` found."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    games = list(dict.fromkeys(row["game"] for row in found["rows"]))
    algorithms = list(dict.fromkeys(row["algorithm"] for row in found["rows"]))
    colours = dict(zip(algorithms, _COLOURS * len(algorithms), strict=False))
    height = len(games) + bool(found["overall"])
    # no pyplot: it would choose a backend for the whole process and keep the figure
    figure = Figure(figsize=(11, 1.5 + 2.9 * height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(height, 2, sharey=True, squeeze=False)
    for game, (over_minutes, over_decisions) in zip(games, panels, strict=False):
        rows = [row for row in found["rows"] if row["game"] == game]
        for row in rows:
            _draw_curve(over_minutes, row["over_minutes"], "minutes", colours[row["algorithm"]])
            _draw_curve(over_decisions, row["over_decisions"], "decisions", colours[row["algorithm"]])
        over_minutes.set_title(_title(rows[0]), loc="left", color=_INK, fontsize=12, fontweight="bold")
        _dress_decisions(over_decisions, rows)
    if found["overall"]:
        for row in found["overall"]:
            _draw_curve(panels[-1][0], row["over_minutes"], "minutes", colours[row["algorithm"]])
        panels[-1][0].set_title("All games", loc="left", color=_INK, fontsize=12, fontweight="bold")
        panels[-1][1].set_visible(False)
    for axes in panels.flat:
        _dress(axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("mean win rate (%)", color=_INK)
        axes.set_xlabel("minutes of training on one core", color=_INK)
    _explain(figure, found, references, colours)
    with write_atomically(path) as file:
        figure.savefig(file, format="png")


def _draw_curve(axes: Any, curve: dict[str, Any], along: str, colour: str) -> None:
    places = np.array(curve[along], float)
    # nothing has been learned at 0, which a logarithmic axis does not have
    shown = slice(1 if along == "decisions" else 0, None)
    if curve["low"] is not None:
        low, high = 100 * np.array(curve["low"]), 100 * np.array(curve["high"])
        axes.fill_between(places[shown], low[shown], high[shown], color=colour, alpha=0.18, linewidth=0)
    means = 100 * np.array(curve["iqm"])
    axes.plot(places[shown], means[shown], color=colour, linewidth=2, marker="o", markersize=3.5)


def _dress_decisions(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Make the axis of decisions a logarithmic one: algorithms differ a hundredfold in how many they make."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_xlabel("decisions learned from (logarithmic)", color=_INK)
    axes.xaxis.set_major_formatter(lambda value, _: _short(value))
    axes.xaxis.set_minor_formatter(NullFormatter())
    least = min(row["over_decisions"]["decisions"][1] for row in rows)
    most = max(row["over_decisions"]["decisions"][-1] for row in rows)
    if most < 30 * least:
        # hardly more than one power of ten would be named
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.tick_params(labelleft=True)


def _short(value: float) -> str:
    """Return a number like 300, 20k or 5M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _title(row: dict[str, Any]) -> str:
    players = row["options"].get("num_players")
    return f"{describe(row['game']).title}{f', {players} players' if players else ''}"


def _dress(axes: Any) -> None:
    axes.set_ylim(-3, 103)
    axes.grid(True, color="#edf2f7", linewidth=1)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_FAINT)
    axes.tick_params(colors=_INK, length=3, which="major")


def _explain(figure: Any, found: dict[str, Any], references: Sequence[str], colours: dict[str, str]) -> None:
    """Name the algorithms, and what lines and bands are, above all panels."""
    from matplotlib.lines import Line2D

    numbers = sorted({len(row["seeds"]) for row in found["rows"]})
    runs = f"{'-'.join(map(str, {numbers[0]: None, numbers[-1]: None}))} run{'' if numbers == [1] else 's'}"
    band = "; band: 95 % interval (bootstrap)" if any(row["over_minutes"]["low"] for row in found["rows"]) else ""
    figure.suptitle(
        f"Learning at equal time: games won against {', '.join(references)}\n"
        f"line: interquartile mean of {runs} each{band}",
        color=_INK,
        fontsize=11,
        x=0.01,
        ha="left",
    )
    lines = [Line2D([], [], color=colour, linewidth=2, marker="o", markersize=3.5) for colour in colours.values()]
    figure.legend(lines, list(colours), loc="outside upper right", frameon=False, labelcolor=_INK, ncols=len(lines))
