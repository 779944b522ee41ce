"""Proximal policy optimisation (PPO) by self-play in every seat.

Each iteration plays `rollout` plies of `games` games side by side (`rollout_collector`), computes the advantages of the
learner's decisions for each seat along its own ones (`gae`), and updates the network in `epochs` passes over them with
the clipped objective (Schulman et al. 2017, arXiv:1707.06347). In some games the learner has one seat and members of a
league, such as its past selves, have the others (`league`).

The network has one value for each player: that of the mover, from which advantages are computed, and those of the
players after it, which a tree search needs. The values of the others learn from the same plies: the return of a player
is known at every ply up to its next decision. They learn only where these players are the learner too, so they
describe play among equals. The last decision of each seat in a rollout has an unknown advantage; it only serves as the
bootstrap value of the decision before it. With `dense` rewards values are about future changes of the margin.

Sizes: B decisions of a minibatch, A actions, P players.
"""

import random
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import torch
from torch import nn

from ..agents import Agent
from ..agents.networks.architecture import build
from ..agents.networks.network_agent import NetworkAgent, NetworkSettings
from ..agents.networks.network_file import NetworkMetadata, make_metadata, save_network
from ..envs import Game
from ..envs.validation.arrays import check_integer
from .algorithm import NETWORK_FILE, check_finite
from .config import TrainingConfig
from .config_files import versions
from .gae import compute_gae
from .league import League
from .masked_categorical import legal_probabilities, log_probability_and_entropy, sample
from .rollout_collector import Rollout, RolloutCollector
from .state_checks import (
    MOST,
    check_keys,
    get_optimizer_state,
    set_optimizer_state,
    set_torch_generator,
    set_weights,
)

_ADAM_EPSILON = 1e-5
_STOP_AT = 1.5
"""Multiple of `target_kl` at which the epochs of an iteration stop."""
_METRICS = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "gradient")


@dataclass(frozen=True)
class TrainingBatch:
    """B decisions to learn from: those of a rollout, or a minibatch of them.

    | tensor | type and shape | meaning |
    |---|---|---|
    | `observation` | float32 [B, size] | of the mover |
    | `mask` | int8 [B, A] | its legal actions |
    | `action` | int64 [B] | the action taken |
    | `log_probability` | float32 [B] | of the action, by the policy that took it |
    | `advantage` | float32 [B] | of the action |
    | `returns` | float32 [B, P] | of the players from the mover on |
    | `known` | float32 [B, P] | 1 where the return is known, or 0 |
    """

    observation: torch.Tensor
    mask: torch.Tensor
    action: torch.Tensor
    log_probability: torch.Tensor
    advantage: torch.Tensor
    returns: torch.Tensor
    known: torch.Tensor

    def select(self, rows: torch.Tensor) -> "TrainingBatch":
        """Return the decisions in some rows, int64 [k]."""
        return TrainingBatch(*(part.index_select(0, rows) for part in vars(self).values()))

    def to(self, device: torch.device) -> "TrainingBatch":
        """Return the batch on a device; without a copy where it is there already."""
        return TrainingBatch(*(part.to(device, non_blocking=True) for part in vars(self).values()))


class PPOAlgorithm:
    """PPO: network, optimiser, rollout collector and league; see `algorithm.Algorithm`."""

    kind = NETWORK_FILE

    def __init__(self, config: TrainingConfig, game: Game, trust: bool = False) -> None:
        seed_everything(config.seed)
        self.config = config
        self.game = game
        self.decisions = 0
        self.device = torch.device(config.device)
        self.architecture = config.architecture
        self.network: nn.Module = build(game, self.architecture).to(self.device)
        # the same parameters, compiled
        self._network: Any = torch.compile(self.network, dynamic=True) if config.compile else self.network
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), config.learning_rate, eps=_ADAM_EPSILON, fused=True
        )
        self.random = torch.Generator(self.device).manual_seed(config.seed)
        self.league = League(config, game, self.network, trust=trust)
        self.collector = RolloutCollector(config, game, self.league)

    def train_iteration(self, iteration: int) -> dict[str, float]:
        """Play one rollout and learn from it; return metrics of games, learning and league."""
        self.league.start_iteration(iteration)
        game_metrics = self.collector.play(self._act)
        batch, rows, explained_variance = build_batch(self.collector.rollout, self.config)
        losses = self._learn(batch, rows)
        check_finite(self.network)
        self.decisions += len(rows)
        if (iteration + 1) % self.config.snapshot_interval == 0:
            self.league.grow()
        return {
            **game_metrics,
            **losses,
            "train/explained_variance": explained_variance,
            **self.league.metrics(),
        }

    def agent(self, name: str, seed: int) -> Agent:
        """Return an agent of the network, with a search if the config evaluates with one."""
        metadata = self._metadata(0.0)
        settings = NetworkSettings(sims=self.config.evaluation_simulations, win=metadata.win_weight)
        return NetworkAgent(name, self.network, metadata, seed, settings)

    def write_agent(self, file: IO[bytes], seconds: float) -> None:
        """Write the network and its metadata, for agent `net:FILE`."""
        save_network(file, self.network, self._metadata(seconds))

    def get_state(self) -> dict[str, Any]:
        """Return network, optimiser, running games, league and random state."""
        return {
            "network": dict(self.network.state_dict()),
            "optimizer": get_optimizer_state(self.optimizer),
            "random": self.random.get_state(),
            "league": self.league.get_state(),
            "collector": self.collector.get_state(),
            "decisions": self.decisions,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`; ValueError if it does not fit."""
        check_keys(state, ("network", "optimizer", "random", "league", "collector", "decisions"), "algorithm")
        set_weights(self.network, state["network"], "network")
        set_optimizer_state(self.optimizer, state["optimizer"], "optimizer")
        set_torch_generator(self.random, state["random"], "random")
        self.league.set_state(state["league"])
        self.collector.set_state(state["collector"])
        self.decisions = check_integer(state["decisions"], "decisions", 0, MOST)

    def _act(self, observation: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return sampled actions, their log-probabilities, and values; see `rollout_collector.Act`."""
        with torch.no_grad():
            mask = mask.to(self.device, non_blocking=True)
            logits, values = self._forward(observation.to(self.device, non_blocking=True))
            probabilities = legal_probabilities(logits, mask)
            action = sample(probabilities, mask, self.random)
            log_probability = probabilities.gather(1, action[:, None])[:, 0].log()
            return action.cpu(), log_probability.cpu(), values.cpu()

    def _learn(self, batch: TrainingBatch, rows: torch.Tensor) -> dict[str, float]:
        """Update the network in `epochs` passes over some rows of a batch; return the means of _METRICS."""
        config = self.config
        rate = config.learning_rate_after(self.decisions)
        self.optimizer.param_groups[0]["lr"] = rate
        batch, rows = batch.to(self.device), rows.to(self.device)
        # minibatches of equal size, near the one asked for: advantages of a small last one would be noise
        num_minibatches = max(1, round(len(rows) / config.minibatch))
        steps: list[torch.Tensor] = []
        for _ in range(config.epochs if len(rows) else 0):
            order = torch.randperm(len(rows), generator=self.random, device=self.device)
            for minibatch in rows.index_select(0, order).tensor_split(num_minibatches):
                steps.append(self._step(batch.select(minibatch)))
            kl = torch.stack(steps[-num_minibatches:]).mean(dim=0)[_METRICS.index("kl")]
            if config.target_kl is not None and kl > _STOP_AT * config.target_kl:
                break
        means = torch.stack(steps).mean(dim=0).tolist() if steps else [0.0] * len(_METRICS)
        metrics = {f"train/{name}": mean for name, mean in zip(_METRICS, means, strict=True)}
        return {**metrics, "train/learning_rate": rate, "train/epochs": len(steps) / num_minibatches}

    def _step(self, minibatch: TrainingBatch) -> torch.Tensor:
        """Take one gradient step; return the _METRICS, float32 [6]."""
        logits, values = self._forward(minibatch.observation)
        loss, numbers = clipped_loss(logits, values, minibatch, self.config)
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_gradient)
        self.optimizer.step()
        return torch.stack([*numbers, norm])

    def _forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits and values, float32 whatever the precision of the layers."""
        if self.config.precision == "float32":
            return self._network(observation)
        with torch.autocast(self.device.type, torch.bfloat16):
            logits, values = self._network(observation)
        return logits.float(), values.float()

    def _metadata(self, seconds: float) -> NetworkMetadata:
        training = {
            "algorithm": self.config.algorithm,
            "decisions": self.decisions,
            "seconds": round(seconds, 1),
            "seed": self.config.seed,
            "config": self.config.to_mapping(),
            "versions": versions(),
        }
        value = "reward_minus_score" if self.config.dense else "reward"
        return make_metadata(self.game, self.architecture, value, training)


def make_algorithm(config: TrainingConfig, game: Game, trust: bool = False) -> PPOAlgorithm:
    """Return a new instance; see `algorithm.make_algorithm`."""
    return PPOAlgorithm(config, game, trust)


def seed_everything(seed: int) -> None:
    """Seed the global generators of torch, which initialises networks, of Python and of numpy."""
    torch.manual_seed(seed)
    random.seed(seed)
    # it takes a seed of 32 bits
    np.random.seed(seed & 0xFFFFFFFF)  # noqa: NPY002


def build_batch(rollout: Rollout, config: TrainingConfig) -> tuple[TrainingBatch, torch.Tensor, float]:
    """Return the decisions of a rollout, the rows to learn from (int64), and the explained variance of the values.

    The batch has all T * N rows, as views where possible.
    """
    mover_values = rollout.value[:, :, 0].numpy()
    advantages, learnable, returns, known = compute_gae(
        rollout.reward,
        rollout.done,
        rollout.mover,
        rollout.learning,
        mover_values,
        config.gamma,
        config.gae_lambda,
    )
    players = returns.shape[2]
    seats_from_mover = (rollout.mover[:, :, None] + np.arange(players)) % players
    returns = np.take_along_axis(returns, seats_from_mover, axis=2)
    known = np.take_along_axis(known, seats_from_mover, axis=2)
    batch = TrainingBatch(
        rollout.observation[:-1].flatten(0, 1),
        rollout.mask[:-1].flatten(0, 1),
        rollout.action.flatten(),
        rollout.log_probability.flatten(),
        torch.from_numpy(advantages).flatten(),
        torch.from_numpy(returns).flatten(0, 1),
        torch.from_numpy(known.astype(np.float32)).flatten(0, 1),
    )
    rows = torch.from_numpy(np.flatnonzero(learnable))
    return batch, rows, _explained_variance(mover_values[learnable], returns[:, :, 0][learnable])


def clipped_loss(
    logits: torch.Tensor, values: torch.Tensor, batch: TrainingBatch, config: TrainingConfig
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return the loss of a minibatch, and detached its policy loss, value loss, entropy, KL and clip fraction."""
    log_probability, entropy = log_probability_and_entropy(logits, batch.mask, batch.action)
    log_ratio = log_probability - batch.log_probability
    ratio = log_ratio.exp()
    advantage = normalise(batch.advantage)
    policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - config.clip, 1 + config.clip)).mean()
    value_loss = (batch.known * (values - batch.returns) ** 2).sum() / batch.known.sum()
    mean_entropy = entropy.mean()
    loss = policy_loss + config.value_weight * value_loss - config.entropy * mean_entropy
    with torch.no_grad():
        # an estimator of low variance that is never negative (http://joschu.net/blog/kl-approx.html)
        kl = (ratio - 1 - log_ratio).mean()
        clip_fraction = ((ratio - 1).abs() > config.clip).float().mean()
    return loss, [part.detach() for part in (policy_loss, value_loss, mean_entropy, kl, clip_fraction)]


def normalise(advantage: torch.Tensor) -> torch.Tensor:
    """Return advantages [B] of mean 0 and standard deviation 1; 0 for a single one."""
    centred = advantage - advantage.mean()
    return centred / (centred.square().mean().sqrt() + 1e-8)


def _explained_variance(values: np.ndarray, returns: np.ndarray) -> float:
    """Return the fraction of the variance of returns [n] that values [n] explain; 0 without variance."""
    variance = float(returns.var()) if len(returns) else 0.0
    return 1.0 - float((returns - values).var()) / variance if variance > 0 else 0.0
