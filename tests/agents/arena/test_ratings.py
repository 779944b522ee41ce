"""Ratings of agents: closed forms, a slow likelihood written anew, choix, and simulated games of known strength."""

from functools import cache
from itertools import combinations, permutations
from math import erf, exp, log, prod, sqrt

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from meeplezoo.agents.arena.ratings import ELO, Ratings, fit_ratings, quasi_standard_errors


def pair_games(wins, losses, draws=0):
    """Games of agents 0 and 1 as 0 sees them, in alternating seats."""
    seats = np.array([[0, 1], [1, 0]] * (wins + losses + draws))[: wins + losses + draws]
    result = np.repeat([-1, 1, 0], [wins, losses, draws])
    ranks = np.where(seats == 0, result[:, None], 0)
    return seats, ranks


def random_games(random, num_agents, num_seats, games, num_ranks, repeated=False):
    """Games whose outcome depends a little on the agents; few ranks make many ties."""
    if repeated:
        seats = random.integers(0, num_agents, (games, num_seats))
    else:
        seats = np.array([random.permutation(num_agents)[:num_seats] for _ in range(games)])
    ranks = random.integers(0, num_ranks, (games, num_seats)) + (random.random((games, num_seats)) * seats > 1)
    return seats, ranks


# the model once more, from its definition and as slowly as it reads


def group_weight(strengths, deltas):
    return deltas.get(len(strengths), 0.0) * prod(strengths) ** (1 / len(strengths))


def game_probability(strengths, ranks, deltas):
    probability = 1.0
    left = list(range(len(strengths)))
    while left:
        best = min(ranks[seat] for seat in left)
        group = [seat for seat in left if ranks[seat] == best]
        subsets = [subset for size in range(1, len(left) + 1) for subset in combinations(left, size)]
        total = sum(group_weight([strengths[seat] for seat in subset], deltas) for subset in subsets)
        probability *= group_weight([strengths[seat] for seat in group], deltas) / total
        left = [seat for seat in left if seat not in group]
    return probability


def log_posterior(parameters, seats, ranks, num_agents, tie_orders, prior):
    """Parameters: log strengths, then log deltas of the tie orders."""
    strengths = [exp(value) for value in parameters[:num_agents]]
    deltas = {1: 1.0} | {order: exp(value) for order, value in zip(tie_orders, parameters[num_agents:], strict=True)}
    total = -sum((value * ELO / prior) ** 2 / 2 for value in parameters) if prior else 0.0
    for agents, own_ranks in zip(seats.tolist(), ranks.tolist(), strict=True):
        total += log(game_probability([strengths[agent] for agent in agents], own_ranks, deltas))
    return total


def numeric_derivatives(function, point, width=1e-3):
    """Central differences of the fourth order: gradient and second derivatives."""
    offsets, weights = [-2, -1, 1, 2], [1 / 12, -2 / 3, 2 / 3, -1 / 12]
    number = len(point)
    steps = np.eye(number) * width

    def along(values):
        return sum(weight * value for weight, value in zip(weights, values, strict=True)) / width

    gradient = np.array([along([function(point + k * step) for k in offsets]) for step in steps])
    second = np.zeros((number, number))
    for i in range(number):
        for j in range(i + 1):
            rows = [along([function(point + k * steps[i] + m * steps[j]) for m in offsets]) for k in offsets]
            second[i, j] = second[j, i] = along(rows)
    return gradient, second


@cache
def outcomes(num_seats):
    """All rankings with ties, as dense ranks, integers [outcomes, num_seats]."""
    tables = np.ndindex(*[num_seats] * num_seats)
    return np.array([ranks for ranks in tables if sorted(set(ranks)) == list(range(len(set(ranks))))])


@cache
def outcome_probabilities(strengths, deltas):
    return np.array([game_probability(strengths, ranks, dict(deltas)) for ranks in outcomes(len(strengths))])


def simulated(random, elo, line_ups, games_each, deltas):
    """Games of the model with these ratings."""
    possible = outcomes(len(line_ups[0]))
    ranks = []
    for line_up in line_ups:
        strengths = tuple(exp(elo[agent] / ELO) for agent in line_up)
        drawn = random.choice(len(possible), games_each, p=outcome_probabilities(strengths, deltas))
        ranks.append(possible[drawn])
    return np.repeat(line_ups, games_each, axis=0), np.concatenate(ranks)


def pair_errors(ratings):
    number = len(ratings.elo)
    return np.array([[ratings.difference(i, j)[1] for j in range(number)] for i in range(number)])


def assert_same(first, second, tolerance=1e-7):
    for name in ("elo", "covariance", "errors", "tie_strengths"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=tolerance, atol=tolerance)
    assert first.design_effect == pytest.approx(second.design_effect, rel=tolerance)


def test_an_elo_is_a_four_hundredth_of_a_factor_ten():
    assert pytest.approx(173.71779276130073) == ELO


# closed forms


@pytest.mark.parametrize(("wins", "losses"), [(70, 30), (1, 1), (3, 999), (50_000, 49_900)])
def test_two_agents_without_draws_are_log_odds(wins, losses):
    seats, ranks = pair_games(wins, losses)
    ratings = fit_ratings(seats, ranks, 2, anchor=1, prior=None)
    rate, games = wins / (wins + losses), wins + losses
    difference, error = ratings.difference(0, 1)
    assert ratings.elo[1] == 0
    assert ratings.elo[0] == difference == pytest.approx(ELO * log(wins / losses), abs=1e-6)
    assert error == pytest.approx(ELO / sqrt(games * rate * (1 - rate)), rel=1e-7)
    assert sqrt(ratings.covariance[0, 0]) == pytest.approx(error)
    np.testing.assert_allclose(ratings.errors, error / sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(ratings.expected_points([1, 0]), [1 - rate, rate], rtol=1e-6)
    assert ratings.tie_strengths.tolist() == [0]
    assert (ratings.design_effect, ratings.anchor) == (1, 1)


def test_two_agents_with_draws():
    # Davidson 1970: wins and losses give the strengths, draws / sqrt(wins * losses) is delta
    ratings = fit_ratings(*pair_games(50, 20, 30), 2, prior=None)
    assert ratings.elo[0] == -ratings.elo[1]
    assert ratings.difference(0, 1)[0] == pytest.approx(ELO * log(50 / 20), abs=1e-6)
    assert ratings.tie_strengths == pytest.approx([30 / sqrt(50 * 20)], rel=1e-7)
    # log(wins / losses) of a multinomial
    assert ratings.difference(0, 1)[1] == pytest.approx(ELO * sqrt(1 / 50 + 1 / 20), rel=1e-7)
    np.testing.assert_allclose(ratings.expected_points([0, 1]), [0.65, 0.35], rtol=1e-7)


def test_two_agents_with_a_narrow_prior():
    # each rating has the prior's variance, their difference twice that
    ratings = fit_ratings(*pair_games(3, 1), 2, prior=100.0)
    difference = ratings.difference(0, 1)[0] / ELO
    pull = difference / (2 * (100 / ELO) ** 2)
    assert 3 - 4 / (1 + exp(-difference)) == pytest.approx(pull, rel=1e-7)


def test_three_agents_of_one_deciding_game_each_way():
    # all six orders equally often: equal strengths; the information follows from choices of 3 and of 2
    seats = np.array(list(permutations(range(3))) * 10)
    ranks = np.tile([0, 1, 2], (60, 1))
    ratings = fit_ratings(seats, ranks, 3, prior=None)
    np.testing.assert_allclose(ratings.elo, 0, atol=1e-9)
    information = 60 * (np.eye(3) - 1 / 3) / 3 + 20 * (3 * np.eye(3) - 1) / 4
    np.testing.assert_allclose(ratings.covariance, ELO**2 * np.linalg.pinv(information), atol=1e-6)
    np.testing.assert_allclose(ratings.expected_points([0, 1, 2]), 1 / 3)


# a slow likelihood


@pytest.mark.parametrize("prior", [None, 1000.0, 150.0])
@pytest.mark.parametrize(
    ("num_agents", "num_seats", "num_ranks", "repeated"),
    [(2, 2, 3, False), (4, 2, 2, False), (4, 3, 3, False), (3, 3, 9, True), (4, 4, 3, False), (2, 4, 4, True)],
)
def test_the_ratings_are_where_a_slow_likelihood_is_largest(num_agents, num_seats, num_ranks, repeated, prior):
    random = np.random.default_rng([num_agents, num_seats, num_ranks])
    seats, ranks = random_games(random, num_agents, num_seats, 60, num_ranks, repeated)
    ratings = fit_ratings(seats, ranks, num_agents, anchor=1, prior=prior)
    tie_orders = [order for order in range(2, num_seats + 1) if ratings.tie_strengths[order - 2] > 0]
    assert tie_orders == sorted({row.count(place) for row in ranks.tolist() for place in row} - {1})
    log_deltas = [log(ratings.tie_strengths[order - 2]) for order in tie_orders]
    point = np.array([*(ratings.elo - ratings.elo.mean()) / ELO, *log_deltas])
    gradient, second = numeric_derivatives(
        lambda parameters: log_posterior(parameters, seats, ranks, num_agents, tie_orders, prior), point
    )
    np.testing.assert_allclose(gradient, 0, atol=1e-6)
    # nothing else holds the mean of all strengths; differences do not depend on how tightly it is held
    if prior is None:
        second[:num_agents, :num_agents] -= 1
    to_anchor = np.eye(num_agents) - np.eye(num_agents)[1]
    covariance = np.linalg.inv(-second)[:num_agents, :num_agents]
    np.testing.assert_allclose(
        ratings.covariance, ELO**2 * to_anchor @ covariance @ to_anchor.T, rtol=1e-5, atol=1e-5 * ELO**2
    )
    own_strengths = np.exp(ratings.elo / ELO).tolist()
    agents = seats[0].tolist()
    shares = np.zeros(num_seats)
    deltas = {1: 1.0} | {order: ratings.tie_strengths[order - 2] for order in tie_orders}
    for one in outcomes(num_seats):
        won = one == 0
        shares += game_probability([own_strengths[agent] for agent in agents], one, deltas) * won / won.sum()
    np.testing.assert_allclose(ratings.expected_points(agents), shares, rtol=1e-9)


# the public library


@pytest.mark.parametrize("seed", range(3))
def test_pairs_agree_with_choix(seed):
    random = np.random.default_rng(seed)
    seats, ranks = random_games(random, 6, 2, 300, 10_000)
    ordered = np.take_along_axis(seats, ranks.argsort(axis=1), axis=1)
    assert (ranks[:, 0] != ranks[:, 1]).all()
    expected = choix.ilsr_pairwise(6, ordered.tolist(), tol=1e-12)
    ratings = fit_ratings(seats, ranks, 6, prior=None)
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(ratings.elo / ELO, expected - expected.mean(), atol=1e-8)


@pytest.mark.parametrize("num_seats", [3, 4, 6])
def test_rankings_agree_with_choix(num_seats):
    random = np.random.default_rng(num_seats)
    seats, _ = random_games(random, 7, num_seats, 200, 2)
    ranks = random.random(seats.shape).argsort(axis=1).argsort(axis=1) * 3 - 5
    ranks[::2].sort(axis=1)
    seats[::2].sort(axis=1)
    ordered = np.take_along_axis(seats, ranks.argsort(axis=1), axis=1)
    expected = choix.ilsr_rankings(7, ordered.tolist(), tol=1e-12)
    ratings = fit_ratings(seats, ranks, 7, prior=None)
    assert np.ptp(expected) > 1
    np.testing.assert_allclose(ratings.elo / ELO, expected - expected.mean(), atol=1e-8)


# what must not matter


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_neither_order_nor_names_matter(data):
    num_seats = data.draw(st.integers(2, 4))
    num_agents = data.draw(st.integers(2, 5))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    games = data.draw(st.integers(1, 80))
    seats, ranks = random_games(random, num_agents, num_seats, games, data.draw(st.integers(1, 5)), repeated=True)
    deals = random.integers(0, 40, games)
    ratings = fit_ratings(seats, ranks, num_agents, anchor=0, deals=deals)

    order = random.permutation(games)
    again = fit_ratings(seats[order], ranks[order], num_agents, anchor=0, deals=deals[order] * 7 - 50)
    # to the last bit
    for name in ("elo", "covariance", "errors", "tie_strengths", "design_effect"):
        assert np.array_equal(getattr(ratings, name), getattr(again, name)), name

    other_seats = random.permuted(np.tile(np.arange(num_seats), (games, 1)), axis=1)
    moved = [np.take_along_axis(array, other_seats, axis=1) for array in (seats, ranks)]
    again = fit_ratings(*moved, num_agents, anchor=0, deals=deals)
    assert np.array_equal(ratings.elo, again.elo)
    assert np.array_equal(ratings.covariance, again.covariance)

    names = random.permutation(num_agents)
    renamed = fit_ratings(names[seats], ranks, num_agents, anchor=int(names[0]), deals=deals)
    back = Ratings(
        elo=renamed.elo[names],
        covariance=renamed.covariance[np.ix_(names, names)],
        errors=renamed.errors[names],
        tie_strengths=renamed.tie_strengths,
        design_effect=renamed.design_effect,
        anchor=0,
    )
    assert_same(ratings, back, 1e-6)


def test_only_the_order_of_ranks_matters():
    seats = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]])
    shared = fit_ratings(seats, np.array([[0, 0, 2], [1, 0, 1], [2, 1, 0], [0, 0, 0]]), 3)
    dense = fit_ratings(seats, np.array([[-4, -4, 7], [9, 8, 9], [2, 1, 0], [5, 5, 5]]), 3)
    assert_same(shared, dense, 0)
    assert (shared.tie_strengths > 0).all()


def test_the_anchor_moves_ratings_and_nothing_else():
    seats, ranks = random_games(np.random.default_rng(4), 5, 3, 200, 4)
    floating = fit_ratings(seats, ranks, 5)
    assert floating.elo.sum() == pytest.approx(0, abs=1e-9)
    for anchor in range(5):
        anchored = fit_ratings(seats, ranks, 5, anchor=anchor)
        assert anchored.elo[anchor] == 0
        np.testing.assert_allclose(anchored.covariance[anchor], 0, atol=1e-9)
        np.testing.assert_allclose(anchored.elo, floating.elo - floating.elo[anchor], atol=1e-9)
        np.testing.assert_allclose(pair_errors(anchored), pair_errors(floating), atol=1e-6)
        np.testing.assert_allclose(anchored.errors, floating.errors, rtol=1e-6)
        np.testing.assert_allclose(anchored.superiority(), floating.superiority(), atol=1e-9)


# errors


@pytest.mark.parametrize(
    ("num_seats", "deltas"),
    [
        (2, ((1, 1.0),)),
        (2, ((1, 1.0), (2, 0.5))),
        (3, ((1, 1.0), (2, 0.3), (3, 0.2))),
        (4, ((1, 1.0), (2, 0.2), (4, 0.3))),
    ],
)
def test_simulated_strengths_lie_within_the_errors(num_seats, deltas):
    elo = np.array([0.0, 40.0, 150.0, -120.0, 260.0])
    random = np.random.default_rng([7, num_seats, len(deltas)])
    line_ups = list(combinations(range(5), num_seats))
    repetitions, inside, squares = 60, 0, []
    for _ in range(repetitions):
        seats, ranks = simulated(random, elo, line_ups, 400 // len(line_ups), deltas)
        ratings = fit_ratings(seats, ranks, 5, anchor=0, prior=None)
        for first, second in combinations(range(5), 2):
            difference, error = ratings.difference(first, second)
            deviation = (difference - (elo[first] - elo[second])) / error
            inside += abs(deviation) < 1.959964
            squares.append(deviation**2)
    # 95 % and 1 are right; errors a fifth too small give about 88 % and 1.6, a fifth too large 98 % and 0.7
    assert 0.92 < inside / (10 * repetitions) < 0.975
    assert 0.85 < np.mean(squares) < 1.2


def test_many_simulated_games_find_strengths_and_ties():
    elo = np.array([0.0, 100.0, -200.0, 50.0])
    seats, ranks = simulated(
        np.random.default_rng(3), elo, [(0, 1, 2, 3), (0, 0, 1, 2)], 50_000, ((1, 1.0), (2, 0.4), (3, 0.2), (4, 0.7))
    )
    ratings = fit_ratings(seats, ranks, 4, anchor=0)
    np.testing.assert_allclose(ratings.elo, elo, atol=5)
    np.testing.assert_allclose(ratings.tie_strengths, [0.4, 0.2, 0.7], rtol=0.05)


def paired_games(random, num_agents, num_seats, num_deals, luck, noise):
    """Every deal favours some seats and is played in all seatings of the agents; returns seats, ranks and deals."""
    line_ups = list(combinations(range(num_agents), num_seats))
    seats = np.array([seating for line_up in line_ups for seating in permutations(line_up)])
    deals = np.repeat(np.arange(num_deals), len(seats))
    seats = np.tile(seats, (num_deals, 1))
    points = luck * random.normal(size=(num_deals, num_seats))[deals] + noise * random.normal(size=seats.shape)
    return seats, (-points).argsort(axis=1).argsort(axis=1), deals


@pytest.mark.parametrize(("num_agents", "num_seats", "num_deals"), [(2, 2, 200), (3, 3, 60), (4, 2, 60)])
def test_seatings_of_one_deal_cancel_its_luck(num_agents, num_seats, num_deals):
    random = np.random.default_rng([11, num_agents, num_seats])
    differences, errors, unpaired_errors, effects = [], [], [], []
    for _ in range(80):
        seats, ranks, deals = paired_games(random, num_agents, num_seats, num_deals, luck=3, noise=1)
        ratings = fit_ratings(seats, ranks, num_agents, deals=deals)
        unpaired = fit_ratings(seats, ranks, num_agents)
        np.testing.assert_array_equal(ratings.elo, unpaired.elo)
        assert unpaired.design_effect == 1
        for first, second in combinations(range(num_agents), 2):
            difference, error = ratings.difference(first, second)
            differences.append(difference)
            errors.append(error)
            unpaired_errors.append(unpaired.difference(first, second)[1])
        effects.append(ratings.design_effect)
    assert 0.1 < min(effects) < max(effects) < 0.7
    spread = sqrt(np.mean(np.square(differences)))
    assert 0.87 < spread / sqrt(np.mean(np.square(errors))) < 1.15
    assert spread < 0.75 * np.mean(unpaired_errors)


def test_games_of_one_deal_that_repeat_each_other_count_once():
    # each game three times: three times the information, but none of it new
    seats, ranks = random_games(np.random.default_rng(5), 4, 3, 200, 4)
    single = fit_ratings(seats, ranks, 4)
    tripled = [np.repeat(array, 3, axis=0) for array in (seats, ranks, np.arange(200))]
    ratings = fit_ratings(*tripled[:2], 4, deals=tripled[2])
    assert ratings.design_effect == pytest.approx(3, rel=0.01)
    np.testing.assert_allclose(pair_errors(ratings), pair_errors(single), rtol=0.01, atol=1e-9)


def test_independent_deals_change_nothing():
    seats, ranks = random_games(np.random.default_rng(6), 4, 3, 100, 3)
    plain = fit_ratings(seats, ranks, 4)
    assert_same(plain, fit_ratings(seats, ranks, 4, deals=np.arange(100)), 1e-9)
    # too few deals to tell
    assert_same(plain, fit_ratings(seats, ranks, 4, deals=np.arange(100) % 19), 0)
    assert fit_ratings(seats, ranks, 4, deals=np.arange(100) % 20).design_effect != 1


def test_draws_do_not_blur_the_design_effect():
    # decided deals cancel, drawn ones are drawn twice: no deal moves the difference, though it moves delta
    seats = np.tile([[0, 1], [1, 0]], (100, 1))
    ranks = np.tile([[0, 1], [0, 1], [0, 0], [0, 0]], (50, 1))
    ratings = fit_ratings(seats, ranks, 2, deals=np.repeat(np.arange(100), 2))
    # as if one of 100 deals had not been paired
    assert ratings.design_effect == pytest.approx(1 / 100)
    assert ratings.superiority()[0, 1] == pytest.approx(0.5)
    assert ratings.difference(0, 1)[1] == pytest.approx(ELO * sqrt(2 / 50) / 10, rel=1e-3)


def test_nothing_that_varies_has_no_design_effect():
    seats, ranks = pair_games(100, 0)
    ratings = fit_ratings(seats, ranks, 2, deals=np.arange(100) // 2)
    assert ratings.design_effect == 1


# one error per agent


@pytest.mark.parametrize("seed", range(5))
def test_exact_quasi_variances_are_found(seed):
    random = np.random.default_rng(seed)
    errors = np.exp(random.normal(size=6))
    shared = random.normal(size=6)
    # any covariance with these differences: what depends on one index only cancels
    covariance = np.diag(errors**2) + shared[:, None] + shared
    np.testing.assert_allclose(quasi_standard_errors(covariance), errors, rtol=1e-4)


def test_quasi_errors_reproduce_the_errors_of_differences():
    seats, ranks = random_games(np.random.default_rng(8), 6, 3, 400, 4)
    ratings = fit_ratings(seats, ranks, 6, anchor=2)
    combined = np.hypot(ratings.errors[:, None], ratings.errors)
    apart = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(combined[apart], pair_errors(ratings)[apart], rtol=0.03)


def test_only_the_agent_that_always_loses_has_a_wide_error():
    seats, ranks = random_games(np.random.default_rng(9), 4, 4, 300, 1000)
    ranks[seats == 0] = 9999
    for anchor in (None, 0, 1):
        ratings = fit_ratings(seats, ranks, 4, anchor=anchor)
        assert ratings.elo[0] < ratings.elo[1:].min() - 500
        assert ratings.errors[0] > 250
        assert (ratings.errors[1:] < 15).all()


def test_quasi_errors_minimise_their_loss():
    # estimates of which some pairs are more certain than any quasi-variances can say
    factors = np.random.default_rng(11).normal(size=(5, 5))
    covariance = factors @ factors.T
    own = np.diag(covariance)
    variances = own[:, None] + own - 2 * covariance

    def loss(errors):
        return sum(log((errors[i] ** 2 + errors[j] ** 2) / variances[i, j]) ** 2 for i, j in combinations(range(5), 2))

    errors = quasi_standard_errors(covariance)
    assert loss(errors) > 0.01
    for agent in range(5):
        for factor in (0.97, 1.03):
            assert loss(errors * np.where(np.arange(5) == agent, factor, 1)) > loss(errors)


def test_quasi_errors_of_a_star_are_positive():
    # all met agent 0 only: the exact solution has a variance of 0 for it
    own = np.array([0.0, 100.0, 400.0, 900.0])
    errors = quasi_standard_errors(np.diag(own))
    assert 0 < errors[0] < 0.5
    np.testing.assert_allclose(errors[1:], [10, 20, 30], rtol=1e-2)
    # and here it would be negative
    covariance = np.array([[0, 0, 0], [0, 100.0, -30], [0, -30, 100.0]])
    errors = quasi_standard_errors(covariance)
    assert (errors > 0).all()
    assert errors[1] == pytest.approx(errors[2])
    assert 10 < errors[1] < sqrt(130)


@pytest.mark.parametrize(("number", "expected"), [(1, [0]), (2, [5, 5])])
def test_quasi_errors_of_one_or_two(number, expected):
    np.testing.assert_allclose(quasi_standard_errors(np.diag([0.0, 50.0])[:number, :number]), expected, rtol=1e-6)


def test_superiority():
    seats, ranks = random_games(np.random.default_rng(12), 4, 2, 60, 100)
    ratings = fit_ratings(seats, ranks, 4, anchor=3)
    probabilities = ratings.superiority()
    assert probabilities.dtype == np.float64
    np.testing.assert_allclose(probabilities + probabilities.T, 1, atol=1e-15)
    assert np.diag(probabilities).tolist() == [0.5] * 4
    difference, error = ratings.difference(1, 2)
    assert difference == pytest.approx(-ratings.difference(2, 1)[0])
    assert ratings.difference(1, 1) == (0, 0)
    assert probabilities[1, 2] == pytest.approx(0.5 + erf(difference / error / sqrt(2)) / 2)


# what has no finite maximum


def separated_games():
    circle = [(0, 1), (1, 2), (2, 0)]
    return {
        "always won": pair_games(5, 0),
        "won or drew, never lost": pair_games(5, 0, 5),
        "only ties": pair_games(0, 0, 5),
        "two groups that never met": (np.array([[0, 1], [1, 0], [2, 3], [3, 2]]), np.array([[0, 1]] * 4)),
        "one group always beat the other": (
            np.array([*circle, (3, 4), (4, 3), *[(a, b) for a in (0, 1, 2) for b in (3, 4)] * 2]),
            np.array([[0, 1]] * 17),
        ),
        "always last": (np.array([[0, 1, 2], [1, 0, 2]]), np.array([[0, 1, 2]] * 2)),
        "a thousand wins": pair_games(1000, 0),
    }


@pytest.mark.parametrize("case", separated_games())
def test_separation_is_finite_with_a_prior_and_refused_without(case):
    seats, ranks = separated_games()[case]
    num_agents = seats.max() + 1
    ratings = fit_ratings(seats, ranks, num_agents)
    assert np.isfinite(ratings.elo).all()
    assert np.isfinite(ratings.tie_strengths).all()
    assert np.abs(ratings.elo).max() < 2000
    assert pair_errors(ratings).max() > 90
    with pytest.raises(ValueError, match="without a prior these games have no finite ratings: some agents never met"):
        fit_ratings(seats, ranks, num_agents, prior=None)


def has_finite_maximum(seats, ranks, num_agents):
    """Whether no direction of the parameters makes every choice likelier, or none changes: a linear programme."""
    orders = sorted({row.count(place) for row in ranks.tolist() for place in row} - {1})
    number = num_agents + len(orders)

    def features(agents):
        of_ties = [float(len(agents) == order) for order in orders]
        return np.array([*np.bincount(agents, minlength=num_agents) / len(agents), *of_ties])

    better = []
    for agents, own_ranks in zip(seats, ranks, strict=True):
        for place in sorted(set(own_ranks.tolist())):
            left, chosen = agents[own_ranks >= place], agents[own_ranks == place]
            for size in [1, *orders]:
                better += [features(chosen) - features(list(group)) for group in combinations(left, size)]
    better = np.unique(np.round(better, 9), axis=0)
    shift = np.arange(number) < num_agents
    if np.linalg.matrix_rank([*better, shift], tol=1e-6) < number:
        return False
    gain = -linprog(-better.sum(axis=0), -better, np.zeros(len(better)), bounds=(-1, 1)).fun
    return gain < 1e-6


def test_exactly_what_has_no_finite_maximum_is_refused():
    random = np.random.default_rng(15)
    finite = 0
    for _ in range(120):
        num_agents, num_seats = random.integers(2, 6), random.integers(2, 5)
        seats, ranks = random_games(
            random, num_agents, num_seats, random.integers(3, 25), random.integers(2, 6), repeated=True
        )
        ranks += random.integers(0, 3) * seats
        times = random.choice([1, 1, 50], len(seats))
        games = np.repeat(seats, times, axis=0), np.repeat(ranks, times, axis=0)
        if has_finite_maximum(seats, ranks, num_agents):
            finite += 1
            assert np.isfinite(fit_ratings(*games, num_agents, prior=None).elo).all()
        else:
            with pytest.raises(ValueError, match="no finite ratings"):
                fit_ratings(*games, num_agents, prior=None)
    assert 30 < finite < 90


def test_a_maximum_far_from_equal_strengths_is_found():
    # Newton's method from equal strengths strays to where hardly any game is informative
    seats = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 2, 2], [2, 0, 1], [2, 1, 1], [2, 2, 1]])
    ranks = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 1, 1], [0, 1, 2]])
    times = [1, 1000, 30, 1, 1, 1, 1]
    ratings = fit_ratings(np.repeat(seats, times, axis=0), np.repeat(ranks, times, axis=0), 3, prior=None)
    np.testing.assert_allclose(ratings.elo / ELO, [-3.918, -6.597, 10.515], atol=1e-3)


@pytest.mark.parametrize("wins", [1, 10, 1000])
def test_an_agent_that_never_lost_is_above_what_its_games_could_show(wins):
    # more wins in a row: higher, and never certain
    ratings = fit_ratings(*pair_games(wins, 0), 2, anchor=1)
    odds = 10 ** (ratings.elo[0] / 400)
    assert wins * 0.9 < odds < 100 * wins
    assert ratings.difference(0, 1)[1] > 300


@pytest.mark.parametrize(
    "games",
    [
        pair_games(100_000, 1),
        (np.array([[a, a + 1] for a in range(29)] * 2), np.array([[0, 1]] * 29 + [[1, 0]] * 29)),
    ],
    ids=["one loss in 100 001", "a chain of 30 agents"],
)
def test_what_is_barely_finite_is_not_refused(games):
    ratings = fit_ratings(*games, games[0].max() + 1, prior=None)
    expected = ELO * log(1e5) if len(ratings.elo) == 2 else 0
    assert ratings.difference(0, len(ratings.elo) - 1)[0] == pytest.approx(expected, abs=1e-3)


def test_an_agent_without_games_is_average_and_unknown():
    seats, ranks, deals = paired_games(np.random.default_rng(13), 3, 3, 40, luck=3, noise=1)
    ratings = fit_ratings(seats, ranks, 4, deals=deals)
    assert ratings.elo[3] == pytest.approx(0, abs=1e-9)
    assert ratings.design_effect < 0.7
    # of it and of the level of the other three, and no less because deals were paired
    assert ratings.errors[3] == pytest.approx(1000 * sqrt(1 + 1 / 3), rel=1e-3)
    assert (ratings.errors[:3] < 30).all()


def test_an_agent_that_only_plays_itself():
    ratings = fit_ratings(np.zeros((6, 3), int), np.array([[0, 1, 2], [0, 0, 1], [0, 1, 1]] * 2), 1, prior=None)
    assert (ratings.elo.tolist(), ratings.errors.tolist()) == ([0], [0])
    assert ratings.superiority().tolist() == [[0.5]]
    np.testing.assert_allclose(ratings.expected_points([0, 0, 0]), 1 / 3)


def test_a_hundred_thousand_games():
    random = np.random.default_rng(14)
    seats = random.permuted(np.tile(np.arange(12), (100_000, 1)), axis=1)[:, :4]
    ranks = np.floor(random.normal(size=seats.shape) * 4 + seats / 3).astype(int)
    ratings = fit_ratings(seats, ranks, 12, deals=np.arange(100_000) // 24)
    assert (np.diff(ratings.elo) < 0).all()
    assert ratings.design_effect == pytest.approx(1, abs=0.05)
    assert (ratings.errors < 2).all()


# bad input


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seats": [0, 1]}, r"seats must have the shape \(games, 2 to 6\), not \(2,\)"),
        ({"seats": [[0]], "ranks": [[0]]}, r"seats must have the shape \(games, 2 to 6\), not \(1, 1\)"),
        ({"seats": [[0] * 7], "ranks": [[0] * 7]}, r"\(games, 2 to 6\), not \(1, 7\)"),
        ({"ranks": [[0, 1, 2]]}, r"ranks must have the shape of seats, \(1, 2\), not \(1, 3\)"),
        ({"seats": [[0.0, 1.0]]}, "seats must be integers, not float64"),
        ({"ranks": [[0.0, 1.0]]}, "ranks must be integers, not float64"),
        ({"seats": [[0, 3]]}, "agents are numbered from 0 to 2, there is no 3"),
        ({"seats": [[-1, 2]]}, "agents are numbered from 0 to 2, there is no -1"),
        ({"seats": np.zeros((0, 2), int), "ranks": np.zeros((0, 2), int)}, "ratings need at least 1 game"),
        ({"anchor": 3}, "the anchor must be an agent from 0 to 2, or None, not 3"),
        ({"anchor": -1}, "the anchor must be an agent from 0 to 2, or None, not -1"),
        ({"deals": [1, 2]}, r"deals must have the shape \(1,\), one per game, not \(2,\)"),
        ({"prior": 0}, "the prior must be a positive number of Elo, or None, not 0"),
        ({"prior": float("nan")}, "the prior must be a positive number of Elo, or None, not nan"),
    ],
)
def test_bad_games_are_refused(changes, message):
    arguments = {"seats": [[0, 1]], "ranks": [[0, 1]], "num_agents": 3} | changes
    with pytest.raises(ValueError, match=message):
        fit_ratings(**arguments)


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ([0], "expected points need 2 to 3 agents, as in the rated games, not 1"),
        ([0, 1, 2, 0], "expected points need 2 to 3 agents, as in the rated games, not 4"),
        ([0, 3], "agents are numbered from 0 to 2, there is no 3"),
    ],
)
def test_expected_points_of_other_games_are_refused(agents, message):
    ratings = fit_ratings([[0, 1, 2]], [[0, 1, 2]], 3)
    with pytest.raises(ValueError, match=message):
        ratings.expected_points(agents)
