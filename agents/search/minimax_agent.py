"""The agent that looks ahead: alpha-beta search for two players, "minimax" or "minimax:depth=3,width=12,samples=16"."""

import math
import time
from dataclasses import dataclass, fields

import numpy as np

from ...envs.engine.minimax import LEVEL_DTYPE, MINIMAX_SETTINGS, Stack, search_minimax
from ...envs.engine.random_stream import draw
from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch, check_game
from ...envs.validation.states import State
from .. import agent_settings
from ..agent_settings import Integers, Valid, agent_error, check_settings
from ..streams import agent_stream
from .time_limit import chunks, deadline_of

_VALID: Valid = {
    "depth": Integers(1, 64),
    "width": Integers(0, 10**9),
    "samples": Integers(1, 10**9),
    "plies": Integers(0, 10**9),
}


@dataclass(frozen=True)
class MinimaxSettings:
    """How a `minimax` agent searches; the text behind `minimax:` sets single fields.

    With a time limit it is as many samples as fit into it, one at least, and that as deep as fits.

    | field | meaning |
    |---|---|
    | `depth` | decisions to look ahead, the own one included |
    | `width` | actions to look at in a position, the best by the game's heuristic; 0 for all |
    | `samples` | deals of what is hidden or left to chance, each searched as if it were known; the mean counts |
    | `plies` | greedy decisions at the depth limit, then the standing of the game counts; 0 for none |

    Raises ValueError that names the setting if a value is not valid.
    """

    depth: int = 3
    width: int = 12
    samples: int = 16
    plies: int = 20

    def __post_init__(self) -> None:
        check_settings(self, _VALID)


class MinimaxAgent:
    """Searches every decision anew and plays the action of the best mean value, ties at random."""

    def __init__(self, game: Game, name: str, settings: MinimaxSettings, seed: int) -> None:
        if game.num_players != 2:
            players = f"{game.name} has num_players={game.num_players} here"
            raise agent_error(name, f"minimax needs 2 players, but {players}")
        self.name = name
        self.settings = settings
        self._game = game
        self._kernel_settings = np.zeros(1, MINIMAX_SETTINGS)
        for field in fields(settings):
            self._kernel_settings[field.name] = getattr(settings, field.name)
        self._kernel_settings["cutoffs"] = True
        self._one_sample = self._kernel_settings.copy()
        self._one_sample["samples"] = 1
        self._stack = Stack(
            np.zeros(settings.depth + 1, game.template.dtype),
            np.zeros(settings.depth + 1, LEVEL_DTYPE),
            np.zeros((settings.depth + 1, game.num_actions), np.int32),
        )
        self._workspace = game.make_workspace()
        self._stream = agent_stream(seed)

    def reset(self, seed: int) -> None:
        """Begin anew with another seed."""
        self._stream = agent_stream(seed)

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n], within their time limit if there is one."""
        check_game(self.name, self._game, decisions.game)
        states = decisions.determinize(self._stream)
        actions = np.empty(len(decisions), np.int64)
        if decisions.seconds_per_move is not None and len(decisions):
            self._load_kernels(decisions.game, states[0])
        began = time.perf_counter()
        for index in range(len(decisions)):
            best = np.flatnonzero(decisions.mask[index])
            if len(best) > 1:
                values = self.search(decisions.game, states[index], deadline_of(decisions, index, began))
                best = np.flatnonzero(values == values.max())
            actions[index] = best[draw(self._stream, len(best))] if len(best) > 1 else best[0]
        return actions

    def search(self, game: Game, state: State, deadline: float = math.inf) -> np.ndarray:
        """Return the mean values, float64 [num_actions], in points of margin of the player to move.

        A game that is won is worth `minimax.WIN` points more, a lost one less; actions that are not looked at
        have -inf. After `deadline`, a time of `time.perf_counter`, no sample is begun but the first one; if not even
        that fits into the time, it looks less far ahead.
        """
        check_game(self.name, self._game, game)
        if deadline == math.inf:
            return self._means(game, state, self._kernel_settings, self._stream)
        one_sample = self._fit_depth(game, state, deadline)
        total, samples = np.zeros(game.num_actions), 0
        for one in chunks(self.settings.samples, 1, deadline):
            total += self._means(game, state, one_sample, self._stream)
            samples += one
        return total / samples

    def _fit_depth(self, game: Game, state: State, deadline: float) -> np.ndarray:
        """Return the settings of one sample that looks as far ahead as there is time for.

        One decision more takes at most as many times longer as there are actions to look at, so that the next depth is
        tried only if that fits. The stream stays where it is: if there is time for all, the limit changes nothing.
        """
        one_sample = self._one_sample.copy()
        legal = int(game.mask(state).sum())
        width = min(self.settings.width, legal) if self.settings.width else legal
        for depth in range(1, self.settings.depth):
            one_sample["depth"] = depth
            began = time.perf_counter()
            self._means(game, state, one_sample, self._stream.copy())
            now = time.perf_counter()
            if now + width * (now - began) > deadline:
                return one_sample
        return self._one_sample

    def _means(self, game: Game, state: State, settings: np.ndarray, stream: np.ndarray) -> np.ndarray:
        values = np.empty(game.num_actions)
        search_minimax(game.door.one(state), settings, stream, self._stack, self._workspace, values)
        return values

    def _load_kernels(self, game: Game, state: State) -> None:
        """Search as little as can be: a new process loads the kernels at their first call, no time to think."""
        least = self._one_sample.copy()
        for name in ("depth", "width"):
            least[name] = 1
        least["plies"] = 0
        self._means(game, state, least, self._stream.copy())


def read_settings(text: str, argument: str) -> MinimaxSettings:
    """Return the settings of a text like "depth=2,width=0"; ValueError that names what is wrong."""
    try:
        return MinimaxSettings(**agent_settings.read_settings(argument.split(",") if argument else [], _VALID))
    except ValueError as error:
        raise agent_error(text, error) from None


def make(game: Game, text: str, argument: str, seed: int) -> MinimaxAgent:
    """Return the agent; see `registry.make_agent`."""
    return MinimaxAgent(game, text, read_settings(text, argument), seed)
