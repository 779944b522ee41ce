"""Games for any number of players: one alone, exactly two, up to six, by every interface."""

import json
from math import factorial

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import api_test

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.arena.recording import record_games
from meeplezoo.agents.arena.settings import make_settings
from meeplezoo.agents.arena.standings import as_json
from meeplezoo.agents.arena.tournament import play_tournament
from meeplezoo.cli.main import main
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.engine.rewards import MARGIN, OUTCOME, RANK, write_rewards
from meeplezoo.envs.engine.standing import game_returns
from meeplezoo.envs.interfaces.pettingzoo_env import env
from meeplezoo.envs.records.record import read_records, write_records
from meeplezoo.envs.records.record_validation import check_record

pytestmark = pytest.mark.usefixtures("other_games")

TABLES = [("stones", players) for players in range(1, 7)] + [("duel", 2)]
every_table = pytest.mark.parametrize(("name", "players"), TABLES)


@every_table
@pytest.mark.parametrize("rewards", ["outcome", "margin", "rank"])
def test_batches(name, players, rewards):
    game = make_game(name, num_players=players)
    batch = GameBatch(game, 50, rewards=rewards)
    batch.reset(1)
    ended = 0
    for _ in range(40):
        batch.step(batch.random_actions(), mask=batch.mask(), observation=batch.observe())
        assert batch.rewards.shape == (50, players)
        assert np.isfinite(batch.rewards).all()
        for place in np.flatnonzero(batch.done):
            result = game.result(batch.finals[place])
            assert len(result["scores"]) == players
            if rewards != "margin":
                assert (batch.rewards[place] == batch.rewards[place].max()).nonzero()[0].tolist() == (
                    result["winners"] or [0]
                )
                assert players == 1 or batch.rewards[place].sum() == pytest.approx(0, abs=1e-6)
            ended += 1
    assert ended > 50
    assert game.margins(batch.finals).shape == game.projected_margins(batch.finals).shape == (50, players)


@pytest.mark.parametrize(
    ("kind", "scores", "ranks", "expected"),
    [
        (OUTCOME, [7], [0], [1]),
        (OUTCOME, [7], [1], [-1]),
        (RANK, [7], [0], [1]),
        (RANK, [7], [1], [-1]),
        (MARGIN, [7], [0], [0.7]),
        (MARGIN, [-7], [1], [-0.7]),
        (OUTCOME, [9, 1, 2, 3, 4, 5], [0, 5, 4, 3, 2, 1], [1, -0.2, -0.2, -0.2, -0.2, -0.2]),
        (RANK, [9, 1, 2, 3, 4, 5], [0, 5, 4, 3, 2, 1], [1, -1, -0.6, -0.2, 0.2, 0.6]),
    ],
)
def test_rewards_of_one_and_of_six(kind, scores, ranks, expected):
    rewards = np.zeros(len(scores), np.float32)
    write_rewards(np.array(scores, np.int32), np.array(ranks, np.int32), len(scores), kind, 10.0, rewards)
    assert rewards == pytest.approx(expected, abs=1e-6)


def test_whoever_plays_alone_has_the_own_score_as_margin():
    game = make_game("stones", num_players=1)
    batch = GameBatch(game, 20, auto_reset=False)
    batch.reset(2)
    batch.play_out()
    scores, ranks = batch.results()
    assert {0, 1} == set(ranks.ravel().tolist())
    np.testing.assert_array_equal(game.margins(batch.states), (scores / 10).astype(np.float32))
    returns = game_returns(scores, ranks, 0.5, game.spec.margin_scale)
    assert returns == pytest.approx(0.5 * (ranks == 0) + 0.25 + 0.25 * np.tanh(scores / 10))


@every_table
def test_agents_and_evaluation(name, players):
    game = make_game(name, num_players=players)
    agents = ["greedy", "mcts:sims=20", "random", "random", "random", "random"][:players]
    evaluation = evaluate(game, agents, 12, seed=1)
    assert all(agent.wins + agent.draws + agent.losses == 12 for agent in evaluation.agents)
    assert all(np.isfinite([agent.mean_score, agent.mean_margin]).all() for agent in evaluation.agents)
    again = evaluate(game, agents, 12, seed=1)
    assert {**evaluation.as_json(), "games_per_second": 0} == {**again.as_json(), "games_per_second": 0}


@pytest.mark.parametrize(("name", "players"), [("stones", 1), ("stones", 6), ("duel", 2)])
def test_searches_find_the_last_stones(name, players):
    game = make_game(name, num_players=players)
    state = game.new(3)
    while state["stones"] > 2:
        game.play(state, {"take": 1})
    texts = ["mcts:sims=200", "mcts:sims=200,chance=closed,leaf=random"]
    if players > 1:
        for text in [*texts, *(["minimax:depth=2,samples=2"] if players == 2 else [])]:
            assert make_agent(text, game, 1).act(DecisionBatch(game, state.copy().reshape(1)))[0] == 1
    else:
        # alone one wins by a single stone at last
        assert make_agent("mcts:sims=200,win=1", game, 1).act(DecisionBatch(game, state.copy().reshape(1)))[0] == 0


@every_table
def test_pettingzoo(name, players):
    api_test(env(name, num_players=players), num_cycles=100)


@every_table
def test_gymnasium(name, players):
    title = f"meeplezoo/{name.title()}-v0"
    single = gymnasium.make(title, num_players=players, opponents="greedy")
    many = gymnasium.make_vec(title, num_envs=5, num_players=players)
    _, info = single.reset(seed=1)
    ended = 0
    while ended < 5:
        _, reward, terminated, _, info = single.step(info["action_mask"].argmax())
        if terminated:
            assert -1 <= reward <= 1
            assert info["scores"].shape == (players,)
            ended += 1
            _, info = single.reset()
    many.reset(seed=1)
    rewards = np.zeros(5)
    for _ in range(40):
        _, reward, *_ = many.step(np.zeros(5, np.int64))
        rewards = np.maximum(rewards, abs(reward))
    assert (rewards > 0).all()


@every_table
def test_records(name, players, tmp_path):
    game = make_game(name, num_players=players)
    agents = [make_agent("random", game, seed) for seed in range(players)]
    write_records(tmp_path / "games.jsonl", record_games(game, agents, 3, 1, positions=True))
    assert [check_record(stored) for stored in read_records(tmp_path / "games.jsonl")] == [True] * 3


@pytest.mark.parametrize(("name", "players"), [("stones", 6), ("duel", 2)])
def test_tournaments(name, players):
    settings = make_settings(
        {
            "game": name,
            "options": {"num_players": players},
            "agents": ["random", "greedy", *["mcts:sims=2"] * (players - 2)],
            "rounds": 1,
            "deals": 1,
            "pairing": "swiss",
        }
    )
    results = as_json(play_tournament(settings))
    # one line-up of all agents, in all its seatings
    assert results["games"] == factorial(players)
    assert len(results["seats"]) == players


def test_a_tournament_needs_opponents():
    with pytest.raises(ValueError, match="a tournament needs a game of at least 2 players, and stones has 1 here"):
        make_settings({"game": "stones", "options": {"num_players": 1}, "agents": ["random", "greedy"]})


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["games"]) == 0
    assert "6 players" in capsys.readouterr().out
    assert main(["evaluate", "stones", "greedy", "--games", "10", "--json", "alone.json"]) == 0
    assert len(json.loads((tmp_path / "alone.json").read_text())["agents"]) == 1
    assert main(["play", "stones", "greedy", "--save", "alone.jsonl"]) == 0
    assert main(["record", "stones", "--agents", ",".join(["random"] * 6), "--out", "six.jsonl"]) == 0
    for file in ("alone.jsonl", "six.jsonl"):
        assert main(["replay", file, "--check"]) == 0
    assert main(["record", "duel", "--agents", "random", "--out", "none.jsonl"]) == 2
    assert "duel needs an agent for each player, 2, but 1 agent is given (random)" in capsys.readouterr().err
