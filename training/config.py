"""The whole experiment in one frozen dataclass, read from YAML and `key=value` overrides."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from math import prod
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..envs import Game, make_game
from ..envs.engine.random_stream import MAX_SEED
from ..envs.engine.rewards import REWARDS

ACTIVATIONS = ("tanh", "relu")
NETWORKS = ("mlp", "cells")
CHANGEABLE = ("decisions", "minutes", "evaluation_interval", "evaluation_games", "checkpoint_interval", "threads")
"""What may be changed when a run is resumed; everything else would make it another experiment."""


def _setting(
    meaning: str,
    default: Any = MISSING,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    return field(default=default, metadata={"help": meaning, "low": low, "high": high, "choices": choices})


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Every setting of a training run; one iteration is a rollout of all games and the training on it.

    `settings_help` lists the fields with their meaning. Raises ValueError if a value is out of its range, if the
    game or an option does not exist, or if settings do not fit together.
    """

    game: str = _setting("name of the game")
    options: dict[str, Any] = field(
        default_factory=dict, metadata={"help": "options of the game; those left out are as the game has them"}
    )
    observation: str | None = _setting("form of the observations; null is the game's first", None)
    rewards: str = _setting("what the learner is paid at the end of a game", "margin", choices=REWARDS)
    dense: bool = _setting("rewards margin: pay every change when it comes instead of all at the end", False)
    seed: int = _setting("seed of everything that is drawn", 0, low=0, high=MAX_SEED)
    run: str | None = _setting("run folder; null makes runs/<config>-<date-time>", None)

    decisions: int = _setting("decisions of the learner to train on, rounded up to whole iterations", low=1)
    minutes: float | None = _setting("stop earlier after this time; null for no limit", None, low=0.0)
    games: int = _setting("games side by side", 256, low=1)
    rollout: int = _setting("decisions per game and iteration", 16, low=1)

    network: str = _setting(
        "layers on the whole observation, or convolutions on a plane whose cells are actions", "mlp", choices=NETWORKS
    )
    channels: int = _setting("channels of the convolutions of the network cells", 16, low=1)
    hidden: tuple[int, ...] = _setting("widths of the hidden layers of policy and of value network", (256, 256), low=1)
    activation: str = _setting("activation of the hidden layers", "relu", choices=ACTIVATIONS)
    minibatch: int = _setting("decisions per gradient step; divides games * rollout", 1024, low=2)
    epochs: int = _setting("passes over each rollout", 4, low=1)
    learning_rate: float = _setting("learning rate of Adam at the start", 1e-3, low=0.0)
    final_learning_rate: float = _setting("learning rate at the end, reached linearly", 1e-4, low=0.0)
    gamma: float = _setting("discount per decision", 1.0, low=0.0, high=1.0)
    gae_lambda: float = _setting("lambda of generalised advantage estimation", 0.95, low=0.0, high=1.0)
    clip: float = _setting("clip range of the policy ratio", 0.2, low=0.0)
    entropy: float = _setting("weight of the entropy bonus", 0.01, low=0.0)
    value_weight: float = _setting("weight of the value loss", 0.5, low=0.0)
    max_gradient: float = _setting("largest norm of the gradient", 0.5, low=0.0)
    target_kl: float | None = _setting(
        "stop the epochs of an iteration at 1.5 times this KL; null: never", None, low=0.0
    )

    share_current: float = _setting(
        "share of opponents that are the learner as it is, relative to the others", 0.4, low=0.0
    )
    share_past: float = _setting(
        "share of opponents that are past selves; the learner itself before the first", 0.4, low=0.0
    )
    share_baselines: float = _setting("share of opponents that are baselines", 0.2, low=0.0)
    baselines: tuple[str, ...] = _setting("agents that are baselines, each equally often", ("random", "greedy"))
    pool_size: int = _setting("past selves that are kept, the oldest goes first", 4, low=0)
    snapshot_interval: int = _setting("iterations from one past self to the next", 25, low=1)

    evaluation_opponents: tuple[str, ...] = _setting("agents to evaluate against", ("random", "greedy"))
    evaluation_interval: int = _setting("iterations between evaluations; one more is made at the end", 25, low=1)
    evaluation_games: int = _setting("games per opponent and evaluation", 400, low=1)
    checkpoint_interval: int = _setting("iterations between checkpoints", 10, low=1)

    threads: int = _setting("threads of torch", 1, low=1)
    device: str = _setting("torch's device, like cpu or cuda", "cpu")

    def __post_init__(self) -> None:
        for one in fields(self):
            _check_range(one.name, getattr(self, one.name), one.metadata)
        # spelled out, so that a run's config says them even if the game's defaults should change
        object.__setattr__(self, "options", dict(self.make_game().options))
        if self.decisions_per_iteration % self.minibatch:
            raise ValueError(
                f"minibatch must divide games * rollout = {self.decisions_per_iteration}, {self.minibatch} does not"
            )
        if self.dense and self.rewards != "margin":
            raise ValueError(f"dense needs the rewards margin, not {self.rewards}")
        if self.network == "cells" and not sees_cells(self.make_game()):
            game = f"{self.game} with the observation {self.make_game().observation}"
            raise ValueError(f"network cells needs an observation with a plane of cells, which {game} has not")
        if self.share_current + self.share_past + self.share_baselines <= 0:
            raise ValueError("share_current, share_past and share_baselines must not all be 0")
        if self.share_baselines > 0 and not self.baselines:
            raise ValueError("baselines must name an agent, or share_baselines be 0")
        if not self.evaluation_opponents:
            raise ValueError("evaluation_opponents must name an agent: the best model is chosen by evaluations")

    def make_game(self) -> Game:
        """Return the game with its options."""
        return make_game(self.game, observation=self.observation, **self.options)

    @property
    def decisions_per_iteration(self) -> int:
        """Return games * rollout."""
        return self.games * self.rollout

    def learning_rate_after(self, decisions: int) -> float:
        """Return the learning rate once this many of the learner's decisions have been made."""
        remaining = max(0.0, 1.0 - decisions / self.decisions)
        return self.final_learning_rate + remaining * (self.learning_rate - self.final_learning_rate)

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings as YAML and JSON know them."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


def sees_cells(game: Game) -> bool:
    """Tell whether a game's observation begins with a plane whose cells are actions too."""
    first_cell, shape = game.description.first_cell_action, game.observation_fields[0].shape
    return first_cell is not None and shape[0] == 1 and prod(shape) == game.num_actions - first_cell


def settings_help() -> dict[str, str]:
    """Return one line for each setting, in order: type, default, meaning and valid values."""
    hints = get_type_hints(TrainingConfig)
    lines = {}
    for one in fields(TrainingConfig):
        optional = one.default is not MISSING or one.default_factory is not MISSING
        default = f"default {_plain(one)}" if optional else "required"
        choices = one.metadata.get("choices")
        words = f" ({', '.join(choices)})" if choices else ""
        lines[one.name] = f"{_type_name(hints[one.name])}, {default}: {one.metadata['help']}{words}"
    return lines


def make_config(settings: Mapping[str, Any]) -> TrainingConfig:
    """Return the config of plain settings (from YAML or JSON).

    Raises ValueError, one sentence, for an unknown, missing or wrong setting; it lists the valid ones.
    """
    hints = get_type_hints(TrainingConfig)
    for name in settings:
        if name not in hints:
            raise ValueError(f"there is no setting {name!r}; the settings are {', '.join(hints)}")
    for one in fields(TrainingConfig):
        if one.default is MISSING and one.default_factory is MISSING and one.name not in settings:
            raise ValueError(f"the setting {one.name!r} is missing: {one.metadata['help']}")
    return TrainingConfig(**{name: _convert(name, value, hints[name]) for name, value in settings.items()})


def _convert(name: str, value: Any, kind: Any) -> Any:
    converted = _fit(value, kind)
    if converted is MISSING:
        raise ValueError(f"setting {name} must be {_type_name(kind)}, not {value!r}")
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
        return float(value)
    return value if isinstance(value, kind) else MISSING


def _type_name(kind: Any) -> str:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(_type_name(member) for member in get_args(kind))
    if origin is tuple:
        return f"a list ({_type_name(get_args(kind)[0])} each)"
    names = {bool: "true or false", int: "an integer", float: "a number", str: "a text", type(None): "null"}
    return "a mapping" if origin is dict else names[kind]


def _check_range(name: str, value: Any, metadata: Mapping[str, Any]) -> None:
    low, high, choices = metadata.get("low"), metadata.get("high"), metadata.get("choices")
    if choices and value not in choices:
        raise ValueError(f"setting {name} must be one of {', '.join(choices)}, not {value!r}")
    for number in value if isinstance(value, tuple) else (value,):
        if number is None or isinstance(number, str | bool):
            continue
        # written so that nan is refused too
        if low is not None and not number >= low:
            raise ValueError(f"setting {name} must be at least {low}, not {number!r}")
        if high is not None and not number <= high:
            raise ValueError(f"setting {name} must be at most {high}, not {number!r}")


def _plain(one: Field[Any]) -> Any:
    """Return the default of a field as YAML writes it."""
    if one.default_factory is not MISSING:
        return one.default_factory()
    if isinstance(one.default, tuple):
        return list(one.default)
    return "null" if one.default is None else one.default
