"""AlphaZero-style training with Gumbel search at the root.

A network of policy and values plays against itself, many games side by side. Every decision is made by a small tree
search, in which hidden information and future chance are resampled (`self_play_actor`). The policy learns the improved
policy of the search. The values, one for each player, learn the outcome of the game mixed with the values of the
search; `win_weight` weighs winning against the squashed margin. The decisions of finished games go into a replay buffer
(`replay_buffer`), from which minibatches are sampled and transformed by random symmetries of the game. With `heuristic`
the network learns what to add to the heuristic values of the game.

With a `search_share` below 1 only this fraction of decisions is searched and trains the policy. The others follow the
policy, which is cheap and gives the values many more finished games to learn from (Wu 2019, "Accelerating self-play
learning in Go", playout cap randomization).

With `averaging` an exponential moving average (EMA) of the weights plays, as a single network follows noisy targets.

The first iteration imitates an agent, by default the heuristic of the game: from random initialisation, search gives no
signal for a long time.

Sources: Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go through
self-play"; Danihelka et al. 2022, "Policy improvement by planning with Gumbel".
"""

import copy
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import IO, Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ..agents import Agent, make_agent
from ..agents.networks.architecture import build
from ..agents.networks.network_agent import NetworkAgent, default_settings
from ..agents.networks.network_file import NetworkMetadata, make_metadata, save_network
from ..envs import Game
from ..envs.engine.random_stream import MAX_SEED
from .algorithm import NETWORK_FILE, check_finite
from .config import TrainingConfig
from .config_files import versions
from .episode_buffer import TrainingSamples
from .replay_buffer import ReplayBuffer
from .self_play_actor import SelfPlayActor
from .state_checks import (
    check_keys,
    check_list,
    check_number,
    get_optimizer_state,
    set_numpy_generator,
    set_optimizer_state,
    set_weights,
)

_NO_LOGIT = -1e9
_IMITATION_PLIES = 16
_VALUES = {"return": "return", "change": "reward_minus_score", "settled": "reward_minus_projected_score"}
"""The meaning of the values in the metadata of a network, by the setting `value`."""


class _Minibatch(NamedTuple):
    """Tensors of B decisions, on the device of the network, as in `TrainingSamples`."""

    observation: torch.Tensor
    returns: torch.Tensor
    margins: torch.Tensor
    policy: torch.Tensor
    mask: torch.Tensor
    action_values: torch.Tensor = torch.empty(0)


class AlphaZeroAlgorithm:
    """AlphaZero: network, optimiser, self-play actors and replay buffer; see `algorithm.Algorithm`."""

    kind = NETWORK_FILE

    def __init__(self, config: TrainingConfig, game: Game, trust: bool = False) -> None:
        torch.manual_seed(config.seed)
        np.random.seed(config.seed & 0xFFFFFFFF)  # noqa: NPY002
        random.seed(config.seed)
        self.config = config
        self.game = game
        self._trust = trust
        self.device = torch.device(config.device)
        self.architecture = config.architecture
        self.network: nn.Module = build(game, self.architecture).to(self.device)
        self.ema_network: nn.Module = copy.deepcopy(self.network) if config.averaging else self.network
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), config.learning_rate, weight_decay=config.weight_decay
        )
        seeds = np.random.SeedSequence(config.seed).spawn(config.players + 1)
        games_per_actor = config.games // config.players
        self.actors = [SelfPlayActor(config, game, games_per_actor, seed) for seed in seeds[1:]]
        self.random = np.random.default_rng(seeds[0])
        sizes = (game.observation_size, game.num_actions, game.num_players)
        self.replay_buffer = ReplayBuffer(config.window, *sizes, config.heuristic)
        self._pending_steps = 0.0
        self._symmetry = game.spec.symmetry()

    @property
    def decisions(self) -> int:
        """Return the number of decisions added to the replay buffer."""
        return self.replay_buffer.count

    def train_iteration(self, iteration: int) -> dict[str, float]:
        """Play and learn for one iteration; the first one imitates an agent, if the config says so."""
        imitating = iteration == 0 and self.config.warm_decisions > 0
        start = time.perf_counter()
        batches = self._imitate() if imitating else self._play()
        seconds_playing = time.perf_counter() - start
        for samples in batches:
            self.replay_buffer.add(samples)
        num_samples, num_games = sum(map(len, batches)), sum(samples.num_games for samples in batches)
        replay_ratio = self.config.warm_epochs if imitating else self.config.reuse
        self._pending_steps += replay_ratio * num_samples / self.config.minibatch
        num_steps = int(self._pending_steps) if len(self.replay_buffer) else 0
        self._pending_steps -= num_steps
        losses = self._learn(num_steps)
        check_finite(self.network)
        return {
            "rollout/games": float(num_games),
            "rollout/length": num_samples / max(1, num_games),
            "time/playing": seconds_playing,
            "time/learning": time.perf_counter() - start - seconds_playing,
            **losses,
        }

    def agent(self, name: str, seed: int) -> Agent:
        """Return an agent of the network, with a search if the config evaluates with one."""
        metadata = self._metadata(0.0)
        settings = replace(default_settings(metadata), sims=self.config.evaluation_simulations)
        return NetworkAgent(name, self.ema_network, metadata, seed, settings)

    def write_agent(self, file: IO[bytes], seconds: float) -> None:
        """Write the network and its metadata, for agent `net:FILE`."""
        save_network(file, self.ema_network, self._metadata(seconds))

    def get_state(self) -> dict[str, Any]:
        """Return networks, optimiser, running games, replay buffer and random states."""
        return {
            "network": dict(self.network.state_dict()),
            "ema_network": dict(self.ema_network.state_dict()) if self.config.averaging else {},
            "optimizer": get_optimizer_state(self.optimizer),
            "actors": [actor.get_state() for actor in self.actors],
            "replay_buffer": self.replay_buffer.get_state(),
            "random": self.random.bit_generator.state,
            "pending_steps": self._pending_steps,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`; ValueError if it does not fit."""
        names = ("network", "ema_network", "optimizer", "actors", "replay_buffer", "random", "pending_steps")
        check_keys(state, names, "algorithm")
        set_weights(self.network, state["network"], "network")
        if self.config.averaging:
            set_weights(self.ema_network, state["ema_network"], "ema_network")
        set_optimizer_state(self.optimizer, state["optimizer"], "optimizer")
        actor_states = check_list(state["actors"], len(self.actors), "actors")
        for index, (actor, actor_state) in enumerate(zip(self.actors, actor_states, strict=True)):
            actor.set_state(actor_state, f"actors/{index}")
        self.replay_buffer.set_state(state["replay_buffer"])
        set_numpy_generator(self.random, state["random"], "random")
        self._pending_steps = check_number(state["pending_steps"], "pending_steps", 0.0, 1.0)

    def _play(self) -> list[TrainingSamples]:
        """Let all actors play a rollout by search, each in its own thread."""
        network = self.ema_network
        if self.config.precision == "bfloat16":
            network = copy.deepcopy(network).to(torch.bfloat16)
        evaluate = NetworkAgent("", network, self._metadata(0.0), 0).evaluate
        if len(self.actors) == 1:
            return [self.actors[0].play(evaluate, self.config.rollout)]
        # the threads of torch are divided among the actors while they play
        torch.set_num_threads(max(1, self.config.threads // len(self.actors)))
        try:
            # kernels and torch release the GIL
            with ThreadPoolExecutor(len(self.actors)) as pool:
                return list(pool.map(lambda actor: actor.play(evaluate, self.config.rollout), self.actors))
        finally:
            torch.set_num_threads(self.config.threads)

    def _imitate(self) -> list[TrainingSamples]:
        """Let an agent play until it has made enough decisions."""
        config = self.config
        batches: list[TrainingSamples] = []
        seeds = [int(self.random.integers(MAX_SEED + 1)) for _ in self.actors]
        agents = [make_agent(config.warm_agent, self.game, seed, trust=self._trust) for seed in seeds]
        while sum(map(len, batches)) < config.warm_decisions:
            for actor, agent in zip(self.actors, agents, strict=True):
                batches.append(actor.imitate(agent, config.warm_exploration, _IMITATION_PLIES))
        return batches

    def _learn(self, num_steps: int) -> dict[str, float]:
        """Take some gradient steps; return the mean losses."""
        if not num_steps:
            return {}
        rate = self.config.learning_rate_after(self.decisions)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        means = torch.stack([self._step() for _ in range(num_steps)]).mean(dim=0).tolist()
        names = ("policy_loss", "value_loss", "policy_entropy", "gradient")
        losses = {f"train/{name}": mean for name, mean in zip(names, means, strict=True)}
        return {**losses, "train/learning_rate": rate, "train/steps": float(num_steps)}

    def _step(self) -> torch.Tensor:
        """Take one gradient step on a minibatch; return policy loss, value loss, entropy and gradient norm [4]."""
        minibatch = self._sample_minibatch()
        inputs = [minibatch.observation]
        if self.config.heuristic:
            inputs.append(minibatch.action_values)
        if self.architecture.margin_input:
            inputs.append(minibatch.margins)
        logits, values = self.network(*inputs)
        log_policy = logits.masked_fill(minibatch.mask == 0, _NO_LOGIT).log_softmax(dim=1)
        # decisions without a search have no target, which is 0
        policy_loss = -(minibatch.policy * log_policy).sum() / minibatch.policy.sum().clamp(min=1.0)
        if self.config.value != "return":
            # 0.5 + 0.5 * tanh(x), as returns are made of margins, is the sigmoid of 2 * x
            values = 2 * (values + minibatch.margins)
        # returns lie between 0 and 1: far off, cross-entropy has a larger gradient through the sigmoid than the square
        value_loss = nn.functional.binary_cross_entropy_with_logits(values, minibatch.returns)
        loss = policy_loss + self.config.value_weight * value_loss
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_gradient)
        self.optimizer.step()
        self._update_ema()
        with torch.no_grad():
            entropy = -(log_policy.exp() * log_policy).sum(dim=1).mean()
        return torch.stack([policy_loss.detach(), value_loss.detach(), entropy, norm.detach()])

    def _sample_minibatch(self) -> _Minibatch:
        """Sample decisions from the replay buffer, and transform each by a random symmetry."""
        samples = self.replay_buffer.sample(self.config.minibatch, self.random)
        observation = samples.observation
        per_action: tuple[np.ndarray, ...] = (samples.policy, samples.mask, samples.action_values)
        if not self.config.heuristic:
            per_action = per_action[:2]
        if self.config.symmetries:
            observation, per_action = self._symmetry.transform(
                self.game.options, self.game.layout, observation, per_action, self.random
            )
        arrays = (observation, samples.returns, samples.margins, *per_action)
        tensors = (torch.from_numpy(np.ascontiguousarray(array)).to(self.device) for array in arrays)
        return _Minibatch(*tensors)

    def _update_ema(self) -> None:
        """Move the EMA of the weights towards the network, if the config has one."""
        if self.ema_network is self.network:
            return
        with torch.no_grad():
            for mean, weight in zip(self.ema_network.parameters(), self.network.parameters(), strict=True):
                mean.lerp_(weight, 1 - self.config.averaging)

    def _metadata(self, seconds: float) -> NetworkMetadata:
        training = {
            "algorithm": self.config.algorithm,
            "decisions": self.decisions,
            "seconds": round(seconds, 1),
            "seed": self.config.seed,
            "win_weight": self.config.win_weight,
            "leaf_plies": self.config.leaf_plies,
            "config": self.config.to_mapping(),
            "versions": versions(),
        }
        return make_metadata(self.game, self.architecture, _VALUES[self.config.value], training)


def make_algorithm(config: TrainingConfig, game: Game, trust: bool = False) -> AlphaZeroAlgorithm:
    """Return a new instance; see `algorithm.make_algorithm`."""
    return AlphaZeroAlgorithm(config, game, trust)
