"""Checkpoints: one file with everything that a run's future depends on, whole or not there.

The file is the line "meeplezoo-checkpoint/2 SHA-256", then what `torch.save` wrote. Like every file of torch and
Stable-Baselines3 it holds pickled objects: load checkpoints of people you trust.
"""

import hashlib
import io
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..envs import Game
from ..envs.files import write_atomically

_FORMAT = "meeplezoo-checkpoint/2"


@dataclass
class Progress:
    """How far a run has come.

    evaluation_seconds: those of `seconds` that went into evaluations.
    best: mean win rate and mean margin of the best evaluation; both -inf before the first.
    """

    iteration: int = 0
    seconds: float = 0.0
    evaluation_seconds: float = 0.0
    episodes: int = 0
    best: tuple[float, float] = (-float("inf"), -float("inf"))


def save_checkpoint(path: Path, game: Game, progress: Progress, learner: dict[str, Any]) -> None:
    """Write how far the run has come, the learner's state and all random states."""
    import torch

    content = {
        "game": _identity(game),
        "progress": vars(progress),
        "learner": learner,
        "random": random_states(),
    }
    buffer = io.BytesIO()
    torch.save(content, buffer)
    # no copy: with a window of decisions to learn from it can be a gigabyte
    payload = buffer.getbuffer()
    with write_atomically(path) as file:
        file.write(f"{_FORMAT} {hashlib.sha256(payload).hexdigest()}\n".encode())
        file.write(payload)


def load_checkpoint(path: Path, game: Game) -> dict[str, Any]:
    """Return the parts of a checkpoint, `progress` as Progress.

    Raises ValueError, one sentence, if it is missing, damaged, or of another game or version.
    """
    import torch

    if not path.is_file():
        raise ValueError(f"there is no checkpoint {path}: the run stopped before its first one, start it anew")
    head, _, payload = path.read_bytes().partition(b"\n")
    format_name, _, digest = head.decode("ascii", "replace").partition(" ")
    if format_name != _FORMAT:
        raise ValueError(f"{path} is no checkpoint of this version of meeplezoo (it does not begin with {_FORMAT})")
    if hashlib.sha256(payload).hexdigest() != digest:
        raise ValueError(f"checkpoint {path} is damaged: its checksum does not agree; the run cannot be resumed")
    content: dict[str, Any] = torch.load(io.BytesIO(payload), weights_only=False, map_location="cpu")
    if content["game"] != _identity(game):
        raise ValueError(f"checkpoint {path} is of {content['game']}, not of {_identity(game)}")
    content["progress"] = Progress(**content["progress"])
    return content


def random_states() -> dict[str, Any]:
    """Return the states of the global random generators of torch, numpy and Python."""
    import torch

    states = {
        "torch": torch.get_rng_state(),
        # Stable-Baselines3 shuffles with the global generator
        "numpy": np.random.get_state(),  # noqa: NPY002
        "python": random.getstate(),
    }
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state_all()
    return states


def set_random_states(states: dict[str, Any]) -> None:
    """Set what `random_states` returned."""
    import torch

    torch.set_rng_state(states["torch"])
    np.random.set_state(states["numpy"])  # noqa: NPY002
    random.setstate(states["python"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(states["cuda"])


def _identity(game: Game) -> dict[str, Any]:
    return {
        "name": game.name,
        "version": game.description.version,
        "options": dict(game.options),
        "observation": game.observation,
    }
