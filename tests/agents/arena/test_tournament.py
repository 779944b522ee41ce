"""Tournaments: schedules, failures, interruption, processes, statistics, and the command from end to end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from math import comb

import numpy as np
import pytest

from meeplezoo.agents import agent_names, registry
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.arena.folder import TournamentFolder
from meeplezoo.agents.arena.games import NOBODY, as_lines, collect_results, from_lines
from meeplezoo.agents.arena.match_runner import Match, MatchRunner
from meeplezoo.agents.arena.match_seeds import MatchSeeds
from meeplezoo.agents.arena.matches import MatchLog, act_or_forfeit, make_agents, play_games
from meeplezoo.agents.arena.ratings import Ratings
from meeplezoo.agents.arena.schedule import all_line_ups, list_seatings, swiss_line_ups
from meeplezoo.agents.arena.settings import Participant, TournamentSettings, make_settings
from meeplezoo.agents.arena.standings import as_json, compute_standings, has_converged
from meeplezoo.agents.arena.statistics import agent_results, count_ahead, mean_interval, student_quantile
from meeplezoo.agents.arena.tournament import play_tournament
from meeplezoo.agents.baselines.greedy_agent import GreedyAgent
from meeplezoo.agents.protocol import AgentFailure
from meeplezoo.cli.main import main
from meeplezoo.envs import make_game
from meeplezoo.envs.engine.random_stream import game_seeds
from meeplezoo.envs.records.record import RecordError, make_record, read_records, write_records
from meeplezoo.envs.records.record_validation import check_record

AZUL = make_game("azul")
THREE = make_game("azul", num_players=3)


def settings(**changes):
    return make_settings({"game": "azul", "agents": ["random", "greedy"], "rounds": 3, "deals": 2, **changes})


def without_times(table):
    data = as_json(table)
    for agent in data["agents"]:
        del agent["milliseconds_per_move"]
    return data


class Failing:
    """Plays the first legal action, but fails in every game of which `when` says so."""

    name = "failing"

    def __init__(self, when, how):
        self._when, self._how = when, how

    def act(self, decisions):
        actions = decisions.mask.argmax(axis=1)
        fails = np.array([self._when(state) for state in decisions._states])
        return self._how(actions, fails)


# Schedules


def test_line_ups_of_a_round_robin():
    assert all_line_ups(3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert len(all_line_ups(6, 4)) == comb(6, 4)
    assert all_line_ups(2, 4) == [(0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 1)]
    assert all_line_ups(3, 4) == [(0, 0, 1, 2), (0, 1, 1, 2), (0, 1, 2, 2)]


def test_seatings_are_all_different_and_fair():
    assert list_seatings((0, 1)).tolist() == [[0, 1], [1, 0]]
    assert list_seatings((2, 2, 5)).tolist() == [[2, 2, 5], [2, 5, 2], [5, 2, 2]]
    ways = list_seatings((0, 1, 2, 3))
    assert len(ways) == 24
    for seat in range(4):
        assert Counter(ways[:, seat].tolist()) == dict.fromkeys(range(4), 6)


def test_deals_and_seeds_never_repeat():
    wanted = settings(seed=5, deals=7)
    deals = np.concatenate([Match(number, (0, 1)).seeds(wanted).of_games(0, 7, 1) for number in range(4)])
    np.testing.assert_array_equal(deals, game_seeds(5, 28))
    matches = [Match(number, line_up) for number in range(3) for line_up in all_line_ups(4, 2)]
    seeds = [seed for match in matches for seed in match.seeds(settings(seed=1)).of_agents(2)]
    assert len(set(seeds)) == len(seeds) == 36
    other = Match(0, (0, 1)).seeds(settings(seed=2))
    assert other.of_agents(2) != Match(0, (0, 1)).seeds(settings(seed=1)).of_agents(2)


def test_swiss_pairs_neighbours_who_have_not_met():
    random = np.random.default_rng(0)
    met = np.zeros((4, 4), int)
    assert swiss_line_ups([3, 0, 2, 1], met, [0] * 4, 2, random) == [(0, 2), (1, 3)]
    met[0, 2] = met[2, 0] = 1
    assert swiss_line_ups([3, 0, 2, 1], met, [0] * 4, 2, random) == [(0, 3), (1, 2)]


def test_swiss_lets_the_weakest_of_those_sit_out_who_did_least():
    random = np.random.default_rng(0)
    met = np.zeros((5, 5), int)
    assert swiss_line_ups([5, 4, 3, 2, 1], met, [0, 0, 0, 0, 0], 2, random) == [(0, 1), (2, 3)]
    assert swiss_line_ups([5, 4, 3, 2, 1], met, [0, 0, 0, 0, 1], 2, random) == [(0, 1), (2, 4)]
    assert swiss_line_ups([5, 4, 3, 2, 1], met, [0, 0, 0, 0, 1], 3, random) == [(0, 1, 4)]


def test_every_swiss_round_gives_everyone_one_line_up():
    table = play_tournament(settings(agents=["random"] * 5, pairing="swiss", rounds=5, deals=1, options={}))
    for number in range(5):
        games = table.games.select(table.games.rounds == number)
        assert len(games) == 4
        assert sorted(Counter(games.seats.ravel().tolist()).values()) == [2, 2, 2, 2]
    # in five rounds everyone sits out once, and nobody meets anybody more than twice
    assert np.bincount(table.games.seats.ravel()).tolist() == [8] * 5
    won, met = count_ahead(table.games, 5)
    assert met.max() <= 4
    assert won.sum() == len(table.games)


# Statistics


def test_student_quantiles():
    for degrees, value in [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423)]:
        assert student_quantile(degrees) == pytest.approx(value, rel=5e-3)
    assert student_quantile(10) == pytest.approx(2.228139, rel=1e-5)


def test_mean_interval_by_deals():
    assert mean_interval(np.zeros(0), np.zeros(0)) == (None, None)
    assert mean_interval(np.array([1.0, 3.0]), np.array([7, 7])) == (2.0, None)
    # two deals with means 1 and 3: the standard error of the mean of two is |3 - 1| / 2 = 1
    mean, (low, high) = mean_interval(np.array([0.0, 2.0, 2.0, 4.0]), np.array([1, 1, 2, 2]))
    assert mean == 2
    assert (mean - low, high - mean) == pytest.approx((12.7062, 12.7062), rel=1e-4)
    # luck that the seatings of a deal cancel leaves no doubt
    assert mean_interval(np.array([0.0, 4.0, 1.0, 3.0]), np.array([1, 1, 2, 2])) == (2.0, (2.0, 2.0))


def test_converged_looks_at_neighbours_alone():
    def ratings(elo, covariance):
        size = len(elo)
        return Ratings(np.array(elo), np.array(covariance), np.zeros(size), np.zeros(1), 1.0, None)

    narrow = ratings([0.0, 50.0], [[0.0, 0.0], [0.0, 25.0]])
    assert has_converged(narrow, 10)
    assert not has_converged(narrow, 9)
    hopeless = ratings([0.0, 1500.0, 1510.0], [[0.0, 0, 0], [0, 90000.0, 90000.0], [0, 90000.0, 90016.0]])
    assert has_converged(hopeless, 10)
    assert not has_converged(hopeless, 7)


def test_results_count_by_hand():
    lines = [
        {"seats": ["a", "b", "c"], "scores": [10, 10, 3], "ranks": [0, 0, 2]},
        {"seats": ["b", "c", "a"], "scores": [1, 2, 9], "ranks": [2, 1, 0]},
        {"seats": ["c", "a", "b"], "scores": [5, 6, 7], "ranks": [0, 2, 0], "forfeit": {"seat": 1, "reason": "x"}},
    ]
    rest = {"round": 0, "moves": [1, 2, 3], "seconds": [0.001, 0.002, 0.003], "truncated": False}
    games = from_lines([json.dumps({**rest, "deal": deal, **line}) for deal, line in enumerate(lines)], "abc", 3)
    a, b, c = agent_results(games, "abc")
    assert (a.games, a.wins, a.draws, a.losses, a.points) == (3, 1, 1, 1, 1.5)
    assert (b.wins, b.draws, b.losses, b.points) == (0, 2, 1, 1.0)
    assert (c.wins, c.draws, c.losses, c.points) == (0, 1, 2, 0.5)
    assert (a.mean_score, a.mean_margin) == (9.5, 3.5)
    assert (a.failures, b.failures) == ({"x": 1}, {})
    assert a.milliseconds_per_move == pytest.approx(1)
    won, met = count_ahead(games, 3)
    assert won.tolist() == [[0, 1.5, 2], [1.5, 0, 1.5], [1, 1.5, 0]]
    assert met.tolist() == [[0, 3, 3], [3, 0, 3], [3, 3, 0]]


def test_lines_bring_the_games_back():
    table = play_tournament(settings(rounds=1))
    text = as_lines(table.games, table.settings.names)
    again = from_lines(text.splitlines(), table.settings.names, 2)
    assert as_lines(again, table.settings.names) == text
    with pytest.raises(ValueError, match="line 2 is no game"):
        from_lines([text.splitlines()[0], "{}"], table.settings.names, 2)


# Play


def test_a_tournament_is_the_evaluation_of_its_line_up():
    table = play_tournament(settings(agents=["greedy", "random"], rounds=1, deals=30))
    evaluation = evaluate(AZUL, ["greedy", "random"], 60, 0)
    for mine, other in zip(table.results, evaluation.agents, strict=True):
        assert (mine.name, mine.games) == (other.name, other.games)
        assert mine.win_rate == other.win_rate
        assert mine.mean_score == pytest.approx(other.mean_score, abs=4)


@pytest.mark.parametrize("options", [{}, {"num_players": 3}, {"num_players": 4}])
def test_processes_do_not_matter(options):
    wanted = settings(options=options, agents=["random", "greedy", "greedy"], rounds=2, deals=1)
    assert without_times(play_tournament(wanted, processes=2)) == without_times(play_tournament(wanted))


def test_deals_are_the_same_for_all_line_ups_and_seats_are_fair():
    table = play_tournament(settings(agents=["random", "greedy", "random"], options={}))
    games = table.games
    for number in range(3):
        of_round = games.select(games.rounds == number)
        by_line_up = {}
        for seats, deal in zip(of_round.seats.tolist(), of_round.deals.tolist(), strict=True):
            by_line_up.setdefault(tuple(sorted(seats)), []).append(deal)
        assert len(by_line_up) == 3
        assert len({tuple(deals) for deals in by_line_up.values()}) == 1
    for agent in range(3):
        assert (games.seats[:, 0] == agent).sum() == (games.seats[:, 1] == agent).sum() == 12


def test_precision_stops_early():
    table = play_tournament(settings(agents=["random", "random"], rounds=200, deals=10, precision=60))
    assert table.stopped == "precision reached"
    assert has_converged(table.ratings, 60)
    before = table.games.select(table.games.rounds < table.games.rounds.max())
    assert not has_converged(compute_standings(table.settings, before).ratings, 60)


def test_the_anchor_is_random_or_what_is_asked_for():
    assert settings(agents=["greedy", "random"]).anchor == "random"
    assert settings(agents=["greedy", "greedy"]).anchor is None
    table = play_tournament(settings(anchor="greedy"))
    assert table.ratings.elo[1] == 0 > table.ratings.elo[0]


# Failures


def crash(actions, fails):
    if fails.any():
        raise KeyError("lost")
    return actions


def illegal(actions, fails):
    return np.where(fails, 10_000, actions)


def say(actions, fails):
    if fails.any():
        raise AgentFailure(np.where(fails, -1, actions), dict.fromkeys(np.flatnonzero(fails).tolist(), "too slow"))
    return actions


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (crash, "crashed: KeyError: 'lost'"),
        (illegal, "azul: action 10000 is illegal: the actions are 0 to 179"),
        (say, "too slow"),
        (lambda actions, fails: actions[:0] if fails.any() else actions, "must return 1 integer actions, not int64 of"),
    ],
)
def test_a_failure_costs_the_game_and_no_other(how, reason):
    doomed = int(game_seeds(3, 4)[2])
    agent = Failing(lambda state: state["seed"] == doomed and state["ply"] >= 10, how)
    (other,) = make_agents(make_game("azul"), ["random", agent], MatchSeeds(1))[:1]
    log = MatchLog(4, 2)
    # one decision at a time, as far as this agent is concerned
    single = type("Single", (), {"name": "failing", "act": lambda self, decisions: _one_by_one(agent, decisions)})()
    batch = play_games(AZUL, [single, other], game_seeds(3, 4), np.tile([0, 1], (4, 1)), log=log)
    games = collect_results(batch, np.tile([0, 1], (4, 1)), log)
    assert games.failed.tolist() == [NOBODY, NOBODY, 0, NOBODY]
    assert games.reasons[2].startswith(reason)
    assert games.ranks[2].tolist() == [1, 0]
    assert batch.states["status"].tolist()[2] == 0
    assert (batch.states["status"][[0, 1, 3]] != 0).all()
    assert games.moves.sum(axis=1)[[0, 1, 3]].tolist() == batch.states["ply"][[0, 1, 3]].tolist()


def _one_by_one(agent, decisions):
    actions, reasons = np.full(len(decisions), -1), {}
    for index in range(len(decisions)):
        chosen, failed = act_or_forfeit(agent, decisions.game, decisions._states[index : index + 1])
        actions[index] = chosen[0]
        if failed:
            reasons[index] = failed[0]
    if reasons:
        raise AgentFailure(actions, reasons)
    return actions


def test_with_three_players_the_others_share_the_win():
    agents = [Failing(lambda state: True, illegal), *make_agents(THREE, ["random"] * 3, MatchSeeds(1))[:2]]
    log = MatchLog(1, 3)
    seats = np.array([[1, 0, 2]])
    games = collect_results(play_games(THREE, agents, game_seeds(1, 1), seats, log=log), seats, log)
    assert games.ranks.tolist() == [[0, 2, 0]]
    assert games.failed.tolist() == [1]


def test_the_record_of_a_forfeited_game(tmp_path, monkeypatch):
    bad = Failing(lambda state: state["ply"] >= 8, illegal)
    monkeypatch.setattr(
        registry,
        "make_agent",
        lambda text, game, *rest, **trust: bad if text == "bad" else GreedyAgent(game, text, 0),
    )
    agents = [{"name": "bad", "agent": "bad"}, {"name": "good", "agent": "greedy"}]
    wanted = settings(agents=agents, seed=4, deals=2, records=True)
    games, records = MatchRunner(wanted).play(Match(0, (0, 1)))
    assert (games.failed != NOBODY).all()
    path = tmp_path / "games.jsonl"
    write_records(path, records)
    for stored, reason in zip(read_records(path), games.reasons, strict=True):
        assert check_record(stored)
        assert stored.record["forfeit"] == {"player": stored.record["agents"].index("bad"), "reason": reason}
        assert "result" not in stored.record["final"]
    assert main(["replay", str(path), "--check"]) == 0
    assert main(["replay", str(path)]) == 0
    wrong = {**records[0], "forfeit": {"player": 1 - records[0]["forfeit"]["player"], "reason": ""}}
    write_records(path, [wrong])
    with pytest.raises(RecordError, match="forfeit: player: must be the one to move"):
        check_record(next(read_records(path)))
    whole = make_record(AZUL, 1, ["a", "b"], [], AZUL.new(1))
    write_records(path, [whole])
    with pytest.raises(RecordError, match="the game is not over after its 0 plies"):
        check_record(next(read_records(path)))


# Settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": ["random"]}, "agents: a tournament needs at least 2, not 1"),
        ({"agents": "random"}, "agents must be a list"),
        ({"agents": [{"name": "x"}, "random"]}, "agents: must be texts, or mappings of name and agent"),
        ({"agents": [{"name": "random", "agent": "greedy"}, "random"]}, "two have the name 'random'"),
        ({"pairing": "knockout"}, "pairing must be one of round-robin, swiss, not 'knockout'"),
        ({"pairing": "swiss", "options": {"num_players": 3}}, "swiss needs at least as many agents as players, 3"),
        ({"rounds": 0}, "rounds must be from 1 to 100000, not 0"),
        ({"deals": 1.5}, "deals must be an integer, not 1.5"),
        ({"precision": -1}, "precision must be a number above 0, at most 1,000,000, not -1"),
        ({"move_seconds": "2s"}, "move_seconds must be a number above 0, at most 86,400, not '2s'"),
        ({"records": 1}, "records must be true or false, not 1"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"anchor": "nobody"}, "anchor must be one of the agents random, greedy, not 'nobody'"),
        ({"options": {"walls": 1}}, "azul has no option 'walls'"),
        ({"gmae": 1}, "there is no setting 'gmae'; the settings are game, agents, options"),
    ],
)
def test_wrong_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        settings(**changes)


def test_settings_survive_their_mapping():
    wanted = settings(
        agents=["greedy", "greedy", {"name": "x", "agent": "random"}], precision=5, options={"wall": "grey"}
    )
    assert wanted.names == ("greedy", "greedy (2)", "x")
    assert wanted.anchor == "x"
    assert make_settings(wanted.to_mapping()).to_mapping() == wanted.to_mapping()
    assert isinstance(wanted, TournamentSettings)
    assert wanted.agents[1] == Participant("greedy (2)", "greedy")


def test_an_unknown_agent_is_found_at_once():
    with pytest.raises(ValueError, match="there is no agent 'gredy'"):
        play_tournament(settings(agents=["random", "gredy"]))


# Folder and command


def test_a_tournament_goes_on_where_it_was_torn_off(tmp_path):
    wanted = settings(agents=["random", "greedy", "greedy"], records=True)
    whole = TournamentFolder(tmp_path / "whole")
    whole.create(wanted)
    expected = without_times(play_tournament(wanted, whole))
    for cut in (0, 1, 300, 5000, whole.games.stat().st_size - 3):
        torn = TournamentFolder(tmp_path / f"torn{cut}")
        torn.create(wanted)
        torn.games.write_bytes(whole.games.read_bytes()[:cut])
        # records are written first: they may be ahead
        torn.records.write_bytes(whole.records.read_bytes()[: cut * 40 + 200])
        assert without_times(play_tournament(torn.read_settings(), torn)) == expected
        assert torn.records.read_bytes() == whole.records.read_bytes()
        assert torn.games.read_text().count("\n") == 36


def test_a_damaged_line_is_named(tmp_path):
    folder = TournamentFolder(tmp_path / "t")
    folder.create(settings())
    folder.games.write_text("{}\n")
    with pytest.raises(ValueError, match=r"games\.jsonl: line 1 is no game of this tournament"):
        play_tournament(settings(), folder)
    with pytest.raises(ValueError, match="is not empty; name another one or --resume"):
        folder.create(settings())


def test_the_command_from_end_to_end(tmp_path, capsys):
    out = tmp_path / "t"
    words = ["tournament", "azul", "random", "greedy", "greedy", "--rounds", "3", "--deals", "2", "--processes", "1"]
    assert main([*words, "--records", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "round robin, 3 rounds, 36 games, seed 0: all rounds played" in printed.out
    assert "round 3 of 3: 36 games" in printed.err
    assert sorted(path.name for path in out.iterdir()) == [
        *("games.jsonl", "records.jsonl", "report.html", "results.json", "tournament.yaml")
    ]
    results = json.loads((out / "results.json").read_text())
    assert [agent["agent"] for agent in results["agents"]] == ["greedy", "greedy", "random"]
    assert results["agents"][-1]["rating"] == 0
    assert results["games"] == len((out / "games.jsonl").read_text().splitlines()) == 36
    assert "<svg" in (out / "report.html").read_text()
    assert main(["replay", str(out / "records.jsonl"), "--check"]) == 0
    # once more: nothing is left to play, the results stay
    assert main(["tournament", "--resume", str(out)]) == 0
    again = json.loads((out / "results.json").read_text())
    assert again == results
    assert main([*words, "--out", str(out)]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_the_command_takes_a_config(tmp_path, capsys):
    config = tmp_path / "cup.yaml"
    config.write_text(
        "game: azul\nagents: [random, {name: mine, agent: greedy}]\nrounds: 9\ndeals: 1\nprecision: 1e3\n"
    )
    out = tmp_path / "t"
    assert main(["tournament", str(config), "rounds=2", "seed=5", "precision=null", "--out", str(out)]) == 0
    assert "2 rounds, 4 games, seed 5" in capsys.readouterr().out
    assert main(["tournament", str(config), "--rounds", "1", "--seed", "6", "--out", str(tmp_path / "seeded")]) == 0
    assert "1 round, 2 games, seed 6" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required"),
        (["azul", "random"], "a tournament needs at least 2"),
        (["azul", "random", "gredy"], "there is no agent 'gredy'"),
        (["chess", "random", "greedy"], "there is no game or config 'chess'; the games are azul"),
        (["nothing.yaml"], "there is no config nothing.yaml"),
        (["azul", "random", "greedy", "--rounds", "0"], "--rounds: must be an integer from 1 to 100,000, not '0'"),
        (["azul", "random", "greedy", "--option", "num_players=9"], "num_players must be one of"),
        (["--resume", "nowhere"], "is no folder of a tournament"),
    ],
)
def test_wrong_calls(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["tournament", *words]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_a_stopped_tournament_loses_nothing_and_goes_on(tmp_path, stop, code):
    out = tmp_path / "t"
    words = [sys.executable, "-m", "meeplezoo.cli", "tournament"]
    given = ["azul", "random", "greedy", "--rounds", "2000", "--deals", "5", "--processes", "2", "--out", str(out)]
    running = subprocess.Popen([*words, *given], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 60
    while not (out / "games.jsonl").exists() or (out / "games.jsonl").stat().st_size < 4000:
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.05)
    os.kill(running.pid, stop)
    printed, _ = running.communicate(timeout=60)
    assert running.returncode == code
    if code == 130:
        assert f"go on with: meeplezoo tournament --resume {out}" in printed
    folder = TournamentFolder(out)
    kept = folder.read_games(folder.read_settings())
    assert 0 < len(kept) < 20_000
    assert len(kept) % 10 == 0
    expected = play_tournament(settings(agents=["random", "greedy"], rounds=int(kept.rounds.max()) + 1, deals=5))
    np.testing.assert_array_equal(kept.scores, expected.games.scores[: len(kept)])


BAD_BOTS = """
import time

def crashing(position, legal):
    if position["round"] > 1:
        raise ZeroDivisionError("no luck")
    return legal[0]

def sleeping(observation, mask):
    time.sleep(60 * (observation.sum() > 1e9 or mask.sum() < 30))
    return mask.argmax()
"""


def test_bad_bots_lose_their_games_and_stop_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bots.py").write_text(BAD_BOTS)
    words = ["tournament", "azul", "random", "bots.py:crashing", "bots.py:sleeping", "--move-seconds", "0.3"]
    assert main([*words, "--rounds", "1", "--deals", "1", "--records", "--processes", "1", "--out", "cup"]) == 0
    printed = capsys.readouterr().out
    assert "bots.py:crashing: 4 games lost: crashed: ZeroDivisionError: no luck (bots.py, line 6)" in printed or (
        "crashed: ZeroDivisionError: no luck (bots.py, line 6)" in printed and "took longer than 0.3 s" in printed
    )
    results = json.loads((tmp_path / "cup/results.json").read_text())
    by_name = {agent["name"]: agent for agent in results["agents"]}
    assert results["games"] == 6
    assert results["forfeits"] == sum(agent["forfeits"] for agent in results["agents"]) >= 4
    assert by_name["random"]["forfeits"] == 0
    assert by_name["random"]["wins"] == 4
    assert "took longer than 0.3 s for a move" in by_name["bots.py:sleeping"]["failures"]
    assert main(["replay", "cup/records.jsonl", "--check"]) == 0
    assert "ZeroDivisionError" in (tmp_path / "cup/report.html").read_text()


def test_agents_that_come_with_the_package_need_no_more_than_their_names():
    assert {"random", "greedy"} <= set(agent_names())
