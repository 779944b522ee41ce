"""`OpponentBatch`: games in which a learner holds one seat and agents the others, always at the learner's turn.

What every training interface is made of: the Gymnasium environments and the Stable-Baselines3 one differ only in
how they hand over what stands here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from gymnasium.error import ResetNeeded

from ..batch import GameBatch
from ..engine.batch import write_masks, write_observations, write_results
from ..engine.rewards import REWARDS
from ..engine.state import RUNNING
from ..game import Game, check_game
from ..system.messages import shorten
from ..validation.arguments import check_choice
from ..validation.arrays import check_integer, integer_array, plain_integer
from .agent import Agent, act_or_raise

LEARNER = -1
"""The number in `opponent_of` that stands for the learner."""
MAX_GAMES = 2**20
"""Games side by side, at most."""

Assign = Callable[[np.ndarray], np.ndarray]
OnMoves = Callable[[np.ndarray, np.ndarray], None]

_OWN_STATE = ("seats", "opponent_of")


@dataclass(frozen=True)
class FinishedGames:
    """The k games that ended within one step, as they ended.

    games: int64 [k], ascending; states: record [k]; seats: int64 [k], the learner's; opponent_of: int64
    [k, players]; scores, places: int32 [k, players], place 0 wins; observation: float32 [k, observation_size],
    what the learner's seat sees at the end.
    """

    games: np.ndarray
    states: np.ndarray
    seats: np.ndarray
    opponent_of: np.ndarray
    scores: np.ndarray
    ranks: np.ndarray
    observation: np.ndarray


def seats_of_seeds(seeds: np.ndarray, num_players: int) -> np.ndarray:
    """Return the learner's random seat in the game of each seed (uint64 [n]), int64 [n], all equally likely.

    The seat follows from the game's own seed, so that a game is the same alone and in any batch.
    """
    # the finaliser of splitmix64: neighbouring seeds, as a batch has them, give unrelated seats
    mixed = (seeds ^ (seeds >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return ((mixed >> np.uint64(32)) % np.uint64(num_players)).astype(np.int64)


def checked_seat(seat: str | int, num_players: int) -> str | int:
    """Return the seat as Python's str or int; ValueError that lists the valid ones if it is none."""
    if isinstance(seat, str) and seat in ("random", "rotate"):
        return str(seat)
    number = plain_integer(seat)
    if number is not None and 0 <= number < num_players:
        return number
    raise ValueError(f"seat must be 'random', 'rotate' or a number from 0 to {num_players - 1}, not {shorten(seat)}")


def _check_number(game: Game, count: int, any_number: bool) -> None:
    others = game.num_players - 1
    if any_number or count in (1, others):
        return
    needed = "1 opponent" if others == 1 else f"1 opponent for all other seats or {others}, one for each"
    raise ValueError(f"{game.name} with {game.num_players} players needs {needed}, not {count}")


class OpponentBatch:
    """N games side by side in which it is always the learner's turn; opponents play in between.

    A game that ends begins anew at once, and opponents in front of the learner move. The opponents that have to
    decide are called once per agent and ply, for all their games together.

    Arguments:
        game: from `make_game`.
        num_games: N, at least 1.
        opponents: the agents; one that plays all other seats, or one for each other seat in turn order after
            the learner; any number if `assign` says who plays. The list may be changed between steps.
        rewards: "outcome", "margin" or "rank" (see `envs/engine/rewards.py`).
        seat: the learner's: a number, "random" (drawn for every game) or "rotate" (the next one in every game).
        assign: called with the games about to begin (int64 [k], their `seats` already set, `opponent_of` still
            that of the game before); returns int64 [k, players - 1], indices into `opponents` for the seats
            after the learner's in turn order.
        auto_reset: whether games that end begin anew; if not they stay as they ended, with a mask of 0.

    Attributes:
        batch: the GameBatch; its states are at the learner's turn, or over without `auto_reset`.
        seats: int64 [N], the learner's seat in each game.
        opponent_of: int64 [N, players], index into `opponents` for each seat, -1 for the learner's.
        on_moves: if set, called after every move, the opponents' too, with the records [k] moved from and the
            actions int64 [k].
        mask: int8 [N, num_actions] and observation: float32 [N, observation_size], the learner's; every step
            writes them anew in place.

    It can be copied with `copy.deepcopy` and pickled as far as its opponents can; `get_state` and `set_state`
    leave the opponents out.
    """

    def __init__(
        self,
        game: Game,
        num_games: int,
        opponents: Sequence[Agent],
        *,
        rewards: str = "outcome",
        seat: str | int = "random",
        assign: Assign | None = None,
        auto_reset: bool = True,
    ) -> None:
        self.game = game = check_game(game)
        self.num_games = num_games = check_integer(num_games, "num_games", 1, MAX_GAMES)
        _check_number(game, len(opponents), any_number=assign is not None)
        rewards = check_choice(rewards, "rewards", REWARDS)
        self._seat = checked_seat(seat, game.num_players)
        self.opponents: list[Agent] = list(opponents)
        self.batch = GameBatch(game, num_games, rewards=rewards, auto_reset=auto_reset)
        self.seats: np.ndarray = np.empty(num_games, np.int64)
        self.reset_rotation()
        self.opponent_of: np.ndarray = np.full((num_games, game.num_players), LEARNER, np.int64)
        self.mask: np.ndarray = np.zeros((num_games, game.num_actions), np.int8)
        self.observation: np.ndarray = np.zeros((num_games, game.observation_size), game.observation_dtype)
        self._observer = game.make_observer()
        self.on_moves: OnMoves | None = None
        self._assign = assign
        self._auto_reset = auto_reset
        # whether it is the learner's turn: not before the first reset, nor after an opponent has failed
        self._ready = False
        self._begin_step()
        self._none_finished = self._finish_games()

    def reset(self, seed: int | np.ndarray | None = None) -> None:
        """Begin all games anew, from one seed or one per game, and play to the learner's first turn in each.

        The opponents' own random streams go on, and so does the rotation of seats: give new `opponents` and
        call `reset_rotation` before to begin them anew too.
        """
        self._begin_step()
        self.batch.reset(seed)
        self._ready = False
        self._begin_games(np.arange(self.num_games))
        self._play_opponents()
        self._look()
        self._ready = True

    def reset_rotation(self) -> None:
        """Let the seat "rotate" begin with seat i in the next game of place i."""
        self.seats[:] = np.arange(-1, self.num_games - 1) % self.game.num_players

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, FinishedGames]:
        """Play the learner's action in each game (integers [N]), then the opponents until it is its turn again.

        Returns the learner's rewards float32 [N] (0 but where the game ended), done bool [N] (ended, by a rule or
        a limit), truncated bool [N] (by a limit), and what is left of the games that ended. IllegalMove, or
        ValueError for what are no N integers, before anything has changed, if an action is not legal.
        """
        if not self._ready:
            raise ResetNeeded(f"{self.game.name}: no game is running; call reset() first")
        actions = integer_array(actions, "actions", (self.num_games,))
        self._begin_step()
        before = None if self.on_moves is None else self.batch.states.copy()
        self.batch.step(actions)
        self._ready = False
        if self.on_moves is not None and before is not None:
            self.on_moves(before, actions)
        self._note_endings(None)
        self._play_opponents()
        self._look()
        self._ready = True
        finished = self._finish_games() if self._ended else self._none_finished
        return self._rewards, self._done, self._truncated, finished

    def get_state(self) -> dict[str, np.ndarray]:
        """Return copies of all arrays that the future depends on, the opponents excepted."""
        return {**self.batch.get_state(), "seats": self.seats.copy(), "opponent_of": self.opponent_of.copy()}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go back to a state from `get_state` of a batch of the same game, size and arguments."""
        if np.shape(state["seats"]) != self.seats.shape:
            raise ValueError(f"the state is not one of {self.num_games} games of {self.game.name}")
        seats = integer_array(state["seats"], "seats", self.seats.shape)
        opponent_of = integer_array(state["opponent_of"], "opponent_of", self.opponent_of.shape)
        if ((seats < 0) | (seats >= self.game.num_players)).any():
            raise ValueError(f"seats must be from 0 to {self.game.num_players - 1}")
        self.batch.set_state({name: array for name, array in state.items() if name not in _OWN_STATE})
        self.seats[:] = seats
        self.opponent_of[:] = opponent_of
        self._look()
        self._ready = True

    def _begin_step(self) -> None:
        self._rewards = np.zeros(self.num_games, np.float32)
        self._done = np.zeros(self.num_games, np.bool_)
        self._truncated = np.zeros(self.num_games, np.bool_)
        self._ended: list[tuple[np.ndarray, ...]] = []

    def _begin_games(self, games: np.ndarray) -> None:
        """Seat learner and opponents in games that have just been dealt."""
        players = self.game.num_players
        if self._seat == "random":
            seats = seats_of_seeds(self.batch.states["seed"][games], players)
        elif self._seat == "rotate":
            seats = (self.seats[games] + 1) % players
        else:
            seats = np.full(len(games), self._seat, np.int64)
        self.seats[games] = seats
        after = np.arange(players - 1) % len(self.opponents) if self._assign is None else self._assign(games)
        others = (seats[:, None] + np.arange(1, players)) % players
        self.opponent_of[games, seats] = LEARNER
        self.opponent_of[games[:, None], others] = after

    def _play_opponents(self) -> None:
        to_move, over = self.batch.to_move, self.batch.states["status"]
        while True:
            others_turn = to_move != self.seats
            if not self._auto_reset:
                others_turn &= over == RUNNING
            waiting = others_turn.nonzero()[0]
            if not len(waiting):
                return
            opponents = self.opponent_of[waiting, to_move[waiting]]
            for opponent in sorted(set(opponents.tolist())):
                games = waiting[opponents == opponent]
                self._play_opponent(self.opponents[opponent], games)
                self._note_endings(games)

    def _play_opponent(self, agent: Agent, games: np.ndarray) -> None:
        # take copies whole records, indexing with an array would copy them field by field: 20 times slower
        states = self.batch.states.take(games)
        actions = act_or_raise(agent, self.game, states, games)
        self.batch.step_subset(games, actions, check=False)
        if self.on_moves is not None:
            self.on_moves(states, actions)

    def _note_endings(self, played: np.ndarray | None) -> None:
        """Keep what the games that have just ended (among all if `played` is None) brought; seat the next ones."""
        done = self.batch.done
        ended = done.nonzero()[0] if played is None else played[done[played]]
        if not len(ended):
            return
        # a second ending in one step belongs to a game that opponents played alone: it is begun again unnoticed
        games = ended[~self._done[ended]]
        seats = self.seats[games]
        self._done[games] = True
        self._rewards[games] = self.batch.rewards[games, seats]
        self._truncated[games] = self.batch.truncated[games]
        self._ended.append((games, self.batch.finals.take(games), seats, self.opponent_of[games]))
        if self._auto_reset:
            self._begin_games(ended)

    def _look(self) -> None:
        states = self.batch.states
        write_masks(states, self.mask, 0, self.num_games)
        write_observations(states, self.seats, self._observer, self.observation, 0, self.num_games)

    def _finish_games(self) -> FinishedGames:
        none = np.zeros(0, np.int64)
        pieces = self._ended or [(none, self.batch.finals[:0], none, self.opponent_of[:0])]
        games, states, seats, opponent_of = (np.concatenate(part) for part in zip(*pieces, strict=True))
        order = np.argsort(games)
        games, seats, opponent_of, states = games[order], seats[order], opponent_of[order], states.take(order)
        scores = np.zeros((len(games), self.game.num_players), np.int32)
        ranks = np.zeros_like(scores)
        write_results(states, scores, ranks)
        observation = np.zeros((len(games), self.game.observation_size), self.game.observation_dtype)
        write_observations(states, seats, self._observer, observation, 0, len(games))
        return FinishedGames(games, states, seats, opponent_of, scores, ranks, observation)
