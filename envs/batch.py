"""`GameBatch`: many games with the same options, stepped by one compiled call."""

import copy
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .engine.batch import (
    CLOSED,
    Games,
    choose_random,
    play_out,
    reset_games,
    seed_streams,
    step,
    step_subset,
    step_with_others,
    write_masks,
    write_observations,
    write_results,
)
from .engine.compilation import JIT_DISABLED
from .engine.random_stream import CHOICE_STREAM, MAX_SEED, check_seed, game_seeds
from .engine.rewards import REWARD_SETTINGS, REWARDS, outcome_dtype
from .engine.shared_counter import make_counter
from .game import Game, IllegalMove, check_game, illegal_action_message
from .records.batch_state import is_template, read_state, state_bytes
from .system.messages import shorten
from .system.thread_team import ThreadTeam
from .validation.arrays import check_integer, integer_array, is_plain, output_array, shares_memory

MAX_GAMES = 2**20
MAX_THREADS = 1024
_MOST_PLIES = 2**62
_INT64 = np.dtype(np.int64)


class GameBatch:
    """N games in arrays whose first axis is the game.

    Game i of a seed is the same game at any batch size, on any platform, with any number of threads. Its own
    seed is in `states["seed"]`, and `game.new` with that seed starts it alone.

    Arguments:
        game: from `make_game`.
        num_games: N, 1 to 2**20.
        rewards: "outcome", "margin" or "rank" (see `engine/rewards.py`).
        auto_reset: start a new game in the step that ends one, with a seed drawn from the old game's stream;
            otherwise finished games stay as they are and ignore their actions.
        threads: number of threads that share the games of one call, 1 to 1024; results do not depend on it.

    Call `reset` before anything else. Arrays given as `mask` or `observation` must be C-contiguous and writeable,
    int8 [N, num_actions] and `game.observation_dtype` [N, observation_size].
    """

    def __init__(
        self,
        game: Game,
        num_games: int,
        *,
        rewards: str = "outcome",
        auto_reset: bool = True,
        threads: int = 1,
    ) -> None:
        game = check_game(game)
        if not isinstance(rewards, str) or rewards not in REWARDS:
            raise ValueError(f"rewards must be one of {', '.join(REWARDS)}, not {shorten(rewards)}")
        if not isinstance(auto_reset, bool | np.bool_):
            raise ValueError(f"auto_reset must be true or false, not {shorten(auto_reset)}")
        self.game = game
        self.num_games = num_games = check_integer(num_games, "num_games", 1, MAX_GAMES)
        self.threads = min(check_integer(threads, "threads", 1, MAX_THREADS), num_games)
        self._shape = (num_games,)
        self._states: np.ndarray = np.repeat(game.template, num_games)
        self._finals: np.ndarray = np.repeat(game.template, num_games)
        self._outcomes: np.ndarray = np.zeros(num_games, outcome_dtype(game.spec.most_players))
        self._choice_streams: np.ndarray = np.zeros((num_games, 4), np.uint32)
        self._settings: np.ndarray = np.zeros((2, 1), REWARD_SETTINGS)
        self._settings["check"] = [[False], [True]]
        self._settings["auto_reset"] = auto_reset
        self._settings["rewards"] = REWARDS.index(rewards)
        self._settings["margin_scale"] = game.spec.margin_scale
        self._begun = False
        self._bind()

    def _bind(self) -> None:
        """Make everything that belongs to this process and is not part of the games."""
        arrays = (self._states, self._outcomes, self._finals, self.game.template)
        buffers = [(np.zeros(self.game.num_actions, np.int8), self.game.make_observer()) for _ in range(self.threads)]
        # for each thread, without and with a check of actions
        self._unchecked, self._checked = (
            [Games(*arrays, settings, mask, observer) for mask, observer in buffers] for settings in self._settings
        )
        self._no_mask = np.zeros((0, self.game.num_actions), np.int8)
        self._no_observation = np.zeros((0, self.game.observation_size), self.game.observation_dtype)
        # the outputs that passed the check last, and views of them: most callers always pass the same arrays
        self._known_mask: np.ndarray | None = None
        self._known_observation: np.ndarray | None = None
        self._mask_view = self._no_mask
        self._observation_view = self._no_observation
        self._counter = make_counter()
        # for each game, the number of its last call of `step_subset`
        self._last_call = np.zeros(self.num_games, np.int64)
        self._calls = 0
        self._start_team()

    def _start_team(self) -> None:
        self._process = os.getpid()
        # plain Python has no atomic counters, and would gain nothing
        self._team = ThreadTeam(self.threads) if self.threads > 1 and not JIT_DISABLED else None

    @property
    def states(self) -> np.ndarray:
        """Return the games, records [N]: the array itself, for inspection."""
        return self._states

    @property
    def finals(self) -> np.ndarray:
        """Return the last finished game at each index, records [N]; the template before the first one."""
        return self._finals

    @property
    def outcomes(self) -> np.ndarray:
        """Return the results of the last step, `outcome_dtype` [N] (see `engine/rewards.py`)."""
        return self._outcomes

    def reset(self, seed: int | np.ndarray | None = None) -> None:
        """Reset all games from one seed, or from one seed per game, integers [N] from 0 to 2**53 - 1."""
        if np.iterable(seed) and not isinstance(seed, str | bytes):
            try:
                seeds = integer_array(seed, "they", self._shape)
            except ValueError as error:
                raise ValueError(f"seed must be one integer, or {self.num_games} of them; {error}") from None
            if (seeds < 0).any() or (seeds > MAX_SEED).any():
                raise ValueError(f"seeds must be integers from 0 to {MAX_SEED}")
            seeds = seeds.astype(np.uint64)
        else:
            seeds = game_seeds(check_seed(seed), self.num_games)
        self._outcomes[:] = np.zeros(1, self._outcomes.dtype)
        self._finals[:] = self.game.template[0]
        seed_streams(self._choice_streams, seeds, CHOICE_STREAM)
        self._run(lambda thread, start, stop: reset_games(self._states, self.game.template, seeds, start, stop))
        self._begun = True

    def step(
        self,
        actions: np.ndarray,
        *,
        check: bool = True,
        mask: np.ndarray | None = None,
        observation: np.ndarray | None = None,
    ) -> None:
        """Play one action in each game, integers [N]; write the next masks and observations if given.

        An illegal action raises IllegalMove, which names the game, action and move, before anything changes. Finished
        games ignore their actions. `check=False` only checks that actions are from 0 to num_actions - 1: an illegal
        action then leaves that game in a meaningless state or does nothing; other games are not affected.
        """
        if not self._begun:
            self._refuse_blank()
        # `is_plain`, inlined: a call costs as much as the test
        plain = type(actions) is np.ndarray and actions.dtype is _INT64 and actions.flags.carray
        if not plain or actions.shape != self._shape:
            actions = integer_array(actions, "actions", self._shape)
        if mask is None:
            mask = self._no_mask
        else:
            mask = self._mask_view if mask is self._known_mask else self._know_mask("mask", mask)
        if observation is None:
            observation = self._no_observation
        elif observation is self._known_observation:
            observation = self._observation_view
        else:
            observation = self._know_observation("observation", observation)
        # actions that own their memory cannot share it with an output
        if actions.base is not None and shares_memory(actions, mask, observation):
            actions = actions.copy()
        games = self._checked if check else self._unchecked
        if self._team is None:
            illegal = step(games[0], actions, mask, observation, 0, self.num_games)
        else:
            illegal = self._step_with_team(games, actions, mask, observation)
        if illegal >= 0:
            self.raise_illegal(illegal, actions[illegal])

    def _step_with_team(
        self, games: list[Games], actions: np.ndarray, mask: np.ndarray, observation: np.ndarray
    ) -> int:
        counter = self._counter
        counter[0] = CLOSED

        def work(thread: int) -> int:
            try:
                return int(step_with_others(games[thread], actions, mask, observation, counter, thread == 0))
            finally:
                # whatever happened, the others do not wait for ever
                if thread == 0 and counter[0] < 0:
                    counter[0] = self.num_games

        return int(self._team_of_process().run(work)[0])

    def step_subset(self, games: np.ndarray, actions: np.ndarray, *, check: bool = True) -> None:
        """Play one action, integers [k], in some games, integers [k], all different; the others stay as they are.

        `rewards`, `done` and `truncated` change only for these games. IllegalMove and `check` as in `step`.
        """
        if not self._begun:
            self._refuse_blank()
        if not is_plain(games, _INT64) or games.ndim != 1:
            games = integer_array(games, "games", (None,))
        if not is_plain(actions, _INT64) or actions.shape != games.shape:
            actions = integer_array(actions, "actions", games.shape)
        self._calls += 1
        arrays = self._checked[0] if check else self._unchecked[0]
        refused = step_subset(arrays, games, actions, self._last_call, self._calls)
        if refused >= 0:
            game = int(games[refused])
            if not 0 <= game < self.num_games:
                raise ValueError(f"games must be from 0 to {self.num_games - 1}, not {game}")
            if (games[:refused] == game).any():
                raise ValueError(f"games must all be different, but {game} is given twice")
            self.raise_illegal(game, actions[refused])

    def _know_mask(self, name: str, mask: Any) -> np.ndarray:
        """Return a view of a mask for kernels to write to, and remember it."""
        self._mask_view = self._output(name, mask, np.int8, (self.num_games, self.game.num_actions))
        self._known_mask = mask
        return self._mask_view

    def _know_observation(self, name: str, observation: Any) -> np.ndarray:
        """Return a view of an observation for kernels to write to, and remember it."""
        shape = (self.num_games, self.game.observation_size)
        self._observation_view = self._output(name, observation, self.game.observation_dtype, shape)
        self._known_observation = observation
        return self._observation_view

    def _output(self, name: str, array: Any, dtype: type | np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        view = output_array(array, name, dtype, shape)
        if shares_memory(view, self._states, self._finals, self._outcomes, self._choice_streams):
            raise ValueError(f"{name} must not share memory with the games")
        return view

    def _refuse_blank(self) -> NoReturn:
        raise ValueError(f"the games of {self.game.name} have not begun; call reset first")

    @property
    def kernel_games(self) -> Games:
        """Return the games as kernels take them."""
        return self._checked[0]

    def raise_illegal(self, index: int, action: int) -> NoReturn:
        """Raise the IllegalMove of an action in the game of an index."""
        message = illegal_action_message(self.game, self._states[index], int(action))
        raise IllegalMove(f"game {index} of the batch: {message}")

    def mask(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return the legal actions, int8 [N, num_actions]; finished games have none."""
        if not self._begun:
            self._refuse_blank()
        if out is None:
            out = view = np.empty((self.num_games, self.game.num_actions), np.int8)
        else:
            view = self._mask_view if out is self._known_mask else self._know_mask("out", out)
        self._run(lambda thread, start, stop: write_masks(self._states, view, start, stop))
        return out

    def observe(self, seats: np.ndarray | int | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return the observation of a seat of each game (default: the one to move), [N, observation_size].

        Raises ValueError if seats are not integers from 0 to num_players - 1, one or [N].
        """
        if not self._begun:
            self._refuse_blank()
        if out is None:
            out = view = np.empty((self.num_games, self.game.observation_size), self.game.observation_dtype)
        elif out is self._known_observation:
            view = self._observation_view
        else:
            view = self._know_observation("out", out)
        seat_array = self.to_move.astype(np.int64) if seats is None else self._check_seats(seats)
        self._run(
            lambda thread, start, stop: write_observations(
                self._states, seat_array, self._unchecked[thread].observer, view, start, stop
            )
        )
        return out

    def _check_seats(self, seats: Any) -> np.ndarray:
        last = self.game.num_players - 1
        if not np.iterable(seats):
            return np.full(self.num_games, check_integer(seats, "seats", 0, last), np.int64)
        seats = integer_array(seats, "seats", self._shape)
        if ((seats < 0) | (seats > last)).any():
            raise ValueError(f"seats must be 0 to {last}")
        return seats

    def random_actions(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return a uniformly random legal action of each game, int64 [N], -1 in finished ones.

        They come from each game's own stream, so that random play does not depend on the batch size.
        """
        if not self._begun:
            self._refuse_blank()
        if out is None:
            out = view = np.empty(self.num_games, np.int64)
        else:
            view = self._output("out", out, np.int64, self._shape)
        self._run(
            lambda thread, start, stop: choose_random(
                self._states, self._choice_streams, view, self._unchecked[thread].mask, start, stop
            )
        )
        return out

    def play_out(self, max_plies: int = _MOST_PLIES) -> int:
        """Play every game to the end with random legal actions, without auto-reset; return the number of decisions.

        Each game makes at most `max_plies` decisions, an integer from 0.
        """
        if not self._begun:
            self._refuse_blank()
        plies = check_integer(max_plies, "max_plies", 0, _MOST_PLIES)
        return sum(
            self._run(
                lambda thread, start, stop: play_out(
                    self._states, self._choice_streams, plies, self._unchecked[thread].mask, start, stop
                )
            )
        )

    def results(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the current scores and ranks of the games, int32 [N, num_players]; rank 0 wins."""
        scores = np.zeros((self.num_games, self.game.num_players), np.int32)
        ranks = np.zeros_like(scores)
        write_results(self._states, scores, ranks)
        return scores, ranks

    @property
    def to_move(self) -> np.ndarray:
        """Return who decides next, uint8 [N], a view of the states."""
        return self._states["to_move"]

    @property
    def rewards(self) -> np.ndarray:
        """Return every player's reward of the last step, float32 [N, num_players]; 0 unless it ended the game."""
        return self._outcomes["rewards"][:, : self.game.num_players]

    @property
    def done(self) -> np.ndarray:
        """Return whether the last step ended the game, bool [N]."""
        return self._outcomes["done"]

    @property
    def truncated(self) -> np.ndarray:
        """Return whether the last step ended the game by a limit, bool [N]."""
        return self._outcomes["truncated"]

    def clone(self) -> "GameBatch":
        """Return an independent batch in the same state, with the same future."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in _KEPT}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._shape = (self.num_games,)
        # equal dtypes from a pickle are not identical, as the fast checks require
        for name in ("_states", "_finals"):
            setattr(self, name, state[name].view(self.game.template.dtype))
        self._bind()

    @property
    def settings(self) -> np.ndarray:
        """Return the settings of steps without and with a check of actions, SETTINGS_DTYPE [2, 1]."""
        return self._settings

    def get_state(self) -> dict[str, np.ndarray]:
        """Return copies of everything the games' future depends on: "states", "finals", "outcomes", "choice_streams".

        The first three are the bytes of the records, uint8; the streams are uint32 [N, 4].
        """
        records = {"states": self._states, "finals": self._finals, "outcomes": self._outcomes}
        return {
            **{name: state_bytes(array) for name, array in records.items()},
            "choice_streams": self._choice_streams.copy(),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore a state from `get_state` of a batch of the same game and size; parts that it lacks do not change.

        Raises ValueError with a one-sentence reason, and changes nothing, if the state is invalid.
        """
        read = read_state(self.game, self.num_games, state)
        for name, array in read.items():
            getattr(self, f"_{name}")[:] = array
        self._begun = not is_template(self.game, self._states).any()

    def save(self, path: str | Path) -> None:
        """Write everything, including the streams, to an .npz file, atomically."""
        from .records.batch_file import save_batch

        save_batch(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> "GameBatch":
        """Return the batch of a file.

        Raises ValueError with a one-sentence reason if the file is damaged, contains impossible games, or is of another
        version of the game.
        """
        from .records.batch_file import load_batch

        return load_batch(Path(path))

    def _run(self, work: Callable[[int, int, int], Any]) -> list[Any]:
        """Call work(thread, start, stop) on all games: in one call, or in one slice per thread."""
        if self._team is None:
            return [work(0, 0, self.num_games)]
        bounds = [self.num_games * thread // self.threads for thread in range(self.threads + 1)]
        return self._team_of_process().run(lambda thread: work(thread, bounds[thread], bounds[thread + 1]))

    def _team_of_process(self) -> ThreadTeam:
        if self._team is None or self._process != os.getpid():
            # in the child of a fork, which has none of the threads
            self._start_team()
        assert self._team is not None
        return self._team


_KEPT = ("game", "num_games", "threads", "_states", "_finals", "_outcomes", "_choice_streams", "_settings", "_begun")
"""The attributes that make up a batch; all others belong to the process or are derived."""
