"""The agent that searches: Monte-Carlo tree search in compiled kernels, "mcts" or "mcts:sims=1000,leaf=greedy"."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...envs.engine.rollout import ROLLOUT_SETTINGS
from ...envs.engine.search_tree import extract_subtree, make_trees, node_dtype, root_statistics
from ...envs.engine.tree_search import Search, find_observation_node, search_games
from ...envs.game import Game, Move
from ...envs.interfaces.decision_batch import DecisionBatch, check_game
from ...envs.validation.states import State
from .. import agent_settings
from ..agent_settings import CHANCES, MOST_SECONDS, Integers, Numbers, Valid, Words, agent_error, check_settings
from ..streams import agent_stream
from .time_limit import chunks, deadline_of

LEAVES = ("random", "greedy")
SELECTIONS = ("uct", "puct")
_MOST_SIMULATIONS = 10**9
_VALID: Valid = {
    "sims": Integers(1, _MOST_SIMULATIONS),
    "seconds": Numbers(0, MOST_SECONDS),
    "select": Words(SELECTIONS),
    "c": Numbers(0, 10**9),
    "temperature": Numbers(1e-6, 10**9),
    "leaf": Words(LEAVES),
    "mix": Numbers(0, 1),
    "plies": Integers(0, 10**9),
    "win": Numbers(0, 1),
    "chance": Words(CHANCES),
    "reuse": Integers(0, 1),
    # two trees of so many nodes take 0.8 GB
    "nodes": Integers(1000, 8_000_000, "48 bytes each"),
}
CHUNK_SIZE = 32
"""Simulations between two looks at the clock, at most."""
_LONGEST_LINE, _FEWEST_VISITS = 6, 3
"""Of the line that a search expects: moves, and visits of each."""


@dataclass(frozen=True)
class SearchSettings:
    """How an `mcts` agent searches; the text behind `mcts:` sets single fields.

    A game may have other defaults (`GameSpec.search`). A time limit that the decisions come with ends a search
    too.

    | field | meaning |
    |---|---|
    | `sims` | simulations for a decision; with `seconds` at most so many |
    | `seconds` | time for a decision instead; 0 for none. Such an agent does not play the same game twice |
    | `select` | "puct" (Silver et al. 2017), its prior the softmax of the game's heuristic, or "uct" (Kocsis 2006) |
    | `c` | weight of exploration |
    | `temperature` | points of the heuristic that make a prior e times larger |
    | `leaf` | playouts of "random" actions, or of "greedy" ones by the game's heuristic |
    | `mix` | share of greedy decisions in a greedy playout; the others are random |
    | `plies` | plies of a playout, and on until the seat begins a turn; then the standing counts. 0 for all |
    | `win` | weight of winning in a return; the rest is the squashed margin |
    | `chance` | "closed": what chance brings makes nodes of its own, exact; "open": it does not, deeper |
    | `reuse` | 1: with closed chance go on in the last decision's tree if the position is found in it, 0: never |
    | `nodes` | size of the tree at most, 48 bytes each for four players; closed chance with `reuse` has two |

    Raises ValueError that names the setting if a value is not valid.
    """

    sims: int = 1000
    seconds: float = 0.0
    select: str = "puct"
    c: float = 1.0
    temperature: float = 2.0
    leaf: str = "greedy"
    mix: float = 0.9
    plies: int = 0
    win: float = 0.5
    chance: str = "open"
    reuse: int = 1
    nodes: int = 200_000

    def __post_init__(self) -> None:
        check_settings(self, _VALID)


@dataclass(frozen=True)
class ViewedMove:
    """A move as the search sees it: how often it was tried, and the mean return (0 to 1) of the player to move."""

    move: Move
    visits: int
    value: float


@dataclass(frozen=True)
class SearchView:
    """What a search thought: its simulations, the moves it tried most, and the line (player, move) it expects."""

    num_simulations: int
    moves: tuple[ViewedMove, ...]
    line: tuple[tuple[int, Move], ...]


class MCTSAgent:
    """Searches every decision anew and plays the most visited action."""

    def __init__(self, game: Game, name: str, settings: SearchSettings, seed: int) -> None:
        self.name = name
        self.settings = settings
        self._game = game
        self._trees = make_trees(np.zeros((1, settings.nodes), node_dtype(game.spec.most_players)))
        self._search = Search(kernel_settings(game, settings), agent_stream(seed)[None], game.make_workspace())
        self._leaf = game.template.copy()
        self._searched: State | None = None
        self._seat = -1
        keeps = settings.chance == "closed" and settings.reuse == 1
        self._spare: np.ndarray | None = self._trees.nodes.copy() if keeps else None

    def reset(self, seed: int) -> None:
        """Begin anew with another seed."""
        self._search.streams[0] = agent_stream(seed)
        self._searched = None
        self._trees.num_nodes[0] = 0

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n], within their time limit if there is one."""
        check_game(self.name, self._game, decisions.game)
        states = decisions.determinize(self._search.streams[0])
        actions = np.empty(len(decisions), np.int64)
        if decisions.seconds_per_move is not None or self.settings.seconds:
            # a new process loads the kernels at their first call, which is no time to think
            search_games(decisions.game.template, self._leaf, self._trees, 0, self._search)
        began = time.perf_counter()
        for index in range(len(decisions)):
            legal = np.flatnonzero(decisions.mask[index])
            if len(legal) == 1:
                actions[index] = legal[0]
                self._searched = None
                continue
            visits, values = self.search(decisions.game, states[index], deadline_of(decisions, index, began))
            # equal visits: the better value; an action of no visits is never better than one of some
            actions[index] = legal[np.lexsort([values[legal], visits[legal]])[-1]]
        return actions

    def view(self, game: Game, most: int = 5) -> SearchView | None:
        """Return what the last decision's search thought, the most visited moves first; None if it took none."""
        state = self._searched
        if state is None:
            return None
        seat = int(state["to_move"])
        nodes = [self._nodes[child] for child in self._children(0)[:most]]
        moves = tuple(
            ViewedMove(game.move(int(node["action"]), state), int(node["visits"]), float(node["mean"][seat]))
            for node in nodes
            if node["visits"]
        )
        return SearchView(int(self._nodes[0]["visits"]), moves, tuple(self._expected_line(game, state)))

    @property
    def _nodes(self) -> np.ndarray:
        nodes: np.ndarray = self._trees.nodes[0]
        return nodes

    def _children(self, node: int) -> list[int]:
        """Return the children of a node, the most visited first."""
        children = []
        child = int(self._nodes[node]["first"])
        while child:
            children.append(child)
            child = int(self._nodes[child]["next"])
        return sorted(children, key=lambda child: -int(self._nodes[child]["visits"]))

    def _expected_line(self, game: Game, state: State) -> list[tuple[int, Move]]:
        """Return player and move of the most visited actions, one after the other, in the deal that was searched."""
        state, node = state.copy(), 0
        line: list[tuple[int, Move]] = []
        while len(line) < _LONGEST_LINE and not game.is_over(state):
            mask = game.mask(state)
            legal = [child for child in self._children(node) if mask[self._nodes[child]["action"]]]
            if not legal or self._nodes[legal[0]]["visits"] < _FEWEST_VISITS:
                break
            node = legal[0]
            action = int(self._nodes[node]["action"])
            line.append((int(state["to_move"]), game.move(action, state)))
            game.play_action(state, action)
            outcomes = self._children(node) if self.settings.chance == "closed" else []
            node = outcomes[0] if outcomes else node
        return line

    def search(self, game: Game, state: State, deadline: float = math.inf) -> tuple[np.ndarray, np.ndarray]:
        """Return visits int64 [num_actions] and mean returns float64 [num_actions] (0 to 1) of the player to move.

        The search is over at `deadline`, a time of `time.perf_counter`, at the latest, but for the first simulation.
        """
        check_game(self.name, self._game, game)
        if self.settings.seconds:
            deadline = min(deadline, time.perf_counter() + self.settings.seconds)
        self._searched = state.copy()
        root = game.door.one(state)
        self._trees.num_nodes[0] = self._reuse_tree(game, root)
        for count in chunks(self.settings.sims, CHUNK_SIZE, deadline):
            search_games(root, self._leaf, self._trees, count, self._search)
        seats = root["to_move"].astype(np.int64)
        visits, values = root_statistics(self._trees.nodes, seats, game.num_actions)
        return visits[0], values[0]

    def _reuse_tree(self, game: Game, root: np.ndarray) -> int:
        """Make what the last tree knows of this position the new tree; return its size, 0 for nothing."""
        seat, self._seat = self._seat, int(root["to_move"][0])
        size = int(self._trees.num_nodes[0])
        # another seat's tree knows what that seat could see
        if self._spare is None or size == 0 or seat != self._seat:
            return 0
        numbers = self._search.workspace.numbers
        found = find_observation_node(root, self._nodes, size, game.layout_index, numbers)
        if found == 0:
            return 0
        origins = np.empty(len(self._nodes), np.int32)
        kept = int(extract_subtree(self._nodes, found, self._spare[0], origins))
        self._trees, self._spare = self._trees._replace(nodes=self._spare), self._trees.nodes
        return kept


def kernel_settings(game: Game, settings: SearchSettings) -> np.ndarray:
    """Return the settings as kernels take them, `rollout.ROLLOUT_SETTINGS` [1]."""
    row = np.zeros(1, ROLLOUT_SETTINGS)
    row["c_puct"] = settings.c
    row["puct"] = settings.select == "puct"
    row["closed_loop"] = settings.chance == "closed"
    row["layout"] = game.layout_index
    row["temperature"] = settings.temperature
    row["rollout_plies"] = settings.plies or 2**31 - 1
    row["greedy_prob"] = settings.mix if settings.leaf == "greedy" else 0.0
    row["win_weight"] = settings.win
    row["margin_scale"] = game.spec.margin_scale
    return row


def read_settings(text: str, argument: str, defaults: Mapping[str, Any]) -> SearchSettings:
    """Return the settings of a text like "sims=200,leaf=random" over a game's own; ValueError if wrong."""
    try:
        given = agent_settings.read_settings(argument.split(",") if argument else [], _VALID)
        if "seconds" in given and "sims" not in given:
            given["sims"] = _MOST_SIMULATIONS
        return SearchSettings(**{**defaults, **given})
    except ValueError as error:
        raise agent_error(text, error) from None


def make(game: Game, text: str, argument: str, seed: int) -> MCTSAgent:
    """Return the agent; see `registry.make_agent`."""
    return MCTSAgent(game, text, read_settings(text, argument, game.spec.search), seed)
