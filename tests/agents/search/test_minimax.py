"""The minimax agent: its kernels against a slow search in plain Python, its settings, and how it plays."""

import numpy as np
import pytest
from patched_clock import clock_of_work

from meeplezoo.agents import make_agent
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.search import minimax_agent
from meeplezoo.agents.search.minimax_agent import MinimaxSettings
from meeplezoo.envs import make_game
from meeplezoo.envs.engine.batch import determinize_games
from meeplezoo.envs.engine.minimax import WIN
from meeplezoo.envs.game import as_batch
from meeplezoo.envs.interfaces.decision_batch import DecisionBatch

AZUL = make_game("azul")
AZUL_GREY = make_game("azul", wall="grey")
MANHATTAN = make_game("manhattan", num_players=2)
QWIRKLE = make_game("qwirkle", num_players=2, board_size=26)


def played(game, seed, plies):
    """Return a game after some random decisions."""
    state = game.new(seed)
    random = np.random.default_rng(seed)
    for _ in range(plies):
        game.play_action(state, int(random.choice(np.flatnonzero(game.mask(state)))))
    return state


def late(seed, legal_actions):
    """Return a game of Azul with few legal actions, at least two, in a round after the second."""
    state = game_of_greedy(seed)
    while state["round"] < 3 or not 2 <= AZUL.mask(state).sum() <= legal_actions:
        AZUL.play_action(state, greedy_action(AZUL, state))
        assert not AZUL.is_over(state)
    return state


def game_of_greedy(seed):
    state = AZUL.new(seed)
    for _ in range(10):
        AZUL.play_action(state, greedy_action(AZUL, state))
    return state


def heuristic(game, state):
    values = np.full(game.num_actions, -np.inf, np.float32)
    game.spec.kernels().action_values(state[()], values, np.zeros(1024, np.int64))
    return values


def greedy_action(game, state):
    return int(np.argmax(heuristic(game, state)))


def after(game, state, action):
    """Return the game after an action; the one before stays."""
    copy = np.array([state])[0]
    game.play_action(copy, action)
    return copy


def slow_value(game, state, seat, depth, plies):
    """Return the minimax value by its definition: no order, no width, no cutoffs."""
    if depth > 0 and not game.is_over(state):
        values = [
            slow_value(game, after(game, state, int(action)), seat, depth - 1, plies)
            for action in np.flatnonzero(game.mask(state))
        ]
        return max(values) if state["to_move"] == seat else min(values)
    for _ in range(plies):
        if game.is_over(state):
            break
        state = after(game, state, greedy_action(game, state))
    result = game.result(state)
    value = result["scores"][seat] - result["scores"][1 - seat]
    if game.is_over(state) and len(result["winners"]) == 1:
        value += WIN if result["winners"] == [seat] else -WIN
    return value


def dealt_as_by(agent, game, state):
    """Return the deal that an agent of one sample is about to search, from a copy of its stream."""
    copy = as_batch(state).copy()
    determinize_games(copy, np.array([state["to_move"]]), agent._stream.copy())
    return copy[0]


def assert_equals_slow(game, state, depth, plies):
    agent = make_agent(f"minimax:depth={depth},width=0,samples=1,plies={plies}", game, 3)
    deal = dealt_as_by(agent, game, state)
    seat = int(state["to_move"])
    values = agent.search(game, state)
    legal = np.flatnonzero(game.mask(state))
    assert np.flatnonzero(values > -np.inf).tolist() == legal.tolist()
    expected = [slow_value(game, after(game, deal, int(action)), seat, depth - 1, plies) for action in legal]
    assert values[legal].tolist() == expected


@pytest.mark.parametrize(("depth", "plies", "legal_actions"), [(2, 20, 12), (2, 0, 12), (3, 6, 6), (3, 0, 6)])
@pytest.mark.parametrize("seed", [0, 1])
def test_values_are_those_of_a_slow_minimax(seed, depth, plies, legal_actions):
    assert_equals_slow(AZUL, late(seed, legal_actions), depth, plies)


def test_values_where_one_player_decides_twice_in_a_row():
    state = played(QWIRKLE, 5, 31)
    while QWIRKLE.mask(state).sum() > 10 or state["picked"] == 0:
        QWIRKLE.play_action(state, greedy_action(QWIRKLE, state))
    assert after(QWIRKLE, state, greedy_action(QWIRKLE, state))["to_move"] == state["to_move"]
    assert_equals_slow(QWIRKLE, state, 2, 3)


@pytest.mark.parametrize("game", [AZUL, AZUL_GREY, MANHATTAN, QWIRKLE], ids=lambda game: game.name)
def test_cutoffs_change_no_value(game):
    values = []
    for cutoffs in (True, False):
        agent = make_agent("minimax:depth=4,width=4,samples=2,plies=4", game, 1)
        agent._kernel_settings["cutoffs"] = cutoffs
        values.append([agent.search(game, played(game, seed, 30)) for seed in range(3)])
    assert np.array_equal(values[0], values[1])
    assert np.isfinite(values[0]).sum(axis=1).max() == 4


def test_a_game_that_is_over_counts_as_won_or_lost():
    # the last decision of a game
    for seed in range(20):
        state = game_of_greedy(seed)
        while not AZUL.is_over(state):
            before = state
            state = after(AZUL, state, greedy_action(AZUL, state))
        result = AZUL.result(state)
        if len(result["winners"]) == 1:
            break
    seat = int(before["to_move"])
    margin = result["scores"][seat] - result["scores"][1 - seat]
    agent = make_agent("minimax:depth=1,width=1,samples=3,plies=0", AZUL, 0)
    values = agent.search(AZUL, before)
    action = greedy_action(AZUL, before)
    assert values[action] == margin + (WIN if result["winners"] == [seat] else -WIN)
    assert np.isfinite(values).sum() == 1


def test_width_looks_at_the_best_by_the_heuristic():
    state = AZUL.new(4)
    best = np.argsort(-heuristic(AZUL, state), kind="stable")[:7]
    values = make_agent("minimax:depth=2,width=7,samples=1", AZUL, 0).search(AZUL, state)
    assert np.flatnonzero(np.isfinite(values)).tolist() == sorted(best.tolist())


def test_the_same_seed_plays_the_same_and_restart_begins_again():
    state = AZUL.new(2)
    agent = make_agent("minimax:depth=2,samples=2,plies=40", AZUL, 5)
    first = [agent.search(AZUL, state) for _ in range(2)]
    assert not np.array_equal(first[0], first[1])  # another deal
    agent.reset(5)
    again = [agent.search(AZUL, state) for _ in range(2)]
    assert np.array_equal(first, again)
    text = "minimax:depth=2,width=4,samples=1"
    results = [evaluate(AZUL, [text, "greedy"], 4, 8).as_json()["agents"] for _ in range(2)]
    assert results[0] == results[1]


def test_ties_are_decided_by_lot():
    # at depth 1 with nothing played after it, no first move changes a score
    agent = make_agent("minimax:depth=1,width=5,samples=1,plies=0", AZUL, 0)
    state = AZUL.new(1)
    chosen = {int(agent.act(DecisionBatch(AZUL, as_batch(state)))[0]) for _ in range(60)}
    assert chosen == set(np.argsort(-heuristic(AZUL, state), kind="stable")[:5].tolist())


TICK = 1 / 1024
"""Seconds of a sample by the patched clock; sums of it are exact."""


def work_of(given):
    """Return the work of a call: 1 for a sample of depth 2, four times as much for every further decision."""
    return int(given[1]["samples"][0]) * 4.0 ** (int(given[1]["depth"][0]) - 2)


def values_in_time(monkeypatch, text, limit):
    """Return an agent's action and values of one decision, where samples take TICK each; `limit` in TICKs or None."""
    agent = make_agent(text, AZUL, 5)
    if limit is not None:
        # to load the kernels is not to think
        clock_of_work(monkeypatch, minimax_agent, "search_minimax", work_of, TICK, loading=1000.0)
    seen = []
    search = agent.search
    monkeypatch.setattr(agent, "search", lambda *given: seen.append(search(*given)) or seen[-1])
    seconds = None if limit is None else limit * TICK
    action = agent.act(DecisionBatch(AZUL, as_batch(AZUL.new(2)), seconds_per_move=seconds))
    monkeypatch.undo()
    return action.tolist(), seen[0].tolist()


@pytest.mark.parametrize(("limit", "samples"), [(1000, 7), (5, 4), (2.6, 2), (1.5, 1)])
def test_a_time_limit_leaves_out_whole_samples(monkeypatch, limit, samples):
    limited = values_in_time(monkeypatch, "minimax:depth=2,width=4,samples=7", limit)
    assert limited == values_in_time(monkeypatch, f"minimax:depth=2,width=4,samples={samples}", None)
    assert limited[1] != values_in_time(monkeypatch, f"minimax:depth=2,width=4,samples={samples + 1}", None)[1]


@pytest.mark.parametrize(("limit", "depth"), [(0.01, 1), (1, 1), (3, 2), (1000, 3)])
def test_a_time_limit_that_is_too_short_for_a_sample_makes_it_less_deep(monkeypatch, limit, depth):
    limited = values_in_time(monkeypatch, "minimax:depth=3,width=4,samples=1", limit)
    assert limited == values_in_time(monkeypatch, f"minimax:depth={depth},width=4,samples=1", None)


def test_settings():
    agent = make_agent("minimax:depth=2,width=0,samples=7,plies=1", AZUL, 0)
    assert agent.settings == MinimaxSettings(depth=2, width=0, samples=7, plies=1)
    assert make_agent("minimax", AZUL, 0).settings == MinimaxSettings()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("depht=3", "there is no setting 'depht'; the settings are depth, width, samples, plies"),
        ("depth", "setting 'depth' must have the form name=value"),
        ("depth=1.5", "depth must be an integer, not '1.5'"),
        ("depth=0", "depth must be from 1 to 64"),
        ("width=-1", "width must be from 0 to"),
        ("samples=0", "samples must be from 1 to"),
    ],
)
def test_refuses_bad_settings(argument, message):
    with pytest.raises(ValueError, match=message):
        make_agent(f"minimax:{argument}", AZUL, 0)


@pytest.mark.parametrize("name", ["azul", "manhattan", "qwirkle"])
def test_refuses_other_than_two_players(name):
    with pytest.raises(ValueError, match=f"minimax needs 2 players, but {name} has num_players=3"):
        make_agent("minimax", make_game(name, num_players=3), 0)


def test_beats_greedy():
    # wins 0.97 of these 30 games, by 26 points in the mean
    minimax, _ = evaluate(AZUL, ["minimax:depth=3,width=5,samples=4", "greedy"], 30, 7).agents
    assert minimax.win_rate >= 0.75
    assert minimax.mean_margin > 8
