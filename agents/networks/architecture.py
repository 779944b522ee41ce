"""The architecture of a network; only building it needs torch."""

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from ...envs.game import Game
from ...envs.system.messages import shorten

if TYPE_CHECKING:
    from torch import nn

KINDS = ("mlp", "conv")
MAX_WEIGHTS = 2**25
"""Weights of a network: 128 MB of float32, four times as much during training."""
_MAX_WIDTH = 2**16
_MAX_LAYERS = 64


@dataclass(frozen=True)
class Architecture:
    """The architecture of a policy-value network.

    | field | meaning |
    |---|---|
    | `kind` | "mlp": layers on the whole observation; "conv": convolutions on a plane whose cells are actions |
    | `hidden_sizes` | widths of the hidden layers; none for a linear network |
    | `channels` | channels of the convolutions of "conv" |
    | `shared_trunk` | whether policy and values share the hidden layers |
    | `heuristic` | whether the logits are added to heuristic action values, a second input |
    | `heuristic_input` | whether the layers see the second input; needs `heuristic` |
    | `margin_input` | whether they see projected margins, a third input; needs `heuristic_input` |

    Raises ValueError that names the field if a value is none of these.
    """

    kind: str
    hidden_sizes: tuple[int, ...]
    channels: int = 16
    shared_trunk: bool = True
    heuristic: bool = False
    heuristic_input: bool = False
    margin_input: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind of network must be one of {', '.join(KINDS)}, not {shorten(self.kind)}")
        if isinstance(self.hidden_sizes, tuple) and len(self.hidden_sizes) > _MAX_LAYERS:
            raise ValueError(f"hidden_sizes must be at most {_MAX_LAYERS} integers, not {len(self.hidden_sizes):,}")
        if not isinstance(self.hidden_sizes, tuple) or not all(_is_width(width) for width in self.hidden_sizes):
            raise ValueError(f"hidden_sizes must be integers from 1 to {_MAX_WIDTH}, not {shorten(self.hidden_sizes)}")
        if not _is_width(self.channels):
            raise ValueError(f"channels must be an integer from 1 to {_MAX_WIDTH}, not {shorten(self.channels)}")
        for name in ("shared_trunk", "heuristic", "heuristic_input", "margin_input"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false, not {shorten(getattr(self, name))}")
        if self.heuristic_input and not self.heuristic:
            raise ValueError("heuristic_input needs heuristic")
        if self.margin_input and not self.heuristic_input:
            raise ValueError("margin_input needs heuristic_input")


def _is_width(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MAX_WIDTH


def has_cell_plane(game: Game) -> bool:
    """Return whether the observation starts with a plane whose cells are actions."""
    first_cell, shape = game.spec.first_cell_action, game.observation_fields[0].shape
    return first_cell is not None and shape[0] == 1 and prod(shape) == game.num_actions - first_cell


def build(game: Game, architecture: Architecture) -> "nn.Module":
    """Return a new network for a game and its observation, initialised by the generator of torch.

    Its `forward` takes observations float32 [n, observation_size] and returns logits float32 [n, num_actions] of all
    actions, legal or not, and raw values float32 [n, num_players] of the players from the observing one on. With
    `heuristic` it takes heuristic action values, float32 [n, num_actions], as a second input
    (`DecisionBatch.action_values`), and with `margin_input` projected margins, float32 [n, num_players], from the
    observing player on, as a third one.

    Raises ValueError if a convolutional network has no plane of cells to see, or if there are too many weights.
    """
    import torch

    # "meta" initialises nothing and allocates no memory
    with torch.device("meta"):
        weights = sum(weight.numel() for weight in _assemble(game, architecture).parameters())
    if weights > MAX_WEIGHTS:
        raise ValueError(
            f"a network for {game.name} with hidden_sizes={shorten(list(architecture.hidden_sizes))} and "
            f"channels={architecture.channels} has {weights:,} weights, more than the most, {MAX_WEIGHTS:,}"
        )
    return _assemble(game, architecture)


def _assemble(game: Game, architecture: Architecture) -> "nn.Module":
    network = _build_layers(game, architecture)
    if not architecture.heuristic:
        return network
    from .heuristic import HeuristicNetwork

    return HeuristicNetwork(network, architecture.heuristic_input)


def _build_layers(game: Game, architecture: Architecture) -> "nn.Module":
    if architecture.kind == "conv":
        if not has_cell_plane(game):
            described = f"{game.name} with the encoding {game.encoding}"
            raise ValueError(
                f"a convolutional network needs an observation with a plane of cells, which {described} has not"
            )
        from .conv import ConvNetwork

        return ConvNetwork(game, architecture)
    from .mlp import MLP

    inputs = game.observation_size + game.num_actions * architecture.heuristic_input
    inputs += game.num_players * architecture.margin_input
    sizes = (inputs, game.num_actions, game.num_players)
    return MLP(*sizes, architecture.hidden_sizes, architecture.shared_trunk)
