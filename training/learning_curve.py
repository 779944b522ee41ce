"""The learning-curve picture of a run: win rates and margins against the evaluation opponents."""

from pathlib import Path
from typing import Any

import numpy as np

from ..envs.system.files import write_atomically
from ..envs.system.messages import display_name
from .config import TrainingConfig

_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#b83280", "#4a5568")
_TITLES = {
    "maskable_ppo": "MaskablePPO by self-play",
    "ppo": "PPO by self-play",
    "alphazero": "AlphaZero-style training",
}
_INK = "#1a202c"
_FAINT = "#a0aec0"


def draw_learning_curve(rows: list[dict[str, Any]], config: TrainingConfig, path: Path) -> None:
    """Write the picture (PNG) of the rows of metrics.jsonl; nothing if there has been no evaluation yet."""
    evaluated = [row for row in rows if row.get("evaluation")]
    if not evaluated:
        return
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # no pyplot: it would choose a backend for the whole process and keep the figure
    figure = Figure(figsize=(9, 6.4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    rates, margins = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    opponents = list(evaluated[-1]["evaluation"])
    for opponent, colour in zip(opponents, _COLOURS * len(opponents), strict=False):
        played = [row for row in evaluated if opponent in row["evaluation"]]
        _draw_opponent(rates, margins, played, opponent, colour)
    _style(rates, margins, evaluated, config)
    with write_atomically(path) as file:
        figure.savefig(file, format="png")


def _draw_opponent(rates: Any, margins: Any, rows: list[dict[str, Any]], opponent: str, colour: str) -> None:
    decisions = np.array([row["decisions"] for row in rows])
    results = [row["evaluation"][opponent] for row in rows]
    rate = 100 * np.array([result["win_rate"] for result in results])
    low, high = 100 * np.array([result["interval"] for result in results]).T
    margin = [result["mean_margin"] for result in results]
    rates.fill_between(decisions, low, high, color=colour, alpha=0.18, linewidth=0)
    # dollar signs would start a formula
    name = display_name(opponent).replace("$", r"\$")
    label = f"against {name}: {rate[-1]:.1f} %"
    rates.plot(decisions, rate, color=colour, linewidth=2, marker="o", markersize=3.5, label=label)
    label = f"against {name}: {margin[-1]:+.1f}"
    margins.plot(decisions, margin, color=colour, linewidth=2, marker="o", markersize=3.5, label=label)


def _style(rates: Any, margins: Any, rows: list[dict[str, Any]], config: TrainingConfig) -> None:
    game = config.make_game()
    rates.set_title(
        f"{game.spec.title}, {game.num_players} players: {_TITLES[config.algorithm]}",
        loc="left",
        color=_INK,
        fontsize=14,
        fontweight="bold",
        pad=12,
    )
    rates.set_ylim(-3, 103)
    rates.set_ylabel(f"games won (%), {config.evaluation_games:,} each\nband: 95 % interval", color=_INK)
    margins.set_ylabel("mean margin\n(points)", color=_INK)
    margins.set_xlabel("decisions learned from", color=_INK)
    margins.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    # the expectation of an agent as good as its opponents
    for axes, middle in ((rates, 100 / game.num_players), (margins, 0)):
        axes.axhline(middle, color=_FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
        axes.grid(True, color="#edf2f7", linewidth=1)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(_FAINT)
        axes.tick_params(colors=_INK, length=3)
        legend = axes.legend(frameon=False, loc="best", labelcolor=_INK)
        for text in legend.get_texts():
            # dollar signs in names start no formula
            text.set_parse_math(False)
    _add_time_axis(rates, rows)


def _add_time_axis(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Add an axis of training minutes at the top."""
    decisions = np.array([row["decisions"] for row in rows], float)
    minutes = np.array([row["seconds"] for row in rows], float) / 60
    if len(rows) < 2 or not (np.diff(minutes) > 0).all() or not (np.diff(decisions) > 0).all():
        return
    # extrapolate into the margins of the axis by the mean speed
    speed = (decisions[-1] - decisions[0]) / (minutes[-1] - minutes[0])
    span = decisions[-1] - decisions[0]
    decisions = np.concatenate([[decisions[0] - span], decisions, [decisions[-1] + span]])
    minutes = np.concatenate([[minutes[0] - span / speed], minutes, [minutes[-1] + span / speed]])
    top = axes.secondary_xaxis(
        "top",
        functions=(lambda x: np.interp(x, decisions, minutes), lambda x: np.interp(x, minutes, decisions)),
    )
    top.set_xlabel("minutes", color=_INK)
    top.tick_params(colors=_INK, length=3)
    top.spines["top"].set_color(_FAINT)
