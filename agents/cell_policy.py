"""A convolutional policy for MaskablePPO whose actions are, in part, cells of the plane that it sees.

The observation is one float32 vector: first a plane of side x side codes (what lies on each cell of a window), then
numbers. Codes are embedded, the numbers are added to every cell, and convolutions follow. Actions of cells get their
logits from the cells themselves; all other actions, and the value, from the mean and maximum over the cells and the
numbers. The weights do not depend on the size of the window.

Most of a window is empty: all work is done on its central part that holds everything of the batch, and a margin. The
part is padded in a circle, once for both convolutions, and the margin is wider than they reach: the cells left out are
all like the part's corner, and count as such in the mean. So a game's logits do not depend on the size of the part.
"""

from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

_CONVOLUTIONS = 2
_MARGIN = 1 + _CONVOLUTIONS
"""Empty cells on each side of the part that is looked at; more than the convolutions reach."""


class CellFeatures(BaseFeaturesExtractor):
    """Turns observations float32 [n, side * side + numbers] into a core [n, core size] and logits [n, side * side].

    Arguments: side of the window; codes, how many there are; channels of the convolutions.
    """

    def __init__(self, observation_space: spaces.Box, side: int, codes: int, channels: int) -> None:
        numbers = observation_space.shape[0] - side * side
        super().__init__(observation_space, features_dim=2 * channels + numbers)
        self.side = side
        self.embedding = nn.Embedding(codes, channels)
        self.numbers = nn.Linear(numbers, channels)
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3) for _ in range(_CONVOLUTIONS))
        self.cell_logit = nn.Conv2d(channels, 1, 1)

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the core and the logits of all cells; those outside the part that is looked at are 0."""
        side = self.side
        codes = observation[:, : side * side].view(-1, side, side)
        numbers = observation[:, side * side :]
        first, stop = _central_part(codes)
        part = codes[:, None, first:stop, first:stop]
        # codes are padded, not what becomes of them: one number a cell instead of all channels
        padded = nn.functional.pad(part, (_CONVOLUTIONS,) * 4, mode="circular")[:, 0].long()
        cells = (self.embedding(padded) + self.numbers(numbers)[:, None, None, :]).permute(0, 3, 1, 2)
        for convolution in self.convolutions:
            cells = cells[:, :, 1:-1, 1:-1] + torch.relu(convolution(cells))
        logits = self.cell_logit(cells)[:, 0]
        margins = (first, side - stop, first, side - stop)
        whole = nn.functional.pad(logits, margins).flatten(1)
        share = ((stop - first) / side) ** 2
        mean = share * cells.mean(dim=(2, 3)) + (1 - share) * cells[:, :, 0, 0]
        core = torch.cat([mean, cells.amax(dim=(2, 3)), numbers], dim=1)
        return core, whole


def _central_part(codes: torch.Tensor) -> tuple[int, int]:
    """Return the first and stop index, in both directions, of the central square with everything that is not empty."""
    side = codes.shape[1]
    occupied = (codes != 0).any(dim=0)
    lines = (occupied.any(dim=0) | occupied.any(dim=1)).nonzero()
    if not len(lines):
        return max(0, side // 2 - _MARGIN), min(side, (side + 1) // 2 + _MARGIN)
    first = min(int(lines[0]), side - 1 - int(lines[-1])) - _MARGIN
    first = max(0, first)
    return first, side - first


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


class CellPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with these networks; its features come from `CellFeatures`.

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
