"""Convolutions on a plane of codes whose cells are, in part, the actions.

The observation is one float32 vector: first a plane of side x side codes (what lies on each cell of a window), then
numbers. Codes are embedded, the numbers are added to every cell, and convolutions follow. Actions of cells get their
logits from the cells themselves; all other actions, and the values, from the mean and maximum over the cells and the
numbers. The weights do not depend on the size of the window.

Most of a window is empty: all work is done on its central part that holds everything of a group of games, and a
margin. The part is padded in a circle, once for both convolutions, and the margin is wider than they reach: the cells
left out are all like the part's corner, and count as such in the mean. So a game's logits do not depend on the size of
the part.
"""

import torch
from gymnasium import spaces
from torch import nn

from ...envs.game import Game
from ...envs.interfaces.spaces import observation_box
from .architecture import Architecture
from .mlp import FIRST_LOGITS, MLP, orthogonal

_CONVOLUTIONS = 2
_MARGIN = 1 + _CONVOLUTIONS
"""Empty cells on each side of the part that is looked at; more than the convolutions reach."""
_GROUP = 32
"""Games that are looked at together, being about equally large."""


class CellFeatures(nn.Module):
    """Turns observations float32 [n, side * side + numbers] into a core [n, core size] and logits [n, side * side].

    Its arguments and `features_dim`, the size of the core, are those of an extractor of features of Stable-Baselines3.

    Arguments: space of the observations; side of the window; codes, how many there are; channels of the convolutions;
    valued, whether each cell comes with a value as a second input, float32 [n, side * side].
    """

    def __init__(
        self, observation_space: spaces.Box, side: int, codes: int, channels: int, valued: bool = False
    ) -> None:
        super().__init__()
        numbers = observation_space.shape[0] - side * side
        self.features_dim = 2 * channels + numbers
        self.side = side
        self.embedding = nn.Embedding(codes, channels)
        self.numbers = nn.Linear(numbers, channels)
        self.value = nn.Linear(1, channels, bias=False) if valued else None
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3) for _ in range(_CONVOLUTIONS))
        self.cell_logit = nn.Conv2d(channels, 1, 1)

    def forward(
        self, observation: torch.Tensor, cell_values: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the core and the logits of all cells; those outside the part that is looked at are 0."""
        side = self.side
        codes = observation[:, : side * side].view(-1, side, side)
        values = None if cell_values is None else cell_values.view(-1, side, side)
        numbers = observation[:, side * side :]
        first = first_lines(codes)
        # small games beside small ones, so that not all cost what the largest does
        order = first.argsort()
        groups = torch.split(order, _GROUP)
        found = [
            self._look(
                codes[one],
                None if values is None else values[one],
                numbers[one],
                int(first[one[0]]) if len(one) else 0,
            )
            for one in groups
        ]
        back = order.argsort()
        return torch.cat([core for core, _ in found])[back], torch.cat([logits for _, logits in found])[back]

    def _look(
        self, codes: torch.Tensor, values: torch.Tensor | None, numbers: torch.Tensor, first: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return core and logits, looking at the part of the window that begins with a line, on both sides."""
        side, stop = self.side, self.side - first
        # codes are padded, not what becomes of them: one number a cell instead of all channels
        cells = self.embedding(_padded(codes, first).long()) + self.numbers(numbers)[:, None, None, :]
        if self.value is not None:
            assert values is not None
            cells = cells + self.value(_padded(values, first)[..., None])
        cells = cells.permute(0, 3, 1, 2)
        for convolution in self.convolutions:
            cells = cells[:, :, 1:-1, 1:-1] + torch.relu(convolution(cells))
        logits = self.cell_logit(cells)[:, 0]
        whole = nn.functional.pad(logits, (first,) * 4).flatten(1)
        share = ((stop - first) / side) ** 2
        mean = share * cells.mean(dim=(2, 3)) + (1 - share) * cells[:, :, 0, 0]
        core = torch.cat([mean, cells.amax(dim=(2, 3)), numbers], dim=1)
        return core, whole


def _padded(plane: torch.Tensor, first: int) -> torch.Tensor:
    """Return the part of planes [n, side, side] that begins with a line, padded in a circle for the convolutions."""
    stop = plane.shape[1] - first
    part = plane[:, None, first:stop, first:stop]
    return nn.functional.pad(part, (_CONVOLUTIONS,) * 4, mode="circular")[:, 0]


def first_lines(codes: torch.Tensor) -> torch.Tensor:
    """Return for planes [n, side, side] the first line, in both directions, of the central part to look at, int64 [n].

    It is a square with everything that is not empty, and a margin.
    """
    side = codes.shape[1]
    occupied = codes != 0
    lines = occupied.any(dim=1) | occupied.any(dim=2)
    index = torch.arange(side, device=codes.device)
    # of an empty plane the middle is looked at
    outermost = torch.where(lines, torch.minimum(index, side - 1 - index), side // 2).amin(dim=1)
    return (outermost - _MARGIN).clamp(min=0)


class CellNetwork(nn.Module):
    """`CellFeatures`, and an `MLP` on its core for the values and for the actions before the first cell's.

    Policy and values share the convolutions in any case. If the architecture's layers see the game's heuristic, its
    values stand behind the observation: the cells' are seen by the convolutions, the others by the `MLP`, and so are
    margins behind them.
    """

    def __init__(self, game: Game, architecture: Architecture) -> None:
        super().__init__()
        first_cell = game.spec.first_cell_action
        assert first_cell is not None
        plane = game.observation_fields[0]
        self.observation_size = game.observation_size
        self.first_cell = first_cell
        self.valued = architecture.heuristic_input
        sizes = (plane.shape[1], int(plane.high) + 1, architecture.channels)
        self.features = CellFeatures(observation_box(game), *sizes, self.valued)
        orthogonal(self.features.cell_logit, FIRST_LOGITS)
        self.first_margin = self.observation_size + game.num_actions
        inputs = self.features.features_dim + first_cell * self.valued + game.num_players * architecture.margin_input
        self.heads = MLP(inputs, first_cell, game.num_players, architecture.hidden, architecture.shared)

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits float32 [n, num_actions] and values float32 [n, num_players]; see `build`."""
        if self.valued:
            action_values = observation[:, self.observation_size : self.first_margin]
            margins = observation[:, self.first_margin :]
            observation = observation[:, : self.observation_size]
            core, cells = self.features(observation, action_values[:, self.first_cell :])
            core = torch.cat([core, action_values[:, : self.first_cell], margins], dim=1)
        else:
            core, cells = self.features(observation)
        others, values = self.heads(core)
        return torch.cat([others, cells], dim=1), values
