"""`GameBatch`: many games of one kind side by side, stepped by one compiled call."""

import copy
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from .engine.random_stream import CHOICE_STREAM, MAX_SEED, checked_seed, game_seeds
from .engine.rewards import REWARDS, SETTINGS_DTYPE, outcome_dtype
from .files import write_atomically
from .game import Game, IllegalMove, illegal_action_message, make_game

_FORMAT = "meeplezoo-batch/1"
_INT64 = np.dtype(np.int64)


class GameBatch:
    """N games side by side, in arrays whose first axis is the game.

    Game i of a seed is the same game at any batch size, on any platform, with any number of threads; its own
    seed stands in `states["seed"]`, so that `game.new(seed)` begins it alone.

    Arguments:
        game: from `make_game`.
        num_games: N, at least 1.
        rewards: "outcome", "margin" or "rank" (see `engine/rewards.py`).
        auto_reset: begin a new game, with a seed drawn from the old one's stream, as soon as one has ended;
            otherwise finished games stay as they are and ignore their actions.
        threads: how many threads share the games of one call; results do not depend on it.

    The games begin with `reset`. Arrays given as `mask` or `observation` have to be C-contiguous, int8
    [N, num_actions] and float32 [N, observation_size].
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
        if num_games < 1 or threads < 1:
            raise ValueError(f"num_games and threads must be at least 1, not {num_games} and {threads}")
        if rewards not in REWARDS:
            raise ValueError(f"rewards must be one of {', '.join(REWARDS)}, not {rewards!r}")
        self.game = game
        self.num_games = num_games
        self._shape = (num_games,)
        self.threads = min(threads, num_games)
        self.states: np.ndarray = np.repeat(game.blank, num_games)
        self.finals: np.ndarray = np.repeat(game.blank, num_games)
        """The last game that ended in each place, as it ended; the blank record before the first."""
        self.outcomes: np.ndarray = np.zeros(num_games, outcome_dtype(game.description.most_players))
        self._settings = np.zeros((2, 1), SETTINGS_DTYPE)
        self._settings["check"] = [[False], [True]]
        self._settings["auto_reset"] = auto_reset
        self._settings["rewards"] = REWARDS.index(rewards)
        self._settings["observation"] = game.form
        self._settings["margin_scale"] = game.description.margin_scale
        self._unchecked, self._checked = self._settings
        self._choice_streams = np.zeros((num_games, 4), np.uint32)
        self._no_mask = np.zeros((0, game.num_actions), np.int8)
        self._no_observation = np.zeros((0, game.observation_size), np.float32)
        # the outputs that were found to be right last: most callers hand over the same ones in every step
        self._known_mask = self._no_mask
        self._known_observation = self._no_observation
        self._bind()

    def _bind(self) -> None:
        self._kernels = self.game.kernels
        self._step = self._kernels.step
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def reset(self, seed: int | np.ndarray | None = None) -> None:
        """Begin all games anew: from one seed, or from one seed per game (integers [N], 0 to 2**53 - 1)."""
        if isinstance(seed, np.ndarray | list | tuple):
            seeds = np.asarray(seed)
            if seeds.shape != (self.num_games,) or seeds.dtype.kind not in "iu":
                raise ValueError(f"seed must be one integer, or {self.num_games} of them")
            if (seeds < 0).any() or (seeds > MAX_SEED).any():
                raise ValueError(f"seeds must be integers from 0 to {MAX_SEED}")
            seeds = seeds.astype(np.uint64)
        else:
            seeds = game_seeds(checked_seed(seed), self.num_games)
        self.outcomes[:] = np.zeros(1, self.outcomes.dtype)
        self.finals[:] = self.game.blank[0]
        self._kernels.seed_streams(self._choice_streams, seeds, CHOICE_STREAM)
        self._run(lambda start, stop: self._kernels.begin(self.states, self.game.blank, seeds, start, stop))

    def step(
        self,
        actions: np.ndarray,
        *,
        check: bool = True,
        mask: np.ndarray | None = None,
        observation: np.ndarray | None = None,
    ) -> None:
        """Play one action in each game (integers [N]) and write the next masks and observations on the way.

        An illegal action raises IllegalMove, naming game, action and move, before anything has changed;
        `check=False` leaves the test out: then an illegal action leaves a meaningless game.
        """
        # an identity test, because comparing dtypes costs a tenth of a whole step of one game
        if type(actions) is not np.ndarray or actions.dtype is not _INT64:
            actions = np.asarray(actions)
            if actions.dtype.kind not in "iu":
                raise ValueError(f"actions must be integers, not {actions.dtype}")
            actions = actions.astype(np.int64)
        if actions.shape != self._shape:
            raise ValueError(f"actions must have the shape {self._shape}, not {actions.shape}")
        if mask is None:
            mask = self._no_mask
        elif mask is not self._known_mask:
            self._known_mask = self._checked_output("mask", mask, np.int8, self.game.num_actions)
        if observation is None:
            observation = self._no_observation
        elif observation is not self._known_observation:
            size = self.game.observation_size
            self._known_observation = self._checked_output("observation", observation, np.float32, size)
        arrays = (self.states, actions, self.outcomes, self.finals, self.game.blank, mask, observation)
        if self._pool is None:
            illegal = self._step(*arrays, self._checked if check else self._unchecked, 0, self.num_games)
            if illegal >= 0:
                self._raise_illegal(illegal, actions)
            return
        if check:
            illegal = self._kernels.first_illegal(self.states, actions, 0, self.num_games)
            if illegal >= 0:
                self._raise_illegal(illegal, actions)
        self._run(lambda start, stop: self._step(*arrays, self._unchecked, start, stop))

    def step_some(self, games: np.ndarray, actions: np.ndarray, *, check: bool = True) -> None:
        """Play one action (int64 [k]) in some games (int64 [k], all different); the others stay as they are.

        `rewards`, `done` and `truncated` change for these games alone. IllegalMove as in `step`.
        """
        settings = self._checked if check else self._unchecked
        illegal = self._kernels.step_some(
            self.states, games, actions, self.outcomes, self.finals, self.game.blank, settings
        )
        if illegal >= 0:
            game = int(games[illegal])
            message = illegal_action_message(self.game, self.states[game], int(actions[illegal]))
            raise IllegalMove(f"game {game} of the batch: {message}")

    def _checked_output(self, name: str, array: np.ndarray, dtype: type, size: int) -> np.ndarray:
        """Return an array that kernels may write to; they themselves would write past the end of a wrong one."""
        if array.shape != (self.num_games, size) or array.dtype != dtype or not array.flags.c_contiguous:
            raise ValueError(
                f"{name} must be a C-contiguous {np.dtype(dtype)} array of the shape {(self.num_games, size)}, "
                f"not {array.dtype} of {array.shape}"
            )
        return array

    def _raise_illegal(self, index: int, actions: np.ndarray) -> None:
        message = illegal_action_message(self.game, self.states[index], int(actions[index]))
        raise IllegalMove(f"game {index} of the batch: {message}")

    def mask(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return the legal actions, int8 [N, num_actions]; finished games have none."""
        size = self.game.num_actions
        mask = (
            np.empty((self.num_games, size), np.int8)
            if out is None
            else self._checked_output("out", out, np.int8, size)
        )
        self._run(lambda start, stop: self._kernels.write_masks(self.states, mask, start, stop))
        return mask

    def observe(self, seats: np.ndarray | int | None = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return what a seat of each game sees (default: the one to move), float32 [N, observation_size]."""
        size = self.game.observation_size
        observation = (
            np.empty((self.num_games, size), np.float32)
            if out is None
            else self._checked_output("out", out, np.float32, size)
        )
        whose = self.to_move if seats is None else seats
        seats = np.ascontiguousarray(np.broadcast_to(whose, (self.num_games,)), np.int64)
        if ((seats < 0) | (seats >= self.game.num_players)).any():
            raise ValueError(f"seats must be 0 to {self.game.num_players - 1}")
        checked_seats = seats
        self._run(
            lambda start, stop: self._kernels.write_observations(
                self.states, checked_seats, self.game.form, observation, start, stop
            )
        )
        return observation

    def random_actions(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return a uniformly random legal action of each game, int64 [N], -1 in finished ones.

        They come from a stream of each game's own, so that random play does not depend on the batch size.
        """
        if out is None:
            out = np.empty(self.num_games, np.int64)
        elif out.shape != (self.num_games,) or out.dtype != np.int64 or not out.flags.c_contiguous:
            raise ValueError(f"out must be a C-contiguous int64 array of the shape ({self.num_games},)")
        actions = out
        self._run(
            lambda start, stop: self._kernels.choose_random(self.states, self._choice_streams, actions, start, stop)
        )
        return actions

    def play_out(self, max_plies: int = 2**62) -> int:
        """Play every game to its end by random legal actions, without auto-reset; return the decisions made."""
        return sum(
            self._run(
                lambda start, stop: self._kernels.play_out(self.states, self._choice_streams, max_plies, start, stop)
            )
        )

    def results(self) -> tuple[np.ndarray, np.ndarray]:
        """Return scores and places, int32 [N, players], of the games as they stand (place 0 wins)."""
        scores = np.zeros((self.num_games, self.game.num_players), np.int32)
        places = np.zeros_like(scores)
        self._kernels.write_results(self.states, scores, places)
        return scores, places

    @property
    def to_move(self) -> np.ndarray:
        """Return who decides next, uint8 [N], a view of the states."""
        return self.states["to_move"]

    @property
    def rewards(self) -> np.ndarray:
        """Return every player's reward of the last step, float32 [N, players]: 0 but in the one that ends a game."""
        return self.outcomes["rewards"][:, : self.game.num_players]

    @property
    def done(self) -> np.ndarray:
        """Return whether the last step ended the game, bool [N]."""
        return self.outcomes["done"]

    @property
    def truncated(self) -> np.ndarray:
        """Return whether the last step ended the game by a limit, bool [N]."""
        return self.outcomes["truncated"]

    def clone(self) -> "GameBatch":
        """Return an independent batch in the same state, with the same future."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_kernels", "_step", "_pool", "_unchecked", "_checked"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._unchecked, self._checked = self._settings
        self._bind()

    def save(self, path: str | Path) -> None:
        """Write everything, the streams too, to an .npz file; it is complete or it is not there."""
        head = {
            "format": _FORMAT,
            "game": self.game.name,
            "version": self.game.description.version,
            "options": self.game.options,
            "observation": self.game.observation,
            "threads": self.threads,
        }
        arrays: dict[str, Any] = {
            "states": self.states.view(np.uint8),
            "finals": self.finals.view(np.uint8),
            "outcomes": self.outcomes.view(np.uint8),
            "settings": self._settings.view(np.uint8),
            "choice_streams": self._choice_streams,
        }
        with write_atomically(Path(path)) as file:
            np.savez(file, head=np.array(json.dumps(head)), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "GameBatch":
        """Return the batch of a file; ValueError if it is none, or of another version of the game."""
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(str(file["head"])) if "head" in file else {}
            if head.get("format") != _FORMAT:
                raise ValueError(f"{path} is no file of GameBatch.save")
            game = make_game(head["game"], observation=head["observation"], **head["options"])
            if head["version"] != game.description.version:
                raise ValueError(f"{path} holds version {head['version']} of {game.name}, not this one")
            states = file["states"].view(game.description.state_dtype).reshape(-1)
            batch = cls(game, len(states), threads=head["threads"])
            batch.states[:] = states
            batch.finals[:] = file["finals"].view(game.description.state_dtype).reshape(-1)
            batch.outcomes[:] = file["outcomes"].view(batch.outcomes.dtype).reshape(-1)
            batch._settings.view(np.uint8)[:] = file["settings"]
            batch._choice_streams[:] = file["choice_streams"]
        return batch

    def _run(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Call work(start, stop) on all games: in one go, or in one slice per thread."""
        if self._pool is None:
            return [work(0, self.num_games)]
        bounds = np.linspace(0, self.num_games, self.threads + 1).astype(int).tolist()
        return list(self._pool.map(work, bounds[:-1], bounds[1:]))
