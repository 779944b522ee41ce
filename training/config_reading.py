"""Make a `TrainingConfig` from plain settings, and describe the settings."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..envs.system.messages import shorten
from .config import ALGORITHMS, TrainingConfig, settings_of


def settings_help() -> dict[str, str]:
    """Return one line for each setting, in order: type, default, meaning and valid values."""
    hints = get_type_hints(TrainingConfig)
    lines = {}
    for one in fields(TrainingConfig):
        optional = one.default is not MISSING or one.default_factory is not MISSING
        default = f"default {_plain(one)}" if optional else "required"
        choices = one.metadata.get("choices")
        words = f" ({', '.join(choices)})" if choices else ""
        of = one.metadata["of"]
        only = "" if of == ALGORITHMS else f"; {' and '.join(of)} only"
        lines[one.name] = f"{_type_name(hints[one.name])}, {default}: {one.metadata['help']}{words}{only}"
    return lines


def make_config(settings: Mapping[str, Any]) -> TrainingConfig:
    """Return the config of plain settings (from YAML or JSON).

    Raises ValueError, one sentence, for an unknown, missing or wrong setting; it lists the valid ones.
    """
    hints = get_type_hints(TrainingConfig)
    algorithm = settings.get("algorithm", ALGORITHMS[0])
    if algorithm not in ALGORITHMS:
        raise ValueError(f"setting algorithm must be one of {', '.join(ALGORITHMS)}, not {shorten(algorithm)}")
    known = [one.name for one in settings_of(algorithm)]
    for name in settings:
        if name not in known:
            raise ValueError(f"{algorithm} has no setting {shorten(name)}; its settings are {', '.join(known)}")
    for one in fields(TrainingConfig):
        if one.default is MISSING and one.default_factory is MISSING and one.name not in settings:
            raise ValueError(f"the setting {one.name!r} is missing: {one.metadata['help']}")
    return TrainingConfig(**{name: _convert(name, value, hints[name]) for name, value in settings.items()})


def _convert(name: str, value: Any, kind: Any) -> Any:
    converted = _fit(value, kind)
    if converted is MISSING:
        raise ValueError(f"setting {name} must be {_type_name(kind)}, not {shorten(value)}")
    return converted


def _fit(value: Any, kind: Any) -> Any:
    """Return the value as the type has it, or MISSING if it does not fit."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        fitting = (_fit(value, member) for member in get_args(kind))
        return next((found for found in fitting if found is not MISSING), MISSING)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            return MISSING
        members = tuple(_fit(member, get_args(kind)[0]) for member in value)
        return MISSING if MISSING in members else members
    if origin is dict:
        return dict(value) if isinstance(value, Mapping) and all(isinstance(key, str) for key in value) else MISSING
    if isinstance(value, bool) or kind is bool:
        return value if isinstance(value, bool) and kind is bool else MISSING
    if kind is float and isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return MISSING
    return value if isinstance(value, kind) else MISSING


def _type_name(kind: Any) -> str:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(_type_name(member) for member in get_args(kind))
    if origin is tuple:
        return f"a list ({_type_name(get_args(kind)[0])} each)"
    names = {bool: "true or false", int: "an integer", float: "a number", str: "a text", type(None): "null"}
    return "a mapping" if origin is dict else names[kind]


def _plain(one: Field[Any]) -> Any:
    """Return the default of a field as YAML writes it."""
    if one.default_factory is not MISSING:
        return one.default_factory()
    if isinstance(one.default, tuple):
        return list(one.default)
    return "null" if one.default is None else one.default
