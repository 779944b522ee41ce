"""The PettingZoo form of every game: an AECEnv over the compiled engine.

`env("azul")` and `raw_env("azul")` make it, and so do the modules of the games (`azul_v0`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
from gymnasium import logger
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo.utils.env import AECEnv, AECIterable
from pettingzoo.utils.env_logger import EnvLogger

from ..engine.batch import ILLEGAL, reset_games, step_one, write_results
from ..engine.random_stream import check_seed, draw_seed, seed_stream
from ..engine.rewards import REWARDS, write_rewards
from ..engine.state import TRUNCATED
from ..game import Game, IllegalMove, check_game, illegal_action_message, make_game
from ..records.notation import LastMove
from ..system.messages import shorten
from ..validation.arguments import check_choice, name_options, refuse_options
from ..validation.arrays import plain_integer
from ..view.pixels import DEFAULT_WIDTH
from ..view.renderer import RENDER_FPS, RENDER_MODES, Renderer
from . import spaces

ILLEGAL_MOVES = ("terminate", "raise")
ILLEGAL_REWARD = -1.0
"""What the player gets who ends the game by an illegal move."""

_RESET_STREAM = 3
_SET_BY_RESET = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents")


def env(
    game: str,
    /,
    *,
    rewards: str = "outcome",
    render_mode: str | None = None,
    render_width: int = DEFAULT_WIDTH,
    illegal: str = "terminate",
    **options: Any,
) -> "GameAECEnv":
    """Return a game as a PettingZoo AEC environment that checks how it is used.

    Arguments:
        game: its name.
        rewards: "outcome" (winner +1, the others -1 / (n - 1)), "margin" or "rank".
        render_mode: "human", "ansi", "rgb_array", "svg" or None.
        render_width: the width of a picture in pixels, 100 to 4000.
        illegal: "terminate" (the game ends, -1 for the mover) or "raise" (IllegalMove).
        options: those of the game; unknown names and values raise ValueError.
    """
    return GameAECEnv(
        make_game(game, **options), rewards=rewards, render_mode=render_mode, render_width=render_width, illegal=illegal
    )


def raw_env(
    game: str,
    /,
    *,
    rewards: str = "outcome",
    render_mode: str | None = None,
    render_width: int = DEFAULT_WIDTH,
    **options: Any,
) -> "GameAECEnv":
    """Return the same environment without checks of the order of calls; an illegal move raises IllegalMove."""
    made = make_game(game, **options)
    return GameAECEnv(
        made, rewards=rewards, render_mode=render_mode, render_width=render_width, checks=False, illegal="raise"
    )


class GameAECEnv(AECEnv[str, dict[str, np.ndarray], int | None]):
    """One game in PettingZoo's turn by turn form; `env` and `raw_env` make it.

    Agents are "player_0", "player_1", ... in the order of the seats. An observation is a dict: "observation",
    `game.observation_dtype` [observation_size], what the agent's seat sees, and "action_mask", int8 [num_actions],
    all 0 for agents that wait or have finished; `infos[agent]["action_mask"]` holds the same. Rewards come at the end;
    `infos` then hold "scores" (int32 [players]) and "winners" (bool [players]) too.

    The checks are those of PettingZoo's three usual wrappers, made inside the environment because three layers
    of wrappers cost several times as much as the game itself.

    Arguments:
        game: from `make_game`.
        rewards: "outcome", "margin" or "rank".
        render_mode: "human", "ansi", "rgb_array", "svg" or None.
        render_width: the width of a picture in pixels, 100 to 4000.
        checks: refuse calls out of order (AssertionError) and actions outside the space (AssertionError).
        illegal: what an illegal move does: "terminate" ends the game for all with -1 for the mover, as
            TerminateIllegalWrapper does; "raise" raises IllegalMove and changes nothing.
    """

    def __init__(
        self,
        game: Game,
        *,
        rewards: str = "outcome",
        render_mode: str | None = None,
        render_width: int = DEFAULT_WIDTH,
        checks: bool = True,
        illegal: str = "terminate",
    ) -> None:
        super().__init__()
        self._illegal = check_choice(illegal, "illegal", ILLEGAL_MOVES)
        self._rewards = REWARDS.index(check_choice(rewards, "rewards", REWARDS))
        self.render_mode = None if render_mode is None else check_choice(render_mode, "render_mode", RENDER_MODES)
        description = check_game(game).spec
        self.metadata = {
            "name": f"{description.name}_v{description.version}",
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "is_parallelizable": False,
        }
        self.game = game
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players)]
        self.observation_spaces: dict[str, Any] = {a: spaces.masked_observation(game) for a in self.possible_agents}
        self.action_spaces: dict[str, Any] = {a: spaces.action_space(game) for a in self.possible_agents}
        self.state_space: Box = spaces.observation_box(game, game.num_players)
        self._frames = None if self.render_mode is None else Renderer(game, self.render_mode, render_width)
        self._checks = checks
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._states = game.template.copy()
        self._observer = game.make_observer()
        self._num_actions = game.num_actions
        self._observation_size, self._observation_dtype = game.observation_size, game.observation_dtype
        self._reset_stream: np.ndarray | None = None
        self._has_reset = False
        self._stepped = False
        # so that without checks a step before the first reset does not reach the game
        self._over = True

    def __getattr__(self, name: str) -> NoReturn:
        # only reached for what is not there: these attributes come with the first reset
        if name in _SET_BY_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def observation_space(self, agent: str) -> Dict:
        """Return the space of the agent's observations."""
        space: Dict = self.observation_spaces[self._check_agent_name(agent)]
        return space

    def action_space(self, agent: str) -> Discrete:
        """Return the space of the agent's actions, legal or not."""
        space: Discrete = self.action_spaces[self._check_agent_name(agent)]
        return space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin the game that `game.new(seed)` begins; without a seed, the next one of the last seed's stream.

        A game's options are given when the environment is made: among `options` they raise ValueError. Others, such as
        PettingZoo's own tests hand over, are ignored with a warning.
        """
        self._check_reset_options(options)
        if seed is not None or self._reset_stream is None:
            seed = check_seed(seed)
            self._reset_stream = np.zeros(4, np.uint32)
            seed_stream(self._reset_stream, np.uint64(seed), _RESET_STREAM)
        else:
            seed = int(draw_seed(self._reset_stream))
        reset_games(self._states, self.game.template, np.array([seed], np.uint64), 0, 1)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": self._no_actions()} for agent in self.agents}
        self._skip_agent_selection = None
        self._over = False
        self._has_reset = self._stepped = True
        self._last_move: LastMove | None = None
        seat = int(self._states["to_move"][0])
        self._turn_to(seat, self.game.mask(self._states[0]), self._observe_seat(seat))
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play an action of `agent_selection`; None for an agent whose game is over, which takes it off the list."""
        if self._checks and not self._may_step(action):
            return
        if self._over or action is None:
            self._step_dead(action)
            return
        number = action if type(action) is int else plain_integer(action)
        if number is None:
            raise ValueError(f"an action must be an integer, not {shorten(action)}")
        if not 0 <= number < self._num_actions:
            self._refuse(number)
            return
        # users keep what they are handed, so every step writes to arrays of its own
        mask = np.empty(self._num_actions, np.int8)
        observation = np.empty(self._observation_size, self._observation_dtype)
        before = None if self._frames is None else self._states[0].copy()
        seat = step_one(self._states, number, self._observer, mask, observation)
        if seat >= 0:
            self.infos[self.agent_selection] = {"action_mask": np.zeros(self._num_actions, np.int8)}
            self._turn_to(seat, mask, observation)
        elif seat == ILLEGAL:
            self._refuse(number)
            return
        else:
            self._finish()
        if before is not None:
            self._last_move = LastMove(int(before["to_move"]), self.game.move(number, before))
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return what an agent sees; its mask is all 0 unless it has to decide."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        # the name that the environment itself gave out needs no test, which would cost a twentieth of a step
        if agent is not self.agent_selection:
            agent = self._check_agent_name(agent)
        if agent == self.agent_selection and not self._over:
            return {"observation": self._observation, "action_mask": self._mask}
        return {"observation": self._observe_seat(self._seats[agent]), "action_mask": self._no_actions()}

    def state(self) -> np.ndarray:
        """Return the whole situation: the observations of all seats in order, [players * observation_size]."""
        if not self._has_reset:
            EnvLogger.error_state_before_reset()
        return np.concatenate([self._observe_seat(seat) for seat in range(self.game.num_players)])

    def render(self) -> Any:
        """Return a frame of the render mode (see `view.renderer.Renderer`); None, with a warning, without one."""
        if not self._has_reset:
            EnvLogger.error_render_before_reset()
        if self._frames is None:
            logger.warn("render() does nothing without a render mode; give render_mode when making the environment")
            return None
        return self._frames.draw(self._states[0], self._last_move)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._frames is not None:
            self._frames.close()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, dict[str, np.ndarray], int | None]:
        """Return an iterable over the agent that has to step next, until no agent is left."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        if not self._checks:
            return super().agent_iter(max_iter)
        return _OrderedAgents(self, max_iter)

    def _check_agent_name(self, agent: str) -> str:
        if not isinstance(agent, str) or agent not in self._seats:
            raise ValueError(f"there is no agent {shorten(agent)}; the agents are {', '.join(self.possible_agents)}")
        return agent

    def _no_actions(self) -> np.ndarray:
        return np.zeros(self._num_actions, np.int8)

    def _check_reset_options(self, options: Any) -> None:
        names = name_options(options)
        if not names:
            return
        known = {"rewards", "illegal", "render_mode", "render_width", "encoding", *self.game.options}
        if not isinstance(options, Mapping) or known.intersection(options):
            refuse_options(options)
        logger.warn(f"reset takes no options: {names} changes nothing")

    def _observe_seat(self, seat: int) -> np.ndarray:
        return self.game.observe(self._states[0], seat)

    def _turn_to(self, seat: int, mask: np.ndarray, observation: np.ndarray) -> None:
        self._mask = mask
        self._observation = observation
        self.agent_selection = agent = self.possible_agents[seat]
        self.infos[agent] = {"action_mask": mask}

    def _may_step(self, action: int | None) -> bool:
        """Make the checks before a step; False if there is nothing to do."""
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._stepped = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return False
        if type(action) is not int or not 0 <= action < self._num_actions:
            is_dead_step = action is None and self._over
            number = plain_integer(action)
            in_space = number is not None and 0 <= number < self._num_actions
            assert is_dead_step or in_space, "action is not in action space"
        return True

    def _step_dead(self, action: int | None) -> None:
        """Take an agent whose game is over off the list."""
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        self._was_dead_step(action)

    def _refuse(self, action: int) -> None:
        if self._illegal == "raise":
            raise IllegalMove(illegal_action_message(self.game, self._states[0], action))
        EnvLogger.warn_on_illegal_move()
        rewards = dict.fromkeys(self.agents, 0.0)
        rewards[self.agent_selection] = ILLEGAL_REWARD
        # both are set, because TerminateIllegalWrapper sets both
        self._end(rewards, terminated=True, truncated=True)

    def _finish(self) -> None:
        """End the game as the rules have ended it."""
        players = self.game.num_players
        scores, ranks = np.zeros((2, 1, players), np.int32)
        write_results(self._states, scores, ranks)
        rewards = np.zeros(players, np.float32)
        write_rewards(scores[0], ranks[0], players, self._rewards, self.game.spec.margin_scale, rewards)
        truncated = bool(self._states["status"][0] == TRUNCATED)
        self._end(dict(zip(self.agents, rewards.tolist(), strict=True)), not truncated, truncated)
        for info in self.infos.values():
            info.update(scores=scores[0].copy(), winners=ranks[0] == 0)

    def _end(self, rewards: dict[str, float], terminated: bool, truncated: bool) -> None:
        self._over = True
        self.rewards = rewards
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.infos = {agent: {"action_mask": self._no_actions()} for agent in self.agents}
        self._deads_step_first()


class _OrderedAgents(AECIterable[str, dict[str, np.ndarray], int | None]):
    """Agents in turn, insisting on a step for each."""

    def __iter__(self) -> Iterator[str]:
        env: GameAECEnv = self.env
        left = self.max_iter
        while env.agents and left > 0:
            left -= 1
            assert env._stepped, "need to call step() or reset() in a loop over `agent_iter`"
            env._stepped = False
            yield env.agent_selection
