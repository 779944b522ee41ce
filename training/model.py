"""The learner: a MaskablePPO model made from a config."""

import io
from typing import TYPE_CHECKING, Any

from .config import TrainingConfig

if TYPE_CHECKING:
    from .self_play_env import SelfPlayVecEnv

EPISODES_OF_STATISTICS = 1000
_NOT_FOR_PLAYING = ["_last_obs", "_last_episode_starts", "ep_info_buffer", "ep_success_buffer"]


def prepare_torch(config: TrainingConfig) -> None:
    """Set what torch keeps for the whole process: its threads, and no checks of distributions' arguments.

    Raises ValueError if the config's device is none.
    """
    import torch

    try:
        torch.device(config.device)
    except RuntimeError:
        raise ValueError(f"setting device must be a device of torch, like cpu or cuda, not {config.device!r}") from None
    torch.set_num_threads(config.threads)
    torch.distributions.Distribution.set_default_validate_args(False)


def make_model(config: TrainingConfig, env: "SelfPlayVecEnv") -> Any:
    """Return a new MaskablePPO model; seeds the random generators of torch, numpy and Python too."""
    import torch
    from sb3_contrib import MaskablePPO

    policy, policy_settings = _policy(config, env)
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
        # numpy's global generator takes 32 bits
        seed=config.seed & 0xFFFFFFFF,
        device=config.device,
    )
    # the model has seeded the environment with its own 32 bits
    env.seed(config.seed)
    _silence(model)
    return model


def _policy(config: TrainingConfig, env: "SelfPlayVecEnv") -> tuple[Any, dict[str, Any]]:
    """Return the class of the policy, or its name, and its own settings."""
    if config.network == "mlp":
        return "MlpPolicy", {"ortho_init": True}
    from ..agents.cell_policy import CellFeatures, CellPolicy

    plane = env.game.observation_fields[0]
    return CellPolicy, {
        "features_extractor_class": CellFeatures,
        "features_extractor_kwargs": {
            "side": plane.shape[1],
            "codes": int(plane.high) + 1,
            "channels": config.channels,
        },
        "first_cell_action": env.game.description.first_cell_action,
    }


def load_model(config: TrainingConfig, env: "SelfPlayVecEnv", content: bytes) -> Any:
    """Return the model of a checkpoint; reseeds the global random generators, as making one does."""
    from sb3_contrib import MaskablePPO

    model = MaskablePPO.load(io.BytesIO(content), env=env, device=config.device, force_reset=False)
    _silence(model)
    return model


def _silence(model: Any) -> None:
    """Let the model's logger keep its numbers, for `train_one_iteration`, and write nothing itself."""
    from stable_baselines3.common.logger import Logger

    model.set_logger(Logger(folder=None, output_formats=[]))


def save_for_playing(model: Any, file: Any) -> None:
    """Write the model without the state of its training to an open binary file, as agent `ppo:FILE` reads it."""
    model.save(file, exclude=_NOT_FOR_PLAYING)


def train_one_iteration(model: Any, config: TrainingConfig) -> dict[str, float]:
    """Collect one rollout and train on it; return what the library logged ("train/loss" and so on)."""
    from stable_baselines3.common.utils import ConstantSchedule, FloatSchedule

    model.lr_schedule = FloatSchedule(ConstantSchedule(config.learning_rate_after(model.num_timesteps)))
    model.learn(config.decisions_per_iteration, reset_num_timesteps=False, log_interval=None)
    logged = {name: float(value) for name, value in model.logger.name_to_value.items()}
    model.logger.name_to_value.clear()
    return logged
