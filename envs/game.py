"""A game with its options: single games as records, as moves and as positions in the JSON notation."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from . import options as options_of_games
from .engine.batch import (
    apply_one,
    find_illegal,
    reset_games,
    write_masks,
    write_observations,
    write_projected_scores,
    write_results,
)
from .engine.observation import Observer
from .engine.random_stream import check_seed
from .engine.standing import game_margins
from .engine.state import RUNNING, TRUNCATED
from .engine.workspace import Workspace, make_workspace
from .observation_field import ObservationField
from .records.notation import Move as Move
from .records.notation import Position as Position
from .registry import describe
from .spec import COMPACT, GameSpec
from .system.messages import shorten
from .validation.arrays import check_integer, integer_array
from .validation.states import State, StateDoor, write_back
from .validation.states import as_batch as as_batch

_LARGEST = 2**63 - 1
_CACHE_LINE = 64
_FLOAT32, _UINT8 = np.dtype(np.float32), np.dtype(np.uint8)


class IllegalMove(ValueError):
    """A move or action that is illegal in the current state."""


@dataclass(frozen=True)
class Game:
    """A game with all options set. `make_game` makes it; it is compared and pickled by name and options."""

    spec: GameSpec
    options: dict[str, Any]
    encoding: str
    """The encoding of the observations, one of `spec.encodings`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_again, (self.name, self.encoding, self.options)

    @property
    def name(self) -> str:
        """Return the name of the game."""
        return self.spec.name

    @property
    def num_players(self) -> int:
        """Return the number of players."""
        players: int = self.options["num_players"]
        return players

    @cached_property
    def num_actions(self) -> int:
        """Return the number of actions, legal or not."""
        return self.spec.num_actions(self.options)

    @cached_property
    def observation_fields(self) -> tuple[ObservationField, ...]:
        """Return the parts of the observation in order."""
        return self.spec.observation_fields(self.options, self.layout)

    @property
    def layout(self) -> str:
        """Return the layout of the observations, one of `spec.layouts`."""
        return self.spec.layouts[0] if self.encoding == COMPACT else self.encoding

    @property
    def layout_index(self) -> int:
        """Return the index of the layout, for kernels."""
        return self.spec.layouts.index(self.layout)

    @property
    def observation_dtype(self) -> np.dtype:
        """Return uint8 if observations are compact, else float32."""
        return _UINT8 if self.encoding == COMPACT else _FLOAT32

    @cached_property
    def observation_size(self) -> int:
        """Return the number of float32 values in an observation."""
        return sum(field.size for field in self.observation_fields)

    def observation_ranges(self) -> Iterator[tuple[int, int, ObservationField]]:
        """Yield (first, stop, field) for every part of the observation."""
        first = 0
        for field in self.observation_fields:
            yield first, first + field.size, field
            first += field.size

    @cached_property
    def observation_scales(self) -> np.ndarray:
        """Return the scale of every number of the observation, float32 [observation_size] (see `ObservationField`)."""
        return np.concatenate([field.scales for field in self.observation_fields])

    def make_observer(self) -> Observer:
        """Return what kernels need to write observations, with a buffer for one thread."""
        # with room around it: no cache line is shared with another thread's
        buffer = np.zeros(self.observation_size + 2 * _CACHE_LINE, np.int16)[_CACHE_LINE:-_CACHE_LINE]
        return Observer(self.layout_index, self.observation_scales, buffer)

    def with_encoding(self, encoding: str) -> "Game":
        """Return the same game with another encoding of observations."""
        return make_game(self.name, encoding=encoding, **self.options)

    @cached_property
    def template(self) -> np.ndarray:
        """Return a record [1] that is zero except for the options."""
        record = np.zeros(1, self.spec.state_dtype)
        for option in self.spec.options:
            record[f"option_{option.name}"] = option.encode(self.options[option.name])
        return record

    def make_workspace(self) -> Workspace:
        """Return buffers for the kernels of one thread."""
        return make_workspace(self.num_actions, self.observation_size, self.spec.most_players)

    @cached_property
    def door(self) -> StateDoor:
        """Return the check that accepts states of this game and rejects all others."""
        return StateDoor(self.name, self.spec.options, self.template)

    def new(self, seed: int | None = None) -> np.ndarray:
        """Return a new game, set up and dealt, as a structured array of shape (); the same seed gives the same game."""
        states = self.template.copy()
        reset_games(states, self.template, np.array([check_seed(seed)], np.uint64), 0, 1)
        return states.reshape(())

    def is_over(self, state: State) -> bool:
        """Tell whether the game has ended."""
        return bool(self.door.one(state)["status"][0] != RUNNING)

    def mask(self, state: State) -> np.ndarray:
        """Return the legal actions, int8 [num_actions]; all 0 when the game is over."""
        mask = np.zeros((1, self.num_actions), np.int8)
        write_masks(self.door.one(state), mask, 0, 1)
        return mask[0]

    def observe(self, state: State, seat: int) -> np.ndarray:
        """Return what a seat sees, `observation_dtype` [observation_size]; ValueError if there is no such seat."""
        seats = np.array([check_integer(seat, "seat", 0, self.num_players - 1)], np.int64)
        observation = np.zeros((1, self.observation_size), self.observation_dtype)
        write_observations(self.door.one(state), seats, self.make_observer(), observation, 0, 1)
        return observation[0]

    def move(self, action: int, state: State | None = None) -> Move:
        """Return the move of an action; without a state, keys that depend on it are left out.

        Raises ValueError if the action is no integer from 0 to num_actions - 1.
        """
        return self._move(action, None if state is None else self.door.one(state)[0])

    def _move(self, action: int, state: np.void | None) -> Move:
        """Return the move of an action in a checked state."""
        number = _any_integer(action)
        if not 0 <= number < self.num_actions:
            raise ValueError(f"{self.name} has the actions 0 to {self.num_actions - 1}, not {number}")
        return self.spec.notation().move(self.options, number, state)

    def action(self, move: Move, state: State | None = None) -> int:
        """Return the action of a move; ValueError that names the problem if there is none."""
        record = None if state is None else self.door.one(state)[0]
        return self.spec.notation().action(self.options, move, record)

    def legal_moves(self, state: State) -> list[Move]:
        """Return all legal moves in the order of their actions."""
        record = self.door.one(state)[0]
        return [self._move(action, record) for action in np.flatnonzero(self.mask(record)).tolist()]

    def play(self, state: State, move: Move) -> None:
        """Play a move in place; raise IllegalMove, and change nothing, if it is illegal."""
        self.door.one(state, to_write=True)
        try:
            action = self.action(move, state)
        except ValueError as error:
            raise IllegalMove(str(error)) from None
        self.play_action(state, action)

    def play_action(self, state: State, action: int) -> None:
        """Play an action in place; raise IllegalMove, and change nothing, if it is illegal.

        Raises ValueError if the state is not one of this game or is read-only, or if the action is no integer.
        """
        batch, number = self.door.one(state, to_write=True), _any_integer(action)
        if batch["status"][0] != RUNNING:
            raise IllegalMove(f"{self.name}: the game is over")
        if find_illegal(batch, np.array([number]), np.empty(self.num_actions, np.int8), 0, 1) >= 0:
            raise IllegalMove(illegal_action_message(self, batch[0], number))
        apply_one(batch, number)
        write_back(batch, state)

    def find_illegal(self, states: np.ndarray, actions: np.ndarray, start: int = 0) -> int:
        """Return the first index from `start` whose game is running and action, int64 [n], illegal; -1 if none."""
        states, actions = self.door.many(states), integer_array(actions, "actions", (len(states),))
        return int(find_illegal(states, actions, np.empty(self.num_actions, np.int8), start, len(states)))

    def margins(self, states: np.ndarray) -> np.ndarray:
        """Return each player's current score minus the best other score, in margin scales, float32 [n, num_players].

        A single player has the score itself. Raises ValueError if the states are not records [n] of this game.
        """
        states = self.door.many(states)
        scores = np.zeros((len(states), self.num_players), np.int32)
        write_results(states, scores, np.zeros_like(scores))
        return self._scale_margins(scores)

    def projected_margins(self, states: np.ndarray) -> np.ndarray:
        """Return the margins as if the games were scored now, in margin scales, like `margins`.

        Projected scores include points that are already certain but not yet scored; see the game's heuristic.
        """
        states = self.door.many(states)
        scores = np.zeros((len(states), self.num_players), np.int32)
        write_projected_scores(states, scores, np.zeros(self.num_players, np.int32))
        return self._scale_margins(scores)

    def _scale_margins(self, scores: np.ndarray) -> np.ndarray:
        return (game_margins(scores) / self.spec.margin_scale).astype(np.float32)

    def result(self, state: State) -> dict[str, Any]:
        """Return the current scores, winners and truncated, as in a position's `result`."""
        batch = self.door.one(state)
        scores = np.zeros((1, self.num_players), np.int32)
        ranks = np.zeros_like(scores)
        write_results(batch, scores, ranks)
        return {
            "scores": scores[0].tolist(),
            "winners": np.flatnonzero(ranks[0] == 0).tolist(),
            "truncated": bool(batch["status"][0] == TRUNCATED),
        }

    def position(self, state: State) -> Position:
        """Return the complete position, including hidden parts, in the JSON notation."""
        record = self.door.one(state)[0]
        position = self.spec.notation().position(self.options, record)
        if self.is_over(state):
            position.pop("to_move", None)
            position["phase"] = "over"
            position["result"] = self.result(state)
        return {"game": self.name, "options": dict(self.options), **position}

    def check_states(self, states: np.ndarray) -> None:
        """Raise ValueError with a one-sentence reason if one of the records [n] is not a reachable state of this game.

        Use it for records that were edited by hand or come from outside: nothing else checks all of their fields.
        """
        from .validation.state_validity import check_states

        check_states(self, self.door.many(states), "states")

    def from_position(self, position: Position, seed: int | None = None) -> np.ndarray:
        """Return the state of a position; future chance follows from the seed.

        Raises ValueError that names the key and the reason if the position is impossible.
        """
        from .records.position_validation import read_position

        return read_position(self, position, check_seed(seed))


def make_game(name: str, *, encoding: str | None = None, **options: Any) -> Game:
    """Return a game with its options; ValueError that lists the valid names or values for an unknown one.

    `encoding` is one of the game's encodings of observations (default: its first); "compact" is the first one as uint8.
    It is not an option of the game: the rules and the records do not depend on it.
    """
    if not isinstance(name, str):
        raise ValueError(f"the name of a game must be a text, not {shorten(name)}")
    spec = describe(name)
    encoding = spec.encodings[0] if encoding is None else encoding
    if not isinstance(encoding, str) or encoding not in spec.encodings:
        raise ValueError(f"{name} has the encodings {', '.join(spec.encodings)}, not {shorten(encoding)}")
    return Game(spec, options_of_games.complete(name, spec.options, options), str(encoding))


def check_game(game: Any) -> Game:
    """Return the argument if it is a game; ValueError for anything else, including a name."""
    if not isinstance(game, Game):
        raise ValueError(f"the game must be one from make_game, not {shorten(game)}")
    return game


def _make_again(name: str, encoding: str, options: dict[str, Any]) -> Game:
    return make_game(name, encoding=encoding, **options)


def _any_integer(action: Any) -> int:
    """Return an action, in the game's range or not, as an int for kernels."""
    return check_integer(action, "action", -_LARGEST, _LARGEST)


def illegal_action_message(game: Game, state: State, action: int) -> str:
    """Return a sentence that names the game, action and move of an illegal action."""
    if not 0 <= action < game.num_actions:
        return f"{game.name}: action {shorten(action)} is illegal: the actions are 0 to {game.num_actions - 1}"
    return f"{game.name}: action {action}, {game.move(action, state)}, is illegal in this position"
