"""Self-play games, by search with a network or by an agent, as training samples."""

from typing import Any

import numpy as np

from ..agents import Agent, DecisionBatch
from ..agents.search.batched_search import Evaluate
from ..agents.search.gumbel_search import gumbel_search
from ..agents.streams import agent_stream
from ..envs import Game, GameBatch
from ..envs.engine.random_stream import MAX_SEED
from .config import TrainingConfig
from .episode_buffer import EpisodeBuffer, TrainingSamples
from .state_checks import check_array, check_keys, check_like, set_batch_state, set_numpy_generator

_NODES_PER_SIMULATION = 48
"""A tree that needs more stops expanding."""


def tree_size(game: Game, num_simulations: int) -> int:
    """Return the capacity, in nodes, of the tree of a search."""
    return 1 + game.num_actions + _NODES_PER_SIMULATION * num_simulations


class SelfPlayActor:
    """N games side by side, reset as they end, in which all seats search: every decision, or a random fraction.

    Decisions with a single legal action are neither is_searched nor learned from.
    """

    def __init__(self, config: TrainingConfig, game: Game, num_games: int, seed: np.random.SeedSequence) -> None:
        self._config = config
        self._game = game
        games_seed, agent_seed = (int(word) & MAX_SEED for word in seed.generate_state(2, np.uint64))
        self._random = np.random.default_rng(seed.spawn(1)[0])
        self._stream = agent_stream(agent_seed)
        self._batch = GameBatch(game, num_games)
        self._batch.reset(games_seed)
        self._episodes = EpisodeBuffer(
            game, num_games, config.win_weight, config.outcome_weight, with_action_values=config.heuristic
        )

    def play(self, evaluate: Evaluate, num_plies: int) -> TrainingSamples:
        """Play by searches with a network and return the decisions of the games that ended."""
        for _ in range(num_plies):
            decisions = DecisionBatch(self._game, self._batch.states)
            actions = decisions.mask.argmax(axis=1).astype(np.int64)
            games = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
            is_searched = self._random.random(len(games)) < self._config.search_share
            if is_searched.any():
                actions[games[is_searched]] = self._search(decisions, games[is_searched], evaluate)
            if not is_searched.all():
                actions[games[~is_searched]] = self._sample_policy(decisions, games[~is_searched], evaluate)
            self._step(actions)
        return self._episodes.take()

    def imitate(self, agent: Agent, random_move_prob: float, num_plies: int) -> TrainingSamples:
        """Let an agent play, with some random moves, and return its decisions in the games that ended."""
        for _ in range(num_plies):
            decisions = DecisionBatch(self._game, self._batch.states.copy())
            actions = np.asarray(agent.act(decisions)).astype(np.int64)
            is_random = self._random.random(len(actions)) < random_move_prob
            games = np.flatnonzero((decisions.mask.sum(axis=1) > 1) & ~is_random)
            policy = np.zeros((len(games), self._game.num_actions), np.float32)
            policy[np.arange(len(games)), actions[games]] = 1.0
            self._record(decisions, games, policy, None)
            actions[is_random] = self._batch.random_actions()[is_random]
            self._step(actions)
        return self._episodes.take()

    def _search(self, decisions: DecisionBatch, games: np.ndarray, evaluate: Evaluate) -> np.ndarray:
        """Return the actions that searches choose in some games, int64 [k]; record policies and values."""
        config = self._config
        result = gumbel_search(
            self._game,
            decisions.determinize(self._stream).take(games),
            decisions.mask[games],
            evaluate,
            config.simulations,
            int(self._random.integers(MAX_SEED + 1)),
            max_num_considered_actions=config.considered,
            noise=self._random.gumbel(size=(len(games), self._game.num_actions)),
            policy_target_scale=config.policy_scale,
            c_puct=config.exploration,
            win_weight=config.win_weight,
            plies=config.leaf_plies,
            nodes=tree_size(self._game, config.simulations),
        )
        self._record(decisions, games, result.policy, result.returns)
        return result.actions

    def _sample_policy(self, decisions: DecisionBatch, games: np.ndarray, evaluate: Evaluate) -> np.ndarray:
        """Return actions sampled from the policy in some games, int64 [k]; record them for the values alone."""
        priors, _ = evaluate(DecisionBatch(self._game, self._batch.states.take(games)))
        noise = self._random.gumbel(size=priors.shape)
        # a policy learned from noisy targets is too soft: sample in proportion to its squared probabilities
        with np.errstate(divide="ignore"):
            actions: np.ndarray = (2 * np.log(priors) + noise).argmax(axis=1)
        self._record(decisions, games, np.zeros_like(priors), None)
        return actions

    def _record(
        self, decisions: DecisionBatch, games: np.ndarray, policy: np.ndarray, search_values: np.ndarray | None
    ) -> None:
        values = decisions.action_values[games] if self._config.heuristic else np.zeros((len(games), 0), np.float32)
        margins = decisions.projected_margins if self._config.value == "settled" else decisions.margins
        arrays = (decisions.observation[games], policy, decisions.mask[games], values, margins[games])
        self._episodes.add(games, decisions.seats[games], *arrays, search_values)

    def _step(self, actions: np.ndarray) -> None:
        self._batch.step(actions)
        self._episodes.finish(self._batch)

    def get_state(self) -> dict[str, Any]:
        """Return everything that future games depend on."""
        return {
            "batch": self._batch.get_state(),
            "episodes": self._episodes.get_state(),
            "random": self._random.bit_generator.state,
            "stream": self._stream.copy(),
        }

    def set_state(self, state: dict[str, Any], where: str) -> None:
        """Restore a state from `get_state`; ValueError that begins with `where` if it does not fit."""
        check_keys(state, ("batch", "episodes", "random", "stream"), where)
        batch = check_like(state["batch"], self._batch.get_state(), f"{where}/batch")
        set_batch_state(self._batch, batch, f"{where}/batch")
        self._episodes.set_state(state["episodes"], f"{where}/episodes")
        set_numpy_generator(self._random, state["random"], f"{where}/random")
        self._stream[:] = check_array(state["stream"], f"{where}/stream", self._stream)
