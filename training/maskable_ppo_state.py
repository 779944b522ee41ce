"""The training state of a MaskablePPO model as plain data; its own files hold pickled objects."""

from collections import deque
from typing import Any

import numpy as np

from ..envs.interfaces.sb3_vec_env import SelfPlayVecEnv
from ..envs.validation.arrays import check_integer
from .state_checks import (
    MOST,
    check_array,
    check_keys,
    check_like,
    check_range,
    get_optimizer_state,
    set_numpy_generator,
    set_optimizer_state,
    set_weights,
)

_PARTS = ("policy", "optimizer", "decisions", "updates", "starts", "rewards", "lengths")


def get_model_state(model: Any) -> dict[str, Any]:
    """Return policy, optimizer, counters, and the statistics of the last episodes."""
    episodes = model.ep_info_buffer or ()
    starts = model._last_episode_starts
    return {
        "policy": dict(model.policy.state_dict()),
        "optimizer": get_optimizer_state(model.policy.optimizer),
        "decisions": model.num_timesteps,
        "updates": model._n_updates,
        # before the first step all games start
        "starts": np.ones(model.n_envs, np.bool_) if starts is None else starts.copy(),
        "rewards": np.array([episode["r"] for episode in episodes], np.float64),
        "lengths": np.array([episode["l"] for episode in episodes], np.int64),
    }


def set_model_state(model: Any, env: SelfPlayVecEnv, state: Any) -> None:
    """Restore a state from `get_model_state`; `env` has been restored before.

    Raises ValueError, one sentence that names the part, if it does not fit.
    """
    check_keys(state, _PARTS, "model")
    set_weights(model.policy, state["policy"], "model/policy")
    set_optimizer_state(model.policy.optimizer, state["optimizer"], "model/optimizer")
    model.num_timesteps = check_integer(state["decisions"], "model/decisions", 0, MOST)
    model._n_updates = check_integer(state["updates"], "model/updates", 0, MOST)
    capacity = model._stats_window_size
    rewards = state["rewards"]
    count = min(len(rewards), capacity) if isinstance(rewards, np.ndarray) and rewards.ndim else 0
    check_array(rewards, "model/rewards", np.zeros(1), count)
    lengths = check_array(state["lengths"], "model/lengths", np.zeros(1, np.int64), count)
    check_range(lengths, "model/lengths", 0, MOST)
    starts = check_array(state["starts"], "model/starts", np.ones(model.n_envs, np.bool_))
    if model.num_timesteps:
        # otherwise the first iteration resets the games
        model._last_obs, model._last_episode_starts = env.opponent_batch.observation, starts.copy()
    episodes = zip(rewards.tolist(), lengths.tolist(), strict=True)
    model.ep_info_buffer = deque(({"r": reward, "l": length} for reward, length in episodes), capacity)
    model.ep_success_buffer = deque(maxlen=capacity)


def set_env_state(env: SelfPlayVecEnv, state: Any) -> None:
    """Restore a state from the `get_state` of the environment, whose opponents have been set before.

    Raises ValueError, one sentence that names the part, if it does not fit.
    """
    template = env.get_state()
    check_keys(state, template, "env")
    opponent_batch = check_like(state["opponent_batch"], template["opponent_batch"], "env/opponent_batch")
    seats, opponents = opponent_batch["seats"], opponent_batch["opponent_of"]
    check_range(seats, "env/opponent_batch/seats", 0, env.game.num_players - 1)
    check_range(opponents, "env/opponent_batch/opponent_of", -1, len(env.opponent_batch.opponents) - 1)
    if ((opponents < 0) != (np.arange(env.game.num_players) == seats[:, None])).any():
        raise ValueError(
            "env/opponent_batch/opponent_of must have no opponent in the learner's seats, and one in all others"
        )
    for name in ("lengths", "returns", "paid"):
        check_array(state[name], f"env/{name}", template[name])
    check_range(state["lengths"], "env/lengths", 0, MOST)
    set_numpy_generator(np.random.default_rng(), state["random"], "env/random")
    # games have to be begun before they can be others
    env.reset()
    try:
        env.set_state(state)
    except ValueError as error:
        raise ValueError(f"env/opponent_batch/{error}") from None
