"""What a training algorithm is to the trainer, and the learner of a config."""

from importlib import import_module
from typing import IO, Any, Protocol

from ..agents import Agent
from ..envs import Game
from .config import TrainingConfig

MASKABLE_PPO_FILE, NETWORK_FILE = "zip", "safetensors"
AGENT_KINDS = {MASKABLE_PPO_FILE: "ppo", NETWORK_FILE: "net"}
"""The kind of agent that plays a file, by the ending of its name."""


class Learner(Protocol):
    """An algorithm at work: it plays and learns by iterations.

    `decisions` counts those that it has learned from; `kind` is that of its agent files, a key of AGENT_KINDS.
    """

    kind: str

    @property
    def decisions(self) -> int:
        """Return how many decisions have been learned from."""
        ...

    def iterate(self, iteration: int) -> dict[str, float]:
        """Play and learn once more; return what is to be logged, under names like "train/loss"."""
        ...

    def agent(self, name: str, seed: int) -> Agent:
        """Return the policy as it is now, as it is to be evaluated."""
        ...

    def write_agent(self, file: IO[bytes], seconds: float) -> None:
        """Write the policy as an agent's file; `seconds` is how long the run has taken."""
        ...

    def get_state(self) -> dict[str, Any]:
        """Return all that the future depends on but torch's, numpy's and Python's generators."""
        ...

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`."""
        ...


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


def make_learner(config: TrainingConfig, game: Game) -> Learner:
    """Return a new learner of the config's algorithm; seeds torch's, numpy's and Python's generators too."""
    module = import_module(f".{config.algorithm}", __package__)
    learner: Learner = module.make_learner(config, game)
    return learner
