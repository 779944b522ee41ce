"""Tree search with a network at the leaves: many games side by side, one evaluation for all leaves of a step."""

import math
from collections.abc import Callable

import numpy as np

from ...envs.engine.gumbel_root import select_root_actions
from ...envs.engine.random_stream import game_seeds
from ...envs.engine.rollout import ROLLOUT_SETTINGS
from ...envs.engine.search_tree import make_trees, node_dtype, root_statistics
from ...envs.engine.state import RUNNING
from ...envs.engine.tree_search import Search, back_up_games, descend_games, roll_out_games
from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch
from ..streams import agent_stream
from .time_limit import chunks

CHUNK_SIZE = 16
"""Simulations between two looks at the clock, at most."""
_LARGEST_ANSWER = 1_000_000
"""Sums of these keep far from what a float32 can hold."""
Evaluate = Callable[[DecisionBatch], tuple[np.ndarray, np.ndarray]]
"""Returns priors float32 [n, num_actions] of the players to move, and values float32 [n, players], the return from 0
to 1 that each seat may expect."""


class BatchedSearch:
    """The trees of n games that are searched side by side, by PUCT.

    Arguments:
        states: records [n], running games in which all that the seat to move cannot see has been dealt anew
            (`DecisionBatch.determinize`).
        evaluate: the network, called once per simulation with the leaves of all games that are not over; ValueError
            if its answers have another shape or are not finite.
        seed: of all deals and ties. Game i of a seed has a stream of its own.
        c_puct: weight of the priors.
        closed_loop: whether what chance brings makes nodes of its own.
        win_weight: weight of winning in the return of a finished game; the rest is the squashed margin.
        plies: greedy plies that the game is played on from a leaf before its value is asked for, until it is the
            searching seat's turn again: quiet positions are easier to value. 0 values the leaf itself.
        nodes: size of each game's tree at most, 48 bytes each in games for up to four.

    Attributes:
        priors: float32 [n, num_actions] and values: float32 [n, players or more], what the network says of the roots;
            they are there after the first simulation.
    """

    def __init__(
        self,
        game: Game,
        states: np.ndarray,
        evaluate: Evaluate,
        seed: int,
        *,
        c_puct: float = 1.25,
        closed_loop: bool = False,
        win_weight: float = 0.5,
        plies: int = 0,
        nodes: int = 20_000,
    ) -> None:
        states = game.door.many(states)
        number = len(states)
        self._game = game
        self._states = states
        self._evaluate = evaluate
        settings = np.zeros(1, ROLLOUT_SETTINGS)
        settings["c_puct"], settings["closed_loop"] = c_puct, closed_loop
        settings["win_weight"], settings["margin_scale"] = win_weight, game.spec.margin_scale
        settings["puct"] = settings["network"] = True
        settings["layout"], settings["temperature"] = game.layout_index, 1.0
        settings["rollout_plies"], settings["greedy_prob"] = plies, 1.0
        streams = np.stack([agent_stream(game_seed) for game_seed in game_seeds(seed, number).tolist()])
        self._search = Search(settings, streams, game.make_workspace())
        # empty takes no time for nodes that are never used; of a new tree the root alone is read, and cleared first
        self._trees = make_trees(np.empty((number, nodes), node_dtype(game.spec.most_players)))
        self._leaves = states.copy()
        self._rollout_states = states.copy() if plies else self._leaves
        self._seats = states["to_move"].astype(np.int64)
        self._leaf_priors = np.zeros((number, game.num_actions), np.float32)
        self._leaf_values = np.zeros((number, *self._trees.nodes.dtype["mean"].shape), np.float32)
        self._free = np.full(number, -1)
        self.priors = self._leaf_priors
        self.values = self._leaf_values

    def simulate(self, root_actions: np.ndarray | None = None) -> None:
        """Run one simulation in each game; the first evaluates the root.

        root_actions: int64 [n], legal actions to begin with, -1 for the search's own choice, as None for all games.
        """
        at_root = self._trees.num_nodes[0] == 0
        chosen = self._free if root_actions is None else root_actions
        descend_games(self._states, self._leaves, chosen, self._trees, self._search)
        running, priors, values = self._evaluate_running(self._leaves)
        self._leaf_priors[running] = priors
        if self._rollout_states is not self._leaves:
            roll_out_games(self._states, self._leaves, self._rollout_states, self._search)
            running, _, values = self._evaluate_running(self._rollout_states)
        self._leaf_values[running, : self._game.num_players] = values
        back_up_games(
            self._leaves, self._rollout_states, self._trees, self._leaf_priors, self._leaf_values, self._search
        )
        if at_root:
            self.priors, self.values = self._leaf_priors.copy(), self._leaf_values.copy()

    def _evaluate_running(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which games are running, int64 [k], and what the network says of them."""
        running = np.flatnonzero(states["status"] == RUNNING)
        if not len(running):
            return running, self._leaf_priors[:0], self._leaf_values[:0, : self._game.num_players]
        priors, values = self._evaluate(DecisionBatch(self._game, states.take(running)))
        _check_answers("priors", priors, (len(running), self._game.num_actions))
        _check_answers("values", values, (len(running), self._game.num_players))
        return running, priors, values

    def select_root_actions(
        self, root_values: np.ndarray, scores: np.ndarray, considered_visits: np.ndarray
    ) -> np.ndarray:
        """Return the actions that the next simulations begin with, int64 [n]; see `gumbel_root`."""
        root_actions = np.full(len(self._states), -1)
        visits = np.ascontiguousarray(considered_visits)
        select_root_actions(self._trees.nodes, self._seats, root_values, scores, visits, root_actions)
        return root_actions

    def statistics(self) -> tuple[np.ndarray, np.ndarray]:
        """Return visits int64 [n, num_actions] and mean returns float64 [n, num_actions] of the players to move."""
        return root_statistics(self._trees.nodes, self._seats, self._game.num_actions)

    def root_returns(self) -> np.ndarray:
        """Return the mean returns of all players over all simulations, float32 [n, num_players]."""
        returns: np.ndarray = self._trees.nodes["mean"][:, 0, : self._game.num_players].copy()
        return returns


def _check_answers(what: str, answers: np.ndarray, shape: tuple[int, int]) -> None:
    """Raise ValueError unless these are finite numbers of the shape: kernels would follow others to anywhere."""
    if np.shape(answers) != shape:
        raise ValueError(f"the {what} of a network must have the shape {shape}, not {np.shape(answers)}")
    # nan is not below anything
    if answers.size and not np.abs(answers).max() <= _LARGEST_ANSWER:
        raise ValueError(f"the {what} of a network must be from -{_LARGEST_ANSWER:,} to {_LARGEST_ANSWER:,}")


def search_with_network(
    game: Game,
    states: np.ndarray,
    evaluate: Evaluate,
    num_simulations: int,
    seed: int,
    *,
    c_puct: float = 1.25,
    closed_loop: bool = False,
    win_weight: float = 0.5,
    plies: int = 0,
    nodes: int = 20_000,
    deadline: float = math.inf,
) -> tuple[np.ndarray, np.ndarray]:
    """Search n games by PUCT and return visits and mean returns of the actions of the players to move.

    The arguments are those of `BatchedSearch`; of the simulations the first one evaluates the root. `deadline`, a
    time of `time.perf_counter`, ends the search before the simulation that would be over too late, but not before the
    second.

    Returns int64 [n, num_actions] and float64 [n, num_actions], 0 where there are no visits.
    """
    trees = BatchedSearch(
        game,
        states,
        evaluate,
        seed,
        c_puct=c_puct,
        closed_loop=closed_loop,
        win_weight=win_weight,
        plies=plies,
        nodes=nodes,
    )
    trees.simulate()
    for count in chunks(num_simulations - 1, CHUNK_SIZE, deadline):
        for _ in range(count):
            trees.simulate()
    return trees.statistics()
