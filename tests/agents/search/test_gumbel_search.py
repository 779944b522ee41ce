"""Search with a planned root: sequential halving, completed returns, the improved policy."""

import numpy as np
import pytest

pytest.importorskip("torch")

from meeplezoo.agents.search.batched_search import BatchedSearch
from meeplezoo.agents.search.gumbel_search import completed_qvalues, gumbel_search, softmax
from meeplezoo.agents.search.sequential_halving import SequentialHalvingSchedule, SequentialHalvingSchedules, affordable
from meeplezoo.envs import GameBatch, make_game

GAMES = [("azul", {}), ("azul", {"num_players": 3}), ("qwirkle", {}), ("manhattan", {})]


def positions(game, count, plies, seed=3):
    batch = GameBatch(game, count, auto_reset=False)
    batch.reset(seed)
    for _ in range(plies):
        batch.step(batch.random_actions())
    return batch.states.copy(), batch.mask()


def sloping(decisions):
    """Priors that fall by the number of the action; every seat expects one half."""
    weights = decisions.mask / (1.0 + np.arange(decisions.mask.shape[1]))
    priors = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    return priors, np.full((len(priors), decisions.game.num_players), 0.5, np.float32)


@pytest.mark.parametrize(
    ("max_num_considered_actions", "num_simulations", "plan"),
    [
        (1, 3, (0, 1, 2)),
        (2, 4, (0, 0, 1, 1)),
        (4, 8, (0, 0, 0, 0, 1, 1, 2, 2)),
        (4, 3, (0, 0, 0)),
        (3, 9, (0, 0, 0, 1, 1, 2, 2, 3, 3)),
        (8, 24, (0,) * 8 + (1,) * 4 + (2,) * 4 + (3, 3, 4, 4, 5, 5, 6, 6)),
    ],
)
def test_the_plan_halves_what_is_considered(max_num_considered_actions, num_simulations, plan):
    found = SequentialHalvingSchedule(max_num_considered_actions)
    assert tuple(found.next_visits(num_simulations) for _ in range(num_simulations)) == plan


def halved(max_num_considered_actions, num_simulations):
    """Return the plan of sequential halving as the paper has it, phase by phase."""
    phases = max(1, (max_num_considered_actions - 1).bit_length())
    plan, visits, left = [], [0] * max_num_considered_actions, max_num_considered_actions
    while len(plan) < num_simulations:
        for _ in range(max(1, num_simulations // (phases * left))):
            plan.extend(visits[:left])
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2) if max_num_considered_actions > 1 else 1
    return plan[:num_simulations]


def test_plans_of_many_roots_are_those_of_single_ones():
    legal = np.array([1, 7, 40, 2, 7, 16])
    for num_simulations in (1, 2, 9, 31, 64, 200):
        plans = SequentialHalvingSchedules(legal, 16, num_simulations)
        plans.fit(num_simulations)
        found = np.stack([plans.next_visits() for _ in range(num_simulations)], axis=1)
        assert found.tolist() == [halved(min(16, number), num_simulations) for number in legal.tolist()]


def test_fewer_actions_are_considered_where_all_would_not_have_their_share():
    assert [affordable(16, number) for number in (1, 8, 16, 20, 40, 64, 80, 127, 128)] == [2, 2, 4, 4, 6, 8, 10, 15, 16]
    assert [affordable(number, 3) for number in (1, 2, 3, 100)] == [1, 2, 2, 2]
    for number in range(4, 400):
        most = affordable(50, number)
        # twice for every action in each of the phases
        assert 2 * most * (most - 1).bit_length() <= number
        assert most == 50 or 2 * (most + 1) * most.bit_length() > number


def test_a_plan_goes_on_with_more_or_fewer_simulations():
    plan = SequentialHalvingSchedule(16)
    plan.consider(4)
    assert [plan.next_visits(8) for _ in range(3)] == [0, 0, 0]
    # there is more time than it seemed
    plan.consider(6)
    assert [plan.next_visits(54) for _ in range(9)] == [0, 0, 0, 1, 1, 1, 1, 1, 1]
    assert not plan.widens
    plan.consider(16)
    # and then less: the half stays at once
    assert [plan.next_visits(20) for _ in range(4)] == [2, 2, 2, 3]
    assert [plan.next_visits(20) for _ in range(6)] == [3, 3, 4, 4, 5, 5]
    # actions that have had their simulation stay
    plan = SequentialHalvingSchedule(8)
    assert [plan.next_visits(100) for _ in range(6)] == [0] * 6
    plan.consider(2)
    assert [plan.next_visits(12) for _ in range(4)] == [1, 1, 1, 2]


def test_returns_of_actions_that_were_not_visited_are_completed():
    priors = np.array([[0.5, 0.25, 0.25, 0.0]], np.float32)
    visits, returns = np.array([[3, 1, 0, 0]]), np.array([[0.8, 0.2, 0.0, 0.0]])
    own = np.array([0.4])
    # visited actions by their priors: (0.5 * 0.8 + 0.25 * 0.2) / 0.75 = 0.6, four visits beside one of the network
    mixed = (0.4 + 4 * 0.6) / 5
    scale = 50 + 3
    expected = scale * np.array([[0.8, 0.2, mixed, mixed]])
    np.testing.assert_allclose(completed_qvalues(priors, own, visits, returns), expected, rtol=1e-6)
    nothing = completed_qvalues(priors, own, np.zeros((1, 4), int), np.zeros((1, 4)))
    np.testing.assert_allclose(nothing, np.full((1, 4), 50 * 0.4), rtol=1e-6)


def test_the_compiled_choice_is_the_plain_one():
    game = make_game("azul")
    states, mask = positions(game, 6, 8)
    trees = BatchedSearch(game, states, sloping, 4)
    for _ in range(15):
        trees.simulate()
    visits, returns = trees.statistics()
    seats = np.arange(6), states["to_move"]
    scores = np.random.default_rng(2).gumbel(size=mask.shape)
    for turns in (0, 1, 2):
        worth = scores + completed_qvalues(trees.priors, trees.values[seats], visits, returns)
        worth[(mask == 0) | (visits != turns)] = -np.inf
        expected = np.where(np.isinf(worth).all(axis=1), -1, worth.argmax(axis=1))
        found = trees.select_root_actions(trees.values[seats], scores, np.full(6, turns))
        assert found.tolist() == expected.tolist()


def test_softmax_gives_illegal_actions_nothing():
    found = softmax(np.array([[0.0, np.log(3.0), -np.inf]]))
    np.testing.assert_allclose(found, [[0.25, 0.75, 0.0]], rtol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_searches_are_legal_complete_and_independent_of_the_batch(name, options):
    game = make_game(name, **options)
    states, mask = positions(game, 3, 12)
    before = states.copy()
    noise = np.random.default_rng(1).gumbel(size=mask.shape)
    found = gumbel_search(game, states, mask, sloping, 20, 5, max_num_considered_actions=6, noise=noise)
    np.testing.assert_array_equal(states.view(np.uint8), before.view(np.uint8))
    assert found.visits.sum(axis=1).tolist() == [20] * 3
    assert not found.visits[mask == 0].any()
    assert not found.policy[mask == 0].any()
    np.testing.assert_allclose(found.policy.sum(axis=1), 1, rtol=1e-5)
    assert mask[np.arange(3), found.actions].all()
    counts = (found.visits > 0).sum(axis=1)
    assert (counts == np.minimum(6, mask.sum(axis=1))).all()
    assert (found.visits[np.arange(3), found.actions] == found.visits.max(axis=1)).all()
    assert ((found.returns >= 0) & (found.returns <= 1)).all()
    alone = gumbel_search(game, states[:1], mask[:1], sloping, 20, 5, max_num_considered_actions=6, noise=noise[:1])
    np.testing.assert_array_equal(alone.visits[0], found.visits[0])
    np.testing.assert_array_equal(alone.policy[0], found.policy[0])


def test_where_all_is_worth_the_same_the_policy_stays_and_is_drawn_from():
    game = make_game("azul")
    states, mask = positions(game, 1, 0)
    rows = 4000
    many, masks = np.repeat(states, rows), np.repeat(mask, rows, axis=0)
    noise = np.random.default_rng(7).gumbel(size=masks.shape)
    # so few simulations that none comes near the end of the game
    found = gumbel_search(game, many, masks, sloping, 2, 1, max_num_considered_actions=2, noise=noise, nodes=600)
    priors = mask[0] / (1.0 + np.arange(mask.shape[1]))
    priors /= priors.sum()
    np.testing.assert_allclose(found.policy[0], priors, atol=1e-5)
    shares = np.bincount(found.actions, minlength=len(priors)) / rows
    assert np.abs(shares - priors).max() < 4 * np.sqrt(0.25 / rows)
    plain = gumbel_search(game, states, mask, sloping, 2, 1, max_num_considered_actions=2)
    assert plain.actions.tolist() == [int(priors.argmax())]


def test_what_a_network_likes_gains_in_the_policy_and_is_played():
    game = make_game("azul")
    states, mask = positions(game, 1, 0)
    legal = np.flatnonzero(mask[0])
    favourite = int(legal[3])
    after = states.copy()
    game.play_action(after[0], favourite)
    seat = int(states["to_move"][0])

    def knows(decisions):
        priors, values = sloping(decisions)
        lines = (decisions._states["line_count"][:, seat], decisions._states["line_colour"][:, seat])
        same = (lines[0] == after["line_count"][0, seat]).all(axis=1) & (lines[1] == after["line_colour"][0, seat]).all(
            axis=1
        )
        values[:] = np.where(same, 0.9, 0.1)[:, None]
        return priors, values

    found = gumbel_search(game, states, mask, knows, 64, 2, max_num_considered_actions=8)
    plain = gumbel_search(game, states, mask, sloping, 64, 2, max_num_considered_actions=8)
    assert found.actions[0] == favourite
    assert found.policy[0, favourite] > 10 * plain.policy[0, favourite]


def test_the_policy_follows_a_search_as_far_as_it_is_told():
    game = make_game("azul")
    states, mask = positions(game, 6, 8)

    def uneven(decisions):
        values = 0.5 + 0.2 * np.sin(50 * decisions.observation.sum(axis=1, keepdims=True))
        return sloping(decisions)[0], np.hstack([values, 1 - values]).astype(np.float32)

    found = {
        scale: gumbel_search(game, states, mask, uneven, 24, 5, policy_target_scale=scale) for scale in (0.0, 0.5, 1.0)
    }
    # the search itself is the same
    for one in found.values():
        np.testing.assert_array_equal(one.actions, found[1.0].actions)
        np.testing.assert_array_equal(one.visits, found[1.0].visits)
    legal = mask != 0
    logs = [np.log(one.policy, where=legal, out=np.zeros(mask.shape)) for one in found.values()]
    # half as far from the prior, up to what makes the sum 1
    ahead = np.where(legal, logs[2] - logs[0], np.nan)
    half = np.where(legal, logs[1] - logs[0], np.nan)
    for row in range(len(mask)):
        np.testing.assert_allclose(
            half[row] - np.nanmean(half[row]), 0.5 * (ahead[row] - np.nanmean(ahead[row])), atol=2e-3
        )
    assert np.nanmax(np.abs(ahead)) > 0.1
