"""`OpponentBatch`: games in which a learner holds one seat and agents the others, always at the learner's turn.

What every training interface is made of: the Gymnasium environments and the Stable-Baselines3 one differ only in
how they hand over what stands here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from ..batch import GameBatch
from ..engine.batch import write_observations, write_results
from ..engine.learners import (
    LEARNER,
    MORE,
    NOTHING_ELSE,
    RANDOM_SEAT,
    ROTATING_SEAT,
    WAITING,
    LearningGames,
    begin_learners,
    continue_learners,
    learner_dtype,
    look,
    step_learners,
)
from ..engine.policies import OUTSIDE
from ..engine.random_stream import draw_seed
from ..engine.rewards import REWARDS
from ..game import Game, check_game
from ..system.messages import shorten
from ..validation.arguments import check_choice
from ..validation.arrays import check_integer, integer_array, plain_integer
from .agent import Agent, act_or_raise, policy_of, stream_of

MAX_GAMES = 2**20
"""Games side by side, at most."""

OnMoves = Callable[[np.ndarray, np.ndarray], None]

_OWN_STATE = ("seats", "opponent_of", "opponent_streams")
_ALL_PLIES = 2**62
_SEATS = {"random": RANDOM_SEAT, "rotate": ROTATING_SEAT}


@dataclass(frozen=True)
class FinishedGames:
    """The k games that ended within one step, as they ended.

    games: int64 [k], ascending; states: record [k]; seats: int64 [k], the learner's; opponent_of: int64 [k, players];
    rewards: float32 [k], the learner's; truncated: bool [k]; scores, ranks: int32 [k, players], rank 0 wins;
    observation: [k, observation_size], what the learner's seat sees at the end.
    """

    games: np.ndarray
    states: np.ndarray
    seats: np.ndarray
    opponent_of: np.ndarray
    rewards: np.ndarray
    truncated: np.ndarray
    scores: np.ndarray
    ranks: np.ndarray
    observation: np.ndarray


def checked_seat(seat: str | int, num_players: int) -> str | int:
    """Return the seat as Python's str or int; ValueError that lists the valid ones if it is none."""
    if isinstance(seat, str) and seat in ("random", "rotate"):
        return str(seat)
    number = plain_integer(seat)
    if number is not None and 0 <= number < num_players:
        return number
    raise ValueError(f"seat must be 'random', 'rotate' or a number from 0 to {num_players - 1}, not {shorten(seat)}")


class OpponentBatch:
    """N games side by side in which it is always the learner's turn; opponents play in between.

    A game that ends begins anew at once, and opponents in front of the learner move. The agents `random` and `greedy`
    play inside the kernel (`KernelAgent`), from a stream of each game, so that a game does not depend on the batch
    size. All others are called once per agent and ply, for all their games together.

    Arguments:
        game: from `make_game`.
        num_games: N, at least 1.
        opponents: the agents; one that plays all other seats, or one for each other seat in turn order after
            the learner; any number with `weights`.
        weights: how often each opponent is drawn for a seat, numbers of 0 and more; None: they sit in turn order.
        rewards: "outcome", "margin" or "rank" (see `envs/engine/rewards.py`).
        seat: the learner's: a number, "random" (drawn for every game) or "rotate" (the next one in every game).
        auto_reset: whether games that end begin anew; if not they stay as they ended, with a mask of 0.

    Attributes:
        batch: the GameBatch; its states are at the learner's turn, or over without `auto_reset`.
        on_moves: if set, called after every move, the opponents' too, with the records [k] moved from and the
            actions int64 [k].
        mask: int8 [N, num_actions] and observation: `game.observation_dtype` [N, observation_size], the learner's;
            every step writes new arrays.

    It can be copied with `copy.deepcopy` and pickled as far as its opponents can; `get_state` and `set_state`
    leave the opponents out.
    """

    def __init__(
        self,
        game: Game,
        num_games: int,
        opponents: Sequence[Agent],
        *,
        weights: Sequence[float] | None = None,
        rewards: str = "outcome",
        seat: str | int = "random",
        auto_reset: bool = True,
    ) -> None:
        self.game = game = check_game(game)
        self.num_games = num_games = check_integer(num_games, "num_games", 1, MAX_GAMES)
        rewards = check_choice(rewards, "rewards", REWARDS)
        seat = checked_seat(seat, game.num_players)
        self._seat = _SEATS[seat] if isinstance(seat, str) else seat
        self.batch = GameBatch(game, num_games, rewards=rewards, auto_reset=auto_reset)
        self.on_moves: OnMoves | None = None
        self._mask_shape = (num_games, game.num_actions)
        self._observation_shape, self._observation_dtype = (num_games, game.observation_size), game.observation_dtype
        self._table: np.ndarray = np.zeros(num_games, learner_dtype(game.num_players))
        self._table["opponent_of"] = LEARNER
        self._streams: np.ndarray = np.zeros((num_games, 4), np.uint32)
        self._lasts: np.ndarray = np.repeat(game.template, num_games)
        self.reset_rotation()
        self.set_opponents(opponents, weights)
        # whether it is the learner's turn: not before the first reset, nor after an opponent has failed
        self._ready = False
        self.mask: np.ndarray
        self.observation: np.ndarray
        self._make_outputs()
        self._none_finished = self.finished_games()

    def set_opponents(self, opponents: Sequence[Agent], weights: Sequence[float] | None = None) -> None:
        """Change who plays the other seats, also in the games under way: agent i takes the place of agent i.

        Raises ValueError if their number does not fit the game, or the weights.
        """
        if weights is None:
            _check_number(self.game, len(opponents))
        self.opponents: list[Agent] = list(opponents)
        self._policies = np.array([policy_of(agent) for agent in opponents], np.int64)
        self._weights: np.ndarray = np.zeros(0) if weights is None else _cumulative(weights, len(opponents))
        self._bind()

    def _bind(self) -> None:
        """Make everything that is not part of the games."""
        self._games = self.batch.kernel_games
        workspace = self.game.make_workspace()
        self._learners, self._learners_by_ply = (
            LearningGames(
                self._table,
                self._lasts,
                self._streams,
                self._policies,
                self._weights,
                workspace.values,
                workspace.scratch,
                self._seat,
                max_plies,
            )
            for max_plies in (_ALL_PLIES, 1)
        )
        self._before_learner = self._learners._replace(max_plies=0)
        self._all_inside = bool((self._policies != OUTSIDE).all())

    def __getstate__(self) -> dict[str, Any]:
        derived = ("_games", "_learners", "_learners_by_ply", "_before_learner", "_lasts")
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # equal dtypes from a pickle are not identical, as kernels require
        self._table = self._table.view(learner_dtype(self.game.num_players))
        self._lasts = np.repeat(self.game.template, self.num_games)
        self._bind()

    @property
    def seats(self) -> np.ndarray:
        """Return the learner's seat in each game, int64 [N]."""
        return self._table["seat"]

    @property
    def opponent_of(self) -> np.ndarray:
        """Return the index into `opponents` for each seat, int64 [N, players]; -1 for the learner's."""
        return self._table["opponent_of"]

    def reset(self, seed: int | np.ndarray | None = None) -> None:
        """Begin all games anew, from one seed or one per game, and play to the learner's first turn in each.

        The opponents' own random streams go on, and so does the rotation of seats: give new `opponents` and
        call `reset_rotation` before to begin them anew too.
        """
        self.batch.reset(seed)
        self._ready = False
        opponents_seed = 0
        for agent, policy in zip(self.opponents, self._policies.tolist(), strict=True):
            if policy != OUTSIDE:
                opponents_seed ^= int(draw_seed(stream_of(agent)))
        self._make_outputs()
        learners = self._learners if self.on_moves is None else self._before_learner
        begin_learners(self._games, learners, opponents_seed, self.mask, self.observation)
        self._go_on()
        self._ready = True

    def reset_rotation(self) -> None:
        """Let the seat "rotate" begin with seat i in the next game of place i."""
        self._table["seat"] = np.arange(-1, self.num_games - 1) % self.game.num_players

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, FinishedGames]:
        """Play the learner's action in each game (integers [N]), then the opponents until it is its turn again.

        Returns the learner's rewards float32 [N] (0 but where the game ended), done bool [N] (ended, by a rule or
        a limit), truncated bool [N] (by a limit), and what is left of the games that ended.
        IllegalMove, or ValueError for what are no N integers, before anything has changed, if an action is not legal.
        """
        if not self._ready:
            raise ResetNeeded(f"{self.game.name}: no game is running; call reset() first")
        actions = integer_array(actions, "actions", (self.num_games,))
        if self.play(actions) == NOTHING_ELSE:
            return np.zeros(self.num_games, np.float32), *np.zeros((2, self.num_games), np.bool_), self._none_finished
        table = self._table
        finished = self.finished_games() if table["done"].any() else self._none_finished
        return table["reward"].copy(), table["done"].copy(), table["truncated"].copy(), finished

    def play(self, actions: np.ndarray) -> int:
        """Make a step without its checks of arguments; return MORE if games have ended, else NOTHING_ELSE."""
        before = None if self.on_moves is None else self.batch.states.copy()
        mask, observation = self.mask, self.observation
        self._make_outputs()
        learners = self._learners if before is None else self._before_learner
        result = step_learners(self._games, learners, actions, self.mask, self.observation)
        if result == NOTHING_ELSE and before is None:
            return NOTHING_ELSE
        if result >= 0:
            self.mask, self.observation = mask, observation
            self.batch.raise_illegal(result, actions[result])
        self._ready = False
        if before is not None and self.on_moves is not None:
            self.on_moves(before, actions)
        self._go_on()
        self._ready = True
        return MORE

    def get_state(self) -> dict[str, np.ndarray]:
        """Return copies of all arrays that the future depends on, the opponents excepted."""
        own = {"seats": self.seats.copy(), "opponent_of": self.opponent_of.copy()}
        return {**self.batch.get_state(), **own, "opponent_streams": self._streams.copy()}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go back to a state from `get_state` of a batch of the same game, size and arguments."""
        if np.shape(state["seats"]) != self.seats.shape:
            raise ValueError(f"the state is not one of {self.num_games} games of {self.game.name}")
        seats = integer_array(state["seats"], "seats", self.seats.shape)
        opponent_of = integer_array(state["opponent_of"], "opponent_of", self.opponent_of.shape)
        if ((seats < 0) | (seats >= self.game.num_players)).any():
            raise ValueError(f"seats must be from 0 to {self.game.num_players - 1}")
        streams = state["opponent_streams"]
        if not isinstance(streams, np.ndarray) or streams.dtype != np.uint32 or streams.shape != self._streams.shape:
            raise ValueError(f"opponent_streams must be an array uint32 [{self.num_games}, 4]")
        self.batch.set_state({name: array for name, array in state.items() if name not in _OWN_STATE})
        self._table["seat"] = seats
        self._table["opponent_of"] = opponent_of
        self._streams[:] = streams
        self._make_outputs()
        look(self._games, self._learners, self.mask, self.observation)
        self._ready = True

    def _make_outputs(self) -> None:
        # whoever got the arrays of the last step keeps them
        self.mask = np.empty(self._mask_shape, np.int8)
        self.observation = np.empty(self._observation_shape, self._observation_dtype)

    def _go_on(self) -> None:
        """Play where the kernel has left the games to agents outside of it, or has paused for `on_moves`."""
        while not self._all_inside or self.on_moves is not None:
            status = self._table["status"]
            moving = status.nonzero()[0]
            if not len(moving):
                return
            games = (status == WAITING).nonzero()[0]
            if self.on_moves is not None and len(games):
                moving = games
            before = None if self.on_moves is None else self.batch.states.take(moving)
            opponents = self.opponent_of[games, self.batch.to_move[games]]
            for opponent in sorted(set(opponents.tolist())):
                self._ask(self.opponents[opponent], games[opponents == opponent])
            learners = self._learners
            if self.on_moves is not None:
                learners = self._before_learner if len(games) else self._learners_by_ply
            continue_learners(self._games, learners, moving, self.mask, self.observation)
            if before is not None and self.on_moves is not None:
                self.on_moves(before, self._table["action"][moving])

    def _ask(self, agent: Agent, games: np.ndarray) -> None:
        """Write the actions of an agent outside of the kernel to the table."""
        # take copies whole records, indexing with an array would copy them field by field: 20 times slower
        self._table["action"][games] = act_or_raise(agent, self.game, self.batch.states.take(games), games)

    def finished_games(self) -> FinishedGames:
        """Return what is left of the games that ended in the last step."""
        table = self._table
        games = table["done"].nonzero()[0]
        states, seats = self._lasts.take(games), table["last_seat"][games]
        scores = np.zeros((len(games), self.game.num_players), np.int32)
        ranks = np.zeros_like(scores)
        write_results(states, scores, ranks)
        observation = np.zeros((len(games), self.game.observation_size), self.game.observation_dtype)
        write_observations(states, seats, self._games.observer, observation, 0, len(games))
        ended = table[games]
        return FinishedGames(
            games=games,
            states=states,
            seats=seats,
            opponent_of=ended["last_opponent_of"],
            rewards=ended["reward"],
            truncated=ended["truncated"],
            scores=scores,
            ranks=ranks,
            observation=observation,
        )


def _check_number(game: Game, count: int) -> None:
    others = game.num_players - 1
    if count in (1, others):
        return
    needed = "1 opponent" if others == 1 else f"1 opponent for all other seats or {others}, one for each"
    raise ValueError(f"{game.name} with {game.num_players} players needs {needed}, not {count}")


def _cumulative(weights: Sequence[float], count: int) -> np.ndarray:
    """Return the fraction of the first k + 1 weights, float64 [count]; ValueError if they are not one for each."""
    try:
        numbers = np.asarray(weights, np.float64)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"weights must be numbers, not {shorten(weights)}") from None
    if not count or numbers.shape != (count,):
        raise ValueError(f"there must be one weight for each opponent, at least one, not {shorten(weights)}")
    with np.errstate(over="ignore"):
        total = numbers.sum()
    if not (numbers >= 0).all() or not 0 < total < np.inf:
        raise ValueError(f"weights must be numbers from 0 on, not all 0, not {shorten(weights)}")
    cumulative: np.ndarray = np.cumsum(numbers) / total
    # whatever has been rounded, the last opponent with a weight takes what is left
    cumulative[numbers.nonzero()[0][-1] :] = np.inf
    return cumulative
