"""Settings in YAML: of a text, and of `key=value` overrides."""

import re
from collections.abc import Mapping
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """YAML in which 3e-4 is a number: YAML 1.2 has it so, PyYAML's 1.1 wants 3.0e-4."""


_Loader.yaml_implicit_resolvers = {
    first: list(found) for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def parse_settings(text: str, source: str) -> dict[str, Any]:
    """Return the settings of a YAML text; ValueError that names the source if it is none."""
    content = _parse(text, f"config {source}")
    if not isinstance(content, Mapping):
        raise ValueError(f"config {source} must be a mapping of settings to values")
    return {str(name): value for name, value in content.items()}


def parse_overrides(overrides: list[str]) -> dict[str, Any]:
    """Return the settings of texts like "learning_rate=3e-4", their values read as YAML."""
    settings = {}
    for text in overrides:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"override {text!r} must have the form key=value")
        settings[name.strip()] = _parse(value, f"override {text!r}")
    return settings


def _parse(text: str, where: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)  # a SafeLoader
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{where} is no valid YAML: {reason}") from None
