"""Configs by path or by the name they have in the package, `key=value` overrides, and the config of a run folder."""

import os
import platform
from dataclasses import replace
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..configs.yaml_settings import MOST_BYTES, parse_overrides, parse_settings, write_settings
from ..envs.registry import game_names
from ..envs.system.files import read_file, write_atomically
from ..envs.system.messages import shorten
from .config import ALGORITHMS, CHANGEABLE, TrainingConfig
from .config_reading import make_config

DEFAULT_DECISIONS = 1_000_000
"""What a run without a config of its own learns from."""
VERSIONS = "versions"
"""The key of the versions in the config.yaml of a run; reading a config skips it."""

_PACKAGES = ("meeplezoo", "numpy", "torch", "stable-baselines3", "sb3-contrib", "safetensors")


def config_names() -> list[str]:
    """Return the names of the bundled configs, like "game/ppo"."""
    root = resources.files(_configs_package())
    folders = sorted((one for one in root.iterdir() if one.is_dir()), key=lambda one: one.name)
    return [
        f"{folder.name}/{file.name.removesuffix('.yaml')}"
        for folder in folders
        for file in sorted(folder.iterdir(), key=lambda one: one.name)
        if file.name.endswith(".yaml")
    ]


def read_config(source: str, overrides: list[str] | None = None) -> TrainingConfig:
    """Return the config of a file, or of a name from `config_names`, with `key=value` overrides in YAML.

    Where a game has no config of that name, GAME/ALGORITHM has the algorithm's defaults.

    Raises ValueError, one sentence, if there is no such config, it cannot be read, or one of its settings is wrong.
    """
    settings = parse_settings(_config_text(source), source)
    settings.pop(VERSIONS, None)
    settings.update(parse_overrides(overrides or []))
    try:
        return make_config(settings)
    except ValueError as error:
        raise ValueError(f"config {source}: {error}") from None


def change_config(config: TrainingConfig, overrides: list[str]) -> TrainingConfig:
    """Return a run's config with what may be changed on resuming; ValueError that lists it otherwise."""
    changes = parse_overrides(overrides)
    for name in changes:
        if name not in CHANGEABLE:
            raise ValueError(f"{shorten(name)} cannot be changed in a resumed run; only {', '.join(CHANGEABLE)} can")
    changed = make_config({**config.to_mapping(), **changes})
    return replace(config, **{name: getattr(changed, name) for name in CHANGEABLE})


def config_stem(source: str) -> str:
    """Return the name of a config for its run folders: "game-ppo" for game/ppo and configs/game/ppo.yaml."""
    path = Path(source).with_suffix("")
    return "-".join(part for part in path.parts[-2:] if part not in (path.anchor, ".", ".."))


def write_config(config: TrainingConfig, path: Path) -> None:
    """Write a config and the versions that matter for its results to a YAML file."""
    with write_atomically(path, "w") as file:
        file.write(write_settings({**config.to_mapping(), VERSIONS: versions()}))


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _config_text(source: str) -> bytes:
    name = source.removesuffix(".yaml")
    # a folder may have the name of a bundled config
    if os.path.exists(source) and not (name in config_names() and os.path.isdir(source)):
        try:
            return read_file(source, MOST_BYTES)
        except OSError as error:
            raise ValueError(f"config {source} cannot be read: {error.strerror}") from None
    if name not in config_names():
        game, _, algorithm = name.replace("-", "_").partition("/")
        if game in game_names() and algorithm in ALGORITHMS:
            return write_settings({"game": game, "algorithm": algorithm, "decisions": DEFAULT_DECISIONS}).encode()
        raise ValueError(
            f"there is no config {shorten(source)}: no such file, and the bundled configs are "
            f"{', '.join(config_names())}; GAME/ALGORITHM has an algorithm's defaults ({', '.join(ALGORITHMS)})"
        )
    return resources.files(_configs_package()).joinpath(f"{name}.yaml").read_bytes()


def _configs_package() -> str:
    return f"{__package__.rpartition('.')[0]}.configs"
