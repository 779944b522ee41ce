"""The agent that takes the best action by the game's own one-decision heuristic (`greedy` in the game's folder)."""

import numpy as np

from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch, check_game
from ..streams import agent_stream, refuse_argument


class GreedyAgent:
    """Chooses the action of the highest heuristic value, ties at random."""

    def __init__(self, game: Game, name: str, seed: int) -> None:
        self.name = name
        self._game = game
        self._values = np.empty(game.num_actions, np.float32)
        self._scratch = np.empty(game.kernels.SCRATCH_SIZE, np.int64)
        self._stream = agent_stream(seed)

    def reset(self, seed: int) -> None:
        """Begin anew with another seed."""
        self._stream = agent_stream(seed)

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]."""
        check_game(self.name, self._game, decisions.game)
        actions = np.empty(len(decisions), np.int64)
        # looked up here, because a compiled kernel kept in the agent would be pickled and compiled with it
        choose = decisions.game.kernels.choose_greedy
        choose(decisions.determinize(self._stream), self._stream, self._values, self._scratch, actions)
        return actions


def make(game: Game, text: str, argument: str, seed: int) -> GreedyAgent:
    """Return the agent; see `registry.make_agent`."""
    refuse_argument(text, argument)
    return GreedyAgent(game, text, seed)
