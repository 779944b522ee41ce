"""The decisions of running games, kept until the outcome gives their value targets."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ..envs import Game
from ..envs.batch import GameBatch
from ..envs.engine.standing import game_returns
from .state_checks import check_array, check_keys, check_range

_COLUMNS = ("observation", "policy", "mask", "action_values", "margins", "search_values", "seats")
"""The parts of a decision of a running game."""
_SEARCH_VALUES = _COLUMNS.index("search_values")
_LONGEST = 10**6
"""Decisions of one running game in a state, at most."""


@dataclass(frozen=True)
class TrainingSamples:
    """k decisions of finished games to learn from; players are listed from the mover on.

    | field | type and shape | meaning |
    |---|---|---|
    | `observation` | float32 [k, observation_size] | of the mover |
    | `policy` | float32 [k, num_actions] | the policy target; all 0 if there is none |
    | `mask` | int8 [k, num_actions] | the legal actions |
    | `returns` | float32 [k, num_players] | the value target |
    | `action_values` | float32 [k, num_actions] or [k, 0] | heuristic values; no columns without `heuristic` |
    | `margins` | float32 [k, num_players] | current or projected margins, in margin scales |
    | `num_games` | int | how many games were finished |
    """

    observation: np.ndarray
    policy: np.ndarray
    mask: np.ndarray
    returns: np.ndarray
    action_values: np.ndarray
    margins: np.ndarray
    num_games: int = 0

    def __len__(self) -> int:
        return len(self.observation)


class EpisodeBuffer:
    """The decisions of N running games.

    Arguments:
        win_weight: weight of winning in the returns.
        outcome_weight: weight of the outcome in a value target; the rest is the value of the search.
        with_action_values: whether decisions come with heuristic values.
    """

    def __init__(
        self, game: Game, num_games: int, win_weight: float, outcome_weight: float, *, with_action_values: bool = False
    ) -> None:
        self._game = game
        observation, actions = np.zeros(game.observation_size, np.float16), np.zeros(game.num_actions, np.float16)
        values, players = actions[: None if with_action_values else 0], np.zeros(game.num_players, np.float32)
        self._template: tuple[Any, ...] = (
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
        self._running: list[list[tuple[Any, ...]]] = [[] for _ in range(num_games)]
        self._finished: list[tuple[np.ndarray, ...]] = []
        self._num_finished = 0

    def add(
        self,
        games: np.ndarray,
        seats: np.ndarray,
        observation: np.ndarray,
        policy: np.ndarray,
        mask: np.ndarray,
        action_values: np.ndarray,
        margins: np.ndarray,
        search_values: np.ndarray | None,
    ) -> None:
        """Add one decision in each of k games.

        Arguments:
            games, seats: int64 [k], where and who decided.
            margins: float32 [k, num_players], by seat.
            search_values: float32 [k, num_players], by seat; None without a search: the outcome alone is the target.

        The other arrays are as in `TrainingSamples`. All are copied.
        """
        policy, action_values = policy.astype(np.float16), action_values.astype(np.float16)
        rows = list(zip(observation.astype(np.float16), policy, mask.copy(), action_values, strict=True))
        for index, (game, seat) in enumerate(zip(games.tolist(), seats.tolist(), strict=True)):
            values = None if search_values is None else search_values[index].copy()
            self._running[game].append((*rows[index], np.roll(margins[index], -seat), values, seat))

    def finish(self, batch: GameBatch) -> None:
        """Compute the value targets of the games that ended in the last step of the batch."""
        ended = np.flatnonzero(batch.done)
        players = self._game.num_players
        outcomes = batch.outcomes[ended]
        scores, ranks = outcomes["scores"][:, :players], outcomes["ranks"][:, :players]
        returns = game_returns(scores, ranks, self._win_weight, self._game.spec.margin_scale)
        for game, outcome in zip(ended.tolist(), returns, strict=True):
            for *arrays, search_values, seat in self._running[game]:
                target = outcome
                if search_values is not None:
                    target = self._outcome_weight * outcome + (1 - self._outcome_weight) * search_values
                self._finished.append((*arrays, np.roll(target, -seat)))
            self._running[game] = []
        self._num_finished += len(ended)

    def take(self) -> TrainingSamples:
        """Return the decisions of all games that ended since the last call."""
        finished, num_games = self._finished, self._num_finished
        self._finished, self._num_finished = [], 0
        if not finished:
            actions = np.zeros((0, self._game.num_actions), np.float32)
            returns = np.zeros((0, self._game.num_players), np.float32)
            observation = np.zeros((0, self._game.observation_size), np.float32)
            return TrainingSamples(observation, actions, actions.astype(np.int8), returns, actions, returns, num_games)
        columns = (np.stack(column) for column in zip(*finished, strict=True))
        observation, policy, mask, values, margins, returns = (
            column if column.dtype == np.int8 else column.astype(np.float32) for column in columns
        )
        return TrainingSamples(observation, policy, mask, returns, values, margins, num_games)

    def get_state(self) -> dict[str, Any]:
        """Return the decisions of the running games, game by game; call `take` first."""
        decisions = [decision for game in self._running for decision in game]
        # the template in front gives types and shapes to arrays of no decisions
        columns = zip(self._template, *decisions, strict=True)
        return {
            "lengths": np.array([len(game) for game in self._running], np.int64),
            "searched": np.array([decision[_SEARCH_VALUES] is not None for decision in decisions], np.bool_),
            **{
                name: np.stack([column[0] if one is None else one for one in column])[1:]
                for name, column in zip(_COLUMNS, columns, strict=True)
            },
        }

    def set_state(self, state: dict[str, Any], where: str) -> None:
        """Restore a state from `get_state`; ValueError that begins with `where` if it does not fit."""
        check_keys(state, ("lengths", "searched", *_COLUMNS), where)
        lengths = check_array(state["lengths"], f"{where}/lengths", np.zeros(len(self._running), np.int64))
        count = int(check_range(lengths, f"{where}/lengths", 0, _LONGEST).sum())
        searched = check_array(state["searched"], f"{where}/searched", np.zeros(1, np.bool_), count)
        # copies: arrays of a checkpoint are views of the file
        rows = {
            name: check_array(state[name], f"{where}/{name}", np.stack([value]), count).copy()
            for name, value in zip(_COLUMNS, self._template, strict=True)
        }
        seats = check_range(rows.pop("seats"), f"{where}/seats", 0, self._game.num_players - 1).tolist()
        search_values = [
            values if known else None for values, known in zip(rows.pop("search_values"), searched, strict=True)
        ]
        decisions = iter(zip(*rows.values(), search_values, seats, strict=True))
        self._running = [list(islice(decisions, length)) for length in lengths.tolist()]
