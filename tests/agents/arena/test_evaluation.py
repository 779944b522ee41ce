"""Evaluation and the matches it is made of: counts, seatings, fairness, and agents that play illegally."""

from itertools import permutations

import numpy as np
import pytest

from meeplezoo.agents import make_agent
from meeplezoo.agents.arena.evaluation import evaluate, wilson_interval
from meeplezoo.agents.arena.match_seeds import MatchSeeds
from meeplezoo.agents.arena.matches import make_agents, play_games
from meeplezoo.envs import GameBatch, IllegalMove, make_game
from meeplezoo.envs.engine.random_stream import game_seeds
from meeplezoo.envs.interfaces.agent import act_or_raise

AZUL = make_game("azul")
AZUL_3 = make_game("azul", num_players=3, wall="grey")


class Scripted:
    """Returns what a function makes of the decisions, and keeps the seats it was asked for."""

    def __init__(self, name, act):
        self.name = name
        self.seats = []
        self._act = act

    def act(self, decisions):
        self.seats.append(decisions.seats)
        return self._act(decisions)


def first_legal(decisions):
    return decisions.mask.argmax(axis=1)


def without_speed(evaluation):
    data = evaluation.as_json()
    assert data.pop("games_per_second") > 0
    return data


def test_greedy_beats_random_from_every_seat():
    evaluation = evaluate(AZUL, ["random", "greedy"], 400, 5)
    random, greedy = evaluation.agents
    assert (random.name, greedy.name) == ("random", "greedy")
    assert greedy.win_rate >= 0.99
    assert greedy.mean_margin == -random.mean_margin > 20
    assert greedy.mean_score - random.mean_score == pytest.approx(greedy.mean_margin)
    assert greedy.wins == random.losses


def test_the_same_agents_are_equal():
    evaluation = evaluate(AZUL, ["greedy", "greedy"], 2000, 1)
    first, second = evaluation.agents
    assert first.wins == second.losses
    assert first.draws == second.draws
    assert 0.46 < first.win_rate < 0.54
    # two entries of one name have random streams of their own
    assert first.mean_score != second.mean_score


def test_counts_add_up_and_follow_the_games():
    evaluation = evaluate(AZUL_3, ["greedy", "random", "random"], 50, 3)
    assert evaluation.seatings == 6
    assert [agent.games for agent in evaluation.agents] == [50, 50, 50]
    assert all(agent.wins + agent.draws + agent.losses == 50 for agent in evaluation.agents)
    assert sum(agent.points for agent in evaluation.agents) == pytest.approx(50)
    # the same games, counted by hand
    agents = make_agents(AZUL_3, ["greedy", "random", "random"], MatchSeeds(3))
    seatings = np.array([list(permutations(range(3)))[game % 6] for game in range(50)])
    seeds = np.repeat(game_seeds(3, 9), 6)[:50]
    batch = play_games(AZUL_3, agents, seeds, seatings)
    scores, margins, points = np.zeros(3), np.zeros(3), np.zeros(3)
    for game in range(50):
        result = AZUL_3.result(batch.states[game])
        for seat, agent in enumerate(seatings[game]):
            own = result["scores"][seat]
            scores[agent] += own
            margins[agent] += own - max(score for other, score in enumerate(result["scores"]) if other != seat)
            points[agent] += (seat in result["winners"]) / len(result["winners"])
    for index, agent in enumerate(evaluation.agents):
        assert agent.mean_score == pytest.approx(scores[index] / 50)
        assert agent.mean_margin == pytest.approx(margins[index] / 50)
        assert agent.win_rate == pytest.approx(points[index] / 50)


@pytest.mark.parametrize(("game", "num_games"), [(AZUL, 10), (AZUL_3, 13)])
def test_every_deal_is_played_in_all_seatings(game, num_games):
    deals = []

    def keep(decisions):
        first = decisions._states["ply"] == 0
        deals.extend(zip(decisions._states["seed"][first].tolist(), decisions.seats[first].tolist(), strict=True))
        return first_legal(decisions)

    agents = [Scripted(name, keep if name == "a" else first_legal) for name in "abc"[: game.num_players]]
    evaluation = evaluate(game, agents, num_games, 9)
    in_first_seat = [
        game_seeds(9, num_games)[index // evaluation.seatings]
        for index, seating in enumerate(list(permutations(range(game.num_players))) * num_games)
        if seating[0] == 0 and index < num_games
    ]
    assert sorted(seed for seed, _ in deals) == sorted(in_first_seat)
    assert {seat for _, seat in deals} == {0}
    for agent in agents:
        assert {int(seat) for seats in agent.seats for seat in seats} == set(range(game.num_players))


def test_a_shared_win_is_a_draw():
    # nobody ever scores a point if everything goes to the floor: all share the win, cut off by the limit
    def to_the_floor(decisions):
        floor = np.arange(decisions.mask.shape[1]) % 6 == 5
        return (decisions.mask * (1 + floor)).argmax(axis=1)

    game = make_game("azul", num_players=3, max_rounds=2)
    evaluation = evaluate(game, [Scripted(name, to_the_floor) for name in "abc"], 7, 0)
    assert evaluation.truncated == 7
    for agent in evaluation.agents:
        assert (agent.wins, agent.draws, agent.losses) == (0, 7, 0)
        assert agent.win_rate == pytest.approx(1 / 3)
        assert agent.mean_score == agent.mean_margin == 0


def test_the_same_seed_gives_the_same_results():
    first = without_speed(evaluate(AZUL, ["greedy", "random"], 101, 4))
    assert without_speed(evaluate(AZUL, ["greedy", "random"], 101, 4)) == first
    assert without_speed(evaluate(AZUL, ["greedy", "random"], 101, 5)) != first
    given = [make_agent("greedy", AZUL, 4), "random"]
    assert without_speed(evaluate(AZUL, given, 101, 4)) == first


def test_json_has_exactly_the_documented_keys():
    data = evaluate(AZUL, ["greedy", "random"], 20, 4).as_json()
    assert list(data) == ["game", "options", "seed", "games", "games_per_second", "agents"]
    assert data["game"] == "azul"
    assert data["options"] == {"num_players": 2, "wall": "coloured", "max_rounds": 30}
    assert (data["seed"], data["games"]) == (4, 20)
    for agent in data["agents"]:
        assert list(agent) == [
            *("name", "games", "wins", "draws", "losses", "win_rate"),
            *("interval", "mean_score", "mean_margin"),
        ]
        low, high = agent["interval"]
        assert 0 <= low <= agent["win_rate"] <= high <= 1
        assert agent["win_rate"] == (agent["wins"] + agent["draws"] / 2) / 20


def test_more_games_than_are_played_at_once():
    evaluation = evaluate(AZUL, ["greedy", "random"], 2101, 4)
    assert evaluation.games == 2101
    assert [agent.games for agent in evaluation.agents] == [2101, 2101]


def test_wilson_interval():
    # published values: Newcombe 1998, table I, method 3
    for points, games, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        assert wilson_interval(points, games) == pytest.approx((low, high), abs=5e-5)
    assert wilson_interval(20, 20)[1] == 1
    assert wilson_interval(20, 20)[0] == pytest.approx(1 - 0.1611, abs=5e-5)


def test_matches_play_each_seat_by_its_agent():
    log = {"a": [], "b": []}

    def keep(name):
        def act(decisions):
            log[name] += zip(decisions._states["seed"].tolist(), decisions.seats.tolist(), strict=True)
            return first_legal(decisions)

        return Scripted(name, act)

    seeds = game_seeds(1, 4)
    seatings = np.array([[0, 1], [1, 0], [0, 0], [1, 1]])
    batch = play_games(AZUL, [keep("a"), keep("b")], seeds, seatings)
    assert (batch.states["status"] != 0).all()
    for name, ranks in (("a", {(0, 0), (1, 1), (2, 0), (2, 1)}), ("b", {(0, 1), (1, 0), (3, 0), (3, 1)})):
        assert set(log[name]) == {(int(seeds[game]), seat) for game, seat in ranks}
    assert len(log["a"]) + len(log["b"]) == batch.states["ply"].sum()


def test_on_step_sees_every_ply_once():
    seen = {game: [] for game in range(5)}

    def on_step(games, states, actions):
        for game, state, action in zip(games.tolist(), states, actions.tolist(), strict=True):
            seen[game].append((state, action))

    agents = make_agents(AZUL, ["random", "greedy"], MatchSeeds(2))
    batch = play_games(AZUL, agents, game_seeds(2, 5), np.tile([0, 1], (5, 1)), on_step)
    for game, history in seen.items():
        assert len(history) == batch.states["ply"][game]
        state = AZUL.new(int(game_seeds(2, 5)[game]))
        for before, action in history:
            assert before == state
            AZUL.play_action(state, action)
        assert AZUL.position(state) == AZUL.position(batch.states[game])


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda decisions: np.full(len(decisions), 180), "agent 'odd' played an illegal action: azul: action 180 is"),
        (lambda decisions: np.full(len(decisions), -1), "agent 'odd' played an illegal action: azul: action -1 is"),
        (lambda decisions: np.ones(len(decisions), int), "agent 'odd' played an illegal action: azul"),
        (lambda decisions: np.zeros(len(decisions) + 1, int), r"agent 'odd' must return \d+ integer actions, not int"),
        (lambda decisions: np.zeros(len(decisions)), r"agent 'odd' must return \d+ integer actions, not float64"),
    ],
)
def test_an_illegal_action_ends_the_evaluation_and_names_the_agent(act, message):
    with pytest.raises(IllegalMove, match=message):
        evaluate(AZUL, ["random", Scripted("odd", act)], 20, 0)


def test_decide_accepts_any_integers():
    batch = GameBatch(AZUL, 3)
    batch.reset(0)
    agent = Scripted("small", lambda decisions: first_legal(decisions).astype(np.uint8).tolist())
    actions = act_or_raise(agent, AZUL, batch.states)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, batch.mask().argmax(axis=1))


@pytest.mark.parametrize(
    ("agents", "num_games", "seed", "message"),
    [
        (["greedy"], 10, 0, "needs as many agents, but 1 agent was given"),
        (["greedy"] * 3, 10, 0, "azul with num_players=2 needs as many agents, but 3 agents were given"),
        (["greedy", "gredy"], 10, 0, "there is no agent 'gredy'; the agents are random, greedy"),
        (["greedy", "random"], 0, 0, "num_games must be from 1 to 1000000, not 0"),
        (["greedy", "random"], 10, -1, "seed must be an integer from 0"),
    ],
)
def test_bad_input_is_refused(agents, num_games, seed, message):
    with pytest.raises(ValueError, match=message):
        evaluate(AZUL, agents, num_games, seed)


def test_many_games_are_played_side_by_side():
    agents = [Scripted(name, first_legal) for name in "ab"]
    evaluate(AZUL, agents, 1000, 0)
    calls = sum(len(agent.seats) for agent in agents)
    decisions = sum(len(seats) for agent in agents for seats in agent.seats)
    # one call per agent and ply, however many games go on
    assert decisions > 100 * calls
