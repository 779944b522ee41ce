"""The native vector form of the Gymnasium environments: N games in one compiled batch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..engine.random_stream import MAX_SEED, check_seed
from ..game import Game
from ..system.messages import shorten
from ..validation.arguments import check_choice, refuse_options
from ..validation.arrays import check_integer, plain_integer
from ..view.pixels import DEFAULT_WIDTH
from ..view.renderer import RENDER_FPS, RENDER_MODES, Renderer
from . import spaces
from .agent import Agent
from .opponent_batch import MAX_GAMES, FinishedGames, OpponentBatch
from .opponents import FixedOpponents, OpponentSource
from .single_agent_env import resolve_game

VECTOR_RENDER_MODES = [mode for mode in RENDER_MODES if mode != "human"]


class SingleAgentVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games, each seen from one seat, stepped together.

    Observations, rewards and infos are those of `SingleAgentEnv`, with the game as the first axis. A game that
    ends begins anew within the same step (SAME_STEP): `infos["final_obs"]` and `infos["final_info"]` hold how it
    ended, built as SyncVectorEnv builds them. An illegal action raises IllegalMove before anything has changed.

    Arguments: as for `SingleAgentEnv`, without `illegal`; `render_mode` may not be "human".

    `reset(seed=s)` begins game i as `GameBatch` does, so that game 0 is that of SingleAgentEnv's seed s; a list
    gives each game a seed of its own, or None for one that is drawn.
    """

    metadata = {  # noqa: RUF012, the base class's form
        "render_modes": VECTOR_RENDER_MODES,
        "render_fps": RENDER_FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }
    autoreset_mode = AutoresetMode.SAME_STEP

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        *,
        opponents: Agent | Sequence[Agent] | OpponentSource,
        seat: str | int = "random",
        rewards: str = "outcome",
        render_mode: str | None = None,
        render_width: int = DEFAULT_WIDTH,
        **options: Any,
    ) -> None:
        modes = VECTOR_RENDER_MODES
        self.render_mode = None if render_mode is None else check_choice(render_mode, "render_mode", modes)
        self.game = resolve_game(game, options)
        self._source = opponents if isinstance(opponents, OpponentSource) else FixedOpponents(opponents)
        agents = self._source.make_opponents(self.game, np.random.default_rng())
        num_envs = check_integer(num_envs, "num_envs", 1, MAX_GAMES)
        self._opponent_batch = OpponentBatch(self.game, num_envs, agents, rewards=rewards, seat=seat)
        self.num_envs = num_envs
        self.single_observation_space = spaces.observation_box(self.game)
        self.single_action_space = spaces.action_space(self.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._frames = None if self.render_mode is None else Renderer(self.game, self.render_mode, render_width)
        self._has_reset = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | np.ndarray | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin all games anew and play to the learner's first turn in each; `options` have to be empty.

        Raises ValueError for options: a partial reset is not needed, games that end begin anew by themselves.
        """
        refuse_options(options)
        first, game_seeds = self._seeds(seed)
        super().reset(seed=first)
        if first is not None:
            agents = self._source.reset_opponents(self._opponent_batch.opponents, self.game, self.np_random)
            self._opponent_batch.set_opponents(agents)
            self._opponent_batch.reset_rotation()
        self._opponent_batch.reset(self._next_seed() if game_seeds is None else game_seeds)
        self._has_reset = True
        return self._opponent_batch.observation, self._infos()

    def _seeds(self, seed: Any) -> tuple[int | None, int | np.ndarray | None]:
        """Return what a reset's seed begins the environment's own stream with, None to let it go on, and its games.

        The games' are one seed, or one for each of them; None for the next one of the stream.
        """
        if seed is None:
            return None, None
        number = plain_integer(seed)
        if number is not None:
            return (checked := check_seed(number)), checked
        several = isinstance(seed, Sequence) and not isinstance(seed, str | bytes)
        if not (several or getattr(seed, "ndim", 0) == 1) or len(seed) != self.num_envs:
            raise ValueError(f"seed must be one integer, or {self.num_envs} of them, not {shorten(seed)}")
        given = [None if one is None else check_seed(one) for one in seed]
        first = next((one for one in given if one is not None), None)
        drawn = [self._next_seed() if one is None else one for one in given]
        return first, np.array(drawn, np.int64)

    def _next_seed(self) -> int:
        return int(self.np_random.integers(MAX_SEED + 1))

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play the learner's action in each game (integers [N]), then the opponents until it is its turn again."""
        rewards, done, truncated, finished = self._opponent_batch.step(actions)
        infos = self._final_infos(done, finished) if len(finished.games) else {}
        infos.update(self._infos())
        return self._opponent_batch.observation, rewards.astype(np.float64), done & ~truncated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """Return the legal actions of all games, bool [N, num_actions]."""
        return self._opponent_batch.mask.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """Return a frame of every game, seen from the learner's seat; None without a render mode."""
        if self._frames is None:
            return None
        if not self._has_reset:
            raise ResetNeeded(f"{self.game.name}: there is nothing to draw; call reset() first")
        states, seats = self._opponent_batch.batch.states, self._opponent_batch.seats.tolist()
        return tuple(self._frames.draw(states[game], None, seats[game]) for game in range(self.num_envs))

    def _infos(self) -> dict[str, Any]:
        infos = {"action_mask": self._opponent_batch.mask, "seat": self._opponent_batch.seats.copy()}
        return with_presence(infos, np.ones(self.num_envs, np.bool_))

    def _final_infos(self, done: np.ndarray, finished: FinishedGames) -> dict[str, Any]:
        """Return how games ended in the form of SyncVectorEnv: arrays over all games, and where they hold."""
        final_observation = np.full(self.num_envs, None, dtype=object)
        for game, observation in zip(finished.games.tolist(), finished.observation, strict=True):
            final_observation[game] = observation
        final_info = {
            "action_mask": np.zeros_like(self._opponent_batch.mask),
            "seat": self._spread(finished.games, finished.seats),
            "scores": self._spread(finished.games, finished.scores),
            "winners": self._spread(finished.games, finished.ranks == 0),
        }
        infos = {"final_obs": final_observation, "final_info": with_presence(final_info, done)}
        return with_presence(infos, done)

    def _spread(self, games: np.ndarray, values: np.ndarray) -> np.ndarray:
        spread = np.zeros((self.num_envs, *values.shape[1:]), values.dtype)
        spread[games] = values
        return spread


def with_presence(infos: dict[str, Any], present: np.ndarray) -> dict[str, Any]:
    """Return the infos with Gymnasium's "_key" (bool [N], where it holds) beside every key."""
    presence = {f"_{key}": present.copy() for key in infos}
    return {**infos, **presence}
