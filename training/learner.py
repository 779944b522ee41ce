"""What a training algorithm is to the trainer, and the learner of a config."""

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
        """Return all that the future depends on but torch's, numpy's and Python's generators.

        Dicts with texts as keys, lists, plain values, arrays and tensors, as `checkpoint_file` keeps them.
        """
        ...

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to a state from `get_state`, whose arrays may be read-only.

        Raises ValueError, one sentence that names the part, for a state that is none of such a learner.
        """
        ...


def prepare_torch(config: TrainingConfig) -> None:
    """Set what torch keeps for the whole process: its threads, and no checks of distributions' arguments.

    Raises ValueError if the config's device is none, or not there.
    """
    import torch

    try:
        with warnings.catch_warnings():
            # some names are those of devices that torch once had
            warnings.simplefilter("ignore")
            # only computing tells: a device may have a name and no driver, or memory and no numbers in it
            torch.zeros(1, device=torch.device(config.device)).add(1).item()
    except (RuntimeError, AssertionError, ImportError, AttributeError, TypeError) as error:
        reason = re.split(r"\.\s|\n", str(error))[0]
        named = f"{shorten(config.device)} ({escape_controls(reason[:100])})"
        raise ValueError(f"setting device must be a device of torch that works here, not {named}") from None
    torch.set_num_threads(config.threads)
    torch.distributions.Distribution.set_default_validate_args(False)


def check_finite(network: "nn.Module") -> None:
    """Raise ValueError if a network's weights are no longer finite: it would play and save what means nothing."""
    import torch

    if not all(torch.isfinite(parameter).all() for parameter in network.parameters()):
        raise ValueError(
            "learning has diverged, the network's weights are no longer finite; begin anew with a smaller learning_rate"
        )


def make_learner(config: TrainingConfig, game: Game, *, trust: bool = False) -> Learner:
    """Return a new learner of the config's algorithm; seeds torch's, numpy's and Python's generators too.

    `trust` is that of `make_agent`, for the agents that the config names.
    """
    module = import_module(f".{config.algorithm}", __package__)
    learner: Learner = module.make_learner(config, game, trust)
    return learner
