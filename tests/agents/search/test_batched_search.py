"""Tree search with a network at the leaves."""

import numpy as np
import pytest

from meeplezoo.agents.search.batched_search import search_with_network
from meeplezoo.envs import GameBatch, make_game

GAMES = [("azul", {}), ("azul", {"num_players": 3}), ("qwirkle", {}), ("manhattan", {})]


def positions(game, count, plies, seed=3):
    batch = GameBatch(game, count, auto_reset=False)
    batch.reset(seed)
    for _ in range(plies):
        batch.step(batch.random_actions())
    return batch.states.copy()


def uniform(decisions):
    mask = decisions.mask.astype(np.float32)
    return mask / mask.sum(axis=1, keepdims=True), np.full((len(mask), decisions.game.num_players), 0.5, np.float32)


@pytest.mark.parametrize("closed_loop", [False, True])
@pytest.mark.parametrize(("name", "options"), GAMES)
def test_visits_are_legal_complete_and_independent_of_the_batch(name, options, closed_loop):
    game = make_game(name, **options)
    states = positions(game, 3, 12)
    before = states.copy()
    visits, returns = search_with_network(game, states, uniform, 40, seed=5, closed_loop=closed_loop)
    np.testing.assert_array_equal(states.view(np.uint8), before.view(np.uint8))
    # the first simulation stays at the root
    assert visits.sum(axis=1).tolist() == [39] * 3
    for state, row in zip(states, visits, strict=True):
        assert not row[game.mask(state) == 0].any()
    assert ((returns >= 0) & (returns <= 1)).all()
    alone, _ = search_with_network(game, states[:1], uniform, 40, seed=5, closed_loop=closed_loop)
    np.testing.assert_array_equal(alone[0], visits[0])


def test_priors_and_values_lead_the_search():
    game = make_game("azul")
    states = positions(game, 1, 4)
    seat = int(states["to_move"][0])
    legal = np.flatnonzero(game.mask(states[0]))
    favourite = int(legal[7])

    def biased(decisions):
        priors, values = uniform(decisions)
        if decisions.seats[0] == seat:
            priors[0] *= 0.5
            priors[0, favourite] += 0.5
        return priors, values

    visits, _ = search_with_network(game, states, biased, 60, seed=1)
    assert visits[0].argmax() == favourite

    def lines(records):
        return np.concatenate([records["line_count"][:, seat], records["line_colour"][:, seat]], axis=1)

    after = np.repeat(states, len(legal))
    for index, action in enumerate(legal.tolist()):
        game.play_action(after[index], action)
    wanted = lines(after)[7]
    good = (lines(after) == wanted).all(axis=1)

    def knows_a_good_move(decisions):
        # everything is lost for the seat but what leaves it with the lines that the favourite brings
        priors, values = uniform(decisions)
        values[:] = np.where((lines(decisions._states) == wanted).all(axis=1), 0.9, 0.1)[:, None]
        return priors, values

    visits, returns = search_with_network(game, states, knows_a_good_move, 400, seed=1)
    assert returns[0, legal[good]].min() > returns[0, legal[~good]].max()
    assert visits[0, legal[good]].min() > np.median(visits[0, legal[~good]])


def test_a_small_pool_goes_on():
    game = make_game("azul")
    states = positions(game, 2, 0)
    visits, _ = search_with_network(game, states, uniform, 300, seed=1, nodes=500)
    assert visits.sum(axis=1).tolist() == [299] * 2
