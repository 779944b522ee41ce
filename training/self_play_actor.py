"""Games that a network plays against itself by search, or an agent against itself, as lessons."""

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
"""A tree for which that is too few stops to grow."""


def tree_size(game: Game, simulations: int) -> int:
    """Return how many nodes the tree of a search gets."""
    return 1 + game.num_actions + _NODES_PER_SIMULATION * simulations


class SelfPlayActor:
    """N games side by side, begun anew as they end; all seats search alike, every decision or a share of them.

    Decisions with a single legal action are neither searched nor learned from.
    """

    def __init__(self, config: TrainingConfig, game: Game, num_games: int, seed: np.random.SeedSequence) -> None:
        self._config = config
        self._game = game
        games_seed, own_seed = (int(word) & MAX_SEED for word in seed.generate_state(2, np.uint64))
        self._random = np.random.default_rng(seed.spawn(1)[0])
        self._stream = agent_stream(own_seed)
        self._batch = GameBatch(game, num_games)
        self._batch.reset(games_seed)
        self._histories = EpisodeBuffer(
            game, num_games, config.win_weight, config.outcome_weight, valued=config.heuristic
        )

    def play(self, evaluate: Evaluate, plies: int) -> TrainingSamples:
        """Play on by searches with a network and return the decisions of the games that ended."""
        for _ in range(plies):
            decisions = DecisionBatch(self._game, self._batch.states)
            actions = decisions.mask.argmax(axis=1).astype(np.int64)
            games = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
            searched = self._random.random(len(games)) < self._config.search_share
            if searched.any():
                actions[games[searched]] = self._search(decisions, games[searched], evaluate)
            if not searched.all():
                actions[games[~searched]] = self._follow(decisions, games[~searched], evaluate)
            self._step(actions)
        return self._histories.take()

    def imitate(self, agent: Agent, exploration: float, plies: int) -> TrainingSamples:
        """Play on as an agent does, but for a share of random moves, and return its decisions in games that ended."""
        for _ in range(plies):
            decisions = DecisionBatch(self._game, self._batch.states.copy())
            actions = np.asarray(agent.act(decisions)).astype(np.int64)
            strays = self._random.random(len(actions)) < exploration
            games = np.flatnonzero((decisions.mask.sum(axis=1) > 1) & ~strays)
            policy = np.zeros((len(games), self._game.num_actions), np.float32)
            policy[np.arange(len(games)), actions[games]] = 1.0
            self._note(decisions, games, policy, None)
            actions[strays] = self._batch.random_actions()[strays]
            self._step(actions)
        return self._histories.take()

    def _search(self, decisions: DecisionBatch, games: np.ndarray, evaluate: Evaluate) -> np.ndarray:
        """Return the actions that searches choose in some games, int64 [k]; note what they found."""
        config = self._config
        found = gumbel_search(
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
        self._note(decisions, games, found.policy, found.returns)
        return found.actions

    def _follow(self, decisions: DecisionBatch, games: np.ndarray, evaluate: Evaluate) -> np.ndarray:
        """Return actions drawn from the policy in some games, int64 [k]; note the positions, for the values alone."""
        priors, _ = evaluate(DecisionBatch(self._game, self._batch.states.take(games)))
        noise = self._random.gumbel(size=priors.shape)
        # a policy that is learned from noise is softer than it should be: draw by the squares of its probabilities
        with np.errstate(divide="ignore"):
            actions: np.ndarray = (2 * np.log(priors) + noise).argmax(axis=1)
        self._note(decisions, games, np.zeros_like(priors), None)
        return actions

    def _note(
        self, decisions: DecisionBatch, games: np.ndarray, policy: np.ndarray, expected: np.ndarray | None
    ) -> None:
        values = decisions.action_values[games] if self._config.heuristic else np.zeros((len(games), 0), np.float32)
        margins = decisions.projected_margins if self._config.value == "settled" else decisions.margins
        seen = (decisions.observation[games], policy, decisions.mask[games], values, margins[games])
        self._histories.add(games, decisions.seats[games], *seen, expected)

    def _step(self, actions: np.ndarray) -> None:
        self._batch.step(actions)
        self._histories.end(self._batch)

    def get_state(self) -> dict[str, Any]:
        """Return all that the games to come depend on."""
        return {
            "batch": self._batch.get_state(),
            "histories": self._histories.get_state(),
            "random": self._random.bit_generator.state,
            "stream": self._stream.copy(),
        }

    def set_state(self, state: dict[str, Any], where: str) -> None:
        """Go back to a state from `get_state`; ValueError that begins with `where` if it is none of such games."""
        check_keys(state, ("batch", "histories", "random", "stream"), where)
        batch = check_like(state["batch"], self._batch.get_state(), f"{where}/batch")
        set_batch_state(self._batch, batch, f"{where}/batch")
        self._histories.set_state(state["histories"], f"{where}/histories")
        set_numpy_generator(self._random, state["random"], f"{where}/random")
        self._stream[:] = check_array(state["stream"], f"{where}/stream", self._stream)
