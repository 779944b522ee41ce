"""A multilayer perceptron with a policy head and a value head."""

import torch
from torch import nn

_GAIN_OF_RELU = 2**0.5
INITIAL_LOGIT_GAIN = 0.01
"""Gain of the policy head: at first all actions are about equally likely."""


class MLP(nn.Module):
    """Hidden layers with ReLU, then a linear policy head and a linear value head.

    Initialisation is orthogonal (Saxe et al. 2014, arXiv:1312.6120) with biases of 0 and the usual gains of policy
    gradients (Huang et al. 2022, "The 37 implementation details of PPO").

    Arguments: number of inputs; widths of the hidden layers; whether both heads share them.
    """

    def __init__(
        self, inputs: int, num_actions: int, num_players: int, hidden_sizes: tuple[int, ...], shared_trunk: bool = True
    ) -> None:
        super().__init__()
        width = hidden_sizes[-1] if hidden_sizes else inputs
        self.trunk = _layers(inputs, hidden_sizes)
        self.value_trunk = None if shared_trunk else _layers(inputs, hidden_sizes)
        self.policy = orthogonal(nn.Linear(width, num_actions), INITIAL_LOGIT_GAIN)
        self.values = orthogonal(nn.Linear(width, num_players), 1.0)

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float32 [n, num_actions] and values float32 [n, num_players] of float32 [n, inputs]."""
        latent = self.trunk(observation)
        value_latent = latent if self.value_trunk is None else self.value_trunk(observation)
        return self.policy(latent), self.values(value_latent)


def orthogonal(layer: nn.Linear | nn.Conv2d, gain: float) -> nn.Module:
    """Initialise a layer with orthogonal weights of a gain and biases of 0, and return it."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def _layers(inputs: int, hidden_sizes: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in hidden_sizes:
        # in place: the backward pass does not need the output of the linear layer
        layers += [orthogonal(nn.Linear(inputs, width), _GAIN_OF_RELU), nn.ReLU(inplace=True)]
        inputs = width
    return nn.Sequential(*layers)
