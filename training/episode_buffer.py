"""Games under way, decision by decision, until their ends say what the decisions were worth."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ..envs import Game
from ..envs.batch import GameBatch
from ..envs.engine.standing import game_returns
from .state_checks import check_array, check_keys, check_range

_NOTED = ("observation", "policy", "mask", "action_values", "margins", "expected", "seats")
"""The parts of a decision of a game under way."""
_EXPECTED = _NOTED.index("expected")
_LONGEST = 10**6
"""Decisions that a game may have behind it in a state."""


@dataclass(frozen=True)
class TrainingSamples:
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


class EpisodeBuffer:
    """What was decided in N games that are not over yet.

    Arguments: win_weight of the returns; outcome_weight, of a game's outcome in a target, the rest being what was
    expected when the decision was made; valued, whether decisions come with the heuristic's values.
    """

    def __init__(
        self, game: Game, num_games: int, win_weight: float, outcome_weight: float, *, valued: bool = False
    ) -> None:
        self._game = game
        observation, actions = np.zeros(game.observation_size, np.float16), np.zeros(game.num_actions, np.float16)
        values, players = actions[: None if valued else 0], np.zeros(game.num_players, np.float32)
        self._blank: tuple[Any, ...] = (
            observation,
            actions,
            actions.astype(np.int8),
            values,
            players,
            players,
            np.int64(0),
        )
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
        """Note one decision in each of k games; arrays as in `TrainingSamples`, which are copied, but margins by seat.

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
        scores, ranks = outcomes["scores"][:, :players], outcomes["ranks"][:, :players]
        returns = game_returns(scores, ranks, self._win_weight, self._game.spec.margin_scale)
        for game, outcome in zip(ended.tolist(), returns, strict=True):
            for *known, expected, seat in self._open[game]:
                target = outcome
                if expected is not None:
                    target = self._outcome_weight * outcome + (1 - self._outcome_weight) * expected
                self._ended.append((*known, np.roll(target, -seat)))
            self._open[game] = []
        self._games += len(ended)

    def take(self) -> TrainingSamples:
        """Return the decisions of all games that have ended since the last call."""
        ended, games = self._ended, self._games
        self._ended, self._games = [], 0
        if not ended:
            actions = np.zeros((0, self._game.num_actions), np.float32)
            returns = np.zeros((0, self._game.num_players), np.float32)
            observation = np.zeros((0, self._game.observation_size), np.float32)
            return TrainingSamples(observation, actions, actions.astype(np.int8), returns, actions, returns, games)
        columns = (np.stack(column) for column in zip(*ended, strict=True))
        observation, policy, mask, values, margins, returns = (
            column if column.dtype == np.int8 else column.astype(np.float32) for column in columns
        )
        return TrainingSamples(observation, policy, mask, returns, values, margins, games)

    def get_state(self) -> dict[str, Any]:
        """Return the decisions of the games under way, one game after the other; `take` has to be called before."""
        decisions = [one for game in self._open for one in game]
        # the blank decision in front gives arrays of none their types and sizes, too
        columns = zip(self._blank, *decisions, strict=True)
        return {
            "lengths": np.array([len(game) for game in self._open], np.int64),
            "searched": np.array([one[_EXPECTED] is not None for one in decisions], np.bool_),
            **{
                name: np.stack([column[0] if one is None else one for one in column])[1:]
                for name, column in zip(_NOTED, columns, strict=True)
            },
        }

    def set_state(self, state: dict[str, Any], where: str) -> None:
        """Go back to a state from `get_state`; ValueError that begins with `where` if it is none of such games."""
        check_keys(state, ("lengths", "searched", *_NOTED), where)
        lengths = check_array(state["lengths"], f"{where}/lengths", np.zeros(len(self._open), np.int64))
        count = int(check_range(lengths, f"{where}/lengths", 0, _LONGEST).sum())
        searched = check_array(state["searched"], f"{where}/searched", np.zeros(1, np.bool_), count)
        # copies: what comes out of a file lies in it
        rows = {
            name: check_array(state[name], f"{where}/{name}", np.stack([blank]), count).copy()
            for name, blank in zip(_NOTED, self._blank, strict=True)
        }
        seats = check_range(rows.pop("seats"), f"{where}/seats", 0, self._game.num_players - 1).tolist()
        expected = [one if known else None for one, known in zip(rows.pop("expected"), searched, strict=True)]
        decisions = iter(zip(*rows.values(), expected, seats, strict=True))
        self._open = [list(islice(decisions, length)) for length in lengths.tolist()]
