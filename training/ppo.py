"""Proximal policy optimisation by self-play in every seat, read from top to bottom.

Each iteration plays `rollout` plies of `games` games side by side (`ppo_games`), works out the advantages of the
learner's decisions, for each seat along its own ones (`ppo_returns`), and improves the network by `epochs` passes
over them with the clipped objective (Schulman et al. 2017, arXiv:1707.06347). In a share of the games the learner has
one seat, and members of a league, past selves among them, have the others (`league`).

The network has one value for each player: the mover's own, which the advantages are made with, and those of the
players after it, which a tree search with the network wants. The others' values learn from the same plies and returns:
what a player may expect is known at every ply, up to its next decision. They do so where these players are the learner
too: what they tell about is play among equals. A rollout's last decision of each seat is not learned from, as nothing
is known about what came of it; it serves as the value of what comes after the one before. With `dense` rewards values
are about what is still to come: the margin as it stands is not in them.

Sizes: B decisions of a minibatch, A actions, P players.
"""

import random
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import torch
from torch import nn

from ..agents import Agent
from ..agents.networks.architecture import Architecture, build
from ..agents.networks.network_agent import NetworkAgent, NetworkSettings
from ..agents.networks.network_file import NetworkMetadata, make_metadata, save_network
from ..envs import Game
from ..envs.validation.arrays import check_integer
from .config import TrainingConfig
from .config_files import versions
from .gae import advantages_and_returns
from .league import League
from .learner import NETWORK_FILE, check_finite
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
"""Times `target_kl` at which an iteration's epochs are over."""
_LOGGED = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "gradient")


@dataclass(frozen=True)
class TrainingBatch:
    """What is learned from, by decision: a whole rollout's, or a minibatch of them.

    observation float32 [B, size], mask int8 [B, A], action int64 [B], log_probability (when it was played), advantage
    float32 [B]; returns float32 [B, P] of the players from the mover on, known float32 [B, P]: 1 where they are, or 0.
    """

    observation: torch.Tensor
    mask: torch.Tensor
    action: torch.Tensor
    log_probability: torch.Tensor
    advantage: torch.Tensor
    returns: torch.Tensor
    known: torch.Tensor

    def select(self, rows: torch.Tensor) -> "TrainingBatch":
        """Return those in some rows, int64 [k]."""
        return TrainingBatch(*(part.index_select(0, rows) for part in vars(self).values()))

    def to(self, device: torch.device) -> "TrainingBatch":
        """Return them on a device; on the CPU, where they are, without a copy."""
        return TrainingBatch(*(part.to(device, non_blocking=True) for part in vars(self).values()))


class PPOLearner:
    """The network, its optimiser, its games and its league; see `learner.Learner`."""

    kind = NETWORK_FILE

    def __init__(self, config: TrainingConfig, game: Game, trust: bool = False) -> None:
        seed_everything(config.seed)
        self.config = config
        self.game = game
        self.decisions = 0
        self.device = torch.device(config.device)
        self.architecture = Architecture(config.network, config.hidden, config.channels, config.shared)
        self.network: nn.Module = build(game, self.architecture).to(self.device)
        # the same parameters, called in another way
        self._network: Any = torch.compile(self.network, dynamic=True) if config.compile else self.network
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), config.learning_rate, eps=_ADAM_EPSILON, fused=True
        )
        self.random = torch.Generator(self.device).manual_seed(config.seed)
        self.league = League(config, game, self.network, trust=trust)
        self.games = RolloutCollector(config, game, self.league)

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play one rollout and learn from it; return statistics of games, of learning, and the league's win rates."""
        self.league.begin(iteration)
        played = self.games.play(self._act)
        decisions, rows, explained = build_batch(self.games.rollout, self.config)
        learned = self._learn(decisions, rows)
        check_finite(self.network)
        self.decisions += len(rows)
        if (iteration + 1) % self.config.snapshot_interval == 0:
            self.league.grow()
        return {**played, **learned, "train/explained_variance": explained, **self.league.logged()}

    def agent(self, name: str, seed: int) -> Agent:
        """Return an agent of the current network: its most probable actions, or a search's if the config says so."""
        head = self._head(0.0)
        settings = NetworkSettings(sims=self.config.evaluation_simulations, win=head.win_weight)
        return NetworkAgent(name, self.network, head, seed, settings)

    def write_agent(self, file: IO[bytes], seconds: float) -> None:
        """Write the network, and what it was trained for and by, as agent `net:FILE` reads it."""
        save_network(file, self.network, self._head(seconds))

    def get_state(self) -> dict[str, Any]:
        """Return network, optimiser, games, league and the generator of what is sampled and shuffled."""
        return {
            "network": dict(self.network.state_dict()),
            "optimizer": get_optimizer_state(self.optimizer),
            "random": self.random.get_state(),
            "league": self.league.get_state(),
            "games": self.games.get_state(),
            "decisions": self.decisions,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`; ValueError if it is none of such a learner."""
        check_keys(state, ("network", "optimizer", "random", "league", "games", "decisions"), "learner")
        set_weights(self.network, state["network"], "network")
        set_optimizer_state(self.optimizer, state["optimizer"], "optimizer")
        set_torch_generator(self.random, state["random"], "random")
        self.league.set_state(state["league"])
        self.games.set_state(state["games"])
        self.decisions = check_integer(state["decisions"], "decisions", 0, MOST)

    def _act(self, observation: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return sampled actions, the logarithms of their probabilities, and values; see `ppo_games.Act`."""
        with torch.no_grad():
            mask = mask.to(self.device, non_blocking=True)
            logits, values = self._forward(observation.to(self.device, non_blocking=True))
            probabilities = legal_probabilities(logits, mask)
            action = sample(probabilities, mask, self.random)
            log_probability = probabilities.gather(1, action[:, None])[:, 0].log()
            return action.cpu(), log_probability.cpu(), values.cpu()

    def _learn(self, decisions: TrainingBatch, rows: torch.Tensor) -> dict[str, float]:
        """Go over the rows of a rollout's decisions `epochs` times in minibatches; return the means of _LOGGED."""
        config = self.config
        rate = config.learning_rate_after(self.decisions)
        self.optimizer.param_groups[0]["lr"] = rate
        decisions, rows = decisions.to(self.device), rows.to(self.device)
        # as near to the size asked for as goes evenly: no small last one, whose advantages would mean little
        minibatches = max(1, round(len(rows) / config.minibatch))
        logged: list[torch.Tensor] = []
        for _ in range(config.epochs if len(rows) else 0):
            order = torch.randperm(len(rows), generator=self.random, device=self.device)
            for chosen in rows.index_select(0, order).tensor_split(minibatches):
                logged.append(self._step(decisions.select(chosen)))
            kl = torch.stack(logged[-minibatches:]).mean(dim=0)[_LOGGED.index("kl")]
            if config.target_kl is not None and kl > _STOP_AT * config.target_kl:
                break
        means = torch.stack(logged).mean(dim=0).tolist() if logged else [0.0] * len(_LOGGED)
        found = {f"train/{name}": mean for name, mean in zip(_LOGGED, means, strict=True)}
        return {**found, "train/learning_rate": rate, "train/epochs": len(logged) / minibatches}

    def _step(self, minibatch: TrainingBatch) -> torch.Tensor:
        """Make one gradient step; return the numbers of _LOGGED, float32 [6]."""
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

    def _head(self, seconds: float) -> NetworkMetadata:
        training = {
            "algorithm": self.config.algorithm,
            "decisions": self.decisions,
            "seconds": round(seconds, 1),
            "seed": self.config.seed,
            "config": self.config.to_mapping(),
            "versions": versions(),
        }
        value = "change" if self.config.dense else "reward"
        return make_metadata(self.game, self.architecture, value, training)


def make_learner(config: TrainingConfig, game: Game, trust: bool = False) -> PPOLearner:
    """Return a new learner; see `learner.make_learner`."""
    return PPOLearner(config, game, trust)


def seed_everything(seed: int) -> None:
    """Seed the global generators: torch's, which networks are drawn from, and those that only others might ask."""
    torch.manual_seed(seed)
    random.seed(seed)
    # it takes 32 bits
    np.random.seed(seed & 0xFFFFFFFF)  # noqa: NPY002


def build_batch(rollout: Rollout, config: TrainingConfig) -> tuple[TrainingBatch, torch.Tensor, float]:
    """Return a rollout's decisions, the rows of those to learn from (int64), and the explained variance of values.

    Rows are plies times games, and all rows are returned, as views where they are not computed here.
    """
    own_values = rollout.value[:, :, 0].numpy()
    advantages, learnable, returns, known = advantages_and_returns(
        rollout.reward,
        rollout.done,
        rollout.mover,
        rollout.learning,
        own_values,
        config.gamma,
        config.gae_lambda,
    )
    players = returns.shape[2]
    from_mover_on = (rollout.mover[:, :, None] + np.arange(players)) % players
    returns = np.take_along_axis(returns, from_mover_on, axis=2)
    known = np.take_along_axis(known, from_mover_on, axis=2)
    decisions = TrainingBatch(
        rollout.observation[:-1].flatten(0, 1),
        rollout.mask[:-1].flatten(0, 1),
        rollout.action.flatten(),
        rollout.log_probability.flatten(),
        torch.from_numpy(advantages).flatten(),
        torch.from_numpy(returns).flatten(0, 1),
        torch.from_numpy(known.astype(np.float32)).flatten(0, 1),
    )
    rows = torch.from_numpy(np.flatnonzero(learnable))
    return decisions, rows, _explained_variance(own_values[learnable], returns[:, :, 0][learnable])


def clipped_loss(
    logits: torch.Tensor, values: torch.Tensor, decisions: TrainingBatch, config: TrainingConfig
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return the loss of a minibatch, and without gradients its parts: policy and value loss, entropy, KL, clipped."""
    log_probability, entropy = log_probability_and_entropy(logits, decisions.mask, decisions.action)
    log_ratio = log_probability - decisions.log_probability
    ratio = log_ratio.exp()
    advantage = normalised(decisions.advantage)
    policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - config.clip, 1 + config.clip)).mean()
    value_loss = (decisions.known * (values - decisions.returns) ** 2).sum() / decisions.known.sum()
    mean_entropy = entropy.mean()
    loss = policy_loss + config.value_weight * value_loss - config.entropy * mean_entropy
    with torch.no_grad():
        # low in variance, and never below 0 (http://joschu.net/blog/kl-approx.html)
        kl = (ratio - 1 - log_ratio).mean()
        clipped = ((ratio - 1).abs() > config.clip).float().mean()
    return loss, [part.detach() for part in (policy_loss, value_loss, mean_entropy, kl, clipped)]


def normalised(advantage: torch.Tensor) -> torch.Tensor:
    """Return advantages float32 [B] of mean 0 and standard deviation 1; of a single one, 0."""
    centred = advantage - advantage.mean()
    return centred / (centred.square().mean().sqrt() + 1e-8)


def _explained_variance(values: np.ndarray, returns: np.ndarray) -> float:
    """Return the share of the returns' variance that values [n] explain; 0 if there is none."""
    variance = float(returns.var()) if len(returns) else 0.0
    return 1.0 - float((returns - values).var()) / variance if variance > 0 else 0.0
