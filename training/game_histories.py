"""Games under way, decision by decision, until their ends say what the decisions were worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..envs import Game
from ..envs.batch import GameBatch
from ..envs.search import game_returns


@dataclass(frozen=True)
class Lessons:
    """k decisions of finished games to learn from.

    observation: float32 [k, observation_size]; policy: float32 [k, num_actions], the target, all 0 if there is none;
    mask: int8 [k, num_actions]; returns: float32 [k, num_players], the target, own seat first; action_values: float32
    [k, num_actions], or [k, 0] if nobody asks, what the game's heuristic thinks; margins: float32 [k, num_players], as
    the game stood or settled, in margin scales, own seat first; games: how many were finished.
    """

    observation: np.ndarray
    policy: np.ndarray
    mask: np.ndarray
    returns: np.ndarray
    action_values: np.ndarray
    margins: np.ndarray
    games: int = 0

    def __len__(self) -> int:
        return len(self.observation)


class GameHistories:
    """What was decided in N games that are not over yet.

    Arguments: win_weight of the returns; outcome_weight, of a game's outcome in a target, the rest being what was
    expected when the decision was made.
    """

    def __init__(self, game: Game, num_games: int, win_weight: float, outcome_weight: float) -> None:
        self._game = game
        self._win_weight = win_weight
        self._outcome_weight = outcome_weight
        self._open: list[list[tuple[Any, ...]]] = [[] for _ in range(num_games)]
        self._ended: list[tuple[np.ndarray, ...]] = []
        self._games = 0

    def add(
        self,
        games: np.ndarray,
        seats: np.ndarray,
        observation: np.ndarray,
        policy: np.ndarray,
        mask: np.ndarray,
        action_values: np.ndarray,
        margins: np.ndarray,
        expected: np.ndarray | None,
    ) -> None:
        """Note one decision in each of k games; arrays as in `Lessons`, which are copied, but margins by seat.

        games, seats: int64 [k], who decided; expected: float32 [k, num_players], the returns expected, by seat; None if
        nothing was, then the outcome alone will count.
        """
        policy, action_values = policy.astype(np.float16), action_values.astype(np.float16)
        known = list(zip(observation.astype(np.float16), policy, mask.copy(), action_values, strict=True))
        for index, (game, seat) in enumerate(zip(games.tolist(), seats.tolist(), strict=True)):
            own = None if expected is None else expected[index].copy()
            self._open[game].append((*known[index], np.roll(margins[index], -seat), own, seat))

    def end(self, batch: GameBatch) -> None:
        """Value the decisions of the games that ended in the batch's last step."""
        ended = np.flatnonzero(batch.done)
        players = self._game.num_players
        outcomes = batch.outcomes[ended]
        scores, places = outcomes["scores"][:, :players], outcomes["places"][:, :players]
        returns = game_returns(self._game.description, scores, places, self._win_weight)
        for game, outcome in zip(ended.tolist(), returns, strict=True):
            for *known, expected, seat in self._open[game]:
                target = outcome
                if expected is not None:
                    target = self._outcome_weight * outcome + (1 - self._outcome_weight) * expected
                self._ended.append((*known, np.roll(target, -seat)))
            self._open[game] = []
        self._games += len(ended)

    def take(self) -> Lessons:
        """Return the decisions of all games that have ended since the last call."""
        ended, games = self._ended, self._games
        self._ended, self._games = [], 0
        if not ended:
            actions = np.zeros((0, self._game.num_actions), np.float32)
            returns = np.zeros((0, self._game.num_players), np.float32)
            observation = np.zeros((0, self._game.observation_size), np.float32)
            return Lessons(observation, actions, actions.astype(np.int8), returns, actions, returns, games)
        columns = (np.stack(column) for column in zip(*ended, strict=True))
        observation, policy, mask, values, margins, returns = (
            column if column.dtype == np.int8 else column.astype(np.float32) for column in columns
        )
        return Lessons(observation, policy, mask, returns, values, margins, games)

    def get_state(self) -> dict[str, Any]:
        """Return the decisions of the games under way; `take` has to be called before."""
        return {"open": self._open}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`."""
        self._open = state["open"]
