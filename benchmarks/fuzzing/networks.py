"""Network files, played by the agent `net`, and MaskablePPO zips, played by `ppo`."""

import random
from pathlib import Path

from ...agents import DecisionBatch, make_agent
from ...agents.networks.architecture import Architecture, build
from ...agents.networks.network_file import make_metadata, save_network
from ...envs import Game, GameBatch, game_names, make_game
from ...envs.registry import describe
from .cases import Case
from .containers import change_file
from .games import check_legal, warm_all
from .input_cache import files_below, make_once

_SETTINGS = ("", "", "", ",sims=4", ",sims=4,considered=0", ",sims=4,plies=3", ",sample=1")


def _positions(game: Game) -> GameBatch:
    batch = GameBatch(game, 2)
    batch.reset(1)
    for _ in range(5):
        batch.step(batch.random_actions())
    return batch


def play_with(text: str, game: Game) -> None:
    """Make an agent and let it decide in two games; FaultFound if what it plays is illegal."""
    agent = make_agent(text, game, 3)
    batch = _positions(game)
    for _ in range(2):
        actions = agent.act(DecisionBatch(game, batch.states.copy()))
        check_legal(game, batch.states, actions)
        batch.step(actions)


class Networks:
    """A .safetensors file of a small network."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()
        self._files = files_of_networks(kept)
        for name in self._files:
            # searches with networks have kernels of their own
            path = make_once(kept, "networks", _write_networks) / name
            play_with(f"net:{path},sims=4", make_game(name.split("-")[0]))
            play_with(f"net:{path},sims=4,considered=0", make_game(name.split("-")[0]))

    def make(self, draw: random.Random) -> Case:
        """Return a file with changes, and the game and settings that it is played with."""
        name = draw.choice(list(self._files))
        content, note = change_file("n.safetensors", self._files[name], draw)
        game = name.split("-")[0]
        words = {"game": game, "agent": f"net:n.safetensors{draw.choice(_SETTINGS)}"}
        return Case(words, {"n.safetensors": content}, f"{game}: {note}")

    def run(self, case: Case) -> None:
        """Play with the network."""
        play_with(case.words["agent"], make_game(case.words["game"]))


def files_of_networks(kept: Path) -> dict[str, bytes]:
    """Return the files of small networks by their names, GAME-NUMBER.safetensors."""
    return files_below(make_once(kept, "networks", _write_networks))


def _write_networks(folder: Path) -> None:
    import torch

    torch.manual_seed(0)
    for name in game_names():
        game = make_game(name)
        forms = [Architecture("mlp", (4,)), Architecture("mlp", (4,), heuristic=True, heuristic_input=True)]
        for number, architecture in enumerate(forms):
            head = make_metadata(game, architecture, ("return", "change")[number], {"win_weight": 0.5})
            save_network(folder / f"{name}-{number}.safetensors", build(game, architecture), head)


class MaskablePPOFiles:
    """A zip as `meeplezoo train` writes it with MaskablePPO."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()
        self._files = files_below(make_once(kept, "zips", _write_zips))

    def make(self, draw: random.Random) -> Case:
        """Return a zip with changes."""
        name = draw.choice(list(self._files))
        content, note = change_file("model.zip", self._files[name], draw)
        return Case(name.removesuffix(".zip"), {"model.zip": content}, note)

    def run(self, case: Case) -> None:
        """Play with the model."""
        play_with("ppo:model.zip", make_game(case.words))


def _write_zips(folder: Path) -> None:
    from ...training.algorithm import make_algorithm
    from ...training.config_reading import make_config

    for name in game_names():
        if describe(name).first_cell_action is not None:
            # so large a game has weights of megabytes
            continue
        settings = {"game": name, "hidden": [4], "games": 2, "rollout": 4, "minibatch": 4, "decisions": 8}
        config = make_config({**settings, "algorithm": "maskable_ppo", "pool_size": 0})
        learner = make_algorithm(config, config.make_game())
        with (folder / f"{name}.zip").open("wb") as file:
            learner.write_agent(file, 1.0)
