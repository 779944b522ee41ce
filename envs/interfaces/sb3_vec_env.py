"""`SelfPlayVecEnv`: a native Stable-Baselines3 vector environment for self-play."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from ..engine.random_stream import check_seed, game_seeds
from ..engine.standing import game_margins
from ..game import Game
from ..system.messages import shorten
from ..validation.arguments import refuse_options
from ..validation.arrays import integer_array
from .agent import Agent, check_agent
from .opponent_batch import FinishedGames, OpponentBatch
from .spaces import observation_box

_NO_ATTRIBUTE = "SelfPlayVecEnv has no attribute {!r} for single games; it has render_mode and action_masks"


class SelfPlayVecEnv(VecEnv):
    """N games in which the learner decides in every step; agents drawn from a list play the other seats.

    The learner's seat moves on by one with every game. When a game begins, each other seat draws its agent from
    `opponents` by `weights`; agents are called once per ply for all their games together. Actions have to be legal:
    masks come by `action_masks` (sb3-contrib asks for them through `env_method`), IllegalMove is raised otherwise.

    Observations float32 [N, observation_size] in the learner's view; rewards float32 [N], 0 but in a game's last
    step; `infos` are empty but in a game's last step, where they hold

    | key | value |
    |---|---|
    | `episode` | `{"r": sum of rewards, "l": the learner's decisions}`, as SB3's Monitor writes it |
    | `terminal_observation` | what the learner sees at the end, float32 [observation_size] |
    | `TimeLimit.truncated` | always False, see below |
    | `truncated` | whether a limit of the game cut it off |
    | `seat`, `scores`, `ranks` | the learner's seat and what all seats reached, place 0 wins |
    | `opponents` | the names of the agents in the seats after the learner's, in turn order |

    A game that a limit cuts off has been scored, and its reward is final. `TimeLimit.truncated` would make SB3 add
    the value of the last state to it.

    Arguments:
        game: from `make_game`.
        num_games: N.
        opponents: at least one agent.
        weights: how often each of them is drawn, relative to the others; default: equally often.
        rewards: "outcome", "margin" or "rank".
        dense: with "margin": pay every change of the margin in the step that brings it. The sum over a game is the
            same, so the best play is too (with gamma 1); it is a potential-based shaping (Ng, Harada, Russell 1999).
        seed: of games and draws, unless `seed()` is called before `reset()`; None for a fresh one.
    """

    def __init__(
        self,
        game: Game,
        num_games: int,
        opponents: Sequence[Agent],
        *,
        weights: Sequence[float] | None = None,
        rewards: str = "outcome",
        dense: bool = False,
        seed: int | None = None,
    ) -> None:
        if dense and rewards != "margin":
            raise ValueError(f"only the rewards 'margin' can be dense, not {shorten(rewards)}")
        agents = _check_agents(opponents)
        self.opponent_batch = OpponentBatch(
            game, num_games, agents, weights=_equal(agents, weights), rewards=rewards, seat="rotate"
        )
        self.game = game
        num_games = self.opponent_batch.num_games
        self._dense = dense
        self._paid = np.zeros(num_games, np.float32)
        self.render_mode: str | None = None
        self._actions: np.ndarray | None = None
        self._lengths = np.zeros(num_games, np.int64)
        self._returns = np.zeros(num_games, np.float64)
        observation_space = observation_box(game)
        super().__init__(num_games, observation_space, spaces.Discrete(game.num_actions))
        self.seed(check_seed(seed))

    def set_opponents(self, opponents: Sequence[Agent], weights: Sequence[float] | None = None) -> None:
        """Change who plays the other seats, also in the games under way: agent i takes the place of agent i."""
        agents = _check_agents(opponents)
        if len(agents) <= self.opponent_batch.opponent_of.max():
            raise ValueError("opponents of games under way can be replaced and added to, but not taken away")
        self.opponent_batch.set_opponents(agents, _equal(agents, weights))

    def seed(self, seed: int | None = None) -> list[int]:
        """Seed games and draws of the next `reset`; returns the seed of each game."""
        chosen = check_seed(seed)
        self._random = np.random.default_rng(chosen)
        seeds: list[int] = game_seeds(chosen, self.num_envs).tolist()
        self._seeds = list(seeds)
        return seeds

    def reset(self) -> np.ndarray:
        """Begin all games anew and return the observations, float32 [N, observation_size]."""
        for options in self._options:
            refuse_options(options)
        if self._seeds[0] is None:
            self.seed(int(self._random.integers(2**53)))
        self.opponent_batch.reset(np.array(self._seeds, np.uint64))
        self._lengths[:] = 0
        self._returns[:] = 0
        self._paid[:] = 0
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return self.opponent_batch.observation

    def step_async(self, actions: np.ndarray) -> None:
        """Take the learner's actions, integers [N]."""
        self._actions = integer_array(actions, "actions", (self.num_envs,))

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play them and the opponents' answers; return observations, rewards, dones, infos (see the class)."""
        if self._actions is None:
            raise ValueError("there are no actions to wait for; call step_async() first")
        actions, self._actions = self._actions, None
        rewards, done, truncated, finished = self.opponent_batch.step(actions)
        if self._dense:
            rewards = self._changes_of_margin(finished)
        self._lengths += 1
        self._returns += rewards
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if len(finished.games):
            self._describe(finished, truncated, infos)
            self._lengths[done] = 0
            self._returns[done] = 0
        return self.opponent_batch.observation, rewards, done, infos

    def action_masks(self) -> np.ndarray:
        """Return the learner's legal actions, int8 [N, num_actions]."""
        return self.opponent_batch.mask

    def get_state(self) -> dict[str, Any]:
        """Return all that the future depends on but the opponents: games, streams, episode statistics."""
        return {
            "opponent_batch": self.opponent_batch.get_state(),
            "random": self._random.bit_generator.state,
            "lengths": self._lengths.copy(),
            "returns": self._returns.copy(),
            "paid": self._paid.copy(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`; the opponents are to be set besides."""
        self.opponent_batch.set_state(state["opponent_batch"])
        self._random.bit_generator.state = state["random"]
        self._lengths[:] = state["lengths"]
        self._returns[:] = state["returns"]
        self._paid[:] = state["paid"]

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of single games: there is `action_masks`."""
        if method_name != "action_masks":
            raise AttributeError(_NO_ATTRIBUTE.format(method_name))
        masks = self.action_masks()
        return list(masks) if indices is None else [masks[index] for index in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return `render_mode` (None) or the method `action_masks` for each of the games."""
        if attr_name not in ("render_mode", "action_masks"):
            raise AttributeError(_NO_ATTRIBUTE.format(attr_name))
        count = self.opponent_batch.num_games if indices is None else len(list(self._get_indices(indices)))
        return [getattr(self, attr_name)] * count

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: single games have nothing to set."""
        raise AttributeError(_NO_ATTRIBUTE.format(attr_name))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each of the games: they are no Gymnasium environments."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _changes_of_margin(self, finished: FinishedGames) -> np.ndarray:
        """Return how much each game's margin has changed since the step before; a new game begins with nothing."""
        scores, _ = self.opponent_batch.batch.results()
        margins = self._margins(scores, self.opponent_batch.seats)
        margins[finished.games] = self._margins(finished.scores, finished.seats)
        changes = margins - self._paid
        self._paid = margins
        self._paid[finished.games] = 0
        return changes

    def _margins(self, scores: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return the scaled margins of the learner, float32 [n], from scores int32 [n, players]."""
        margins = game_margins(scores)[np.arange(len(scores)), seats]
        return (margins / self.game.spec.margin_scale).astype(np.float32)

    def _describe(self, finished: FinishedGames, truncated: np.ndarray, infos: list[dict[str, Any]]) -> None:
        players = self.game.num_players
        names = [agent.name for agent in self.opponent_batch.opponents]
        for index, game in enumerate(finished.games.tolist()):
            seat = int(finished.seats[index])
            others = [finished.opponent_of[index, (seat + step) % players] for step in range(1, players)]
            infos[game] = {
                "episode": {"r": float(self._returns[game]), "l": int(self._lengths[game])},
                "terminal_observation": finished.observation[index],
                "TimeLimit.truncated": False,
                "truncated": bool(truncated[game]),
                "seat": seat,
                "scores": finished.scores[index].tolist(),
                "ranks": finished.ranks[index].tolist(),
                "opponents": [names[other] for other in others],
            }


def _check_agents(opponents: Any) -> list[Agent]:
    if not isinstance(opponents, Sequence) or isinstance(opponents, str):
        raise ValueError(f"opponents must be a list of agents, not {shorten(opponents)}")
    return [check_agent(opponent) for opponent in opponents]


def _equal(agents: list[Agent], weights: Sequence[float] | None) -> Sequence[float]:
    """Return the weights, by default equal ones."""
    return [1.0] * len(agents) if weights is None else weights
