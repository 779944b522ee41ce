"""The protocol of a training algorithm, and the algorithm of a config."""

import re
import warnings
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Protocol

from ..agents import Agent
from ..envs import Game
from ..envs.system.messages import escape_controls, shorten
from .config import TrainingConfig

if TYPE_CHECKING:
    from torch import nn

MASKABLE_PPO_FILE, NETWORK_FILE = "zip", "safetensors"
AGENT_KINDS = {MASKABLE_PPO_FILE: "ppo", NETWORK_FILE: "net"}
"""The agent that plays a file, by the suffix of the file."""


class Algorithm(Protocol):
    """A training algorithm that plays and learns in iterations.

    `decisions` counts those learned from; `kind` is that of its agent files, a key of AGENT_KINDS.
    """

    kind: str

    @property
    def decisions(self) -> int:
        """Return the number of decisions learned from."""
        ...

    def train_iteration(self, iteration: int) -> dict[str, float]:
        """Play and learn for one iteration; return metrics under names like "train/loss"."""
        ...

    def agent(self, name: str, seed: int) -> Agent:
        """Return the current policy as an agent for evaluation."""
        ...

    def write_agent(self, file: IO[bytes], seconds: float) -> None:
        """Write the policy as an agent's file; `seconds` is how long the run has taken."""
        ...

    def get_state(self) -> dict[str, Any]:
        """Return everything that resuming needs, except the global generators of torch, numpy and Python.

        Dicts with texts as keys, lists, plain values, arrays and tensors, as `checkpoint_file` keeps them.
        """
        ...

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore a state from `get_state`, whose arrays may be read-only.

        Raises ValueError, one sentence that names the part, if the state does not fit this algorithm.
        """
        ...


def prepare_torch(config: TrainingConfig) -> None:
    """Set torch's process-wide number of threads, and switch off argument checks of its distributions.

    Raises ValueError if the device of the config does not exist or does not work.
    """
    import torch

    try:
        with warnings.catch_warnings():
            # some names are those of devices that torch once had
            warnings.simplefilter("ignore")
            # only a computation proves that it works: a device may have a name and no driver
            torch.zeros(1, device=torch.device(config.device)).add(1).item()
    except (RuntimeError, AssertionError, ImportError, AttributeError, TypeError) as error:
        reason = re.split(r"\.\s|\n", str(error))[0]
        named = f"{shorten(config.device)} ({escape_controls(reason[:100])})"
        raise ValueError(f"setting device must be a device of torch that works here, not {named}") from None
    torch.set_num_threads(config.threads)
    torch.distributions.Distribution.set_default_validate_args(False)


def check_finite(network: "nn.Module") -> None:
    """Raise ValueError if the weights of a network are not finite."""
    import torch

    if not all(torch.isfinite(parameter).all() for parameter in network.parameters()):
        raise ValueError(
            "learning has diverged: the weights of the network are not finite; start again with a smaller learning_rate"
        )


def make_algorithm(config: TrainingConfig, game: Game, *, trust: bool = False) -> Algorithm:
    """Return a new instance of the algorithm of a config; also seed the global generators of torch, numpy and Python.

    `trust` is that of `make_agent`, for the agents that the config names.
    """
    module = import_module(f".{config.algorithm}", __package__)
    algorithm: Algorithm = module.make_algorithm(config, game, trust)
    return algorithm
