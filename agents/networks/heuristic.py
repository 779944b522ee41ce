"""A network whose policy starts as the heuristic of the game and learns corrections."""

import torch
from torch import nn

INITIAL_WEIGHT = 0.5
"""One logit for two points, as in the priors of the tree search."""

_INPUT_SCALE = 0.1
"""Scales ten points to the magnitude of other inputs."""
_MARGIN_SCALE = 5.0
"""Scales a fifth of a margin scale to the magnitude of other inputs."""


class HeuristicNetwork(nn.Module):
    """Add the heuristic action values, times a learned weight, to the logits of a network.

    A new network has small logits, so it plays much like the heuristic. With `as_input` the network sees the values,
    and margins after them, behind the observation.
    """

    def __init__(self, network: nn.Module, as_input: bool) -> None:
        super().__init__()
        self.network = network
        self.as_input = as_input
        self.weight = nn.Parameter(torch.tensor(INITIAL_WEIGHT))

    def forward(
        self, observation: torch.Tensor, action_values: torch.Tensor, margins: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float32 [n, num_actions] and values float32 [n, num_players]; see `architecture.build`."""
        if self.as_input:
            inputs = [observation, action_values * _INPUT_SCALE]
            if margins is not None:
                inputs.append(margins * _MARGIN_SCALE)
            observation = torch.cat(inputs, dim=1)
        logits, values = self.network(observation)
        return logits + self.weight * action_values, values
