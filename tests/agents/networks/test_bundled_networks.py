"""The networks that come with the package: small, documented, playing."""

from pathlib import Path

import pytest

pytest.importorskip("safetensors")

from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.networks.network_agent import NetworkAgent, bundled_networks
from meeplezoo.agents.networks.network_file import load_network
from meeplezoo.envs import make_game
from meeplezoo.training.config_files import config_names, read_config
from meeplezoo.training.config_reading import make_config

ROOT = Path(__file__).parents[3]
WEIGHTS = ROOT / "agents" / "weights"


@pytest.mark.parametrize("name", bundled_networks())
def test_a_shipped_network_is_small_says_how_it_was_made_and_beats_random(name):
    path = WEIGHTS / f"{name}.safetensors"
    assert path.stat().st_size < 2_000_000
    network, head = load_network(path)
    training = head.training
    assert training["seconds"] > 0
    assert training["decisions"] > 0
    # made by a config that comes along: the page says which, and the file has all its settings
    made_by = [one for one in config_names() if agrees(one, training["config"])]
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert any(f"`meeplezoo train {one}`" in page and f"`net:{name}`" in page for one in made_by)
    game = make_game(head.game, observation=head.observation, **head.options)
    agent = NetworkAgent(name, network, head, 1)
    others = ["random"] * (game.num_players - 1)
    assert evaluate(game, [agent, *others], 10, 1).agents[0].win_rate == 1.0


def agrees(config_name, made_with):
    """Tell whether a config is the one of a run, but for what says how long and how watched it was."""
    config, made_with = read_config(config_name).to_mapping(), make_config(made_with).to_mapping()
    free = {"run", "minutes", "decisions", "evaluation_interval", "evaluation_games", "checkpoint_interval"}
    return {**config, **dict.fromkeys(free)} == {**made_with, **dict.fromkeys(free)}
