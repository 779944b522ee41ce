"""Checkpoints: one file, written atomically, with everything that resuming a run needs.

They hold plain data and arrays (`checkpoint_file`), which are validated before they are used. Reading a checkpoint
never runs code from it.
"""

import math
import random
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..envs import Game
from ..envs.options import complete
from ..envs.system.messages import shorten
from ..envs.validation.arrays import check_integer
from .checkpoint_file import read_tree, write_tree
from .config import CHANGEABLE, TrainingConfig
from .config_reading import make_config
from .state_checks import MOST, check_array, check_keys, check_list, check_number, set_torch_generator

_PARTS = ("game", "config", "progress", "algorithm", "random")
_FREE_SETTINGS = (*CHANGEABLE, "run")
_TWISTER_WORDS = 624
"""Words of a state of the Mersenne twister, of Python and of numpy."""


@dataclass
class Progress:
    """Progress of a run.

    evaluation_seconds: the part of `seconds` that evaluations took.
    best: mean win rate and mean margin of the best evaluation; both -inf before the first.
    """

    iteration: int = 0
    seconds: float = 0.0
    evaluation_seconds: float = 0.0
    best: tuple[float, float] = (-math.inf, -math.inf)


def save_checkpoint(path: Path, config: TrainingConfig, progress: Progress, algorithm: dict[str, Any]) -> None:
    """Write progress, the state of the algorithm and all random states."""
    write_tree(
        path,
        {
            "game": _identity(config.make_game()),
            "config": config.to_mapping(),
            "progress": {**vars(progress), "best": list(progress.best)},
            "algorithm": algorithm,
            "random": random_states(),
        },
    )


def load_checkpoint(path: Path, game: Game) -> dict[str, Any]:
    """Return the parts of a checkpoint: `progress` as Progress, `config`, `algorithm` and `random`.

    Raises ValueError, one sentence, if it is missing, damaged, or of another game or version. The states of
    the algorithm and of the generators are validated where they are set; their arrays are read-only.
    """
    content = read_tree(path)
    try:
        check_keys(content, _PARTS, "it")
        content["progress"] = _progress(content["progress"])
        _check_game(content["game"], game)
    except ValueError as error:
        raise ValueError(f"checkpoint {path} does not fit: {error}") from None
    return content


def check_config(found: Any, config: TrainingConfig) -> None:
    """Raise ValueError, one sentence, if a checkpoint is of a run with other settings than may be changed."""
    if not isinstance(found, dict):
        raise ValueError(f"config must be a mapping, not {shorten(found)}")
    # settings that it lacks have the values that they had when there was no setting
    saved = make_config(found)
    for one in fields(config):
        value, saved_value = getattr(config, one.name), getattr(saved, one.name)
        if one.name not in _FREE_SETTINGS and value != saved_value:
            raise ValueError(f"it is of a run with {one.name}={shorten(saved_value)}, not {shorten(value)}")


def random_states() -> dict[str, Any]:
    """Return the states of the global random generators of torch, numpy and Python."""
    # Stable-Baselines3 shuffles with numpy's global generator
    of_numpy: Any = np.random.get_state(legacy=False)  # noqa: NPY002
    _, words, gauss = random.getstate()
    return {
        "torch": torch.get_rng_state(),
        "cuda": list(torch.cuda.get_rng_state_all()) if torch.cuda.is_available() else [],
        "numpy": {
            "words": of_numpy["state"]["key"],
            "place": int(of_numpy["state"]["pos"]),
            "has_gauss": int(of_numpy["has_gauss"]),
            "gauss": float(of_numpy["gauss"]),
        },
        "python": {
            "words": np.array(words[:_TWISTER_WORDS], np.uint32),
            "place": words[_TWISTER_WORDS],
            "has_gauss": int(gauss is not None),
            "gauss": gauss or 0.0,
        },
    }


def set_random_states(states: Any) -> None:
    """Restore states from `random_states`; ValueError, with nothing changed, if they are invalid."""
    check_keys(states, ("torch", "cuda", "numpy", "python"), "random")
    for name in ("numpy", "python"):
        _check_twister(states[name], f"random/{name}")
    set_torch_generator(torch.default_generator, states["torch"], "random/torch")
    if torch.cuda.is_available():
        generators = torch.cuda.default_generators
        for generator, state in zip(generators, _cuda_states(states["cuda"], len(generators)), strict=True):
            set_torch_generator(generator, state, "random/cuda")
    numpy, python = states["numpy"], states["python"]
    state = {"key": numpy["words"], "pos": numpy["place"]}
    other = {name: numpy[name] for name in ("has_gauss", "gauss")}
    np.random.set_state({"bit_generator": "MT19937", "state": state, **other})  # noqa: NPY002
    words = (*python["words"].tolist(), python["place"])
    random.setstate((3, words, python["gauss"] if python["has_gauss"] else None))


def _check_twister(state: Any, where: str) -> None:
    check_keys(state, ("words", "place", "has_gauss", "gauss"), where)
    words = check_array(state["words"], f"{where}/words", np.zeros(_TWISTER_WORDS, np.uint32))
    if not words.any():
        raise ValueError(f"{where}/words must not be all 0")
    check_integer(state["place"], f"{where}/place", 0, _TWISTER_WORDS)
    check_integer(state["has_gauss"], f"{where}/has_gauss", 0, 1)
    check_number(state["gauss"], f"{where}/gauss", -1e3, 1e3)


def _cuda_states(states: Any, number: int) -> list[Any]:
    """Return the states for the GPUs of this machine; none for a run from a machine without GPUs."""
    return [] if states == [] else check_list(states, number, "random/cuda")


def _progress(state: Any) -> Progress:
    check_keys(state, [one.name for one in fields(Progress)], "progress")
    best = check_list(state["best"], 2, "progress/best")
    if best != [-math.inf, -math.inf]:
        check_number(best[0], "progress/best", 0.0, 1.0)
        check_number(best[1], "progress/best", -MOST, MOST)
    evaluated, seconds = (
        check_number(state[name], f"progress/{name}", 0.0, MOST) for name in ("evaluation_seconds", "seconds")
    )
    return Progress(check_integer(state["iteration"], "progress/iteration", 0, MOST), seconds, evaluated, tuple(best))


def _check_game(found: Any, game: Game) -> None:
    """Raise ValueError if a checkpoint is not of a game with these options, rules and observations."""
    own = _identity(game)
    for name, value in check_keys(found, own, "game").items():
        if name != "options" and value != own[name]:
            raise ValueError(f"it is of a game with the {name} {shorten(value)}, not of {shorten(own[name])}")
    if not isinstance(found["options"], dict):
        raise ValueError(f"game/options must be a mapping, not {shorten(found['options'])}")
    # options that it lacks are newer than it, and had their defaults
    for name, value in complete(game.name, game.spec.options, found["options"]).items():
        if value != own["options"][name]:
            its, ours = {name: value}, {name: own["options"][name]}
            raise ValueError(f"it is of {game.name} with {shorten(its)}, not of {game.name} with {ours}")


def _identity(game: Game) -> dict[str, Any]:
    return {
        "name": game.name,
        "version": game.spec.version,
        "options": dict(game.options),
        "observation": game.encoding,
    }
