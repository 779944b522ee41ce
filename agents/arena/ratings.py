"""Ratings of agents on the Elo scale: the most likely strengths, with errors, from games of any number of seats.

The result depends on which games were played and how they ended, not on their order. The model is in
`davidson_luce`; the errors of single agents are quasi standard errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, isfinite, log, sqrt

import numpy as np

from .davidson_luce import (
    Choices,
    derivatives,
    group_features,
    group_rankings,
    list_choices,
    log_probabilities,
    maximize,
    scores,
)

# holds an error down to which nothing is lost by making it 0, as in a star around one agent, at a positive value
_RIDGE = 1e-10
_MOST_STEPS = 1000
# a step that promises to lower the loss by less is the last
_NEGLIGIBLE = 1e-10

ELO = 400 / log(10)
"""Elo per unit of log strength: 400 Elo more are ten times the strength."""

MAX_SEATS = 6
_DEFAULT_PRIOR = 1000.0
_FEWEST_DEALS = 20
# without a prior: even a single game that could have gone either way gives far more than this
_NO_INFORMATION = 1e-6


@dataclass(frozen=True)
class Ratings:
    """Ratings of k agents from games of n seats.

    Attributes:
        elo: float64 [k].
        covariance: float64 [k, k], Elo squared, relative to the anchor, or to the mean if there is none.
        errors: float64 [k], Elo, quasi standard errors: sqrt(errors[i] ** 2 + errors[j] ** 2) is about the
            standard error of the difference of any two.
        tie_strengths: float64 [n - 1], delta of ties of 2 .. n; 0 where none was seen.
        design_effect: how much larger variances are than if all games were independent; see `fit_ratings`.
        anchor: the agent whose rating is 0; None: the mean is.
    """

    elo: np.ndarray
    covariance: np.ndarray
    errors: np.ndarray
    tie_strengths: np.ndarray
    design_effect: float
    anchor: int | None

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """Return by how much the first agent is rated above the second, in Elo, and the standard error of that."""
        return float(self.elo[first] - self.elo[second]), sqrt(self._difference_variances()[first, second])

    def superiority(self) -> np.ndarray:
        """Return the probability that the row is stronger than the column, float64 [k, k]; 0.5 on the diagonal."""
        errors = np.sqrt(self._difference_variances())
        # where the difference is 0 any error gives 0.5
        np.fill_diagonal(errors, 1.0)
        quantiles = (self.elo[:, None] - self.elo) / errors
        return np.array([[0.5 + erf(quantile / sqrt(2)) / 2 for quantile in row] for row in quantiles.tolist()])

    def expected_points(self, agents: Sequence[int]) -> np.ndarray:
        """Return the share of the win each seat can expect in one game of these agents, float64 [seats]; sum 1.

        A win shared by m counts 1 / m. Raises ValueError for another agent or more seats than the games had.
        """
        most = len(self.tie_strengths) + 1
        if not 2 <= len(agents) <= most:
            raise ValueError(f"expected points need 2 to {most} agents, as in the rated games, not {len(agents)}")
        _check_agents(np.asarray(agents), len(self.elo))
        seen = np.flatnonzero(self.tie_strengths[: len(agents) - 1])
        _, features = group_features(len(agents), (seen + 2).tolist())
        parameters = np.concatenate([self.elo[list(agents)] / ELO, np.log(self.tie_strengths[seen])])
        # a member's feature is its share of the group's win
        return (np.exp(log_probabilities(features, parameters)) @ features)[: len(agents)]

    def _difference_variances(self) -> np.ndarray:
        own = np.diag(self.covariance)
        variances = own[:, None] + own - 2 * self.covariance
        np.fill_diagonal(variances, 0.0)
        return variances


def fit_ratings(
    seats: np.ndarray,
    ranks: np.ndarray,
    num_agents: int,
    *,
    anchor: int | None = None,
    deals: np.ndarray | None = None,
    prior: float | None = _DEFAULT_PRIOR,
) -> Ratings:
    """Return the most likely ratings of agents, given games and a weak normal prior.

    Arguments:
        seats: integers [games, n], n from 2 to 6, the agent in each seat; one can sit in several seats.
        ranks: integers [games, n], the least is best and ties are equal; else only their order counts.
        num_agents: k; an agent without a game has the mean rating and an error as wide as the prior.
        anchor: the agent whose rating is 0; None: the mean is.
        deals: integers [games], games with the same number began with the same deal.
        prior: standard deviation of the ratings before any game, in Elo, and likewise of log delta; it keeps the
            rating of an agent that never lost finite. None: no prior, the largest likelihood.

    Games of one deal are not independent: in all seatings of a deal its luck cancels out, so that errors are
    smaller. The design effect, a ratio of variances, says how much: the mean over the ratings' directions of the
    variance of the score (the gradient of the log likelihood) summed per deal, over that summed per game
    (Rao and Scott 1984, "On chi-squared tests for multiway contingency tables", Annals of Statistics 12). The
    games count as 1 / (design effect) of their number in the covariance. It is at least 1 / (number of deals),
    and 1 without `deals` or for fewer than 20.

    Raises ValueError for arrays of other shapes, unknown agents or no games, and without a prior if no finite
    ratings are the most likely.
    """
    seats, ranks = _check_games(seats, ranks, num_agents)
    if deals is not None and np.shape(deals) != seats.shape[:1]:
        raise ValueError(f"deals must have the shape ({len(seats)},), one per game, not {np.shape(deals)}")
    if anchor is not None and not 0 <= anchor < num_agents:
        raise ValueError(f"the anchor must be an agent from 0 to {num_agents - 1}, or None, not {anchor}")
    if prior is not None and not (isfinite(prior) and prior > 0):
        raise ValueError(f"the prior must be a positive number of Elo, or None, not {prior}")

    rankings = group_rankings(seats, ranks)
    choices = list_choices(rankings, num_agents)
    tie_orders = rankings.tie_orders
    precision = _precision(prior, num_agents, len(tie_orders))
    parameters = _maximize_likelihood(choices, precision, num_agents, prior)
    _, information = derivatives(choices, parameters)
    design_effect = 1.0
    if deals is not None:
        inverse = np.linalg.inv(information + precision)
        row_scores = scores(choices, parameters, len(rankings.counts))
        design_effect = _design_effect(row_scores, rankings.row_of, np.asarray(deals), inverse, num_agents)
    relative = _relative_to(anchor, num_agents)
    covariance = np.linalg.inv(information / design_effect + precision)[:num_agents, :num_agents]
    covariance = ELO**2 * relative @ covariance @ relative.T
    tie_strengths = np.zeros(seats.shape[1] - 1)
    tie_strengths[np.array(tie_orders, np.int64) - 2] = np.exp(parameters[num_agents:])
    return Ratings(
        elo=ELO * relative @ parameters[:num_agents],
        covariance=covariance,
        errors=quasi_standard_errors(covariance),
        tie_strengths=tie_strengths,
        design_effect=design_effect,
        anchor=anchor,
    )


def _check_games(seats: np.ndarray, ranks: np.ndarray, num_agents: int) -> tuple[np.ndarray, np.ndarray]:
    seats, ranks = np.asarray(seats), np.asarray(ranks)
    if seats.ndim != 2 or not 2 <= seats.shape[1] <= MAX_SEATS:
        raise ValueError(f"seats must have the shape (games, 2 to {MAX_SEATS}), not {seats.shape}")
    if ranks.shape != seats.shape:
        raise ValueError(f"ranks must have the shape of seats, {seats.shape}, not {ranks.shape}")
    if not len(seats):
        raise ValueError("ratings need at least 1 game")
    for name, array in (("seats", seats), ("ranks", ranks)):
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} must be integers, not {array.dtype}")
    _check_agents(seats, num_agents)
    return seats.astype(np.int64), ranks.astype(np.int64)


def _check_agents(agents: np.ndarray, num_agents: int) -> None:
    unknown = agents[(agents < 0) | (agents >= num_agents)]
    if len(unknown):
        raise ValueError(f"agents are numbered from 0 to {num_agents - 1}, there is no {unknown[0]}")


def _precision(prior: float | None, num_agents: int, num_ties: int) -> np.ndarray:
    """Return the inverse covariance of the prior, float64 [p, p]; None: it says only that the mean strength is 0."""
    if prior is not None:
        return np.eye(num_agents + num_ties) * (ELO / prior) ** 2
    precision = np.zeros((num_agents + num_ties, num_agents + num_ties))
    precision[:num_agents, :num_agents] = 1 / num_agents
    return precision


def _maximize_likelihood(
    choices: list[Choices], precision: np.ndarray, num_agents: int, prior: float | None
) -> np.ndarray:
    nowhere = np.zeros(len(precision))
    if prior is not None:
        return maximize(choices, precision, nowhere)
    # a start near the maximum, if there is one: from there the information vanishes only if there is none
    start = maximize(choices, _precision(_DEFAULT_PRIOR, num_agents, len(precision) - num_agents), nowhere)
    try:
        return maximize(choices, precision, start, _NO_INFORMATION)
    except ValueError:
        raise ValueError(
            "without a prior these games have no finite ratings: some agents never met the others, never lost or "
            "never won against them, or all games were ties; give a prior"
        ) from None


def _relative_to(anchor: int | None, num_agents: int) -> np.ndarray:
    """Return the matrix that takes the anchor's rating, or the mean, from all ratings."""
    identity = np.eye(num_agents)
    if anchor is None:
        return identity - 1 / num_agents
    return identity - identity[anchor]


def _design_effect(
    row_scores: np.ndarray, row_of: np.ndarray, deals: np.ndarray, inverse: np.ndarray, num_agents: int
) -> float:
    """Return how much the scores vary per deal, relative to how much independent games would.

    Arguments:
        row_scores: float64 [rows, p], the score of one game of each kind.
        row_of: int64 [games], which kind a game is.
        deals: integers [games].
        inverse: float64 [p, p], the covariance of the parameters if games were independent.
        num_agents: the first so many parameters are the strengths, the effect on the others does not matter.
    """
    num_games, num_deals = len(row_of), len(np.unique(deals))
    if num_deals < _FEWEST_DEALS:
        return 1.0
    # what a game moves the ratings by, in units in which their covariance is the identity
    scale = np.linalg.cholesky(np.linalg.inv(inverse[:num_agents, :num_agents]))
    row_moves = row_scores @ inverse[:, :num_agents] @ scale
    # sorted, so that rounding does not depend on the order of the games
    by_deal = np.lexsort((row_of, deals))
    moves = row_moves[row_of[by_deal]]
    moves -= moves.mean(axis=0)
    first_of_deal = np.unique(deals[by_deal], return_index=True)[1]
    deal_moves = np.add.reduceat(moves, first_of_deal, axis=0)
    per_game = (moves**2).sum() * num_games / (num_games - 1)
    per_deal = (deal_moves**2).sum() * num_deals / (num_deals - 1)
    if per_game < _NO_INFORMATION:
        return 1.0
    # as if one deal had not been paired: equal agents that play the same are not known with certainty
    return max(float(per_deal / per_game), 1 / num_deals)


def quasi_standard_errors(covariance: np.ndarray) -> np.ndarray:
    """Return the quasi standard errors, float64 [k], of estimates with a covariance, float64 [k, k], all positive.

    A rating has no error of its own, only a difference has: against an anchor, the anchor's error is 0 and whatever is
    uncertain about the anchor is in all the others'. Quasi-variances q_i make q_i + q_j the variance of every
    difference as nearly as possible (Firth and de Menezes 2004, "Quasi-variances", Biometrika 91).

    They minimise the sum over pairs of the squared log ratio of (q_i + q_j) to the variance of the difference, by
    Newton's method in log q with damping. Two share the variance equally; one alone has 0.
    """
    number = len(covariance)
    if number == 1:
        return np.zeros(1)
    apart = ~np.eye(number, dtype=bool)
    own = np.diag(covariance)
    log_variances = np.log(np.where(apart, own[:, None] + own - 2 * covariance, 1.0))
    start = np.where(apart, log_variances, np.inf).min(axis=1) - np.log(2)

    def misses(logs: np.ndarray) -> np.ndarray:
        return np.where(apart, np.logaddexp(logs[:, None], logs) - log_variances, 0.0)

    def loss(logs: np.ndarray) -> float:
        # every pair stands twice in the matrix
        return float((misses(logs) ** 2).sum() / 2 + _RIDGE * ((logs - start) ** 2).sum())

    logs, damping = start, 1e-3
    for _ in range(_MOST_STEPS):
        fractions = np.where(apart, 1 / (1 + np.exp(logs - logs[:, None])), 0.0)
        missed = misses(logs)
        gradient = (fractions * missed).sum(axis=1) + _RIDGE * (logs - start)
        # the second derivatives, less those that would make them indefinite
        mixed = fractions * fractions.T
        bent = mixed * np.maximum(missed, 0.0)
        curvature = mixed - bent + np.diag((fractions**2 + bent).sum(axis=1) + _RIDGE + damping)
        step = np.linalg.solve(curvature, -gradient)
        if -gradient @ step < _NEGLIGIBLE:
            return np.exp((logs + step) / 2)
        if loss(logs + step) < loss(logs):
            logs, damping = logs + step, damping / 10
        else:
            damping *= 10
    return np.exp(logs / 2)
