"""A convolutional network on a plane of codes whose cells are actions.

The observation is one float32 vector: a plane of side x side codes (the content of each cell of a window), followed by
scalars. Codes are embedded, the scalars are projected and added to every cell, and convolutions follow. Logits of cells
are read from the cells; those of all other actions, and the values, from mean and maximum over the cells and the
scalars. The weights do not depend on the size of the window.

Most of a window is empty, so only a central crop is computed that holds all occupied cells of a group of games and a
border. It has circular padding, once for all convolutions, and the border is wider than their receptive field: every
cell outside the crop equals the corner of the crop, and counts as such in the mean. So the logits of a game do not
depend on the size of the crop.
"""

import torch
from gymnasium import spaces
from torch import nn

from ...envs.game import Game
from ...envs.interfaces.spaces import observation_box
from .architecture import Architecture
from .mlp import INITIAL_LOGIT_GAIN, MLP, orthogonal

_CONVOLUTIONS = 2
_BORDER = 1 + _CONVOLUTIONS
"""Empty cells on each side of the crop; wider than the receptive field of the convolutions."""
_GROUP_SIZE = 32
"""Games of similar extent that are computed with one crop."""


class ConvFeatures(nn.Module):
    """Map observations [B, side * side + scalars] to features [B, features_dim] and cell logits [B, side * side].

    It is a features extractor of Stable-Baselines3 too.

    Arguments:
        side: of the window.
        codes: number of different codes.
        channels: of the convolutions.
        with_values: whether each cell has a heuristic value, a second input float32 [B, side * side].
    """

    def __init__(
        self, observation_space: spaces.Box, side: int, codes: int, channels: int, with_values: bool = False
    ) -> None:
        super().__init__()
        numbers = observation_space.shape[0] - side * side
        self.features_dim = 2 * channels + numbers
        self.side = side
        self.embedding = nn.Embedding(codes, channels)
        self.numbers = nn.Linear(numbers, channels)
        self.value = nn.Linear(1, channels, bias=False) if with_values else None
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3) for _ in range(_CONVOLUTIONS))
        self.cell_logit = nn.Conv2d(channels, 1, 1)

    def forward(
        self, observation: torch.Tensor, cell_values: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the features and the logits of all cells, 0 outside the crop."""
        side = self.side
        codes = observation[:, : side * side].view(-1, side, side)
        values = None if cell_values is None else cell_values.view(-1, side, side)
        numbers = observation[:, side * side :]
        starts = crop_starts(codes)
        # group games of similar extent, so that not all cost as much as the largest
        order = starts.argsort()
        groups = torch.split(order, _GROUP_SIZE)
        results = [
            self._apply_to_crop(
                codes[group],
                None if values is None else values[group],
                numbers[group],
                int(starts[group[0]]) if len(group) else 0,
            )
            for group in groups
        ]
        back = order.argsort()
        return torch.cat([core for core, _ in results])[back], torch.cat([logits for _, logits in results])[back]

    def _apply_to_crop(
        self, codes: torch.Tensor, values: torch.Tensor | None, numbers: torch.Tensor, start: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return features and cell logits from the crop [start, side - start) in both directions."""
        side, stop = self.side, self.side - start
        # pad codes, not embeddings: one number a cell instead of all channels
        cells = self.embedding(_pad(codes, start).long()) + self.numbers(numbers)[:, None, None, :]
        if self.value is not None:
            assert values is not None
            cells = cells + self.value(_pad(values, start)[..., None])
        cells = cells.permute(0, 3, 1, 2)
        for convolution in self.convolutions:
            cells = cells[:, :, 1:-1, 1:-1] + torch.relu(convolution(cells))
        logits = self.cell_logit(cells)[:, 0]
        all_logits = nn.functional.pad(logits, (start,) * 4).flatten(1)
        fraction = ((stop - start) / side) ** 2
        mean = fraction * cells.mean(dim=(2, 3)) + (1 - fraction) * cells[:, :, 0, 0]
        core = torch.cat([mean, cells.amax(dim=(2, 3)), numbers], dim=1)
        return core, all_logits


def _pad(plane: torch.Tensor, start: int) -> torch.Tensor:
    """Return the crop of planes [B, side, side] with circular padding for all convolutions."""
    stop = plane.shape[1] - start
    crop = plane[:, None, start:stop, start:stop]
    return nn.functional.pad(crop, (_CONVOLUTIONS,) * 4, mode="circular")[:, 0]


def crop_starts(codes: torch.Tensor) -> torch.Tensor:
    """Return the first row and column of the crop of planes [B, side, side], int64 [B].

    The crop is a central square with all occupied cells and a border.
    """
    side = codes.shape[1]
    occupied = codes != 0
    lines = occupied.any(dim=1) | occupied.any(dim=2)
    index = torch.arange(side, device=codes.device)
    # the crop of an empty plane is its middle
    outermost = torch.where(lines, torch.minimum(index, side - 1 - index), side // 2).amin(dim=1)
    return (outermost - _BORDER).clamp(min=0)


class ConvNetwork(nn.Module):
    """`ConvFeatures`, and an `MLP` on them for the values and for the actions that are not cells.

    Policy and values always share the convolutions. With `heuristic_input` the input continues with the heuristic
    action values: those of cells go to the convolutions, the others to the `MLP`, and so do margins after them.
    """

    def __init__(self, game: Game, architecture: Architecture) -> None:
        super().__init__()
        first_cell_action = game.spec.first_cell_action
        assert first_cell_action is not None
        plane = game.observation_fields[0]
        self.observation_size = game.observation_size
        self.first_cell_action = first_cell_action
        self.with_values = architecture.heuristic_input
        window = (plane.shape[1], int(plane.high) + 1, architecture.channels)
        self.features = ConvFeatures(observation_box(game), *window, self.with_values)
        orthogonal(self.features.cell_logit, INITIAL_LOGIT_GAIN)
        self.margins_start = self.observation_size + game.num_actions
        inputs = (
            self.features.features_dim
            + first_cell_action * self.with_values
            + game.num_players * architecture.margin_input
        )
        self.heads = MLP(
            inputs, first_cell_action, game.num_players, architecture.hidden_sizes, architecture.shared_trunk
        )

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float32 [n, num_actions] and values float32 [n, num_players]; see `build`."""
        if self.with_values:
            action_values = observation[:, self.observation_size : self.margins_start]
            margins = observation[:, self.margins_start :]
            observation = observation[:, : self.observation_size]
            core, cells = self.features(observation, action_values[:, self.first_cell_action :])
            core = torch.cat([core, action_values[:, : self.first_cell_action], margins], dim=1)
        else:
            core, cells = self.features(observation)
        others, values = self.heads(core)
        return torch.cat([others, cells], dim=1), values
