"""The league: who is drawn, how win rates are kept, how it grows."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from tiny_training import assert_same, tiny

from meeplezoo.agents.networks.architecture import Architecture, build
from meeplezoo.envs import make_game
from meeplezoo.envs.interfaces.decision_batch import DecisionBatch
from meeplezoo.training.league import DECAY, PRIOR_GAMES, FrozenPolicy, League, pfsp_probabilities


def league_of(players=2, **changes):
    config = tiny(algorithm="ppo", options={"num_players": players}, **changes)
    torch.manual_seed(1)
    game = config.make_game()
    return League(config, game, build(game, Architecture("mlp", (8,))))


def mark(league, number):
    with torch.no_grad():
        next(league._network.parameters()).fill_(number)


def marks(league):
    return [float(next(network.parameters()).flatten()[0]) for network in league._past]


# --- draws


def test_probabilities_by_hand():
    rates = np.array([0.5, 0.0, 1.0, 0.9])
    weights = np.array([0.25, 1.0, 0.0, 0.01])
    np.testing.assert_allclose(pfsp_probabilities(rates, 0.2, 2.0), 0.05 + 0.8 * weights / 1.26)
    np.testing.assert_allclose(pfsp_probabilities(rates, 0.0, 1.0), np.array([0.5, 1.0, 0.0, 0.1]) / 1.6)
    np.testing.assert_allclose(pfsp_probabilities(rates, 1.0, 2.0), [0.25] * 4)
    np.testing.assert_allclose(pfsp_probabilities(rates, 0.3, 0.0), [0.25] * 4)
    # all beaten always: all alike
    np.testing.assert_allclose(pfsp_probabilities(np.ones(2), 0.1, 2.0), [0.5, 0.5])


@pytest.mark.parametrize("players", [2, 4])
def test_seats_are_drawn_as_the_config_says(players):
    league = league_of(players, share_league=0.6, league_floor=0.2, league_power=2.0)
    league.grow()
    league.wins[:] = PRIOR_GAMES * np.array([0.9, 0.5, 0.2])
    seats = league.draw_seats(40_000)
    assert seats.shape == (40_000, players)
    of_league = (seats >= 0).any(axis=1)
    assert of_league.mean() == pytest.approx(0.6, abs=0.01)
    own = seats[of_league] < 0
    # one seat for the learner, each as often as any other
    assert (own.sum(axis=1) == 1).all()
    np.testing.assert_allclose(own.mean(axis=0), 1 / players, atol=0.015)
    members = seats[of_league][~own]
    shares = np.bincount(members, minlength=3) / len(members)
    weights = np.array([0.01, 0.25, 0.64])
    np.testing.assert_allclose(shares, 0.2 / 3 + 0.8 * weights / weights.sum(), atol=0.01)


def test_the_share_can_be_nothing_and_everything():
    assert (league_of(share_league=0.0).draw_seats(100) == -1).all()
    assert ((league_of(share_league=1.0).draw_seats(100) >= 0).sum(axis=1) == 1).all()
    alone = league_of(share_league=1.0, baselines=[])
    assert (alone.draw_seats(100) == -1).all()
    alone.grow()
    assert ((alone.draw_seats(100) == 0).sum(axis=1) == 1).all()


# --- win rates


def test_win_rates_by_hand():
    league = league_of()
    np.testing.assert_array_equal(league.win_rates, [0.5, 0.5])
    seats = np.array([[-1, 1], [1, -1], [-1, -1], [-1, 1], [0, -1]])
    ranks = np.array([[0, 1], [0, 1], [0, 1], [0, 0], [1, 0]])
    league.record(seats, ranks)
    # against 1: won, lost, tied; against 0: won
    assert league.games[1] == pytest.approx(PRIOR_GAMES * DECAY**3 + 3)
    assert league.wins[1] == pytest.approx(PRIOR_GAMES / 2 * DECAY**3 + 1.5)
    assert league.win_rates[0] == pytest.approx((PRIOR_GAMES / 2 * DECAY + 1) / (PRIOR_GAMES * DECAY + 1))
    assert league.metrics() == {"league/random": league.win_rates[0], "league/greedy": league.win_rates[1]}
    before = league.win_rates.copy()
    league.record(seats[2:3], ranks[2:3])
    np.testing.assert_array_equal(league.win_rates, before)


def test_with_more_players_the_better_place_wins():
    league = league_of(4)
    league.record(np.array([[0, -1, 1, 1]]), np.array([[0, 1, 1, 3]]))
    assert league.wins[0] == pytest.approx(PRIOR_GAMES / 2 * DECAY)
    assert league.wins[1] == pytest.approx(PRIOR_GAMES / 2 * DECAY**2 + 1.5)


def test_a_rate_follows_what_happens():
    league = league_of()
    for _ in range(1000):
        league.record(np.array([[-1, 1]]), np.array([[0, 1]]))
    assert league.win_rates[1] > 0.99
    for _ in range(140):
        league.record(np.array([[-1, 1]]), np.array([[1, 0]]))
    # half of a game's weight is left after 138 others
    assert league.win_rates[1] == pytest.approx(0.5, abs=0.01)


# --- members


def test_it_grows_and_the_newest_replaces_the_oldest():
    league = league_of(pool_size=2)
    assert league.names == ["random", "greedy"]
    seen = []
    for number in (1.0, 2.0, 3.0):
        mark(league, number)
        league.grow()
        league.wins[2:] += 1
        seen.append(marks(league))
    assert seen == [[1.0], [1.0, 2.0], [3.0, 2.0]]
    assert league.names == ["random", "greedy", "past 0", "past 1"]
    # the newest begins as an equal
    np.testing.assert_allclose(league.wins, PRIOR_GAMES / 2 + np.array([0, 0, 1, 2]))
    empty = league_of(pool_size=0)
    empty.grow()
    assert len(empty) == 2


def test_a_state_brings_everything_back():
    league = league_of(pool_size=2)
    league.grow()
    mark(league, 4.0)
    league.grow()
    league.record(np.array([[-1, 3]]), np.array([[0, 1]]))
    league.draw_seats(3)
    state = league.get_state()
    other = league_of(pool_size=2)
    other.set_state(state)
    assert_same(other.get_state(), state)
    np.testing.assert_array_equal(other.draw_seats(50), league.draw_seats(50))
    mark(other, 7.0)
    other.grow()
    assert marks(other) == [7.0, 4.0]


def test_agents_are_those_of_the_iteration():
    game = make_game("azul")
    decisions = DecisionBatch(game, np.array([game.new(seed) for seed in range(60)]))
    league = league_of(pool_size=1)
    league.grow()
    played = {}
    for iteration in (0, 1, 0):
        league.start_iteration(iteration)
        assert [league.agent(member).name for member in range(3)] == ["random", "greedy", "past 0"]
        assert league.agent(2) is league.agent(2)
        actions = [league.agent(member).act(decisions).tolist() for member in (0, 2)]
        assert played.setdefault(iteration, actions) == actions
    assert played[0][0] != played[1][0]
    assert played[0][1] != played[1][1]


def test_a_past_self_stays_as_it_was_and_plays_by_its_probabilities():
    game = make_game("azul")
    league = league_of(pool_size=1)
    league.grow()
    before = marks(league)
    mark(league, 9.0)
    assert marks(league) == before
    decisions = DecisionBatch(game, np.array([game.new(3)] * 4000))
    agent = FrozenPolicy("past 0", league._past[0], 5)
    actions = agent.act(decisions)
    assert decisions.mask[np.arange(4000), actions].all()
    with torch.no_grad():
        logits = league._past[0](torch.from_numpy(decisions.observation[:1]))[0][0]
    legal = torch.from_numpy(decisions.mask[0]) != 0
    expected = logits.masked_fill(~legal, -torch.inf).softmax(dim=0).numpy()
    np.testing.assert_allclose(np.bincount(actions, minlength=180) / 4000, expected, atol=0.02)
    assert all(not parameter.requires_grad for parameter in league._past[0].parameters())
