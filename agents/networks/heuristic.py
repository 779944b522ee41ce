"""A network that begins as the game's heuristic and learns what to think otherwise."""

import torch
from torch import nn

FIRST_WEIGHT = 0.5
"""A logit for two points: what the tree search takes for the priors of its actions."""

_INPUT_SCALE = 0.1
"""Ten points are about as large as other inputs."""
_MARGIN_SCALE = 5.0
"""Margins come in scales of a whole game: a fifth of one is about as large as other inputs."""


class HeuristicNetwork(nn.Module):
    """Adds the heuristic's values of the actions, times a weight that is learned, to a network's logits.

    A new network of the usual small first logits plays much as the heuristic does, where a plain one plays at random.
    If they are seen, the values stand behind the observation in the network's input, too, and margins behind them.
    """

    def __init__(self, network: nn.Module, seen: bool) -> None:
        super().__init__()
        self.network = network
        self.seen = seen
        self.weight = nn.Parameter(torch.tensor(FIRST_WEIGHT))

    def forward(
        self, observation: torch.Tensor, action_values: torch.Tensor, margins: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float32 [n, num_actions] and values float32 [n, num_players]; see `architecture.build`."""
        if self.seen:
            seen = [observation, action_values * _INPUT_SCALE]
            if margins is not None:
                seen.append(margins * _MARGIN_SCALE)
            observation = torch.cat(seen, dim=1)
        logits, values = self.network(observation)
        return logits + self.weight * action_values, values
