"""Search and learn (AlphaZero, with Gumbel search at the root), read from top to bottom.

A network of policy and values plays against itself, many games side by side, every decision by a small tree search in
which all that the player cannot see, and the chance to come, is dealt anew (`search_player`). What a search found
better than the policy is what the policy learns; what came of the game, mixed with what the search expected, is what
the values learn: one for each player, of winning and of the squashed margin as the config weighs them. Games that have
ended go into a window of the last decisions (`replay_window`), from which minibatches are drawn, turned by the game's
symmetries at random. With `heuristic` the policy is what the network adds to the values of the game's heuristic.

With a `search_share` below 1 only so many decisions are searched and teach the policy; the others follow it, which
costs little and brings many more ended games for the values to learn from (Wu 2019, "Accelerating self-play learning in
Go", playout cap randomization).

With `averaging` it is the running mean of the network's weights that plays: targets are noisy, and a mean is not.

The first iteration imitates the games of a given agent, by default the game's heuristic: from nothing, searches find
nothing to learn from for a long time.

Sources: Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go through
self-play"; Danihelka et al. 2022, "Policy improvement by planning with Gumbel".
"""

import copy
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import IO, Any

import numpy as np
import torch
from torch import nn

from ..agents import Agent, make_agent
from ..agents.networks.architecture import Architecture, build
from ..agents.networks.network_agent import NetworkAgent, default_settings
from ..agents.networks.network_file import NetworkMetadata, make_metadata, save_network
from ..envs import Game
from ..envs.engine.random_stream import MAX_SEED
from .config import TrainingConfig
from .config_files import versions
from .episode_buffer import TrainingSamples
from .learner import NETWORK_FILE, check_finite
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
_WARM_PLIES = 16


class AlphaZeroLearner:
    """Network, optimiser, games and window; see `learner.Learner`."""

    kind = NETWORK_FILE

    def __init__(self, config: TrainingConfig, game: Game, trust: bool = False) -> None:
        torch.manual_seed(config.seed)
        np.random.seed(config.seed & 0xFFFFFFFF)  # noqa: NPY002
        random.seed(config.seed)
        self.config = config
        self.game = game
        self._trust = trust
        self.device = torch.device(config.device)
        self.architecture = Architecture(
            config.network,
            config.hidden,
            config.channels,
            config.shared,
            config.heuristic,
            config.heuristic_input,
            margin_input=config.heuristic_input and config.value == "settled",
        )
        self.network: nn.Module = build(game, self.architecture).to(self.device)
        self.playing: nn.Module = copy.deepcopy(self.network) if config.averaging else self.network
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), config.learning_rate, weight_decay=config.weight_decay
        )
        seeds = np.random.SeedSequence(config.seed).spawn(config.players + 1)
        share = config.games // config.players
        self.players = [SelfPlayActor(config, game, share, seed) for seed in seeds[1:]]
        self.random = np.random.default_rng(seeds[0])
        sizes = (game.observation_size, game.num_actions, game.num_players)
        self.window = ReplayBuffer(config.window, *sizes, config.heuristic)
        self._steps_owed = 0.0
        self._symmetry = game.spec.symmetry()

    @property
    def decisions(self) -> int:
        """Return how many decisions have gone into the window."""
        return self.window.count

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play and learn once more; the first time by imitation, if the config wants that."""
        warm = iteration == 0 and self.config.warm_decisions > 0
        began = time.perf_counter()
        lessons = self._imitate() if warm else self._play()
        played = time.perf_counter() - began
        for one in lessons:
            self.window.add(one)
        new, games = sum(map(len, lessons)), sum(one.games for one in lessons)
        reuse = self.config.warm_epochs if warm else self.config.reuse
        self._steps_owed += reuse * new / self.config.minibatch
        steps = int(self._steps_owed) if len(self.window) else 0
        self._steps_owed -= steps
        learned = self._learn(steps)
        check_finite(self.network)
        return {
            "rollout/games": float(games),
            "rollout/length": new / max(1, games),
            "time/playing": played,
            "time/learning": time.perf_counter() - began - played,
            **learned,
        }

    def agent(self, name: str, seed: int) -> Agent:
        """Return an agent of the current network, with a search if the config evaluates with one."""
        head = self._head(0.0)
        settings = replace(default_settings(head), sims=self.config.evaluation_simulations)
        return NetworkAgent(name, self.playing, head, seed, settings)

    def write_agent(self, file: IO[bytes], seconds: float) -> None:
        """Write the network, and what it was trained for and by, as agent `net:FILE` reads it."""
        save_network(file, self.playing, self._head(seconds))

    def get_state(self) -> dict[str, Any]:
        """Return network, optimiser, games under way, window and all streams."""
        return {
            "network": dict(self.network.state_dict()),
            "playing": dict(self.playing.state_dict()) if self.config.averaging else {},
            "optimizer": get_optimizer_state(self.optimizer),
            "players": [player.get_state() for player in self.players],
            "window": self.window.get_state(),
            "random": self.random.bit_generator.state,
            "steps_owed": self._steps_owed,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`; ValueError if it is none of such a learner."""
        names = ("network", "playing", "optimizer", "players", "window", "random", "steps_owed")
        check_keys(state, names, "learner")
        set_weights(self.network, state["network"], "network")
        if self.config.averaging:
            set_weights(self.playing, state["playing"], "playing")
        set_optimizer_state(self.optimizer, state["optimizer"], "optimizer")
        players = check_list(state["players"], len(self.players), "players")
        for place, (player, own) in enumerate(zip(self.players, players, strict=True)):
            player.set_state(own, f"players/{place}")
        self.window.set_state(state["window"])
        set_numpy_generator(self.random, state["random"], "random")
        self._steps_owed = check_number(state["steps_owed"], "steps_owed", 0.0, 1.0)

    def _play(self) -> list[TrainingSamples]:
        """Let all players play a rollout by search, each in a thread of its own."""
        network = self.playing
        if self.config.precision == "bfloat16":
            network = copy.deepcopy(network).to(torch.bfloat16)
        evaluate = NetworkAgent("", network, self._head(0.0), 0).evaluate
        if len(self.players) == 1:
            return [self.players[0].play(evaluate, self.config.rollout)]
        # torch's threads are shared out: all of them are there again for learning
        torch.set_num_threads(max(1, self.config.threads // len(self.players)))
        try:
            # kernels and torch let go of Python's lock
            with ThreadPoolExecutor(len(self.players)) as pool:
                return list(pool.map(lambda player: player.play(evaluate, self.config.rollout), self.players))
        finally:
            torch.set_num_threads(self.config.threads)

    def _imitate(self) -> list[TrainingSamples]:
        """Let an agent play until it has made enough decisions."""
        config = self.config
        lessons: list[TrainingSamples] = []
        seeds = [int(self.random.integers(MAX_SEED + 1)) for _ in self.players]
        agents = [make_agent(config.warm_agent, self.game, seed, trust=self._trust) for seed in seeds]
        while sum(map(len, lessons)) < config.warm_decisions:
            for player, agent in zip(self.players, agents, strict=True):
                lessons.append(player.imitate(agent, config.warm_exploration, _WARM_PLIES))
        return lessons

    def _learn(self, steps: int) -> dict[str, float]:
        """Make some gradient steps; return the means of the losses."""
        if not steps:
            return {}
        rate = self.config.learning_rate_after(self.decisions)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        logged = torch.stack([self._step() for _ in range(steps)]).mean(dim=0).tolist()
        names = ("policy_loss", "value_loss", "policy_entropy", "gradient")
        found = {f"train/{name}": mean for name, mean in zip(names, logged, strict=True)}
        return {**found, "train/learning_rate": rate, "train/steps": float(steps)}

    def _step(self) -> torch.Tensor:
        """Make one gradient step on a minibatch of the window; return the numbers to log, float32 [4]."""
        lessons = self.window.draw(self.config.minibatch, self.random)
        observation = lessons.observation
        of_actions: tuple[np.ndarray, ...] = (lessons.policy, lessons.mask)
        if self.config.heuristic:
            of_actions = (*of_actions, lessons.action_values)
        if self.config.symmetries:
            observation, of_actions = self._symmetry.transform(
                self.game.options, self.game.observation, observation, of_actions, self.random
            )
        tensors = (
            torch.from_numpy(np.ascontiguousarray(one))
            for one in (lessons.returns, lessons.margins, observation, *of_actions)
        )
        worth, margins, see, target, legal, *others = (tensor.to(self.device) for tensor in tensors)
        if self.architecture.margin_input:
            others.append(margins)
        logits, values = self.network(see, *others)
        log_policy = logits.masked_fill(legal == 0, _NO_LOGIT).log_softmax(dim=1)
        # decisions without a search have no target, which is 0
        policy_loss = -(target * log_policy).sum() / target.sum().clamp(min=1.0)
        if self.config.value != "return":
            # 0.5 + 0.5 * tanh(x), as returns are made of margins, is the sigmoid of 2 * x
            values = 2 * (values + margins)
        # returns lie between 0 and 1: cross-entropy pulls a sigmoid harder than the square does where it is far off
        value_loss = nn.functional.binary_cross_entropy_with_logits(values, worth)
        loss = policy_loss + self.config.value_weight * value_loss
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_gradient)
        self.optimizer.step()
        with torch.no_grad():
            if self.playing is not self.network:
                for mean, weight in zip(self.playing.parameters(), self.network.parameters(), strict=True):
                    mean.lerp_(weight, 1 - self.config.averaging)
            entropy = -(log_policy.exp() * log_policy).sum(dim=1).mean()
        return torch.stack([policy_loss.detach(), value_loss.detach(), entropy, norm.detach()])

    def _head(self, seconds: float) -> NetworkMetadata:
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
        return make_metadata(self.game, self.architecture, self.config.value, training)


def make_learner(config: TrainingConfig, game: Game, trust: bool = False) -> AlphaZeroLearner:
    """Return a new learner; see `learner.make_learner`."""
    return AlphaZeroLearner(config, game, trust)
