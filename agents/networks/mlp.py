"""Fully connected layers with two heads."""

import torch
from torch import nn

_GAIN_OF_RELU = 2**0.5
FIRST_LOGITS = 0.01
"""Gain of what logits come from: at first all actions are about equally likely."""


class MLP(nn.Module):
    """Hidden layers with ReLU, then one linear layer for the logits and one for the values.

    Layers begin orthogonal (Saxe et al. 2014, arXiv:1312.6120), biases at 0, with the gains that are usual for policy
    gradients (Huang et al. 2022, "The 37 implementation details of PPO").

    Arguments: inputs, their number; hidden, widths; shared, whether both heads are on the same hidden layers.
    """

    def __init__(
        self, inputs: int, num_actions: int, num_players: int, hidden: tuple[int, ...], shared: bool = True
    ) -> None:
        super().__init__()
        width = hidden[-1] if hidden else inputs
        self.trunk = _layers(inputs, hidden)
        self.value_trunk = None if shared else _layers(inputs, hidden)
        self.policy = orthogonal(nn.Linear(width, num_actions), FIRST_LOGITS)
        self.values = orthogonal(nn.Linear(width, num_players), 1.0)

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float32 [n, num_actions] and values float32 [n, num_players] of float32 [n, inputs]."""
        latent = self.trunk(observation)
        of_values = latent if self.value_trunk is None else self.value_trunk(observation)
        return self.policy(latent), self.values(of_values)


def orthogonal(layer: nn.Linear | nn.Conv2d, gain: float) -> nn.Module:
    """Return the layer with orthogonal weights of a gain and with biases of 0."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def _layers(inputs: int, hidden: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in hidden:
        # in place: what comes out of a linear layer is not needed to go backwards through it
        layers += [orthogonal(nn.Linear(inputs, width), _GAIN_OF_RELU), nn.ReLU(inplace=True)]
        inputs = width
    return nn.Sequential(*layers)
