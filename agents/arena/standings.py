"""What a tournament has brought: ratings, results, cross table, effects of seats; as data and as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from .games import GameResults
from .ratings import Ratings, fit_ratings
from .settings import ROUND_ROBIN, TournamentSettings
from .statistics import NORMAL_QUANTILE, AgentResult, agent_results, count_ahead, mean_interval, win_shares

FORMAT = "meeplezoo-tournament/1"
ALL_PLAYED, PRECISE, INTERRUPTED = "all rounds played", "precision reached", "interrupted"

_BEYOND_DOUBT = 400.0
"""Elo: an agent this far ahead wins 10 games of 11, and nobody needs to know by how much exactly."""
_SCORE_BINS = 24


@dataclass(frozen=True)
class Standings:
    """The results of the games played so far; agents in the order of the settings."""

    settings: TournamentSettings
    games: GameResults
    results: list[AgentResult]
    ratings: Ratings
    stopped: str


def compute_standings(settings: TournamentSettings, games: GameResults, stopped: str = INTERRUPTED) -> Standings:
    """Return the standings after some games, at least one."""
    names = settings.names
    anchor = None if settings.anchor is None else names.index(settings.anchor)
    ratings = fit_ratings(games.seats, games.ranks, len(names), anchor=anchor, deals=games.deals)
    return Standings(settings, games, agent_results(games, names), ratings, stopped)


def has_converged(ratings: Ratings, precision: float) -> bool:
    """Tell whether the ratings are known well enough.

    That is when the 95 % interval of the difference of any two neighbours on the ladder reaches at most `precision`
    Elo to either side, or lies above 400 Elo as a whole.
    """
    ladder = np.argsort(-ratings.elo, kind="stable").tolist()
    for upper, lower in pairwise(ladder):
        difference, error = ratings.difference(upper, lower)
        half = NORMAL_QUANTILE * error
        if half > precision and difference - half < _BEYOND_DOUBT:
            return False
    return True


def as_json(table: Standings) -> dict[str, Any]:
    """Return everything as JSON data, agents from the strongest to the weakest; None where nothing is known."""
    settings, games, ratings = table.settings, table.games, table.ratings
    order = np.argsort(-ratings.elo, kind="stable")
    won, met = count_ahead(games, len(settings.agents))
    fractions = np.where(met > 0, won / np.maximum(met, 1), np.nan)[np.ix_(order, order)]
    length, length_interval = mean_interval(games.plies.astype(float), games.deals)
    edges = _score_edges(games.scores[games.finished])
    return {
        "format": FORMAT,
        "game": settings.game,
        "title": settings.make_game().spec.title,
        "options": dict(settings.make_game().options),
        "pairing": "round robin" if settings.pairing == ROUND_ROBIN else "Swiss",
        "rounds": int(games.rounds.max()) + 1,
        "deals_per_round": settings.deals,
        "seed": settings.seed,
        "games": len(games),
        "stopped": table.stopped,
        "precision": settings.precision,
        "design_effect": ratings.design_effect,
        "anchor": settings.anchor,
        "length": {"mean": length, "interval": _as_list(length_interval)},
        "truncated": float(games.truncated.mean()),
        "forfeits": int((~games.finished).sum()),
        "seats": _seats(games),
        "agents": [_agent(table, agent, edges) for agent in order.tolist()],
        "ahead": [[None if np.isnan(fraction) else fraction for fraction in row] for row in fractions.tolist()],
        "ahead_games": met[np.ix_(order, order)].tolist(),
        "superiority": ratings.superiority()[np.ix_(order, order)].tolist(),
        "covariance": ratings.covariance[np.ix_(order, order)].tolist(),
        "tie_strengths": ratings.tie_strengths.tolist(),
    }


def _agent(table: Standings, agent: int, edges: np.ndarray) -> dict[str, Any]:
    result, games = table.results[agent], table.games
    rating, error = float(table.ratings.elo[agent]), float(table.ratings.errors[agent])
    scores = games.scores[games.finished][games.seats[games.finished] == agent]
    return {
        "name": result.name,
        "agent": table.settings.agents[agent].agent,
        "rating": rating,
        "error": error,
        "interval": [rating - NORMAL_QUANTILE * error, rating + NORMAL_QUANTILE * error],
        "games": result.games,
        "wins": result.wins,
        "draws": result.draws,
        "losses": result.losses,
        "win_rate": result.win_rate,
        "win_rate_interval": _as_list(result.interval),
        "mean_score": result.mean_score,
        "score_interval": _as_list(result.score_interval),
        "mean_margin": result.mean_margin,
        "margin_interval": _as_list(result.margin_interval),
        "milliseconds_per_move": result.milliseconds_per_move,
        "forfeits": sum(result.failures.values()),
        "failures": result.failures,
        "scores": {"edges": edges.tolist(), "counts": np.histogram(scores, edges)[0].tolist()},
    }


def _seats(games: GameResults) -> list[dict[str, Any]]:
    rows = []
    for seat, fractions in enumerate(win_shares(games.ranks).T):
        rate, interval = mean_interval(fractions, games.deals)
        rows.append({"seat": seat, "win_rate": rate, "interval": _as_list(interval)})
    return rows


def _score_edges(scores: np.ndarray) -> np.ndarray:
    """Return edges of equal whole widths that hold all scores."""
    if not scores.size:
        return np.array([0, 1])
    low, high = int(scores.min()), int(scores.max())
    width = max(1, ceil((high - low + 1) / _SCORE_BINS))
    first = low // width * width
    return np.arange(first, high + width + 1, width)


def _as_list(interval: Sequence[float] | None) -> list[float] | None:
    return None if interval is None else list(interval)
