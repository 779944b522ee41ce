"""The layers of the suite as work to be timed: every function returns work that makes decisions and counts them.

The decisions are uniformly random legal ones, drawn beforehand, so that a layer is timed alone; only `playout` draws
its own, inside the kernel. Games are reset as they end.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..envs import Game, GameBatch
from ..envs.engine.compilation import kernel
from ..envs.engine.masks import choose_from_mask
from ..envs.interfaces.pettingzoo_env import env, raw_env
from ..envs.interfaces.registration import gymnasium_id

Work = Callable[[], int]

SEED = 1
_DECISIONS = 100_000


def draw_actions(game: Game, batch_size: int, steps: int) -> np.ndarray:
    """Return the actions of random play from SEED on, int64 [steps, batch_size]."""
    batch = GameBatch(game, batch_size)
    batch.reset(SEED)
    actions = np.empty((steps, batch_size), np.int64)
    for step in range(steps):
        actions[step] = batch.random_actions()
        batch.step(actions[step])
    return actions


def engine_step(game: Game, batch_size: int, mask: bool, observation: bool) -> Work:
    """Time `GameBatch.step` with its test of the actions, with or without writing masks and observations."""
    steps = max(20, _DECISIONS // batch_size)
    actions = list(draw_actions(game, batch_size, steps))
    batch = GameBatch(game, batch_size)
    outputs: dict[str, Any] = {}
    if mask:
        outputs["mask"] = np.empty((batch_size, game.num_actions), np.int8)
    if observation:
        outputs["observation"] = np.empty((batch_size, game.observation_size), game.observation_dtype)

    def work() -> int:
        batch.reset(SEED)
        for chosen in actions:
            batch.step(chosen, **outputs)
        return steps * batch_size

    return work


def write_outputs(game: Game, batch_size: int, mask: bool, observation: bool) -> Work:
    """Time a kernel that only fills the masks and observations of `engine_step`: the limit of what a step can reach."""
    masks = np.zeros((batch_size, game.num_actions if mask else 0), np.int8)
    observations = np.zeros((batch_size, game.observation_size if observation else 0), game.observation_dtype)
    steps = max(20, _DECISIONS // batch_size)

    def work() -> int:
        for _ in range(steps):
            _fill(masks, observations)
        return steps * batch_size

    return work


@kernel
def _fill(masks: np.ndarray, observations: np.ndarray) -> None:
    # game by game, as a step does it
    for index in range(len(masks)):
        mask, observation = masks[index], observations[index]
        for action in range(len(mask)):
            mask[action] = 1
        for number in range(len(observation)):
            observation[number] = 1


def playout(game: Game, batch_size: int) -> Work:
    """Time whole games inside the kernel, drawing every action from the legal ones; setting up counts too."""
    batch = GameBatch(game, batch_size, auto_reset=False)
    rounds = max(1, _DECISIONS // (batch_size * 50))

    def work() -> int:
        decisions = 0
        for seed in range(rounds):
            batch.reset(seed)
            decisions += batch.play_out()
        return decisions

    return work


def pettingzoo_loop(make_environment: Callable[[], Any], decisions: int) -> Work:
    """Time the usual agent_iter / last / step loop over any AEC environment with action masks, game after game."""
    drawn: list[int] = []
    environment = make_environment()
    rng = np.random.default_rng(SEED)

    def choose(observation: Any) -> int:
        drawn.append(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        return drawn[-1]

    _play_games(environment, decisions, choose)

    def work() -> int:
        actions = iter(drawn)
        return _play_games(environment, decisions, lambda observation: next(actions))

    return work


def _play_games(environment: Any, decisions: int, choose: Callable[[Any], int]) -> int:
    made = 0
    seed = SEED
    while made < decisions:
        environment.reset(seed=seed)
        seed += 1
        for _ in environment.agent_iter():
            observation, _, terminated, truncated, _ = environment.last()
            if terminated or truncated:
                environment.step(None)
            else:
                environment.step(choose(observation))
                made += 1
    return made


def aec(game: Game, wrapped: bool) -> Work:
    """Time the PettingZoo form, `raw_env` or `env`."""
    make = env if wrapped else raw_env
    return pettingzoo_loop(lambda: make(game.name, encoding=game.encoding, **game.options), 10_000)


def gymnasium_loop(game: Game) -> Work:
    """Time the Gymnasium form against random opponents, as `gymnasium.make` gives it; the learner's decisions count."""
    import gymnasium

    environment = gymnasium.make(gymnasium_id(game.spec), opponents="random", game=game)
    stream = np.array([1, 2, 3, 4], np.uint32)
    action = np.zeros(1, np.int64)

    def work() -> int:
        _, info = environment.reset(seed=SEED)
        for _ in range(5000):
            choose_from_mask(info["action_mask"][None], stream, action)
            _, _, terminated, truncated, info = environment.step(int(action[0]))
            if terminated or truncated:
                _, info = environment.reset()
        return 5000

    return work


def gymnasium_vector(game: Game, batch_size: int) -> Work:
    """Time the native Gymnasium vector environment against random opponents; the learner's decisions count."""
    import gymnasium

    environment = gymnasium.make_vec(gymnasium_id(game.spec), num_envs=batch_size, opponents="random", game=game)
    stream = np.array([1, 2, 3, 4], np.uint32)
    actions = np.zeros(batch_size, np.int64)

    def work() -> int:
        _, info = environment.reset(seed=SEED)
        for _ in range(50):
            choose_from_mask(info["action_mask"], stream, actions)
            _, _, _, _, info = environment.step(actions)
        return 50 * batch_size

    return work


def sb3_vecenv(game: Game, batch_size: int) -> Work:
    """Time the self-play VecEnv of Stable-Baselines3 against random opponents; the learner's decisions count."""
    from ..agents import make_agent
    from ..envs.interfaces.sb3_vec_env import SelfPlayVecEnv

    environment = SelfPlayVecEnv(game, batch_size, [make_agent("random", game, SEED)], seed=SEED)
    stream = np.array([1, 2, 3, 4], np.uint32)
    actions = np.zeros(batch_size, np.int64)

    def work() -> int:
        environment.reset()
        for _ in range(50):
            choose_from_mask(environment.action_masks(), stream, actions)
            environment.step(actions)
        return 50 * batch_size

    return work
