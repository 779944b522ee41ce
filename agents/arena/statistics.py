"""What played games say: sums, intervals, and how each agent did.

Games that began with the same deal are not independent of each other, so the intervals of means come from sums per
deal (a ratio estimator over clusters: Cochran, "Sampling Techniques", 1977, section 6.4).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from ...envs.engine.standing import game_margins
from .games import NOBODY, GameResults

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


@dataclass(frozen=True)
class AgentResult:
    """How one agent did: a win shared with others counts as a draw, and as 1 / (number of winners) in `points`.

    An agent in several seats of a game counts once for each. Scores and margins leave out games in which an agent
    failed; they are None if nothing is left, their intervals if it is too little.
    """

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    mean_score: float | None
    score_interval: Interval | None
    mean_margin: float | None
    """Mean of the own score minus the best other score."""
    margin_interval: Interval | None
    milliseconds_per_move: float | None
    failures: dict[str, int]
    """How many games each reason of the agent's own failures has cost."""

    @property
    def win_rate(self) -> float:
        """Return points per game, 0 without games."""
        return self.points / self.games if self.games else 0.0

    @property
    def interval(self) -> Interval:
        """Return the 95 % interval of the win rate."""
        return wilson_interval(self.points, self.games) if self.games else (0.0, 1.0)


def agent_results(games: GameResults, names: Sequence[str]) -> list[AgentResult]:
    """Return the result of every agent, in the order of their names."""
    margins = game_margins(games.scores)
    return [_agent_result(games, margins, agent, name) for agent, name in enumerate(names)]


def _agent_result(games: GameResults, margins: np.ndarray, agent: int, name: str) -> AgentResult:
    game, seat = np.nonzero(games.seats == agent)
    won = games.ranks[game, seat] == 0
    winners = (games.ranks == 0).sum(axis=1)[game]
    # how often the agent won together with k - 1 others: integers, so that points do not depend on the order
    losses, wins, *shared = np.bincount(np.where(won, winners, 0), minlength=games.seats.shape[1] + 1).tolist()
    whole = games.finished[game]
    scored, at = game[whole], seat[whole]
    mean_score, score_interval = mean_interval(games.scores[scored, at], games.deals[scored])
    mean_margin, margin_interval = mean_interval(margins[scored, at], games.deals[scored])
    moves = int(games.moves[game, seat].sum())
    failed = np.nonzero(games.failed != NOBODY)[0]
    own = [index for index in failed.tolist() if games.seats[index, games.failed[index]] == agent]
    return AgentResult(
        name=name,
        games=len(game),
        wins=wins,
        draws=sum(shared),
        losses=losses,
        points=wins + sum(count / number for number, count in enumerate(shared, start=2)),
        mean_score=mean_score,
        score_interval=score_interval,
        mean_margin=mean_margin,
        margin_interval=margin_interval,
        milliseconds_per_move=1000 * float(games.seconds[game, seat].sum()) / moves if moves else None,
        failures=dict(Counter(str(games.reasons[index]) for index in own).most_common()),
    )
