"""Sums and intervals over played games.

Games that began with the same deal are not independent of each other, so the intervals of means come from sums per
deal (a ratio estimator over clusters: Cochran, "Sampling Techniques", 1977, section 6.4).
"""

from math import sqrt
from statistics import NormalDist

import numpy as np

from .games import GameResults

NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)
"""97.5 % of a normal distribution lies below."""

Interval = tuple[float, float]


def wilson_interval(points: float, games: int) -> Interval:
    """Return the 95 % score interval of a rate points / games (Wilson 1927); 0 and 1 are reached, not passed."""
    rate = points / games
    square = NORMAL_QUANTILE**2 / games
    centre = (rate + square / 2) / (1 + square)
    half = sqrt(rate * (1 - rate) * square + square**2 / 4) / (1 + square)
    low = 0.0 if rate == 0 else max(0.0, centre - half)
    high = 1.0 if rate == 1 else min(1.0, centre + half)
    return low, high


def student_quantile(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t distribution for at least 1 degree of freedom.

    Exact for 1 and 2 degrees, otherwise the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), right to
    half a percent at 3 degrees and better beyond.
    """
    if degrees <= 2:
        return 12.706204736432095 if degrees == 1 else 4.302652729911275
    z = NORMAL_QUANTILE
    sums = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees**power for power, term in enumerate(sums, start=1))


def mean_interval(values: np.ndarray, deals: np.ndarray) -> tuple[float | None, Interval | None]:
    """Return the mean of values [n] and its 95 % interval, from the deals [n] that they belong to.

    The mean is None without values, the interval None with fewer than two deals.
    """
    if not len(values):
        return None, None
    _, cluster = np.unique(deals, return_inverse=True)
    sums, sizes = np.bincount(cluster, values), np.bincount(cluster)
    mean = float(values.mean())
    number = len(sizes)
    if number < 2:
        return mean, None
    variance = number / (number - 1) * float(((sums - mean * sizes) ** 2).sum()) / len(values) ** 2
    half = student_quantile(number - 1) * sqrt(variance)
    return mean, (mean - half, mean + half)


def win_shares(ranks: np.ndarray) -> np.ndarray:
    """Return each seat's share of the win, float64 [n, players]: 1 / (number of winners), or 0."""
    won = ranks == 0
    return won / np.maximum(won.sum(axis=1, keepdims=True), 1)


def count_ahead(games: GameResults, num_agents: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often row finished ahead of column, a tie counting half, and how often they met.

    float64 and int64 [agents, agents]; two seats of the same agent do not meet.
    """
    won = np.zeros((num_agents, num_agents))
    met = np.zeros((num_agents, num_agents), np.int64)
    players = games.seats.shape[1]
    for first in range(players):
        for second in range(players):
            rows, columns = games.seats[:, first], games.seats[:, second]
            different = rows != columns
            better = games.ranks[:, first] < games.ranks[:, second]
            equal = games.ranks[:, first] == games.ranks[:, second]
            pairs = rows[different], columns[different]
            np.add.at(won, pairs, (better + 0.5 * equal)[different])
            np.add.at(met, pairs, 1)
    return won, met
