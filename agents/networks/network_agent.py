"""The agent that plays a trained network, with or without a tree search: "net:NAME" or "net:FILE,sims=200"."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...envs.engine.random_stream import draw, draw_seed
from ...envs.engine.search_tree import node_dtype
from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch
from ...envs.system.messages import shorten
from .. import agent_settings
from ..agent_settings import CHANCES, MOST_SECONDS, Integers, Numbers, Valid, Words, agent_error, check_settings
from ..protocol import AgentFailure
from ..search.batched_search import search_with_network
from ..search.gumbel_search import gumbel_search
from ..search.time_limit import deadline_of
from ..streams import agent_stream
from .network_file import MAX_LEAF_PLIES, NetworkMetadata, check_fits, load_network

if TYPE_CHECKING:
    from torch import nn

SUFFIX = ".safetensors"
MOST_SIMULATIONS = 10**6
"""Simulations for a decision, at most; a search by time that is told no number may make so many."""
_TREES_BYTES = 256 * 2**20
"""Memory of the trees of the games searched together."""
_USUAL_ACTIONS = 128
"""Mean number of legal actions of a node, at most; a tree that needs more stops expanding."""
_TIMED_SIMULATIONS = 4
"""Simulations that are timed before the first search with a time limit."""
_SHARED_TIME_FACTOR = 4
"""How many more simulations a game may get when its search shares the time of other searches."""
_UNIT = 2**32 - 1
_VALID: Valid = {
    "sims": Integers(0, MOST_SIMULATIONS),
    "seconds": Numbers(0, MOST_SECONDS),
    "considered": Integers(0, 10**6),
    "c": Numbers(0, 10**9),
    "plies": Integers(0, MAX_LEAF_PLIES),
    "win": Numbers(0, 1),
    "chance": Words(CHANCES),
    "sample": Integers(0, 1),
}


@dataclass(frozen=True)
class NetworkSettings:
    """How a `net` agent plays; the text behind the network's name sets single fields.

    | field | meaning |
    |---|---|
    | `sims` | simulations, beside the one that opens the root, under a time limit at most; 0 plays by the policy |
    | `seconds` | time for a decision instead; 0 for none. Such an agent does not play the same game twice |
    | `considered` | actions at the root that get simulations, by a plan (`gumbel_search`); 0: as PUCT chooses |
    | `c` | weight of exploration, that is of the policy, in the search |
    | `plies` | greedy plies from a leaf to the position that is valued, 0 for none; by default as it was trained |
    | `win` | weight of winning in the return of a finished game; by default what the network was trained for |
    | `chance` | "open" or "closed", as `mcts` has it |
    | `sample` | 1: draw in proportion to probabilities (or visits), 0: take what is best |

    Raises ValueError that names the setting if a value is not valid.
    """

    sims: int = 0
    seconds: float = 0.0
    considered: int = 16
    c: float = 0.15
    plies: int = 0
    win: float = 0.5
    chance: str = "open"
    sample: int = 0

    def __post_init__(self) -> None:
        check_settings(self, _VALID)


class NotFiniteError(ValueError):
    """An output of a network is NaN or infinite."""


_Group = tuple[np.ndarray, tuple[Game, np.ndarray, int], dict[str, Any]]


class NetworkAgent:
    """Plays the policy of a network, or a tree search with the network at its leaves.

    Arguments:
        network: from `build` or `load_network`; its weights may change between calls.
        metadata: the games played must fit it, with any observation.
        settings: None for those of the metadata, without a search.
    """

    def __init__(
        self,
        name: str,
        network: "nn.Module",
        metadata: NetworkMetadata,
        seed: int,
        settings: NetworkSettings | None = None,
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.settings = settings or default_settings(metadata)
        self._network = network
        self._stream = agent_stream(seed)
        # of one game, known once the kernels are loaded
        self._seconds_per_simulation: float | None = None

    def reset(self, seed: int) -> None:
        """Reset with another seed."""
        self._stream = agent_stream(seed)

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n], within their time limit if there is one.

        Raises AgentFailure if an output of the network is not finite.
        """
        try:
            return self._decide(decisions)
        except NotFiniteError as error:
            raise AgentFailure(np.full(len(decisions), -1), dict.fromkeys(range(len(decisions)), str(error))) from None

    def _decide(self, decisions: DecisionBatch) -> np.ndarray:
        if (
            self.settings.sims
            and self._seconds(decisions) is not None
            and len(decisions)
            and self._seconds_per_simulation is None
        ):
            self._load_kernels(decisions)
        if self.settings.sims and self.settings.considered:
            chosen, weights = self.plan(decisions)
        elif self.settings.sims:
            weights, returns = self.search(decisions)
            # equal visits: the better value; an action of no visits is never better than one of some
            best = weights == weights.max(axis=1, keepdims=True)
            chosen = np.where(best, returns, -1.0).argmax(axis=1)
        else:
            weights, _ = self.evaluate(decisions)
            chosen = weights.argmax(axis=1)
        return self._sample(weights) if self.settings.sample else chosen

    def evaluate(self, decisions: DecisionBatch) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate the network without a search.

        Returns the probabilities of the actions, float32 [n, num_actions], 0 where illegal, and the expected
        return of each seat, 0 to 1, float32 [n, num_players]. Raises NotFiniteError if an output is not finite.
        """
        import torch

        with torch.inference_mode():
            weight = next(self._network.parameters())
            inputs = [torch.from_numpy(array).to(weight.device, weight.dtype) for array in self._inputs(decisions)]
            illegal = torch.as_tensor(decisions.mask, device=weight.device) == 0
            logits, relative = self._network(*inputs)
            if not torch.isfinite(logits).all() & torch.isfinite(relative).all():
                raise NotFiniteError("the network's outputs are not all finite numbers")
            priors = logits.float().masked_fill(illegal, -torch.inf).softmax(dim=1).cpu().numpy()
            values = by_seat(relative.float().cpu().numpy(), decisions.seats)
        if self.metadata.value == "return":
            # of a value below -88 the power is infinite and the return 0
            with np.errstate(over="ignore"):
                return priors, 1 / (1 + np.exp(-values))
        if self.metadata.value == "reward_minus_score":
            values = values + decisions.margins
        elif self.metadata.value == "reward_minus_projected_score":
            values = values + decisions.projected_margins
        return priors, 0.5 + 0.5 * np.tanh(values)

    def _inputs(self, decisions: DecisionBatch) -> list[np.ndarray]:
        """Return the inputs of the network, float32 arrays [n, ...], as `build` lists them."""
        inputs = [decisions.observed_as(self.metadata.observation)]
        if self.metadata.architecture.heuristic:
            inputs.append(decisions.action_values)
        if self.metadata.architecture.margin_input:
            # the inverse of by_seat
            inputs.append(by_seat(decisions.projected_margins, -decisions.seats))
        return inputs

    def search(self, decisions: DecisionBatch) -> tuple[np.ndarray, np.ndarray]:
        """Return visits int64 [n, num_actions] and mean returns float64 [n, num_actions] of the seats to move.

        All decisions are searched side by side; one with a single legal action is not, that action has one visit.
        """
        visits, returns = decisions.mask.astype(np.int64), np.zeros(decisions.mask.shape)
        for group, arguments, settings in self._groups(decisions):
            game, states, nodes = arguments
            visits[group], returns[group] = search_with_network(
                game,
                states,
                self.evaluate,
                self.settings.sims + 1,
                int(draw_seed(self._stream)),
                nodes=nodes,
                **settings,
            )
        return visits, returns

    def plan(self, decisions: DecisionBatch) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions that planned searches choose, int64 [n], and the improved policies, [n, num_actions].

        All decisions are searched side by side; one with a single legal action is not.
        """
        actions, policy = decisions.mask.argmax(axis=1).astype(np.int64), decisions.mask.astype(np.float32)
        for group, arguments, settings in self._groups(decisions):
            game, states, nodes = arguments
            found = gumbel_search(
                game,
                states,
                decisions.mask[group],
                self.evaluate,
                self.settings.sims,
                int(draw_seed(self._stream)),
                max_num_considered_actions=self.settings.considered,
                nodes=nodes,
                **settings,
            )
            actions[group], policy[group] = found.actions, found.policy
        return actions, policy

    def _load_kernels(self, decisions: DecisionBatch) -> None:
        """Run a short search, so that loading kernels takes no time of a decision, and a second one to time it."""
        game = decisions.game.with_encoding(self.metadata.observation)
        first = decisions.determinize(agent_stream(0))[:1]
        for num_simulations in (1, _TIMED_SIMULATIONS):
            began = time.perf_counter()
            gumbel_search(game, first, decisions.mask[:1], self.evaluate, num_simulations, 0, plies=self.settings.plies)
            self._seconds_per_simulation = (time.perf_counter() - began) / (1 + num_simulations)

    def _seconds(self, decisions: DecisionBatch) -> float | None:
        """Return the time for each decision, None for any."""
        limits = (self.settings.seconds or None, decisions.seconds_per_move)
        return min((each for each in limits if each is not None), default=None)

    def _estimate_simulations(self, decisions: DecisionBatch) -> int:
        """Return the number of simulations that the tree of a game needs capacity for."""
        seconds = self._seconds(decisions)
        if seconds is None or self._seconds_per_simulation is None:
            return self.settings.sims
        return min(self.settings.sims, 1 + int(_SHARED_TIME_FACTOR * seconds / max(self._seconds_per_simulation, 1e-9)))

    def _groups(self, decisions: DecisionBatch) -> Iterator[_Group]:
        """Yield the decisions with a choice in groups whose trees fit into memory.

        Each has indices int64 [k]; the game, determinized states [k] and capacity of a tree; settings of the search.
        """
        game = decisions.game.with_encoding(self.metadata.observation)
        states = decisions.determinize(self._stream)
        settings: dict[str, Any] = {
            "c_puct": self.settings.c,
            "closed_loop": self.settings.chance == "closed",
            "win_weight": self.settings.win,
            "plies": self.settings.plies,
        }
        with_choice = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
        nodes = _tree_size(game, self._estimate_simulations(decisions))
        group_size = max(1, _TREES_BYTES // (nodes * node_dtype(game.spec.most_players).itemsize))
        began = time.perf_counter()
        for first in range(0, len(with_choice), group_size):
            group = with_choice[first : first + group_size]
            settings["deadline"] = deadline_of(decisions, int(group[0]), began, len(group))
            if self.settings.seconds:
                settings["deadline"] = min(
                    settings["deadline"], time.perf_counter() + len(group) * self.settings.seconds
                )
            yield group, (game, states.take(group), nodes), settings

    def _sample(self, weights: np.ndarray) -> np.ndarray:
        """Sample an action for each row, int64 [n], in proportion to weights [n, num_actions]."""
        sums = weights.cumsum(axis=1, dtype=np.float64)
        points = np.array([int(draw(self._stream, _UNIT)) for _ in range(len(weights))]) / _UNIT
        # the first action whose sum lies above a point below the whole: one with a weight
        return (sums <= (points * sums[:, -1])[:, None]).sum(axis=1)


def by_seat(relative: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return values [n, num_players] in the order of the seats.

    `relative`: column k is about the player k seats after the one in `seats`, int64 [n].
    """
    num_players = relative.shape[1]
    columns = (np.arange(num_players) - seats[:, None]) % num_players
    return np.take_along_axis(relative, columns, axis=1)


def default_settings(metadata: NetworkMetadata) -> NetworkSettings:
    """Return the settings that a network was trained with, without a search."""
    return NetworkSettings(plies=metadata.leaf_plies, win=metadata.win_weight)


def _tree_size(game: Game, num_simulations: int) -> int:
    """Return the capacity of a tree in nodes: enough for all simulations, within the memory of a group."""
    # each expands one node at most, and adds one more for a chance event
    needed = 1 + game.num_actions + num_simulations * (1 + min(game.num_actions, _USUAL_ACTIONS))
    return min(needed, _TREES_BYTES // node_dtype(game.spec.most_players).itemsize)


def bundled_networks() -> list[str]:
    """Return the names of the bundled networks."""
    folder = resources.files(__package__) / "weights"
    if not folder.is_dir():
        return []
    return sorted(file.name.removesuffix(SUFFIX) for file in folder.iterdir() if file.name.endswith(SUFFIX))


def read_settings(text: str, words: list[str], defaults: NetworkSettings) -> NetworkSettings:
    """Return the settings of words like "sims=200"; ValueError that names what is wrong with the agent's text."""
    try:
        given = agent_settings.read_settings(words, _VALID)
        if "seconds" in given and "sims" not in given:
            given["sims"] = MOST_SIMULATIONS
        return replace(defaults, **given)
    except ValueError as error:
        raise agent_error(text, error) from None


def make(game: Game, text: str, argument: str, seed: int) -> NetworkAgent:
    """Return the agent of a bundled network or of a file; see `registry.make_agent`.

    A name with a slash, or that ends in .safetensors, is a file's. Raises ValueError, one sentence, if there is no
    such network, if the file is none or damaged, if it was trained for another game or other options, or if a setting
    is wrong.
    """
    name, *words = argument.split(",")
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    except ImportError:
        raise agent_error(text, "it needs the extra 'train': pip install 'meeplezoo[train]'") from None
    try:
        network, metadata = load_network(_network_path(name))
        check_fits(metadata, game)
    except ValueError as error:
        raise agent_error(text, error) from None
    settings = read_settings(text, words, default_settings(metadata))
    return NetworkAgent(text, network, metadata, seed, settings)


def _network_path(name: str) -> Path | Traversable:
    """Return where the file of a network lies; ValueError if the name is not a file and no bundled network has it."""
    if name.endswith(SUFFIX) or Path(name).name != name:
        return Path(name)
    bundled = bundled_networks()
    if name not in bundled:
        have = f"the bundled networks are {', '.join(bundled)}" if bundled else "there are no bundled networks"
        raise ValueError(f"there is no network {shorten(name)}; {have}, and files end in {SUFFIX}")
    return resources.files(__package__) / "weights" / f"{name}{SUFFIX}"
