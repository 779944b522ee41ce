"""MaskablePPO of sb3-contrib by self-play: the learner has one seat of every game, agents have the others."""

from typing import IO, Any

import numpy as np

from ..agents import Agent, make_agent
from ..agents.maskable_ppo.model_agent import MaskablePPOAgent
from ..envs import Game
from ..envs.interfaces.sb3_vec_env import SelfPlayVecEnv
from .algorithm import MASKABLE_PPO_FILE, check_finite
from .config import TrainingConfig
from .maskable_ppo_opponents import OpponentPool
from .maskable_ppo_state import get_model_state, set_env_state, set_model_state
from .state_checks import check_keys

EPISODES_OF_STATISTICS = 1000
_NOT_FOR_PLAYING = ["_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"]


class MaskablePPOAlgorithm:
    """MaskablePPO: model, environment and opponent pool; see `algorithm.Algorithm`."""

    kind = MASKABLE_PPO_FILE

    def __init__(self, config: TrainingConfig, game: Game, trust: bool = False) -> None:
        self._config = config
        # the pool needs a model, the model an environment, the environment opponents: these never play
        placeholders = [make_agent("random", game, config.seed)]
        self.env = SelfPlayVecEnv(
            game, config.games, placeholders, rewards=config.rewards, dense=config.dense, seed=config.seed
        )
        self.model = make_model(config, self.env)
        self.pool = OpponentPool(game, config, self.model, trust=trust)

    @property
    def decisions(self) -> int:
        """Return the number of decisions of the learner."""
        decisions: int = self.model.num_timesteps
        return decisions

    def train_iteration(self, iteration: int) -> dict[str, float]:
        """Collect one rollout and train on it; return episode statistics and the metrics of the library."""
        self.env.set_opponents(self.pool.agents(iteration), self.pool.weights())
        metrics = train_one_iteration(self.model, self._config)
        check_finite(self.model.policy)
        if (iteration + 1) % self._config.snapshot_interval == 0:
            self.pool.take_snapshot()
        return {**self._episode_statistics(), **metrics}

    def agent(self, name: str, seed: int) -> Agent:
        """Return an agent of the policy that takes its most probable actions."""
        return MaskablePPOAgent(name, self.model.policy, seed, deterministic=True)

    def write_agent(self, file: IO[bytes], seconds: float) -> None:
        """Write the model without its training state, for agent `ppo:FILE`."""
        self.model.save(file, exclude=_NOT_FOR_PLAYING)

    def get_state(self) -> dict[str, Any]:
        """Return model, optimiser, running games (none before the first decision) and past selves."""
        env = self.env.get_state() if self.decisions else {}
        return {"model": get_model_state(self.model), "env": env, "pool": self.pool.get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`; ValueError if it does not fit."""
        check_keys(state, ("model", "env", "pool"), "algorithm")
        self.pool.set_state(state["pool"])
        self.env.set_opponents(self.pool.agents(0), self.pool.weights())
        if state["env"]:
            set_env_state(self.env, state["env"])
        set_model_state(self.model, self.env, state["model"])
        if (self.decisions > 0) != bool(state["env"]):
            raise ValueError("env must hold games if decisions have been made, and none before")

    def _episode_statistics(self) -> dict[str, float]:
        episodes = self.model.ep_info_buffer
        if not episodes:
            return {}
        return {
            "rollout/reward": float(np.mean([episode["r"] for episode in episodes])),
            "rollout/length": float(np.mean([episode["l"] for episode in episodes])),
        }


def make_algorithm(config: TrainingConfig, game: Game, trust: bool = False) -> MaskablePPOAlgorithm:
    """Return a new instance; see `algorithm.make_algorithm`."""
    return MaskablePPOAlgorithm(config, game, trust)


def make_model(config: TrainingConfig, env: SelfPlayVecEnv) -> Any:
    """Return a new MaskablePPO model; also seed the global generators of torch, numpy and Python."""
    import torch
    from sb3_contrib import MaskablePPO

    policy, policy_settings = _choose_policy(config, env)
    activation = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[config.activation]
    model = MaskablePPO(
        policy,
        env,
        learning_rate=config.learning_rate,
        n_steps=config.rollout,
        batch_size=config.minibatch,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_gradient,
        target_kl=config.target_kl,
        stats_window_size=EPISODES_OF_STATISTICS,
        policy_kwargs={"net_arch": list(config.hidden), "activation_fn": activation, **policy_settings},
        # the global generator of numpy takes a seed of 32 bits
        seed=config.seed & 0xFFFFFFFF,
        device=config.device,
    )
    # the model has seeded the environment with those 32 bits
    env.seed(config.seed)
    _silence(model)
    return model


def _choose_policy(config: TrainingConfig, env: SelfPlayVecEnv) -> tuple[Any, dict[str, Any]]:
    """Return the class of the policy, or its name, and its keyword arguments."""
    if config.network == "mlp":
        return "MlpPolicy", {"ortho_init": True}
    from ..agents.maskable_ppo.conv_policy import ConvFeatures, ConvPolicy

    plane = env.game.observation_fields[0]
    return ConvPolicy, {
        "features_extractor_class": ConvFeatures,
        "features_extractor_kwargs": {
            "side": plane.shape[1],
            "codes": int(plane.high) + 1,
            "channels": config.channels,
        },
        "first_cell_action": env.game.spec.first_cell_action,
    }


def _silence(model: Any) -> None:
    """Let the logger of the model only keep its metrics, for `train_one_iteration`."""
    from stable_baselines3.common.logger import Logger

    model.set_logger(Logger(folder=None, output_formats=[]))


def train_one_iteration(model: Any, config: TrainingConfig) -> dict[str, float]:
    """Collect one rollout and train on it; return the metrics of the library, like "train/loss"."""
    from stable_baselines3.common.utils import ConstantSchedule, FloatSchedule

    model.lr_schedule = FloatSchedule(ConstantSchedule(config.learning_rate_after(model.num_timesteps)))
    model.learn(config.decisions_per_iteration, reset_num_timesteps=False, log_interval=None)
    metrics = {name: float(value) for name, value in model.logger.name_to_value.items()}
    model.logger.name_to_value.clear()
    return metrics
