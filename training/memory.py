"""How much memory a run will take, before anything of it is made."""

import os
from math import prod

from ..agents.networks.architecture import Architecture, build
from ..envs import Game
from ..envs.engine.search_tree import node_dtype
from .config import TrainingConfig
from .self_play_actor import tree_size

_NUMBER = 4
"""Bytes of a float32."""
_PLIES_OF_A_GAME = 64
"""That a game under way has on average behind it, about."""
_COPIES_OF_WEIGHTS = 4
"""A network in training: weights, gradients, and two moments of Adam."""
_PASSES = 3
"""What a layer gives, its gradient, and room to compute them."""


def check_memory(config: TrainingConfig, game: Game) -> None:
    """Raise ValueError, one sentence with the estimate, if a run would take more memory than this machine has."""
    parts = estimate_memory(config, game)
    total, there = sum(parts.values()), memory_of_machine()
    if there is None or total <= there:
        return
    largest = max(parts, key=lambda name: parts[name])
    raise ValueError(
        f"this run would take about {_gibibytes(total)} of memory, {_gibibytes(parts[largest])} of it for {largest}, "
        f"and this machine has {_gibibytes(there)}"
    )


def memory_of_machine() -> int | None:
    """Return the bytes of memory of this machine; None if the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def estimate_memory(config: TrainingConfig, game: Game) -> dict[str, int]:
    """Return about how many bytes a run takes, by what they are for: the settings that they grow with."""
    # ppo takes what a rollout has, if that is less
    rows = min(config.minibatch, config.games * config.rollout) if config.algorithm == "ppo" else config.minibatch
    sizes = {
        "games (games)": config.games
        * (4 * game.template.itemsize + _NUMBER * game.observation_size + game.num_actions),
        "networks (hidden, channels)": _networks(config, game),
        "minibatches (minibatch)": _layers(config, game, rows) + rows * _row(game),
    }
    if config.algorithm == "alphazero":
        return {**sizes, **_of_alphazero(config, game)}
    # the library flattens its rollout into a copy
    copies = 2 if config.algorithm == "maskable_ppo" else 1
    return {**sizes, "rollouts (games x rollout)": copies * config.games * (config.rollout + 1) * _row(game)}


def _of_alphazero(config: TrainingConfig, game: Game) -> dict[str, int]:
    half = 2 * (game.observation_size + game.num_actions * (2 if config.heuristic else 1))
    kept = half - (-game.num_actions // 8) + 2 * _NUMBER * game.num_players
    lessons = max(config.games * config.rollout, config.warm_decisions)
    node = node_dtype(game.spec.most_players).itemsize
    return {
        "the window (window)": config.window * kept,
        "games under way (games)": config.games * _PLIES_OF_A_GAME * (half + game.num_actions),
        "new lessons (games x rollout, or warm_decisions)": lessons * (_row(game) + _NUMBER * game.num_actions),
        "searches (games x simulations)": config.games * tree_size(game, config.simulations) * node
        + _layers(config, game, config.games),
    }


def _row(game: Game) -> int:
    """Return the bytes of a decision: observation and mask, and what is known about every player."""
    return _NUMBER * (game.observation_size + game.num_actions + 6 * game.num_players + 8)


def _networks(config: TrainingConfig, game: Game) -> int:
    """Return the bytes of the network, what it is trained with, and its past selves."""
    import torch

    architecture = Architecture(
        config.network, config.hidden, config.channels, config.shared, config.heuristic, config.heuristic_input
    )
    # no numbers are drawn there, and no memory is taken
    with torch.device("meta"):
        weights = sum(parameter.numel() for parameter in build(game, architecture).parameters())
    copies = 1 if config.algorithm == "alphazero" else config.pool_size
    return _NUMBER * weights * (_COPIES_OF_WEIGHTS + copies)


def _layers(config: TrainingConfig, game: Game, rows: int) -> int:
    """Return the bytes of what the layers give for some rows, while it is learned from."""
    width = 2 * sum(config.hidden) + game.num_actions
    if config.network == "cells":
        width += 4 * config.channels * prod(game.observation_fields[0].shape)
    return _PASSES * _NUMBER * rows * width


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"
