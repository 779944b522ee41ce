"""Estimate the memory of a run before it allocates anything."""

import os
from math import prod

from ..agents.networks.architecture import build
from ..envs import Game
from ..envs.engine.search_tree import node_dtype
from .config import TrainingConfig
from .self_play_actor import tree_size

_FLOAT_BYTES = 4
"""Bytes of a float32."""
_DECISIONS_PER_GAME = 64
"""Decisions that a running game has behind it on average, about."""
_COPIES_OF_WEIGHTS = 4
"""A network in training: weights, gradients, and two moments of Adam."""
_COPIES_OF_ACTIVATIONS = 3
"""Activations of a layer, their gradient, and scratch space."""


def check_memory(config: TrainingConfig, game: Game) -> None:
    """Raise ValueError, one sentence with the estimate, if a run would take more memory than this machine has."""
    parts = estimate_memory(config, game)
    total, available = sum(parts.values()), machine_memory()
    if available is None or total <= available:
        return
    largest = max(parts, key=lambda name: parts[name])
    raise ValueError(
        f"this run would take about {_gibibytes(total)} of memory, {_gibibytes(parts[largest])} of it for {largest}, "
        f"and this machine has {_gibibytes(available)}"
    )


def machine_memory() -> int | None:
    """Return the memory of this machine in bytes; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def estimate_memory(config: TrainingConfig, game: Game) -> dict[str, int]:
    """Return about how many bytes a run takes, by purpose and by the settings they depend on."""
    # ppo uses the whole rollout if it is smaller
    rows = min(config.minibatch, config.games * config.rollout) if config.algorithm == "ppo" else config.minibatch
    sizes = {
        "games (games)": config.games
        * (4 * game.template.itemsize + _FLOAT_BYTES * game.observation_size + game.num_actions),
        "networks (hidden, channels)": _network_bytes(config, game),
        "minibatches (minibatch)": _activation_bytes(config, game, rows) + rows * _decision_bytes(game),
    }
    if config.algorithm == "alphazero":
        return {**sizes, **_alphazero_parts(config, game)}
    # sb3 flattens its rollout into a copy
    copies = 2 if config.algorithm == "maskable_ppo" else 1
    return {**sizes, "rollouts (games x rollout)": copies * config.games * (config.rollout + 1) * _decision_bytes(game)}


def _alphazero_parts(config: TrainingConfig, game: Game) -> dict[str, int]:
    half = 2 * (game.observation_size + game.num_actions * (2 if config.heuristic else 1))
    row = half - (-game.num_actions // 8) + 2 * _FLOAT_BYTES * game.num_players
    samples = max(config.games * config.rollout, config.warm_decisions)
    node = node_dtype(game.spec.most_players).itemsize
    return {
        "the replay buffer (window)": config.window * row,
        "running games (games)": config.games * _DECISIONS_PER_GAME * (half + game.num_actions),
        "new samples (games x rollout, or warm_decisions)": samples
        * (_decision_bytes(game) + _FLOAT_BYTES * game.num_actions),
        "searches (games x simulations)": config.games * tree_size(game, config.simulations) * node
        + _activation_bytes(config, game, config.games),
    }


def _decision_bytes(game: Game) -> int:
    """Return the bytes of a decision: observation, mask, and numbers of every player."""
    return _FLOAT_BYTES * (game.observation_size + game.num_actions + 6 * game.num_players + 8)


def _network_bytes(config: TrainingConfig, game: Game) -> int:
    """Return the bytes of the network, its training state and its past selves."""
    import torch

    # initialises nothing and allocates no memory
    with torch.device("meta"):
        weights = sum(parameter.numel() for parameter in build(game, config.architecture).parameters())
    copies = 1 if config.algorithm == "alphazero" else config.pool_size
    return _FLOAT_BYTES * weights * (_COPIES_OF_WEIGHTS + copies)


def _activation_bytes(config: TrainingConfig, game: Game, rows: int) -> int:
    """Return the bytes of the activations of some rows during training."""
    width = 2 * sum(config.hidden) + game.num_actions
    if config.network == "cells":
        width += 4 * config.channels * prod(game.observation_fields[0].shape)
    return _COPIES_OF_ACTIVATIONS * _FLOAT_BYTES * rows * width


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"
