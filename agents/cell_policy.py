"""A convolutional policy for MaskablePPO whose actions are, in part, cells of the plane that it sees.

The observation is one float32 vector: first a plane of side x side codes (what lies on each cell of a window), then
numbers. Codes are embedded, the numbers are added to every cell, and convolutions follow. Actions of cells get their
logits from the cells themselves; all other actions, and the value, from the mean and maximum over the cells and the
numbers. The weights do not depend on the size of the window.

Most of a window is empty: all work is done on its central part that holds everything of the batch, and a margin. The
part is padded in a circle, once for both convolutions, and the margin is wider than they reach, so that the size of
the part changes nothing.
"""

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

_CONVOLUTIONS = 2
_MARGIN = 1 + _CONVOLUTIONS
"""Empty cells on each side of the part that is looked at; more than the convolutions reach."""


class CellFeatures(nn.Module):
    """Turns observations float32 [n, side * side + numbers] into (core [n, core_size], logits of cells [n, side * side])."""

    def __init__(self, side: int, codes: int, numbers: int, channels: int) -> None:
        super().__init__()
        self.side = side
        self.embedding = nn.Embedding(codes, channels)
        self.numbers = nn.Linear(numbers, channels)
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3) for _ in range(_CONVOLUTIONS))
        self.cell_logit = nn.Conv2d(channels, 1, 1)
        self.core_size = 2 * channels + numbers

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
        core = torch.cat([cells.mean(dim=(2, 3)), cells.amax(dim=(2, 3)), numbers], dim=1)
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

    def __init__(self, core_size: int, hidden: list[int], activation: type[nn.Module]) -> None:
        super().__init__()
        self.policy = _layers(core_size, hidden, activation)
        self.value = _layers(core_size, hidden, activation)
        self.latent_dim_pi = self.latent_dim_vf = hidden[-1] if hidden else core_size

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
    """MaskablePPO's policy with these networks.

    Arguments beyond the base class's: side, of the window; codes, how many there are; first_cell_action, the action
    of the window's first cell, with those of all others behind it; channels, of the convolutions. `net_arch` is the
    list of widths of the layers behind the core.
    """

    def __init__(
        self, *args: Any, side: int, codes: int, first_cell_action: int, channels: int = 16, **kwargs: Any
    ) -> None:
        self._side, self._codes, self._channels = side, codes, channels
        self._first_cell_action = first_cell_action
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        own = {
            "side": self._side,
            "codes": self._codes,
            "first_cell_action": self._first_cell_action,
            "channels": self._channels,
        }
        return {**super()._get_constructor_parameters(), **own}

    def _build(self, lr_schedule: Any) -> None:
        numbers = int(self.observation_space.shape[0]) - self._side**2  # type: ignore[index]
        hidden = list(self.net_arch)
        self.cell_features = CellFeatures(self._side, self._codes, numbers, self._channels)
        self.mlp_extractor = _Heads(self.cell_features.core_size, hidden, self.activation_fn)  # type: ignore[assignment]
        self.action_net = _Actions(self.mlp_extractor.latent_dim_pi, self._first_cell_action)
        self.value_net = nn.Linear(self.mlp_extractor.latent_dim_vf, 1)
        # small first logits: all actions about equally likely, as the base class has it
        for layer in (self.action_net.others, self.cell_features.cell_logit):
            nn.init.orthogonal_(layer.weight, 0.01)
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    def extract_features(self, obs: Any, features_extractor: Any = None) -> Any:
        """Return (core, logits of cells) of observations."""
        return self.cell_features(obs)
