"""The agent that takes the best action by the game's own one-decision heuristic (`heuristic` in the game's folder)."""

import numpy as np

from ...envs.engine.batch import choose_greedy
from ...envs.engine.policies import GREEDY
from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch, check_game
from ..streams import agent_stream, refuse_argument


class GreedyAgent:
    """Chooses the action of the highest heuristic value, ties at random."""

    policy = GREEDY

    def __init__(self, game: Game, name: str, seed: int) -> None:
        self.name = name
        self._game = game
        self._workspace = game.make_workspace()
        self.stream = agent_stream(seed)

    def reset(self, seed: int) -> None:
        """Begin anew with another seed."""
        self.stream = agent_stream(seed)

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]."""
        check_game(self.name, self._game, decisions.game)
        actions = np.empty(len(decisions), np.int64)
        choose_greedy(decisions.determinize(self.stream), self.stream, actions, self._workspace)
        return actions


def make(game: Game, text: str, argument: str, seed: int) -> GreedyAgent:
    """Return the agent; see `registry.make_agent`."""
    refuse_argument(text, argument)
    return GreedyAgent(game, text, seed)
