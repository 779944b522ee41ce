"""A game of another package in every interface, with nothing but its entry point: `connect_four` from end to end."""

import json
import re
import warnings
from importlib.metadata import entry_points
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from connect_four_v0 import env, raw_env
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from meeplezoo.agents import make_agent
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.cli.main import main
from meeplezoo.envs import GameBatch, game_names, make_game
from meeplezoo.envs.interfaces import pettingzoo_env
from meeplezoo.envs.records.notation import LastMove
from meeplezoo.envs.view.renderer import Renderer

NAME = "connect_four"
ID = "meeplezoo.envs:meeplezoo/ConnectFour-v0"
ROOT = Path(__file__).parents[2]
TRAINING = ["decisions=256", "games=8", "rollout=8", "minibatch=64", "hidden=[8]", "evaluation_games=4"]


def test_the_entry_point_is_all_that_meeplezoo_knows_of_it():
    (entry,) = [one for one in entry_points(group="meeplezoo.games") if one.name == NAME]
    assert entry.value == "connect_four:GAME"
    assert NAME in game_names()
    for part in ("envs", "agents", "training", "configs", "cli"):
        for file in (ROOT / part).rglob("*.py"):
            assert NAME not in file.read_text(encoding="utf-8"), file


def test_it_has_less_than_100_lines():
    assert len((ROOT / "examples/connect_four/connect_four.py").read_text(encoding="utf-8").splitlines()) < 100


def test_batches_are_the_same_at_every_size_and_without_numba():
    game = make_game(NAME)
    small, large = (GameBatch(game, size, auto_reset=False) for size in (3, 50))
    for batch in (small, large):
        batch.reset(5)
        batch.play_out()
    np.testing.assert_array_equal(small.states, large.states[:3])
    # the kernels of the example are ordinary functions of Python, too
    state = game.new(seed=1)[()]
    for column in (3, 3, 2):
        game.spec.kernels().apply.py_func(state, column)
    assert state["board"][4:, 2:4].tolist() == [[0, 2], [1, 1]]


@pytest.mark.parametrize("make", [env, raw_env])
def test_pettingzoo(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(make())
        seed_test(make)
    assert str(make()) == str(pettingzoo_env.env(NAME)) == "connect_four_v0"


def test_gymnasium():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(gymnasium.make(ID, opponents="greedy").unwrapped, skip_render_check=True)
    envs = gymnasium.make_vec(ID, num_envs=4, opponents="mcts:sims=8", seat="rotate")
    _, infos = envs.reset(seed=3)
    ended = 0
    while ended < 8:
        *_, terminations, truncations, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert not truncations.any()
        ended += terminations.sum()


def test_stable_baselines3():
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checker.check_env(gymnasium.make(ID))
    from meeplezoo.envs.interfaces.sb3_vec_env import SelfPlayVecEnv

    game = make_game(NAME)
    envs = SelfPlayVecEnv(game, 4, [make_agent("random", game, 1)], seed=2)
    assert envs.reset().shape == (4, game.observation_size)


def test_searches_are_stronger_than_chance():
    game = make_game(NAME)
    for text in ("minimax:depth=4,samples=1", "mcts:sims=100,leaf=random"):
        strong, weak = evaluate(game, [text, "random"], 20, seed=1).agents
        assert strong.wins >= 18 > weak.wins


def test_drawing():
    game = make_game(NAME)
    state = game.new(seed=1)
    game.play(state, {"column": 3})
    text = Renderer(game, "ansi").draw(state, LastMove(0, {"column": 3}))
    assert text.splitlines()[:3] == ["Connect Four", "Player 1 to move", "Last move: Player 0: column 3"]
    assert "· · · 1 · · ·" in text
    svg = Renderer(game, "svg").draw(state, LastMove(0, {"column": 3}))
    assert {"Connect Four", "Player 1 to move", "board", "Player 0: column 3"} <= set(
        re.findall('aria-label="(.*?)"', svg)
    )


def run(capsys, *words):
    """Run a command that has to succeed and return what it prints."""
    assert main(list(words)) == 0
    return capsys.readouterr().out


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_command_line(in_folder, capsys):
    assert "connect_four: Drop discs into columns" in run(capsys, "games")
    assert "Game over: player" in run(capsys, "play", NAME, "mcts:sims=20", "random", "--seed", "1")
    run(capsys, "evaluate", NAME, "greedy", "random", "--games", "10", "--json", "table.json")
    assert json.loads(Path("table.json").read_text())["games"] == 10
    run(capsys, "record", NAME, "--agents", "random,greedy", "--games", "3", "--positions", "--out", "games.jsonl")
    assert "3 games" in run(capsys, "replay", "games.jsonl", "--check")
    assert "Last move" in run(capsys, "replay", "games.jsonl")
    run(capsys, "tournament", NAME, "random", "greedy", "minimax:depth=2,samples=1", "--out", "cup")
    assert list(Path("cup").glob("*.json"))


@pytest.mark.parametrize(("algorithm", "agent"), [("ppo", "net:"), ("alphazero", "net:"), ("maskable-ppo", "ppo:")])
def test_training_with_an_algorithms_defaults(algorithm, agent, in_folder, capsys):
    pytest.importorskip("sb3_contrib")
    pytest.importorskip("safetensors")
    extra = ["warm_decisions=0", "simulations=4"] if algorithm == "alphazero" else []
    shown = run(capsys, "train", f"{NAME}/{algorithm}", *TRAINING, *extra, "run=run")
    best = re.search(rf"best model: ({agent}\S+)", shown)
    assert best is not None
    assert "10 games" in run(capsys, "evaluate", NAME, best[1], "random", "--games", "10")
