"""What an agent is handed: decisions of many games, each as the seat that has to decide may know it."""

from functools import cached_property
from typing import Any

import numpy as np

from ..engine.batch import determinize_games, write_action_values, write_masks, write_observations
from ..game import Game
from ..validation.arrays import output_array


def check_game(agent: str, own: Game, given: Game) -> None:
    """Raise ValueError unless an agent made for one game, with room for it to work in, is given games of that kind."""
    if given is not own and given != own:
        kinds = (f"{game.name} with {game.options} and the encoding {game.encoding!r}" for game in (own, given))
        raise ValueError(f"agent {agent!r} was made for {next(kinds)}, not for {next(kinds)}")


class DecisionBatch:
    """n decisions of one game, in any number of seats; nobody sees more than the seat to move may know.

    Arguments:
        game: the game with its options.
        states: the true records [n], running games; agents get at them through `determinize` alone.
        mask: int8 [n, num_actions] if it is known already.
        observation: `game.observation_dtype` [n, observation_size] if it is known already.
        seconds_per_move: the time that the agent has for each of these decisions; None for any.
        game_indices: integers [n], which game each of them belongs to; None for 0 to n - 1.

    Raises ValueError, one sentence, if the states are no records [n] of the game, or mask or observation is not of
    their shape.
    """

    def __init__(
        self,
        game: Game,
        states: np.ndarray,
        mask: np.ndarray | None = None,
        observation: np.ndarray | None = None,
        seconds_per_move: float | None = None,
        game_indices: np.ndarray | None = None,
    ) -> None:
        states = game.door.many(states)
        if mask is not None:
            mask = _check_array(mask, "mask", np.int8, (len(states), game.num_actions))
        if observation is not None:
            observation = _check_array(
                observation, "observation", game.observation_dtype, (len(states), game.observation_size)
            )
        self.game = game
        self.seconds_per_move = seconds_per_move
        self.seats: np.ndarray = states["to_move"].astype(np.int64)
        """The seat that decides, int64 [n]."""
        self._states = states
        self._mask = mask
        self._observation = observation
        self._game_indices = game_indices

    def __len__(self) -> int:
        return len(self._states)

    @cached_property
    def game_indices(self) -> np.ndarray:
        """Return which of the games that go on side by side each decision belongs to, int64 [n]."""
        return np.arange(len(self)) if self._game_indices is None else np.array(self._game_indices, np.int64)

    @cached_property
    def plies(self) -> np.ndarray:
        """Return how many decisions, of all seats, each game has behind it, int64 [n]."""
        return self._states["ply"].astype(np.int64)

    @cached_property
    def mask(self) -> np.ndarray:
        """Return the legal actions, int8 [n, num_actions]."""
        if self._mask is not None:
            return self._mask
        mask = np.empty((len(self), self.game.num_actions), np.int8)
        write_masks(self._states, mask, 0, len(self))
        return mask

    @cached_property
    def observation(self) -> np.ndarray:
        """Return what the seats see, `game.observation_dtype` [n, observation_size]."""
        if self._observation is not None:
            return self._observation
        observation = np.empty((len(self), self.game.observation_size), self.game.observation_dtype)
        write_observations(self._states, self.seats, self.game.make_observer(), observation, 0, len(self))
        return observation

    @cached_property
    def margins(self) -> np.ndarray:
        """Return each seat's margin as the games stand, in the game's margin scales, float32 [n, players]."""
        return self.game.margins(self._states)

    @cached_property
    def projected_margins(self) -> np.ndarray:
        """Return each seat's margin if all that is owed was settled now, in margin scales, float32 [n, players]."""
        return self.game.projected_margins(self._states)

    @cached_property
    def action_values(self) -> np.ndarray:
        """Return what the game's heuristic thinks of the legal actions, in points, float32 [n, num_actions].

        Illegal actions have 0. It knows no more than the seat to move.
        """
        values = np.empty((len(self), self.game.num_actions), np.float32)
        # on a copy: a heuristic may try things out on its state
        write_action_values(self._states.copy(), values, self.game.make_workspace().scratch)
        values[values == -np.inf] = 0.0
        return values

    def observed_as(self, encoding: str | None) -> np.ndarray:
        """Return what the seats see in one of the game's encodings; None for the one of `game`."""
        if encoding is None or encoding == self.game.encoding:
            return self.observation
        return DecisionBatch(self.game.with_encoding(encoding), self._states).observation

    def determinize(self, stream: np.ndarray) -> np.ndarray:
        """Return records [n] in which all that the seat to move cannot see, the future too, is dealt anew.

        `stream` is the agent's own (uint32[4]) and moves on. The seeds in the records are 0: the true ones would tell
        everything. Raises ValueError if the stream is not such an array.
        """
        stream = output_array(stream, "stream", np.uint32, (4,))
        states = self._states.copy()
        determinize_games(states, self.seats, stream)
        return states


def _check_array(array: Any, name: str, dtype: type | np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array that is known already as kernels take it, a copy if need be; ValueError if it is another one."""
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
        given = f"{array.dtype} of {array.shape}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise ValueError(f"{name} must be an array {np.dtype(dtype)} of the shape {shape}, not {given}")
    return np.require(np.asarray(array), None, ["C", "A", "W"])
