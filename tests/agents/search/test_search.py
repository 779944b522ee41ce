"""Monte-Carlo tree search: exact on small positions, the same for a seed, blind to what a seat cannot see."""

import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from patched_clock import clock_of_work

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.arena.matches import play_games
from meeplezoo.agents.search import mcts_agent
from meeplezoo.agents.search.time_limit import deadline_of
from meeplezoo.envs import make_game
from meeplezoo.envs.engine.batch import apply_one, determinize_games
from meeplezoo.envs.game import as_batch


def position(name, options, players, seed, plies):
    """Return a game and its position after some plies between agents of one name."""
    game = make_game(name, **options)
    agent = make_agent(players, game, seed)
    state = game.new(seed)
    for _ in range(plies):
        game.play_action(state, int(agent.act(DecisionBatch(game, as_batch(state)))[0]))
    return game, state


def returns(game, state, win=0.5):
    """Return what a finished game is worth to each player: win share and squashed margin, each from 0 to 1."""
    result = game.result(state)
    scores, winners = result["scores"], result["winners"]
    values = []
    for player, score in enumerate(scores):
        lead = score - max(other for seat, other in enumerate(scores) if seat != player)
        share = 1 / len(winners) if player in winners else 0
        values.append(win * share + (1 - win) * (0.5 + 0.5 * math.tanh(lead / game.spec.margin_scale)))
    return values


def after(game, state, action):
    state = state.copy()
    apply_one(as_batch(state), action)
    return state


def exact(game, state, budget):
    """Return the players' values if each plays for the own return (max^n).

    None if the budget ([positions]) ran out or a tie of somebody's best actions leaves the others' values open.
    """
    if game.is_over(state):
        return returns(game, state)
    player = int(state["to_move"])
    best = None
    for action in np.flatnonzero(game.mask(state)):
        budget[0] -= 1
        if budget[0] < 0:
            return None
        values = exact(game, after(game, state, action), budget)
        if values is None:
            return None
        if best is None or values[player] > best[player] + 1e-9:
            best, tied = values, True
        elif values[player] > best[player] - 1e-9:
            tied = tied and np.allclose(values, best)
    return best if tied else None


def action_values(game, state, budget=100_000):
    """Return {action: exact value of the player to move}; None where `exact` has none."""
    room = [budget]
    found = {int(a): exact(game, after(game, state, a), room) for a in np.flatnonzero(game.mask(state))}
    if None in found.values():
        return None
    return {action: values[int(state["to_move"])] for action, values in found.items()}


def average_values(game, state, deals=250):
    """Return {action: mean of the exact values over new deals of what the player to move cannot see}."""
    stream = np.array([1, 2, 3, 4], np.uint32)
    seat = np.array([state["to_move"]], np.int64)
    total = dict.fromkeys(np.flatnonzero(game.mask(state)).tolist(), 0.0)
    for _ in range(deals):
        dealt = state.copy()
        determinize_games(as_batch(dealt), seat, stream)
        values = action_values(game, dealt)
        if values is None:
            return None
        for action, value in values.items():
            total[action] += value / deals
    return total


PERFECT = [
    ("azul", {"num_players": 2, "max_rounds": 3}, "random", 8, 31),
    ("azul", {"num_players": 2, "max_rounds": 3}, "random", 12, 29),
    ("azul", {"num_players": 2, "max_rounds": 4, "wall": "grey"}, "random", 10, 49),
    ("azul", {"num_players": 3, "max_rounds": 2}, "random", 3, 25),
    ("azul", {"num_players": 3, "max_rounds": 2}, "random", 29, 21),
    ("qwirkle", {"num_players": 2, "board_size": 40}, "greedy", 4, 208),
    ("qwirkle", {"num_players": 2, "board_size": 40}, "greedy", 6, 208),
    ("manhattan", {"num_players": 3}, "random", 5, 89),
]
"""Endings in which nothing hidden matters: game, options, who played so far, seed, plies."""
HIDDEN = [("random", 5, 118), ("random", 38, 118)]
"""Manhattan for two, one part each left: the reply depends on a hand that the player to move does not see."""


@pytest.mark.parametrize("case", PERFECT, ids=lambda case: f"{case[0]}-{case[1]['num_players']}p-{case[3]}")
def test_search_finds_the_exact_best_action_and_its_value(case):
    game, state = position(*case)
    values = action_values(game, state)
    best = max(values.values())
    # a position in which all actions are as good proves nothing
    assert best - max(value for value in values.values() if value < best - 1e-9) > 0.02
    for settings in ("select=uct,leaf=random,chance=closed,c=0.3", "select=uct,c=0.1", "chance=closed", "chance=open"):
        visits, found = make_agent(f"mcts:sims=10000,{settings}", game, 1).search(game, state)
        chosen = int(np.argmax(visits))
        assert values[chosen] == pytest.approx(best, abs=1e-9), settings
        assert found[chosen] == pytest.approx(best, abs=0.02), settings


@pytest.mark.parametrize("case", HIDDEN, ids=lambda case: f"manhattan-{case[1]}")
def test_search_averages_over_what_is_hidden(case):
    game, state = position("manhattan", {"num_players": 2}, *case)
    values = average_values(game, state)
    best = max(values, key=values.get)
    for chance in ("open", "closed"):
        visits, found = make_agent(f"mcts:sims=40000,chance={chance}", game, 1).search(game, state)
        assert int(np.argmax(visits)) == best, chance
        # the standard error of these means is at most 0.02, and exploration of the replies adds as much
        assert found[best] == pytest.approx(values[best], abs=0.05), chance


COLOURS = {"b": "blue", "y": "yellow", "r": "red", "k": "black", "w": "white"}
BEFORE_A_REFILL = [
    (["- - 2y 2y 3w", "- - 2k 3r 3b", "- 1w 2k 3r 4y", "- 1b 2w 2w 3k"], [30, 30, 31, 35], "br", "bbbrk", True),
    (["- - 1y 2y 4w", "- 1k 1r 2r 4b", "- - 2w 3r 4y", "- - 2w 3k 4k"], [30, 30, 33, 34], "br", "bbbyr", True),
    (["- - 1r 3b 3b", "- - 1k 2r 4y", "- 1b 2w 3k 3r", "- 1b 2w 3w 4k"], [30, 35, 33, 33], "yr", "yyyrw", False),
]
"""Azul for four, two tiles left in the centre before the last round, and next to none for that one: everybody's lines,
the scores, the centre, the bag, and whether open chance finds the best action.

With open chance a player of the last round decides once for all deals in which the same was played before, as if the
factories could not be seen. That is exact where the best answer to one deal is the best, or not legal, in the others.
"""


def nearly_used_up(lines, scores, centre, bag):
    """Return the position of a row of `BEFORE_A_REFILL`: player 3 to move, who 0 with the marker follows."""
    game = make_game("azul", num_players=4, max_rounds=4)
    names = list(COLOURS.values())
    players = [
        {
            "score": scores[player],
            "lines": [
                None if line == "-" else {"colour": COLOURS[line[1]], "count": int(line[0])} for line in own.split()
            ],
            # three tiles in every row and every colour, so that no row is complete after the round
            "wall": [[names[(c - row) % 5] if (c - player) % 5 < 3 else None for c in range(5)] for row in range(5)],
            "floor": [],
            "marker": player == 0,
        }
        for player, own in enumerate(lines)
    ]
    position = {
        **{"game": "azul", "options": game.options, "phase": "offer", "round": 3, "to_move": 3, "start": 0},
        **{"marker": 0, "factories": [[]] * 9, "centre": [COLOURS[letter] for letter in centre]},
        "bag": {name: bag.count(letter) for letter, name in COLOURS.items()},
        "lid": dict.fromkeys(names, 0),
        "players": players,
    }
    return game, game.from_position(position, seed=1)


def refills(bag, lid, factories):
    """Return {(tiles drawn, bag, lid): probability}, drawn four to a factory, sorted in each; all tuples of colours."""
    found = {((), bag, lid): 1.0}
    for _ in range(4 * factories):
        further = {}
        for (drawn, bag, lid), chance in found.items():
            bag, lid = (bag, lid) if bag else (lid, ())
            whole = len(drawn) // 4 * 4
            for place in range(len(bag)):
                now = (*drawn[:whole], *sorted([*drawn[whole:], bag[place]]))
                outcome = (now, bag[:place] + bag[place + 1 :], lid)
                further[outcome] = further.get(outcome, 0) + chance / len(bag)
            if not bag:
                further[drawn, (), ()] = further.get((drawn, (), ()), 0) + chance
        found = further
    return found


def outcomes(game, before, state):
    """Return [(probability, state)] of what chance may bring after an action that led from one state to the other."""
    if game.is_over(state) or state["round"] == before["round"]:
        return [(1.0, state)]
    seen = game.position(state)
    names = list(COLOURS.values())
    bag = np.repeat(names, before["bag"])
    # all that there was to be dealt, but for the bag before it
    lid = np.repeat(names, state["sources"].sum(axis=0, dtype=int) + state["bag"] + state["lid"] - before["bag"])
    found, factories = [], len(seen["factories"])
    for (drawn, left, lid_left), chance in refills(tuple(bag), tuple(lid), factories).items():
        dealt = {
            **seen,
            "factories": [[str(name) for name in drawn[4 * k : 4 * k + 4]] for k in range(factories)],
            "bag": {name: left.count(name) for name in names},
            "lid": {name: lid_left.count(name) for name in names},
        }
        found.append((chance, game.from_position(dealt, seed=1)))
    assert sum(chance for chance, _ in found) == pytest.approx(1)
    assert game.observe(state, 0).tolist() in [game.observe(dealt, 0).tolist() for _, dealt in found]
    return found


def value_after(game, state, action, known):
    """Return the lowest and highest mean of the players' values over chance after an action, see `value_range`."""
    ranges = [
        (chance, value_range(game, dealt, known)) for chance, dealt in outcomes(game, state, after(game, state, action))
    ]
    return sum(chance * low for chance, (low, _) in ranges), sum(chance * high for chance, (_, high) in ranges)


def value_range(game, state, known):
    """Return the players' lowest and highest values, arrays, if each plays for the own mean return (max^n).

    They differ where somebody has several best actions that are not the same for the others.
    """
    if game.is_over(state):
        return (np.array(returns(game, state)),) * 2
    key = tuple(state[name].tobytes() for name in state.dtype.names if name not in ("random", "seed"))
    if key not in known:
        player = int(state["to_move"])
        ranges = [value_after(game, state, action, known) for action in np.flatnonzero(game.mask(state))]
        surely = max(low[player] for low, _ in ranges)
        best = [(low, high) for low, high in ranges if high[player] > surely - 1e-9]
        known[key] = np.min([low for low, _ in best], axis=0), np.max([high for _, high in best], axis=0)
    return known[key]


@pytest.mark.parametrize("case", BEFORE_A_REFILL, ids=lambda case: case[-2])
def test_search_is_exact_over_chance(case):
    *board, open_is_exact = case
    game, state = nearly_used_up(*board)
    known = {}
    ranges = {int(a): value_after(game, state, a, known) for a in np.flatnonzero(game.mask(state))}
    best = max(ranges, key=lambda action: ranges[action][0][3])
    value = ranges[best][0][3]
    # surely the best, whichever of equal actions the others choose, and not all are as good
    highest = sorted(high[3] for _, high in ranges.values())
    assert highest[-1] == pytest.approx(value, abs=1e-9)
    assert highest[0] < value - 0.02
    kinds = ["chance=closed,c=0.2", "chance=closed,select=uct,leaf=random,c=0.05"]
    for settings in [*kinds, "chance=open,c=0.2"] if open_is_exact else kinds:
        visits, found = make_agent(f"mcts:sims=100000,{settings}", game, 1).search(game, state)
        assert int(np.argmax(visits)) == best, settings
        assert found[best] == pytest.approx(value, abs=0.02), settings


def test_returns_mix_the_win_with_the_margin():
    game, state = position(*PERFECT[-1])
    for win in (0.0, 1.0):
        visits, found = make_agent(f"mcts:sims=400,select=uct,win={win}", game, 1).search(game, state)
        tried = np.flatnonzero(visits)
        assert len(tried) == game.mask(state).sum()
        expected = [returns(game, after(game, state, action), win)[state["to_move"]] for action in tried]
        np.testing.assert_allclose(found[tried], expected, atol=1e-5)


MIDDLES = [
    pytest.param(name, {"num_players": players, **options}, id=f"{name}-{players}p")
    for name, options in (("azul", {}), ("qwirkle", {"board_size": 26}), ("manhattan", {}))
    for players in (2, 3, 4)
]
# all settings that a game may have of its own are given: a game tuned anew changes nothing here
OPEN = "mcts:sims=50,plies=0,mix=0.9,c=1"
CLOSED = f"{OPEN},select=uct,leaf=random,chance=closed"


def nonzero(visits):
    return {int(action): int(visits[action]) for action in np.flatnonzero(visits)}


@pytest.mark.parametrize(
    ("name", "agent", "expected"),
    [
        (
            "azul",
            OPEN,
            {
                0: 3,
                24: 5,
                42: 1,
                44: 16,
                50: 1,
                51: 6,
                90: 4,
                98: 1,
                99: 2,
                108: 3,
                110: 1,
                126: 1,
                132: 2,
                134: 1,
                138: 1,
                140: 2,
            },
        ),
        (
            "azul",
            CLOSED,
            {
                0: 1,
                2: 2,
                3: 2,
                4: 1,
                5: 1,
                6: 1,
                8: 1,
                9: 1,
                11: 1,
                24: 1,
                26: 1,
                27: 1,
                29: 2,
                42: 1,
                44: 1,
                47: 1,
                48: 1,
                50: 1,
                51: 1,
                53: 1,
                90: 1,
                92: 1,
                93: 1,
                94: 1,
                95: 1,
                96: 1,
                98: 1,
                99: 1,
                101: 2,
                108: 1,
                110: 1,
                111: 1,
                113: 1,
                126: 2,
                128: 1,
                129: 1,
                131: 1,
                132: 1,
                134: 1,
                137: 2,
                138: 1,
                140: 1,
                141: 1,
                143: 1,
            },
        ),
        ("qwirkle", OPEN, {41: 5, 48: 6, 58: 3, 64: 17, 69: 11, 72: 8}),
        ("qwirkle", CLOSED, {41: 7, 48: 5, 58: 9, 64: 8, 69: 8, 72: 13}),
        (
            "manhattan",
            OPEN,
            {
                164: 1,
                168: 17,
                176: 1,
                184: 2,
                188: 6,
                192: 2,
                200: 1,
                208: 2,
                212: 5,
                248: 1,
                251: 1,
                252: 1,
                256: 1,
                259: 1,
                260: 8,
            },
        ),
        (
            "manhattan",
            CLOSED,
            {
                143: 1,
                144: 1,
                147: 1,
                148: 1,
                151: 1,
                152: 1,
                155: 2,
                156: 2,
                159: 1,
                160: 1,
                163: 1,
                164: 1,
                167: 1,
                168: 1,
                171: 1,
                172: 1,
                175: 1,
                176: 1,
                179: 1,
                180: 1,
                183: 1,
                184: 1,
                188: 1,
                191: 1,
                192: 1,
                195: 1,
                196: 1,
                199: 1,
                200: 1,
                203: 1,
                204: 1,
                207: 1,
                208: 1,
                211: 1,
                212: 2,
                239: 1,
                240: 1,
                243: 1,
                244: 1,
                247: 1,
                248: 1,
                251: 1,
                252: 1,
                255: 1,
                256: 1,
                259: 1,
                260: 1,
            },
        ),
    ],
)
def test_visits_stay_what_they_were(name, agent, expected):
    game, state = position(name, {}, "random", 1, 12)
    assert nonzero(make_agent(agent, game, 9).search(game, state)[0]) == expected


def acted(agent, game, decisions):
    """Return the actions of an agent and the visits of each of its searches."""
    seen = []
    search = agent.search

    def watched(*arguments):
        visits, values = search(*arguments)
        seen.append(nonzero(visits))
        return visits, values

    agent.search = watched
    actions = agent.act(decisions).tolist()
    del agent.search
    return actions, seen


@pytest.mark.parametrize("text", [OPEN, CLOSED])
@pytest.mark.parametrize(("name", "options"), MIDDLES)
def test_nobody_peeks(name, options, text):
    game, state = position(name, options, "random", 4, 12)
    other = state.copy()
    stream = np.array([11, 22, 33, 44], np.uint32)
    determinize_games(as_batch(other), np.array([state["to_move"]], np.int64), stream)
    assert other["random"].tolist() != state["random"].tolist()
    if name != "azul":
        assert other["hands"].tolist() != state["hands"].tolist()
    assert game.observe(other, int(other["to_move"])).tolist() == game.observe(state, int(state["to_move"])).tolist()
    first = acted(make_agent(text, game, 3), game, DecisionBatch(game, as_batch(state)))
    assert acted(make_agent(text, game, 3), game, DecisionBatch(game, as_batch(other))) == first
    assert len(first[1]) == 1


def test_one_agent_in_all_seats_takes_nothing_from_seat_to_seat():
    game, state = position("manhattan", {"num_players": 2}, "greedy", 3, 61)
    agent = make_agent("mcts:sims=3000,chance=closed", game, 1)
    seats, roots = [], []
    for _ in range(2):
        seats.append(int(state["to_move"]))
        action = int(agent.act(DecisionBatch(game, as_batch(state)))[0])
        roots.append(int(agent._nodes[0]["visits"]))
        state = after(game, state, action)
    assert seats == [1, 0]
    # what another seat's search knew was dealt with the hand of that seat
    assert roots == [3000, 3000]


@pytest.mark.parametrize("text", [OPEN, CLOSED])
@pytest.mark.parametrize(("name", "options"), MIDDLES)
def test_a_seed_decides_all_and_the_state_stays(name, options, text):
    game, state = position(name, options, "random", 6, 9)
    before = state.tobytes()
    agent = make_agent(text, game, 5)
    first = agent.search(game, state)
    assert state.tobytes() == before
    assert first[0].sum() == 50
    assert not first[0][game.mask(state) == 0].any()
    assert (first[1] >= 0).all()
    assert (first[1] <= 1).all()
    agent.search(game, state)
    agent.reset(5)
    for again in (agent, make_agent(text, game, 5)):
        visits, values = again.search(game, state)
        assert visits.tolist() == first[0].tolist()
        assert values.tolist() == first[1].tolist()
    assert make_agent(text, game, 6).search(game, state)[1].tolist() != first[1].tolist()


def tree_size(nodes):
    """Return how many nodes hang together from the root; no node's children have more visits than it has."""
    number, waiting = 0, [0]
    while waiting:
        node = waiting.pop()
        number += 1
        below = 0
        child = int(nodes[node]["first"])
        while child:
            waiting.append(child)
            below += int(nodes[child]["visits"])
            child = int(nodes[child]["next"])
        assert below <= nodes[node]["visits"]
    return number


@pytest.mark.parametrize("chance", ["open", "closed"])
@pytest.mark.parametrize(("name", "options"), MIDDLES)
def test_a_full_pool_stays_full_and_all_simulations_count(name, options, chance):
    game, state = position(name, options, "random", 2, 10)
    agent = make_agent(f"mcts:sims=1500,nodes=1000,leaf=random,chance={chance}", game, 1)
    visits, values = agent.search(game, state)
    assert visits.sum() == 1500
    assert not visits[game.mask(state) == 0].any()
    assert ((values >= 0) & (values <= 1)).all()
    assert len(agent._nodes) == 1000
    # the last actions of a node come all or not at all, so some room may be left
    assert 800 < tree_size(agent._nodes) <= 1000


def test_every_decision_of_a_turn_is_a_level_of_the_tree():
    game, state = position("qwirkle", {"board_size": 26}, "greedy", 3, 30)
    while state["picked"] or state["placed_count"]:
        game.play_action(state, int(np.flatnonzero(game.mask(state))[0]))
    seat = int(state["to_move"])
    agent = make_agent("mcts:sims=3000", game, 1)
    agent.search(game, state)
    (first, pick), (second, place), *_ = agent.view(game).line
    assert [first, second, *pick, *place] == [seat, seat, "pick", "place"]
    child = agent._children(0)[0]
    picked = after(game, state, int(agent._nodes[child]["action"]))
    assert picked["to_move"] == seat
    below = agent._nodes[agent._children(child)]
    assert sorted(below["action"]) == np.flatnonzero(game.mask(picked)).tolist()
    # the simulation that came to the pick first ended there
    assert below["visits"].sum() == agent._nodes[child]["visits"] - 1
    # the second decision is for the good of the same seat
    tried = below[below["visits"] > 20]
    assert len(tried) > 1
    assert tried["mean"][0, seat] == tried["mean"][:, seat].max()


def test_the_tree_is_used_again_after_the_opponents_move():
    game, state = position("azul", {}, "random", 3, 14)
    agent = make_agent("mcts:sims=3000,chance=closed,leaf=random,plies=4", game, 3)
    (first,) = agent.act(DecisionBatch(game, as_batch(state)))
    game.play_action(state, int(first))
    # the reply that the search expects most
    _, (_, reply), *_ = agent.view(game).line
    game.play(state, reply)
    agent.act(DecisionBatch(game, as_batch(state)))
    assert agent.view(game).num_simulations > 3000
    fresh = make_agent("mcts:sims=3000,chance=closed,leaf=random,plies=4,reuse=0", game, 3)
    fresh.act(DecisionBatch(game, as_batch(state)))
    fresh.act(DecisionBatch(game, as_batch(state)))
    assert fresh.view(game).num_simulations == 3000


TICK = 1 / 1024
"""Seconds of a simulation by the patched clock; sums of it are exact."""


def ticking(monkeypatch, game, seconds=TICK, loading=0.0):
    """Patch the clock of the searches of a game."""
    return clock_of_work(monkeypatch, mcts_agent, "search_games", lambda given: given[3], seconds, loading)


@pytest.mark.parametrize(
    ("budget", "seconds", "num_simulations"),
    [
        (f"seconds={50 * TICK}", TICK, 50),
        (f"seconds={50 * TICK},sims=1000", TICK, 50),
        (f"seconds={50 * TICK},sims=20", TICK, 20),
        (f"seconds={5000 * TICK}", TICK, 5000),
        # the third would be over too late
        (f"seconds={50 * TICK}", 20 * TICK, 2),
        # one simulation there is always
        (f"seconds={50 * TICK}", 70 * TICK, 1),
    ],
)
def test_seconds_end_a_search(monkeypatch, budget, seconds, num_simulations):
    game = make_game("azul")
    ticking(monkeypatch, game, seconds)
    visits, _ = make_agent(f"mcts:{budget}", game, 1).search(game, game.new(1))
    assert visits.sum() == num_simulations


@pytest.mark.parametrize(
    ("budget", "limit", "num_simulations"),
    [
        ("sims=1000", 100 * TICK, 90),
        ("sims=60", 100 * TICK, 60),
        (f"seconds={200 * TICK}", 100 * TICK, 90),
        (f"seconds={40 * TICK}", 100 * TICK, 40),
    ],
)
def test_a_time_limit_ends_a_search(monkeypatch, budget, limit, num_simulations):
    game = make_game("azul")
    # to load the kernels is not to think
    ticking(monkeypatch, game, loading=1000.0)
    agent = make_agent(f"mcts:{budget}", game, 1)
    agent.act(DecisionBatch(game, as_batch(game.new(1)), seconds_per_move=limit))
    assert agent.view(game).num_simulations == pytest.approx(num_simulations, abs=1)


def test_a_time_limit_that_is_not_reached_changes_nothing(monkeypatch):
    game = make_game("azul")
    states = np.concatenate([as_batch(game.new(seed)) for seed in range(3)])
    free, limited = make_agent("mcts:sims=300", game, 1), make_agent("mcts:sims=300", game, 1)
    expected = acted(free, game, DecisionBatch(game, states))
    clock = ticking(monkeypatch, game)
    assert acted(limited, game, DecisionBatch(game, states, seconds_per_move=1000.0)) == expected
    assert clock.now == 3 * 300 * TICK


def test_the_time_limit_of_many_decisions(monkeypatch):
    game = make_game("azul")
    clock = ticking(monkeypatch, game)
    states = np.concatenate([as_batch(game.new(seed)) for seed in range(4)])
    assert deadline_of(DecisionBatch(game, states), 0, 0.0) == math.inf
    decisions = DecisionBatch(game, states, seconds_per_move=10.0)
    assert deadline_of(decisions, 0, 0.0) == 9.0
    # what the first left is not spent
    clock.now = 3.0
    assert deadline_of(decisions, 1, 0.0) == 3.0 + 9.0
    # what the first two took too much is taken from the others
    clock.now = 32.0
    assert deadline_of(decisions, 2, 0.0) == 32.0 + 0.9 * 4.0
    assert deadline_of(decisions, 3, 0.0) == 32.0 + 0.9 * 8.0


@pytest.mark.parametrize(("name", "options"), MIDDLES)
def test_plays_whole_games(name, options):
    game = make_game(name, **options)
    agents = [make_agent("mcts:sims=16", game, 1), make_agent("random", game, 2)]
    seatings = np.array([[0] + [1] * (game.num_players - 1)])
    batch = play_games(game, agents, np.array([7], np.uint64), seatings)
    assert game.is_over(batch.states[0])


@pytest.mark.parametrize(("name", "options"), [("azul", {}), ("qwirkle", {"board_size": 26}), ("manhattan", {})])
def test_a_single_legal_action_costs_no_search(name, options, monkeypatch):
    game = make_game(name, **options)
    agent = make_agent("mcts:sims=5", game, 1)
    chooser = make_agent("random", game, 1)
    monkeypatch.setattr(agent, "search", lambda *_: pytest.fail("searched"))
    state, forced = game.new(3), 0
    while not game.is_over(state):
        legal = np.flatnonzero(game.mask(state))
        if len(legal) == 1:
            assert agent.act(DecisionBatch(game, as_batch(state))).tolist() == legal.tolist()
            forced += 1
        game.play_action(state, int(chooser.act(DecisionBatch(game, as_batch(state)))[0]))
    assert forced > 0


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("speed=3", "there is no setting 'speed'; the settings are sims, seconds, select"),
        ("sims", "setting 'sims' must have the form name=value"),
        ("sims=many", "sims must be an integer, not 'many'"),
        ("sims=1e3", "sims must be an integer, not '1e3'"),
        ("c=x", "c must be a number, not 'x'"),
        ("sims=0", "sims must be from 1 to"),
        ("seconds=-1", "seconds must be from 0 to"),
        ("c=nan", "c must be a number, not 'nan'"),
        ("temperature=0", "temperature must be from 1e-06 to"),
        ("mix=1.5", "mix must be from 0 to 1"),
        ("win=-0.1", "win must be from 0 to 1"),
        ("plies=-1", "plies must be from 0 to"),
        ("nodes=999", "nodes must be from 1,000 to 8,000,000 (48 bytes each), not 999"),
        ("leaf=best", "leaf must be one of random, greedy"),
        ("select=ucb", "select must be one of uct, puct"),
        ("chance=none", "chance must be one of open, closed"),
    ],
)
def test_wrong_settings_are_named(argument, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        make_agent(f"mcts:{argument}", make_game("azul"))
    assert f"'mcts:{argument}'" in str(caught.value)


_ONE_SEARCH = """
import numpy as np
from meeplezoo.agents import make_agent
from meeplezoo.envs import make_game

game = make_game("azul")
for text in ("mcts:sims=8", "mcts:sims=8,select=uct,leaf=random,chance=closed"):
    visits, _ = make_agent(text, game, 4).search(game, game.new(4))
    print(np.flatnonzero(visits).tolist(), visits[visits > 0].tolist())
"""


def test_plain_python_searches_as_compiled_code_does():
    outputs = []
    for disabled in ("1", "0"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        done = subprocess.run(
            [sys.executable, "-W", "ignore::RuntimeWarning", "-c", _ONE_SEARCH],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(done.stdout)
    assert len(outputs[0].splitlines()) == 2
    assert outputs[0] == outputs[1]
