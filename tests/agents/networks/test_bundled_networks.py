"""The bundled networks: small, documented, playing, and choosing the same actions in every version."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors")

from meeplezoo.agents import DecisionBatch
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.networks.network_agent import NetworkAgent, bundled_networks, make
from meeplezoo.agents.networks.network_file import load_network
from meeplezoo.envs import make_game
from meeplezoo.envs.game import as_batch
from meeplezoo.training.config_files import config_names, read_config
from meeplezoo.training.config_reading import make_config

ROOT = Path(__file__).parents[3]
WEIGHTS = ROOT / "agents" / "networks" / "weights"
CHOICES = json.loads((ROOT / "tests" / "data" / "network_choices.json").read_text(encoding="utf-8"))
"""Positions of games between random and greedy players, with what a bundled network made of them: the action with and
without a search of 16 simulations, and the returns that it expects."""


@pytest.mark.parametrize("name", bundled_networks())
def test_a_bundled_network_is_small_says_how_it_was_made_and_beats_random(name):
    path = WEIGHTS / f"{name}.safetensors"
    assert path.stat().st_size < 2_000_000
    network, metadata = load_network(path)
    training = metadata.training
    assert training["seconds"] > 0
    assert training["decisions"] > 0
    # made by a bundled config: the page says which, and the file has all its settings
    made_by = [one for one in config_names() if agrees(one, training["config"])]
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert any(f"`meeplezoo train {one}`" in page and f"`net:{name}`" in page for one in made_by)
    game = make_game(metadata.game, encoding=metadata.observation, **metadata.options)
    agent = NetworkAgent(name, network, metadata, 1)
    others = ["random"] * (game.num_players - 1)
    assert evaluate(game, [agent, *others], 10, 1).agents[0].win_rate == 1.0


def agrees(config_name, made_with):
    """Return whether a config is that of a run, except for how long the run was and how it was evaluated."""
    config, made_with = read_config(config_name).to_mapping(), make_config(made_with).to_mapping()
    free = {"run", "minutes", "decisions", "evaluation_interval", "evaluation_games", "checkpoint_interval"}
    return {**config, **dict.fromkeys(free)} == {**made_with, **dict.fromkeys(free)}


@pytest.mark.parametrize("name", bundled_networks())
def test_a_bundled_network_chooses_the_stored_actions(name):
    choices = [choice for choice in CHOICES if choice["network"] == name]
    assert len(choices) == 8
    game = make_game(choices[0]["position"]["game"], **choices[0]["position"]["options"])
    policy, search = make(game, name, name, 1), make(game, name, f"{name},sims=16", 1)
    for choice in choices:
        decisions = DecisionBatch(game, as_batch(game.from_position(choice["position"], seed=0)).copy())
        assert policy.act(decisions).tolist() == [choice["action"]]
        np.testing.assert_allclose(policy.evaluate(decisions)[1][0], choice["values"], atol=1e-4)
        search.reset(1)
        assert search.act(decisions).tolist() == [choice["searched_action"]]
