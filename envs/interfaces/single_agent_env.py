"""The Gymnasium form of every game: one learner, its opponents played by agents.

Opponents are agents here; `agents/environments.py` takes their names too, and is what `gymnasium.make` makes.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete

from ..engine.learners import NOTHING_ELSE
from ..engine.random_stream import MAX_SEED, check_seed
from ..engine.state import RUNNING
from ..game import Game, IllegalMove, check_game, illegal_action_message, make_game
from ..records.notation import LastMove
from ..system.messages import shorten
from ..validation.arguments import check_choice, refuse_options
from ..validation.arrays import plain_integer
from ..view.pixels import DEFAULT_WIDTH
from ..view.renderer import RENDER_FPS, RENDER_MODES, Renderer
from . import spaces
from .agent import Agent
from .opponent_batch import OpponentBatch
from .opponents import FixedOpponents, OpponentSource

ILLEGAL_MOVES = ("terminate", "raise")
ILLEGAL_REWARD = -1.0
"""The learner's reward when it ends the game by an illegal move."""


# actions are integers of Python too, while those of `Discrete` are numpy's
class SingleAgentEnv(gymnasium.Env[np.ndarray, Any]):
    """A game seen from one seat.

    Observations are float32 [observation_size], what the learner's seat sees. `info` holds "action_mask" (int8
    [num_actions], all 0 after the end), "seat", and in the last step "scores" (int32 [players]) and "winners"
    (bool [players]). The only reward comes in the last step.

    Arguments:
        game: the name of the game, or a Game.
        opponents: one agent that plays all other seats, or a list with one for each in turn order after the
            learner, or an `OpponentSource` that makes them.
        seat: the learner's: a number, "random" (drawn for every game) or "rotate" (the next one in every game).
        rewards: "outcome", "margin" or "rank".
        illegal: what an illegal move does: "terminate" ends the game with the reward -1 and `info["illegal"]`;
            "raise" raises IllegalMove and changes nothing.
        render_mode: "human", "ansi", "rgb_array", "svg" or None.
        render_width: the width of a picture in pixels, 100 to 4000.
        options: those of the game, if it is given by name.

    `reset(seed=s)` begins the game of seed s; a reset without a seed goes on to a new game.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012, the base class's form

    def __init__(
        self,
        game: str | Game,
        *,
        opponents: Agent | Sequence[Agent] | OpponentSource,
        seat: str | int = "random",
        rewards: str = "outcome",
        illegal: str = "terminate",
        render_mode: str | None = None,
        render_width: int = DEFAULT_WIDTH,
        **options: Any,
    ) -> None:
        self._illegal = check_choice(illegal, "illegal", ILLEGAL_MOVES)
        self.game = resolve_game(game, options)
        self.render_mode = None if render_mode is None else check_choice(render_mode, "render_mode", RENDER_MODES)
        self.observation_space: Box = spaces.observation_box(self.game)
        self.action_space: Discrete = spaces.action_space(self.game)
        self._frames = None if self.render_mode is None else Renderer(self.game, self.render_mode, render_width)
        self._source = opponents if isinstance(opponents, OpponentSource) else FixedOpponents(opponents)
        agents = self._source.make_opponents(self.game, np.random.default_rng())
        self._opponent_batch = OpponentBatch(self.game, 1, agents, rewards=rewards, seat=seat, auto_reset=False)
        self._opponent_batch.on_moves = None if self._frames is None else self._note_move
        self._num_actions = self.game.num_actions
        self._action = np.zeros(1, np.int64)
        self._has_reset = self._running = False
        self._last_move: LastMove | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a game and play to the learner's first turn; `options` have to be empty, they belong to the making."""
        refuse_options(options)
        seed = None if seed is None else check_seed(seed)
        super().reset(seed=seed)
        if seed is not None:
            agents = self._source.reset_opponents(self._opponent_batch.opponents, self.game, self.np_random)
            self._opponent_batch.set_opponents(agents)
            self._opponent_batch.reset_rotation()
        self._running = False
        self._reset(self._next_seed() if seed is None else seed)
        while self._opponent_batch.batch.states["status"][0] != RUNNING:
            # the opponents have played a whole game before the learner's first turn
            self._reset(self._next_seed())
        self._has_reset = self._running = True
        self._seat = self._opponent_batch.seats[0]
        self._show()
        return self._opponent_batch.observation[0], self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play the learner's action, then the opponents until it is its turn again or the game is over.

        Raises ValueError, and nothing has changed, if the action is no integer (see `plain_integer`).
        """
        if not self._running:
            raise ResetNeeded(f"{self.game.name}: no game is running; call reset() first")
        number = plain_integer(action)
        if number is None:
            raise ValueError(f"an action must be an integer, not {shorten(action)}")
        opponent_batch = self._opponent_batch
        if not 0 <= number < self._num_actions or not opponent_batch.mask[0, number]:
            return self._refuse(number)
        self._action[0] = number
        self._running = False
        if opponent_batch.play(self._action) == NOTHING_ELSE:
            self._running = True
            return opponent_batch.observation[0], 0.0, False, False, self._info()
        finished = opponent_batch.finished_games()
        self._running = not len(finished.games)
        self._show()
        info = self._info()
        if self._running:
            return opponent_batch.observation[0], 0.0, False, False, info
        info.update(scores=finished.scores[0], winners=finished.ranks[0] == 0)
        truncated = bool(finished.truncated[0])
        return opponent_batch.observation[0], float(finished.rewards[0]), not truncated, truncated, info

    def action_masks(self) -> np.ndarray:
        """Return the legal actions, bool [num_actions], as sb3-contrib's MaskablePPO asks for them."""
        if not self._running:
            return np.zeros(self.game.num_actions, np.bool_)
        return self._opponent_batch.mask[0].astype(np.bool_)

    def render(self) -> Any:
        """Return a frame of the render mode (see `view.renderer.Renderer`); None, with a warning, without one."""
        if self._frames is None:
            gymnasium.logger.warn("render() does nothing without a render mode; give render_mode to make()")
            return None
        if not self._has_reset:
            raise ResetNeeded(f"{self.game.name}: there is nothing to draw; call reset() first")
        return self._frames.draw(
            self._opponent_batch.batch.states[0], self._last_move, int(self._opponent_batch.seats[0])
        )

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._frames is not None:
            self._frames.close()

    def _next_seed(self) -> int:
        return int(self.np_random.integers(MAX_SEED + 1))

    def _reset(self, seed: int) -> None:
        self._last_move = None
        self._opponent_batch.reset(seed)

    def _refuse(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self._illegal == "raise":
            raise IllegalMove(illegal_action_message(self.game, self._opponent_batch.batch.states[0], action))
        self._running = False
        info = {**self._info(), "action_mask": np.zeros(self.game.num_actions, np.int8), "illegal": True}
        return self._opponent_batch.observation[0].copy(), ILLEGAL_REWARD, True, False, info

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._opponent_batch.mask[0], "seat": self._seat}

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _note_move(self, states: np.ndarray, actions: np.ndarray) -> None:
        state = states[0]
        self._last_move = LastMove(int(state["to_move"]), self.game.move(int(actions[0]), state))


def resolve_game(game: str | Game, options: dict[str, Any]) -> Game:
    """Return the game of a name and its options, or the game itself; ValueError if it has options already."""
    if isinstance(game, str):
        return make_game(game, **options)
    check_game(game)
    if options:
        raise ValueError(f"{game.name} is given with its options; {', '.join(options)} cannot be set besides")
    return game
