"""A convolutional policy for MaskablePPO whose actions are, in part, cells of the plane that it sees.

Its features are those of `networks/conv.py`; policy and value have hidden layers of their own behind them.
"""

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from ..networks.conv import ConvFeatures

# files of models name ConvFeatures as a part of this module
__all__ = ["ConvFeatures", "ConvPolicy"]


class _Heads(nn.Module):
    """Policy and value layers on the core, in the form that the base class asks of its extractor of latents."""

    def __init__(self, core_size: int, hidden: Any, activation: type[nn.Module]) -> None:
        super().__init__()
        self.policy = _layers(core_size, hidden, activation)
        self.value = _layers(core_size, hidden, activation)
        self.latent_dim = hidden[-1] if hidden else core_size

    def forward(self, features: tuple[torch.Tensor, torch.Tensor]) -> tuple[Any, torch.Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        core, cells = features
        return self.policy(core), cells

    def forward_critic(self, features: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        latent: torch.Tensor = self.value(features[0])
        return latent


class _Actions(nn.Module):
    """Logits of all actions: those before the first cell from the latent, the cells' as they come."""

    def __init__(self, latent_size: int, first_cell_action: int) -> None:
        super().__init__()
        self.others = nn.Linear(latent_size, first_cell_action)

    def forward(self, latent: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        core, cells = latent
        return torch.cat([self.others(core), cells], dim=1)


def _layers(size: int, hidden: list[int], activation: type[nn.Module]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [nn.Linear(size, width), activation()]
        size = width
    return nn.Sequential(*layers)


class ConvPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with these networks; its features come from `ConvFeatures`.

    Arguments beyond the base class's: first_cell_action, the action of the window's first cell, with those of all
    others behind it. `net_arch` is the list of widths of the layers behind the core.
    """

    def __init__(self, *args: Any, first_cell_action: int, **kwargs: Any) -> None:
        self._first_cell_action = first_cell_action
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "first_cell_action": self._first_cell_action}

    def _build(self, lr_schedule: Any) -> None:
        heads = _Heads(self.features_dim, self.net_arch, self.activation_fn)
        actions = _Actions(heads.latent_dim, self._first_cell_action)
        # the attributes' declared types are those of the base class's own networks
        networks: Any = self
        networks.mlp_extractor, networks.action_net = heads, actions
        self.value_net = nn.Linear(heads.latent_dim, 1)
        # small first logits: all actions about equally likely, as the base class has it
        cell_logit: Any = self.features_extractor.cell_logit
        for layer in (actions.others, cell_logit):
            nn.init.orthogonal_(layer.weight, 0.01)
            nn.init.zeros_(layer.bias)
        self.optimizer = self.optimizer_class(self.parameters(), **{"lr": lr_schedule(1), **self.optimizer_kwargs})
