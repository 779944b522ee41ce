"""The settings of an experiment as a frozen dataclass; `config_reading` reads it from YAML and overrides."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from ..agents.networks.architecture import Architecture, has_cell_plane
from ..envs import Game, make_game
from ..envs.engine.random_stream import MAX_SEED
from ..envs.engine.rewards import REWARDS
from ..envs.options import complete
from ..envs.registry import describe
from ..envs.system.messages import shorten
from ..envs.validation.arguments import check_choice

ALGORITHMS = ("maskable_ppo", "ppo", "alphazero")
ACTIVATIONS = ("tanh", "relu")
NETWORKS = {"mlp": "mlp", "cells": "conv"}
"""The kind of architecture, by the setting `network`."""
PRECISIONS = ("float32", "bfloat16")
CHANGEABLE = ("decisions", "minutes", "evaluation_interval", "evaluation_games", "checkpoint_interval", "threads")
"""What may be changed when a run is resumed; everything else would make it another experiment."""
_LONGEST_LIST = 64
_LONGEST_TEXT = 4096

_SB3, _PPO, _ZERO = ("maskable_ppo",), ("ppo",), ("alphazero",)
_BOTH_PPO, _OWN = _SB3 + _PPO, _PPO + _ZERO


def _setting(
    meaning: str,
    default: Any = MISSING,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    of: tuple[str, ...] = ALGORITHMS,
) -> Any:
    metadata = {"help": meaning, "low": low, "high": high, "choices": choices, "of": of}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Every setting of a training run; one iteration is some play of all games and the training on it.

    `config_reading.settings_help` lists the fields with their meaning and the algorithms that have them. Raises
    ValueError if a value is out of its range, if the game or an option does not exist, or if
    settings do not fit together; settings of other algorithms are of no effect.
    """

    algorithm: str = _setting("how to train", "maskable_ppo", choices=ALGORITHMS)
    game: str = _setting("name of the game")
    options: dict[str, Any] = field(
        default_factory=dict,
        metadata={"help": "options of the game; others have their defaults", "of": ALGORITHMS},
    )
    observation: str | None = _setting("encoding of the observations; null: the first of the game", None)
    rewards: str = _setting("reward of the learner at the end of a game", "margin", choices=REWARDS, of=_BOTH_PPO)
    dense: bool = _setting(
        "with rewards margin: reward every change of the margin at once instead of all at the end", False, of=_BOTH_PPO
    )
    seed: int = _setting("seed of all random numbers", 0, low=0, high=MAX_SEED)
    run: str | None = _setting("run folder; null makes runs/<config>-<date-time>", None)

    decisions: int = _setting("decisions to learn from, rounded up to whole iterations", low=1, high=10**12)
    minutes: float | None = _setting("time limit; null for none", None, low=0.0, high=1e7)
    games: int = _setting("number of games side by side", 256, low=1, high=10**6)
    rollout: int = _setting(
        "decisions per game and iteration: of the learner (maskable_ppo), of all players (ppo, alphazero)",
        16,
        low=1,
        high=10**5,
    )

    network: str = _setting(
        "layers on the whole observation, or convolutions on a plane whose cells are actions",
        "mlp",
        choices=tuple(NETWORKS),
    )
    channels: int = _setting("channels of the convolutions of the network cells", 16, low=1, high=4096)
    hidden: tuple[int, ...] = _setting("widths of the hidden layers", (256, 256), low=1, high=2**16)
    shared: bool = _setting("whether policy and value share the hidden layers", False, of=_OWN)
    heuristic: bool = _setting(
        "whether the policy starts as the heuristic of the game and learns corrections", False, of=_ZERO
    )
    heuristic_input: bool = _setting(
        "whether the heuristic values are an input of the network; needs heuristic", False, of=_ZERO
    )
    activation: str = _setting("activation of the hidden layers", "relu", choices=ACTIVATIONS, of=_SB3)
    minibatch: int = _setting("decisions per gradient step", 1024, low=2, high=10**8)
    epochs: int = _setting("passes over each rollout", 4, low=1, high=1000, of=_BOTH_PPO)
    learning_rate: float = _setting("initial learning rate of Adam", 1e-3, low=0.0, high=10.0)
    final_learning_rate: float = _setting("final learning rate, reached linearly", 1e-4, low=0.0, high=10.0)
    gamma: float = _setting("discount per decision", 1.0, low=0.0, high=1.0, of=_BOTH_PPO)
    gae_lambda: float = _setting("lambda of generalised advantage estimation", 0.95, low=0.0, high=1.0, of=_BOTH_PPO)
    clip: float = _setting("clip range of the policy ratio", 0.2, low=0.0, high=100.0, of=_BOTH_PPO)
    entropy: float = _setting("weight of the entropy bonus", 0.01, low=0.0, high=1000.0, of=_BOTH_PPO)
    value_weight: float = _setting("weight of the value loss", 0.5, low=0.0, high=1000.0)
    max_gradient: float = _setting("maximum norm of the gradient", 0.5, low=0.0, high=1e9)
    target_kl: float | None = _setting(
        "stop the epochs of an iteration at 1.5 times this KL divergence; null: never",
        None,
        low=0.0,
        high=1000.0,
        of=_BOTH_PPO,
    )
    compile: bool = _setting("compile the network with torch.compile", False, of=_PPO)
    precision: str = _setting(
        "floating-point format of the network while ppo learns or alphazero plays",
        "float32",
        choices=PRECISIONS,
        of=_OWN,
    )

    share_current: float = _setting(
        "weight of the current learner among the opponents", 0.4, low=0.0, high=1e6, of=_SB3
    )
    share_past: float = _setting(
        "weight of past selves among the opponents; of the current learner before the first",
        0.4,
        low=0.0,
        high=1e6,
        of=_SB3,
    )
    share_baselines: float = _setting("weight of baselines among the opponents", 0.2, low=0.0, high=1e6, of=_SB3)
    share_league: float = _setting(
        "probability of a game with opponents of the league; in the others all seats learn",
        0.5,
        low=0.0,
        high=1.0,
        of=_PPO,
    )
    league_floor: float = _setting(
        "fraction of the league games with uniformly drawn opponents",
        0.2,
        low=0.0,
        high=1.0,
        of=_PPO,
    )
    league_power: float = _setting(
        "an opponent is drawn in proportion to (1 - win rate of the learner) to this power",
        2.0,
        low=0.0,
        high=1000.0,
        of=_PPO,
    )
    baselines: tuple[str, ...] = _setting(
        "agents that are opponents, besides past selves", ("random", "greedy"), of=_BOTH_PPO
    )
    pool_size: int = _setting("number of past selves; the oldest is replaced first", 4, low=0, high=1000, of=_BOTH_PPO)
    snapshot_interval: int = _setting("iterations between two past selves", 25, low=1, high=10**9, of=_BOTH_PPO)

    simulations: int = _setting("simulations of a search in self-play", 16, low=2, high=10**5, of=_ZERO)
    considered: int = _setting("actions considered at the root of a search", 8, low=2, high=10**5, of=_ZERO)
    leaf_plies: int = _setting(
        "greedy plies from a leaf to the evaluated position; 0 evaluates the leaf",
        0,
        low=0,
        high=10_000,
        of=_ZERO,
    )
    exploration: float = _setting(
        "weight of the policy in a search below its root", 0.15, low=0.0, high=1000.0, of=_ZERO
    )
    policy_scale: float = _setting(
        "scale of the improvement of the policy target by a search; below 1 where few simulations are noisy",
        1.0,
        low=0.0,
        high=1000.0,
        of=_ZERO,
    )
    search_share: float = _setting(
        "probability that a decision is searched; the others follow the policy and train the values alone",
        1.0,
        low=0.0,
        high=1.0,
        of=_ZERO,
    )
    value: str = _setting(
        "what values predict: the return, or the change of the margin from the current one (change) or from the "
        "projected one (settled; then an input of the network, with heuristic_input)",
        "return",
        choices=("return", "change", "settled"),
        of=_ZERO,
    )
    win_weight: float = _setting(
        "weight of winning in a return; the rest is the squashed margin",
        0.5,
        low=0.0,
        high=1.0,
        of=_ZERO,
    )
    outcome_weight: float = _setting(
        "weight of the outcome in the value target; the rest is the value of the search",
        0.75,
        low=0.0,
        high=1.0,
        of=_ZERO,
    )
    window: int = _setting("size of the replay buffer in decisions", 200_000, low=1, high=10**9, of=_ZERO)
    reuse: float = _setting("how often a decision is sampled, on average", 4.0, low=0.0, high=10_000.0, of=_ZERO)
    symmetries: bool = _setting("transform minibatches by random symmetries of the game", True, of=_ZERO)
    averaging: float = _setting(
        "decay of the moving average of the weights that plays, per step; 0: no average",
        0.0,
        low=0.0,
        high=1.0,
        of=_ZERO,
    )
    weight_decay: float = _setting("weight decay of AdamW", 1e-4, low=0.0, high=1000.0, of=_ZERO)
    warm_agent: str = _setting("agent that is imitated before the first search", "greedy", of=_ZERO)
    warm_decisions: int = _setting("decisions of that agent; 0: no imitation", 100_000, low=0, high=10**9, of=_ZERO)
    warm_epochs: int = _setting("passes over these decisions", 4, low=1, high=1000, of=_ZERO)
    warm_exploration: float = _setting(
        "probability of a random move in imitated games; such moves are not learned", 0.1, low=0.0, high=1.0, of=_ZERO
    )
    players: int = _setting("threads that play, each with an equal part of the games", 1, low=1, high=256, of=_ZERO)

    evaluation_opponents: tuple[str, ...] = _setting("agents to evaluate against", ("random", "greedy"))
    evaluation_simulations: int = _setting(
        "simulations of a search in evaluations; 0: no search", 0, low=0, high=10**6, of=_OWN
    )
    evaluation_interval: int = _setting(
        "iterations between evaluations; the last one is at the end", 25, low=1, high=10**9
    )
    evaluation_games: int = _setting("games per opponent and evaluation", 400, low=1, high=10**7)
    checkpoint_interval: int = _setting("iterations between checkpoints", 10, low=1, high=10**9)

    threads: int = _setting("threads of torch", 1, low=1, high=256)
    device: str = _setting("device of torch, like cpu or cuda", "cpu")

    def __post_init__(self) -> None:
        for one in fields(self):
            _check_range(one.name, getattr(self, one.name), one.metadata)
        # spelled out, so that a run's config says them even if the game's defaults should change
        object.__setattr__(self, "options", dict(self.make_game().options))
        self._check_together()

    def _check_together(self) -> None:
        if self.algorithm == "maskable_ppo" and self.decisions_per_iteration % self.minibatch:
            raise ValueError(
                f"minibatch must divide games * rollout = {self.decisions_per_iteration}, {self.minibatch} does not"
            )
        if self.dense and self.rewards != "margin":
            raise ValueError(f"dense needs the rewards margin, not {self.rewards}")
        if self.network == "cells" and not has_cell_plane(self.make_game()):
            game = f"{self.game} with the encoding {self.make_game().encoding}"
            raise ValueError(f"network cells needs an observation with a plane of cells, which {game} has not")
        if self.heuristic_input and not self.heuristic:
            raise ValueError("heuristic_input needs heuristic")
        if self.algorithm == "alphazero" and self.games % self.players:
            raise ValueError(f"players must divide games = {self.games}, {self.players} does not")
        if self.algorithm == "maskable_ppo":
            self._check_opponent_weights()
        shortest = 2 * self.make_game().num_players
        if self.algorithm == "ppo" and self.rollout < shortest:
            # a seat's last decision of a rollout is not learned from
            raise ValueError(f"rollout must be at least {shortest}, two decisions of each player, not {self.rollout}")
        if self.run == "":
            raise ValueError("run must name a folder, or be null")
        if not self.evaluation_opponents:
            raise ValueError("evaluation_opponents must name an agent: the best model is chosen by evaluations")

    def _check_opponent_weights(self) -> None:
        if self.share_current + self.share_past + self.share_baselines <= 0:
            raise ValueError("share_current, share_past and share_baselines must not all be 0")
        if self.share_baselines > 0 and not self.baselines:
            raise ValueError("baselines must name an agent, or share_baselines be 0")

    def make_game(self) -> Game:
        """Return the game with its options."""
        # validated first: the name of an option in a file may be that of another argument of make_game
        spec = describe(self.game)
        options = complete(self.game, spec.options, self.options)
        # networks are trained on floats
        if self.observation is not None:
            check_choice(self.observation, "observation", spec.layouts)
        return make_game(self.game, encoding=self.observation, **options)

    @property
    def architecture(self) -> Architecture:
        """Return the architecture of the network; settings of other algorithms have no effect on it."""
        return Architecture(
            NETWORKS[self.network],
            self.hidden,
            self.channels,
            self.shared,
            self.heuristic,
            self.heuristic_input,
            margin_input=self.heuristic_input and self.value == "settled",
        )

    @property
    def decisions_per_iteration(self) -> int:
        """Return games * rollout."""
        return self.games * self.rollout

    def learning_rate_after(self, decisions: int) -> float:
        """Return the learning rate after some decisions."""
        remaining = max(0.0, 1.0 - decisions / self.decisions)
        return self.final_learning_rate + remaining * (self.learning_rate - self.final_learning_rate)

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings of the algorithm as plain YAML and JSON data."""
        plain = {one.name: getattr(self, one.name) for one in settings_of(self.algorithm)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


def settings_of(algorithm: str) -> tuple[Field[Any], ...]:
    """Return the settings that an algorithm has."""
    return tuple(one for one in fields(TrainingConfig) if algorithm in one.metadata["of"])


def _check_range(name: str, value: Any, metadata: Mapping[str, Any]) -> None:
    low, high, choices = metadata.get("low"), metadata.get("high"), metadata.get("choices")
    if choices and value not in choices:
        raise ValueError(f"setting {name} must be one of {', '.join(choices)}, not {shorten(value)}")
    if isinstance(value, tuple) and len(value) > _LONGEST_LIST:
        raise ValueError(f"setting {name} must have at most {_LONGEST_LIST} members, not {len(value):,}")
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, str) and (len(one) > _LONGEST_TEXT or "\0" in one):
            raise ValueError(
                f"setting {name} must be at most {_LONGEST_TEXT:,} characters, none of them NUL, not {shorten(one)}"
            )
        if one is None or isinstance(one, str | bool):
            continue
        # written so that nan is refused too
        if low is not None and not one >= low:
            raise ValueError(f"setting {name} must be at least {low:,}, not {shorten(one)}")
        if high is not None and not one <= high:
            raise ValueError(f"setting {name} must be at most {high:,}, not {shorten(one)}")
