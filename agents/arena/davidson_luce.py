"""The Davidson-Luce model of rankings with ties, and where its likelihood is largest.

A ranking is a sequence of choices: of the seats that are left, A, the tied group C comes next with probability
f(C) / sum of f(S) over all non-empty S in A, where f(S) = delta_|S| * (product of the strengths in S) ** (1 / |S|)
and delta_1 = 1 (Turner, van Etten, Firth and Kosmidis 2020, "Modelling rankings in R: the PlackettLuce package";
for two Davidson 1970; without ties Plackett-Luce, for two Bradley-Terry).

The parameters are the logarithms of the strengths, one per agent, then those of the deltas of the tie orders in
use. In them log f(S) is linear, its coefficients are the features of S, and the log likelihood is concave.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Newton's method stops when a step promises less than this per choice, and takes that last step
_NEGLIGIBLE = 1e-13
_MOST_STEPS = 500


@dataclass(frozen=True)
class Rankings:
    """Games with equal outcomes grouped in r rows, whichever seats and whichever order they were in.

    Attributes:
        agents: int64 [r, seats], best first, those of a tied group in ascending order.
        groups: int64 [r, seats], the number of the tied group of each, ascending.
        counts: int64 [r], how many games ended so.
        row_of: int64 [games], the row of each game.
    """

    agents: np.ndarray
    groups: np.ndarray
    counts: np.ndarray
    row_of: np.ndarray

    @property
    def tie_orders(self) -> list[int]:
        """Return the sizes of the tied groups that occur, ascending, from 2."""
        sizes = (self.groups[:, :, None] == self.groups[:, None, :]).sum(axis=2)
        return [int(size) for size in np.unique(sizes) if size > 1]


@dataclass(frozen=True)
class Choices:
    """All choices from an equal number of seats, grouped by the agents in them; m parameters concern each.

    Attributes:
        features: float64 [subsets, m] of the groups that can be chosen, see `group_features`.
        parameters: int64 [sets, m], which parameters these are the coefficients of.
        tally: float64 [sets, subsets], how often each group was chosen.
        rows: int64 [choices], the row of the rankings that a choice belongs to.
        set_of: int64 [choices], the set that was chosen from.
        chosen: int64 [choices], the group that was chosen.
    """

    features: np.ndarray
    parameters: np.ndarray
    tally: np.ndarray
    rows: np.ndarray
    set_of: np.ndarray
    chosen: np.ndarray


def group_rankings(seats: np.ndarray, ranks: np.ndarray) -> Rankings:
    """Return the rankings of games, integers [games, seats]: the agents and their ranks, least first, ties equal."""
    best_first = np.lexsort((seats, ranks), axis=-1)
    agents = np.take_along_axis(seats, best_first, axis=1)
    ranks = np.take_along_axis(ranks, best_first, axis=1)
    groups = np.zeros(seats.shape, np.int64)
    groups[:, 1:] = np.cumsum(ranks[:, 1:] != ranks[:, :-1], axis=1)
    table, row_of, counts = np.unique(
        np.concatenate([agents, groups], axis=1), axis=0, return_inverse=True, return_counts=True
    )
    agents, groups = np.split(table, 2, axis=1)
    return Rankings(agents, groups, counts, row_of)


def group_features(num_seats: int, tie_orders: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups of some seats that can be chosen, and their features.

    Returns the groups as bit masks, int64 [subsets], ascending, and float64 [subsets, num_seats + tie orders]:
    1 / |S| for the seats in S, then 1 for the order |S|.
    """
    masks = np.arange(1, 2**num_seats)
    members = (masks[:, None] >> np.arange(num_seats)) & 1
    sizes = members.sum(axis=1)
    possible = np.isin(sizes, [1, *tie_orders])
    is_order = sizes[:, None] == np.array(tie_orders, np.int64)
    features = np.concatenate([members / sizes[:, None], is_order], axis=1)
    return masks[possible], features[possible]


def log_probabilities(features: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Return the log probability of every group, [..., subsets], given its own parameters, [..., m]."""
    weights = parameters @ features.T
    return weights - np.logaddexp.reduce(weights, axis=-1)[..., None]


def list_choices(rankings: Rankings, num_agents: int) -> list[Choices]:
    """Return the choices that rankings consist of, by the number of seats left; the last seat is no choice."""
    tie_orders = rankings.tie_orders
    num_seats = rankings.agents.shape[1]
    return [_list_choices_from(rankings, first, tie_orders, num_agents) for first in range(num_seats - 1)]


def _list_choices_from(rankings: Rankings, first: int, tie_orders: list[int], num_agents: int) -> Choices:
    """Return the choices that begin at one position of the rankings."""
    groups = rankings.groups
    rows = np.flatnonzero(groups[:, first] != groups[:, first - 1]) if first else np.arange(len(groups))
    left = rankings.agents[rows, first:]
    is_next = groups[rows, first:] == groups[rows, first, None]
    ascending = np.argsort(left, axis=1, kind="stable")
    sets, set_of = np.unique(np.take_along_axis(left, ascending, axis=1), axis=0, return_inverse=True)
    masks, features = group_features(left.shape[1], tie_orders)
    next_mask = np.take_along_axis(is_next, ascending, axis=1) @ (1 << np.arange(left.shape[1]))
    chosen = np.searchsorted(masks, next_mask)
    tally = np.zeros((len(sets), len(masks)))
    np.add.at(tally, (set_of, chosen), rankings.counts[rows])
    tie_parameters = np.broadcast_to(num_agents + np.arange(len(tie_orders)), (len(sets), len(tie_orders)))
    return Choices(features, np.concatenate([sets, tie_parameters], axis=1), tally, rows, set_of, chosen)


def log_likelihood(choices: list[Choices], parameters: np.ndarray) -> float:
    """Return the log likelihood of all choices."""
    return sum(
        float((part.tally * log_probabilities(part.features, parameters[part.parameters])).sum()) for part in choices
    )


def derivatives(choices: list[Choices], parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient of the log likelihood, [p], and the information, [p, p]: minus its second derivatives.

    As in every exponential family they are moments: features observed minus expected, and their covariance.
    """
    gradient = np.zeros(len(parameters))
    information = np.zeros((len(parameters), len(parameters)))
    for part in choices:
        features, own = part.features, part.parameters
        probabilities = np.exp(log_probabilities(features, parameters[own]))
        means = probabilities @ features
        times = part.tally.sum(axis=1)[:, None]
        np.add.at(gradient, own, part.tally @ features - times * means)
        products = (features[:, :, None] * features[:, None, :]).reshape(len(features), -1)
        squares = (probabilities @ products).reshape(*means.shape, means.shape[1])
        covariances = squares - means[:, :, None] * means[:, None, :]
        np.add.at(information, (own[:, :, None], own[:, None, :]), times[:, :, None] * covariances)
    return gradient, information


def scores(choices: list[Choices], parameters: np.ndarray, num_rows: int) -> np.ndarray:
    """Return the gradient of every row's log likelihood, float64 [rows, p], for one game of it."""
    of_rows = np.zeros((num_rows, len(parameters)))
    for part in choices:
        means = np.exp(log_probabilities(part.features, parameters[part.parameters])) @ part.features
        surprises = part.features[part.chosen] - means[part.set_of]
        np.add.at(of_rows, (part.rows[:, None], part.parameters[part.set_of]), surprises)
    return of_rows


def maximize(
    choices: list[Choices], precision: np.ndarray, start: np.ndarray, least_information: float = 0.0
) -> np.ndarray:
    """Return the parameters of the largest likelihood times a normal prior around 0, by Newton's method.

    Arguments:
        choices: of all games.
        precision: float64 [p, p], the inverse covariance of the prior.
        start: float64 [p].
        least_information: of games and prior together in any direction (the smallest eigenvalue) on the way.

    Raises ValueError if there is less information: then the maximum is not unique, or infinitely far away.
    """

    def height(parameters: np.ndarray) -> float:
        return log_likelihood(choices, parameters) - float(parameters @ precision @ parameters) / 2

    parameters = start
    num_choices = sum(part.tally.sum() for part in choices)
    for _ in range(_MOST_STEPS):
        gradient, information = derivatives(choices, parameters)
        gradient -= precision @ parameters
        information += precision
        if np.linalg.eigvalsh(information)[0] < least_information:
            raise ValueError("the games leave some direction of the parameters open")
        step = np.linalg.solve(information, gradient)
        if gradient @ step <= _NEGLIGIBLE * num_choices:
            return parameters + step
        before = height(parameters)
        while height(parameters + step) < before:
            step /= 2
        parameters = parameters + step
    raise ArithmeticError(f"the ratings did not settle within {_MOST_STEPS} steps")
