"""Sizes and settings that people type: bounds, numbers in one form, and one sentence for everything else."""

import argparse
import os

import numpy as np
import pytest
from every_game import NAMES
from hostile_data import assert_one_sentence

from meeplezoo.agents import make_agent
from meeplezoo.agents.agent_settings import Integers, Numbers, Words, read_settings
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.arena.match_seeds import MatchSeeds
from meeplezoo.agents.arena.recording import record_games
from meeplezoo.agents.arena.schedule import MOST_LINE_UPS, all_line_ups, count_line_ups
from meeplezoo.agents.arena.settings import make_settings
from meeplezoo.agents.networks.network_agent import NetworkSettings
from meeplezoo.agents.search.mcts_agent import SearchSettings
from meeplezoo.agents.search.minimax_agent import MinimaxSettings
from meeplezoo.benchmarks import ladder, search, throughput
from meeplezoo.cli.arguments import integer, number_up_to
from meeplezoo.cli.main import main
from meeplezoo.envs import make_game
from meeplezoo.envs.engine.random_stream import game_seeds
from meeplezoo.envs.engine.search_tree import node_dtype
from meeplezoo.envs.options import parse
from meeplezoo.envs.registry import describe
from meeplezoo.envs.system.number_text import parse_integer, parse_number

AZUL = make_game("azul")
HUGE = ("1000000000000", "9" * 400, "9" * 5000)
NO_NUMBERS = (
    "",
    " ",
    "x",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1_000",
    "\u0663",
    "\uff11",
    " 1",
    "1 ",
    "+1",
    "0x10",
    "1,5",
    "1\0",
)


# --- numbers as they are typed


def test_numbers_are_ascii_digits():
    assert [parse_integer(text) for text in ("0", "7", "-3", "007", "9" * 18)] == [0, 7, -3, 7, 10**18 - 1]
    assert [parse_number(text) for text in ("0", "-1.5", ".5", "2.", "1e-3", "3E4", "1e308")] == [
        0,
        -1.5,
        0.5,
        2,
        1e-3,
        3e4,
        1e308,
    ]
    for text in (*NO_NUMBERS, *HUGE[1:]):
        with pytest.raises(ValueError, match=r"^is no (finite )?(integer|number)"):
            parse_number(text)
        with pytest.raises(ValueError, match=r"^is no integer"):
            parse_integer(text)
    for text in ("1.0", "1e3"):
        with pytest.raises(ValueError, match=r"^is no integer"):
            parse_integer(text)


def test_arguments_are_within_their_bounds():
    read = integer(1, 1000)
    assert (read("1"), read("1000")) == (1, 1000)
    for text in (*NO_NUMBERS, *HUGE, "0", "1001", "-1", "1.0"):
        with pytest.raises(argparse.ArgumentTypeError, match=r"^must be an integer from 1 to 1,000, not ") as caught:
            read(text)
        assert_one_sentence(caught.value, 200)
    read = number_up_to(1000)
    assert (read("0.001"), read("1000"), read("1e2")) == (0.001, 1000, 100)
    for text in (*NO_NUMBERS, *HUGE, "0", "-0", "-0.0", "-1", "1000.1"):
        with pytest.raises(
            argparse.ArgumentTypeError, match=r"^must be a number above 0, at most 1,000, not "
        ) as caught:
            read(text)
        assert_one_sentence(caught.value, 200)


@pytest.mark.parametrize("name", NAMES)
def test_options_take_numbers_in_one_form_and_once(name):
    options = describe(name).options
    assert parse(name, options, ["num_players=2"]) == {"num_players": 2}
    for text in (*NO_NUMBERS, *HUGE, "2.0", "-2", str(10**30)):
        with pytest.raises(ValueError, match=r"option num_players must be one of the integers from") as caught:
            make_game(name, **parse(name, options, [f"num_players={text}"]))
        assert_one_sentence(caught.value, 200)
    with pytest.raises(ValueError, match="option num_players is given twice"):
        parse(name, options, ["num_players=2", "num_players=2"])
    for text in ("x" * 10**6, "\x1b[31m", "", "=", "=2", "x=2", "num_players"):
        with pytest.raises(ValueError, match=r"must have the form name=value|has no option") as caught:
            parse(name, options, [text])
        assert_one_sentence(caught.value, 250)


# --- agents


SETTINGS = [
    *(("mcts", name) for name in ("sims", "plies", "reuse", "nodes")),
    *(("minimax", name) for name in ("depth", "width", "samples", "plies")),
]
NUMBERS = [("mcts", name) for name in ("seconds", "c", "temperature", "mix", "win")]


@pytest.mark.parametrize(("agent", "name"), [*SETTINGS, *NUMBERS])
def test_settings_of_agents_have_bounds(agent, name):
    # a comma begins the next setting, and the character \\0 is refused before any setting is read
    numbers = [text for text in NO_NUMBERS if "," not in text and "\0" not in text]
    for text in (*HUGE[:2], "1e12", "1e308", *numbers, "-1"):
        with pytest.raises(ValueError, match=rf"^agent '{agent}:{name}=.*{name} must be ") as caught:
            make_agent(f"{agent}:{name}={text}", AZUL)
        assert_one_sentence(caught.value, 400)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mcts:nodes=2147483647", "nodes must be from 1,000 to 8,000,000 (48 bytes each), not 2147483647"),
        ("mcts:sims=1,sims=2", "setting sims is given twice"),
        ("minimax:depth=2,depth=2", "setting depth is given twice"),
        ("mcts:sims=1,", "there is no setting ''"),
        ("mcts:,", "there is no setting ''"),
        ("mcts: sims=1", "there is no setting ' sims'"),
        ("mcts:sims =1", "there is no setting 'sims '"),
        ("mcts:leaf=", "leaf must be one of random, greedy, not ''"),
        ("mcts:" + "x" * 3000, "there is no setting 'xxx"),
        ("minimax:depth=65", "depth must be from 1 to 64, not 65"),
        ("greedy:1", "greedy takes nothing behind its name"),
        ("", "there is no agent ''"),
        (":", "there is no agent ''"),
        (",", "there is no agent ','"),
        ("mcts\0", "its text holds the character \\0"),
        ("net:a\0b", "its text holds the character \\0"),
        ("program:\0", "its text holds the character \\0"),
        ("x" * 10**6, "the text of an agent has at most 4,096 characters, not 1,000,000"),
        ("\x1b[31m", "there is no agent '\\x1b[31m'"),
        (None, "an agent is named by a text, not None"),
        (5, "an agent is named by a text, not 5"),
        (["greedy"], "an agent is named by a text, not ['greedy']"),
    ],
)
def test_texts_of_agents_that_are_none(text, message):
    with pytest.raises(ValueError, match=r".") as caught:
        make_agent(text, AZUL)
    assert message in str(caught.value)
    assert_one_sentence(caught.value, 450)


@pytest.mark.parametrize("kind", [SearchSettings, MinimaxSettings, NetworkSettings])
def test_settings_made_in_python_have_the_same_bounds(kind):
    for name, default in vars(kind()).items():
        wrong = (
            ("x" * 10**5, None, [])
            if isinstance(default, str)
            else (10**12, -1, float("nan"), float("inf"), "1", None, True, [])
        )
        for value in wrong:
            with pytest.raises(ValueError, match=rf"^{name} must be ") as caught:
                kind(**{name: value})
            assert_one_sentence(caught.value, 200)


def test_settings_are_read_by_one_parser():
    valid = {"size": Integers(1, 10, "an inch each"), "share": Numbers(0, 1), "way": Words(("up", "down"))}
    assert read_settings(["way=up", "size=3", "share=1e-1"], valid) == {"way": "up", "size": 3, "share": 0.1}
    for part, message in [
        ("size=11", r"^size must be from 1 to 10 \(an inch each\), not 11$"),
        ("share=2", r"^share must be from 0 to 1, not 2.0$"),
        ("way=left", r"^way must be one of up, down, not 'left'$"),
        ("colour=red", r"^there is no setting 'colour'; the settings are size, share, way$"),
    ]:
        with pytest.raises(ValueError, match=message):
            read_settings([part], valid)


def test_the_largest_tree_fits_into_a_gigabyte():
    settings = SearchSettings(nodes=8_000_000)
    # with closed chance there are two, and an index of their nodes
    assert settings.nodes * (2 * node_dtype(4).itemsize + 4) < 2**30
    with pytest.raises(ValueError, match="nodes must be from 1,000 to 8,000,000"):
        SearchSettings(nodes=8_000_001)


# --- numbers of games


def test_numbers_of_games_have_bounds():
    for number in (0, -1, 10**12, 1.0, True, "5", None):
        with pytest.raises(ValueError, match=r"^num_games must be "):
            evaluate(AZUL, ["random", "random"], number, 0)
    for number in (-1, 10**12, 1.0):
        with pytest.raises(ValueError, match=r"^num_games must be "):
            next(record_games(AZUL, ["random", "random"], number, 0))


def test_seeds_of_late_rounds_cost_nothing():
    np.testing.assert_array_equal(MatchSeeds(5, first_deal=21).of_games(0, 7, 1), game_seeds(5, 28)[21:])
    np.testing.assert_array_equal(game_seeds(5, 3, start=10**9), game_seeds(int(game_seeds(5, 1, start=10**9)[0]), 3))


def test_line_ups_are_counted_without_making_them():
    for agents in range(2, 8):
        for players in range(2, 6):
            assert count_line_ups(agents, players) == len(all_line_ups(agents, players))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": 10**12}, "rounds must be from 1 to 100000, not 1000000000000"),
        ({"rounds": True}, "rounds must be an integer, not True"),
        ({"rounds": 2.0}, "rounds must be an integer, not 2.0"),
        ({"deals": 2501}, "deals must be from 1 to 2500, not 2501"),
        ({"deals": 209, "options": {"num_players": 4}}, "deals must be from 1 to 208, not 209"),
        ({"precision": float("inf")}, "precision must be a number above 0, at most 1,000,000, not inf"),
        ({"precision": float("nan")}, "precision must be a number above 0, at most 1,000,000, not nan"),
        ({"precision": -0.0}, "precision must be a number above 0, at most 1,000,000, not -0.0"),
        ({"move_seconds": float("inf")}, "move_seconds must be a number above 0, at most 86,400, not inf"),
        ({"move_seconds": 10**400}, "move_seconds must be a number above 0, at most 86,400, not 1000"),
        ({"move_seconds": True}, "move_seconds must be a number above 0, at most 86,400, not True"),
        ({"seed": None}, "seed must be an integer, not None"),
        ({"seed": 2**53}, "seed must be an integer from 0 to"),
        ({"seed": 1.0}, "seed must be an integer from 0 to"),
        ({"agents": ["random"] * 201}, "a tournament has at most 200, not 201"),
        (
            {"agents": ["random"] * 60, "options": {"num_players": 4}},
            f"in a round robin, more than {MOST_LINE_UPS:,}; pair",
        ),
        ({"agents": ["random", "x" * 10**5]}, "a name must be 1 to 4,096 characters of UTF-8, not 'xxx"),
        ({"agents": [{"name": "", "agent": "random"}, "random"]}, "a name must be 1 to 4,096 characters"),
        ({"agents": [{"name": "\ud800", "agent": "random"}, "random"]}, "a name must be 1 to 4,096 characters"),
        ({"agents": [{"name": "a", "agent": "\ud800"}, "random"]}, "the text of an agent must be UTF-8"),
        ({"agents": [{"name": "a", "agent": "a\0"}, "random"]}, "its text holds the character"),
        ({"agents": [{"name": 1, "agent": "random"}, "random"]}, "must be texts, or mappings of name and agent"),
        ({"agents": {"random": 1}}, "agents must be a list, not"),
        ({"agents": b"xy"}, "agents must be a list, not"),
        ({"agents": None}, "agents must be a list, not None"),
        ({"options": {"name": 1}}, "azul has no option 'name'"),
        ({"options": {"observation": "flat"}}, "azul has no option 'observation'"),
        ({"options": {1: 2}}, "azul has no option 1"),
        ({"options": []}, "options must be a mapping of options to values, not []"),
        ({"options": {"num_players": 10**30}}, "num_players must be one of the integers"),
        ({"game": ["azul"]}, "there is no game ['azul']"),
        ({"game": "x" * 10**6}, "there is no game 'xxx"),
        ({"pairing": ["swiss"]}, "pairing must be one of round-robin, swiss, not ['swiss']"),
        ({"anchor": 0}, "anchor must be one of the agents random, greedy, not 0"),
        ({"anchor": "x" * 10**6}, "anchor must be one of the agents random, greedy, not 'xxx"),
        ({"x" * 10**6: 1}, "there is no setting 'xxx"),
        ({1: 1}, "there is no setting 1"),
    ],
)
def test_settings_of_tournaments_have_bounds(changes, message):
    with pytest.raises(ValueError, match=r".") as caught:
        make_settings({"game": "azul", "agents": ["random", "greedy"], **changes})
    assert message in str(caught.value)
    assert_one_sentence(caught.value, 350)


# --- the command line


EVALUATE = ("evaluate", "azul", "random", "random")
TOURNAMENT = ("tournament", "azul", "random", "greedy")


@pytest.mark.parametrize(
    "words",
    [
        *((*EVALUATE, "--games", text) for text in (*HUGE, *NO_NUMBERS, "0", "-1", "1000001")),
        *((*EVALUATE, "--seed", text) for text in (*HUGE[1:], *NO_NUMBERS, "-1", str(2**53))),
        *((*EVALUATE, "--option", f"num_players={text}") for text in (*HUGE, *NO_NUMBERS, str(10**30), "3")),
        (*EVALUATE, "--option", "wall=grey", "--option", "wall=grey"),
        (*EVALUATE, "--json", "x" * 5000),
        (*EVALUATE[:2], "mcts:nodes=2147483647", "random"),
        (*EVALUATE[:2], "x" * 10**5, "random"),
        (*EVALUATE[:2], *["random"] * 3000),
        ("evaluate", "x" * 10**5, "random", "random"),
        (*EVALUATE, "--" + "x" * 10**5),
        (*EVALUATE, "--\x1b[31m"),
        ("x" * 10**5,),
        *(("record", "azul", "--agents", agents, "--out", "x") for agents in (",", ",,,", "," * 10**5, "x" * 10**5)),
        ("record", "azul", "--agents", "random,random", "--games", "1000000000000", "--out", "x"),
        ("record", "azul", "--agents", "random,random", "--out", "x" * 5000),
        *((*TOURNAMENT, "--rounds", text) for text in (*HUGE, *NO_NUMBERS, "0")),
        *((*TOURNAMENT, "--deals", text) for text in (*HUGE, "0", "2501", "5001")),
        *((*TOURNAMENT, "--processes", text) for text in ("1000000", "0", "-1", "x")),
        *((*TOURNAMENT, "--precision", text) for text in (*NO_NUMBERS, *HUGE, "0", "-0", "-0.0", "-1")),
        *((*TOURNAMENT, "--move-seconds", text) for text in (*NO_NUMBERS, *HUGE, "0", "-1", "1e308")),
        (*TOURNAMENT, "--anchor", "x" * 10**5),
        (*TOURNAMENT[:2], *["random"] * 300),
        ("tournament", "x" * 10**5, "random", "greedy"),
        ("tournament", "x" * 10**5 + ".yaml"),
        ("tournament", "none.yaml"),
        ("tournament", "."),
        ("tournament", "/dev/null"),
        ("tournament", "--resume", "/dev/null"),
        ("play", "azul", "random", "random", "--seed", "1_0"),
        ("play", "azul", "random", "random", "--save", "x" * 5000),
    ],
    ids=lambda words: " ".join(words)[:40].encode("unicode_escape").decode(),
)
def test_wrong_sizes_end_with_2_and_one_short_line(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("meeplezoo: error: ")
    assert captured.err.count("\n") == 1
    assert_one_sentence(captured.err.rstrip("\n"), 450)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("benchmark", "words"),
    [
        (throughput, ["--only", "x" * 10**5]),
        (throughput, ["--game", "x" * 10**5]),
        (throughput, ["--option", "num_players=1_0"]),
        (throughput, ["--json", "."]),
        (throughput, ["--more"]),
        (ladder, ["--deals", "1000000000000"]),
        (ladder, ["--processes", "1000000"]),
        (ladder, ["--players", "\u0663"]),
        (search, ["--sims", "1000000000000"]),
        (search, ["--sims", "0"]),
        (search, ["--json", "/dev/null"]),
    ],
)
def test_benchmarks_refuse_wrong_sizes_before_they_measure(benchmark, words, capsys):
    try:
        code = benchmark.main(words)
    except SystemExit as leaving:
        code = leaving.code
    assert code == 2
    err = capsys.readouterr().err
    assert err.startswith("meeplezoo: error: ")
    assert_one_sentence(err.rstrip("\n"), 450)
