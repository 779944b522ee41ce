"""Configs by path or by the name they have in the package, `key=value` overrides, and the config of a run folder."""

import platform
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

from ..envs.files import write_atomically
from .config import CHANGEABLE, TrainingConfig, make_config

VERSIONS = "versions"
"""The key of a run's config.yaml that says what it was made with; reading a config skips it."""

_PACKAGES = ("meeplezoo", "numpy", "torch", "stable-baselines3", "sb3-contrib")


class _Loader(yaml.SafeLoader):
    """YAML in which 3e-4 is a number: YAML 1.2 has it so, PyYAML's 1.1 wants 3.0e-4."""


_Loader.yaml_implicit_resolvers = {
    first: list(found) for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def config_names() -> list[str]:
    """Return the names of the configs that come with the package, like "game/ppo"."""
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

    Raises ValueError, one sentence, if there is no such config or one of its settings is wrong.
    """
    settings = _read_mapping(_config_text(source), source)
    settings.pop(VERSIONS, None)
    settings.update(parse_overrides(overrides or []))
    try:
        return make_config(settings)
    except ValueError as error:
        raise ValueError(f"config {source}: {error}") from None


def parse_overrides(overrides: list[str]) -> dict[str, Any]:
    """Return the settings of texts like "learning_rate=3e-4", their values read as YAML."""
    settings = {}
    for text in overrides:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"override {text!r} must have the form key=value")
        settings[name.strip()] = _parse(value, f"override {text!r}")
    return settings


def change_config(config: TrainingConfig, overrides: list[str]) -> TrainingConfig:
    """Return a run's config with what may be changed on resuming; ValueError that lists it otherwise."""
    changes = parse_overrides(overrides)
    for name in changes:
        if name not in CHANGEABLE:
            raise ValueError(f"{name!r} cannot be changed in a resumed run; only {', '.join(CHANGEABLE)} can")
    changed = make_config({**config.to_mapping(), **changes})
    return replace(config, **{name: getattr(changed, name) for name in CHANGEABLE})


def config_stem(source: str) -> str:
    """Return the name of a config for its run folders: "game-ppo" for game/ppo and configs/game/ppo.yaml."""
    parts = Path(source).with_suffix("").parts[-2:]
    return "-".join(part for part in parts if part not in ("/", ".", ".."))


def write_config(config: TrainingConfig, path: Path) -> None:
    """Write a config and the versions that matter for its results to a YAML file."""
    content = {**config.to_mapping(), VERSIONS: versions()}
    with write_atomically(path, "w") as file:
        yaml.safe_dump(content, file, sort_keys=False, default_flow_style=None, width=100)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _config_text(source: str) -> str:
    path = Path(source)
    if path.is_file():
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"config {source} is no text file") from None
    name = source.removesuffix(".yaml")
    if name not in config_names():
        raise ValueError(
            f"there is no config {source!r}: no such file, and the configs that come along are "
            f"{', '.join(config_names())}"
        )
    return resources.files(_configs_package()).joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def _configs_package() -> str:
    return f"{__package__.rpartition('.')[0]}.configs"


def _read_mapping(text: str, source: str) -> dict[str, Any]:
    content = _parse(text, f"config {source}")
    if not isinstance(content, Mapping):
        raise ValueError(f"config {source} must be a mapping of settings to values")
    return {str(name): value for name, value in content.items()}


def _parse(text: str, where: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)  # a SafeLoader
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{where} is no valid YAML: {reason}") from None
