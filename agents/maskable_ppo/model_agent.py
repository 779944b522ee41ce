"""An agent that plays a MaskablePPO model (sb3-contrib) from a file: "ppo:FILE"."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch
from ...envs.system.messages import shorten


class MaskablePPOAgent:
    """Samples from a trained policy, or takes its most probable action; torch draws from its own generator.

    `policy` is a MaskableActorCriticPolicy; it is only read. `observation` is the form of observations that it was
    trained on; None for that of the game it plays.
    """

    def __init__(
        self, name: str, policy: Any, seed: int, deterministic: bool = False, observation: str | None = None
    ) -> None:
        import torch

        self.name = name
        self._observation = observation
        self.policy = policy
        self._deterministic = deterministic
        self._generator = torch.Generator().manual_seed(seed)

    def reset(self, seed: int) -> None:
        """Begin anew with another seed."""
        self._generator.manual_seed(seed)

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]."""
        import torch

        with torch.no_grad():
            observation = torch.as_tensor(decisions.observed_as(self._observation), device=self.policy.device)
            mask = torch.as_tensor(decisions.mask, dtype=torch.bool, device=self.policy.device)
            logits = self.policy.get_distribution(observation).distribution.logits
            logits = logits.masked_fill(~mask, -torch.inf)
            if self._deterministic:
                return logits.argmax(dim=1).cpu().numpy()
            # the largest of logits + Gumbel noise is a sample of the softmax (Maddison et al. 2014); the noise is
            # minus the logarithm of an exponential variable
            exponential = torch.empty(logits.shape).exponential_(generator=self._generator).clamp_min(1e-30)
            return (logits - exponential.log().to(logits.device)).argmax(dim=1).cpu().numpy()


def make(game: Game, text: str, argument: str, seed: int, *, trust: bool = False) -> MaskablePPOAgent:
    """Return the agent of a model file; see `registry.make_agent`.

    Raises ValueError if the file is missing, is no model, was trained for other sizes, or if it holds classes of its
    own and there is no `trust`.
    """
    if not os.path.lexists(argument):
        raise ValueError(f"agent {shorten(text)}: there is no file {shorten(argument)}; write ppo:FILE")
    try:
        from .model_file import load_policy
    except ImportError:
        raise ValueError(f"agent {shorten(text)} needs the extra 'train': pip install 'meeplezoo[train]'") from None
    try:
        policy, encoding = load_policy(Path(argument), game, trust=trust)
    except OSError as error:
        raise ValueError(f"agent {shorten(text)}: {argument} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"agent {shorten(text)}: {error}") from None
    # matches are played with the most probable action: stronger than sampling, and ties do not matter
    return MaskablePPOAgent(text, policy, seed, deterministic=True, observation=encoding)
