"""What a network is made of; torch is needed to build it only."""

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from ...envs.game import Game
from ...envs.system.messages import shorten

if TYPE_CHECKING:
    from torch import nn

KINDS = ("mlp", "cells")
MOST_WEIGHTS = 2**25
"""Weights of a network: 128 MB of float32, and four times as much while it is trained."""
_WIDEST = 2**16
_MOST_LAYERS = 64


@dataclass(frozen=True)
class Architecture:
    """The form of a network.

    | field | meaning |
    |---|---|
    | `kind` | "mlp": layers on the whole observation; "cells": convolutions on a plane whose cells are actions |
    | `hidden` | widths of the hidden layers; none for a linear network |
    | `channels` | channels of the convolutions of "cells" |
    | `shared` | whether policy and values share the hidden layers, or each has its own |
    | `heuristic` | whether the logits are added to the game's heuristic, which is then a second input |
    | `heuristic_input` | whether the layers see that second input, too; needs `heuristic` |
    | `margin_input` | whether they see the margins, too, a third input; needs `heuristic_input` |

    Raises ValueError that names the field if a value is none of these.
    """

    kind: str
    hidden: tuple[int, ...]
    channels: int = 16
    shared: bool = True
    heuristic: bool = False
    heuristic_input: bool = False
    margin_input: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind of network must be one of {', '.join(KINDS)}, not {shorten(self.kind)}")
        if isinstance(self.hidden, tuple) and len(self.hidden) > _MOST_LAYERS:
            raise ValueError(f"hidden must be at most {_MOST_LAYERS} integers, not {len(self.hidden):,}")
        if not isinstance(self.hidden, tuple) or not all(_is_width(width) for width in self.hidden):
            raise ValueError(f"hidden must be integers from 1 to {_WIDEST}, not {shorten(self.hidden)}")
        if not _is_width(self.channels):
            raise ValueError(f"channels must be an integer from 1 to {_WIDEST}, not {shorten(self.channels)}")
        for name in ("shared", "heuristic", "heuristic_input", "margin_input"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false, not {shorten(getattr(self, name))}")
        if self.heuristic_input and not self.heuristic:
            raise ValueError("heuristic_input needs heuristic")
        if self.margin_input and not self.heuristic_input:
            raise ValueError("margin_input needs heuristic_input")


def _is_width(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _WIDEST


def sees_cells(game: Game) -> bool:
    """Tell whether a game's observation begins with a plane whose cells are actions too."""
    first_cell, shape = game.spec.first_cell_action, game.observation_fields[0].shape
    return first_cell is not None and shape[0] == 1 and prod(shape) == game.num_actions - first_cell


def build(game: Game, architecture: Architecture) -> "nn.Module":
    """Return a new network for a game in its form of observations, its weights drawn from torch's generator.

    Its `forward` takes observations float32 [n, observation_size] and returns logits float32 [n, num_actions] of all
    actions, legal or not, and values float32 [n, num_players]: raw numbers, of which number k is about the player k
    seats after the one who observes. If the architecture is one with the game's heuristic, `forward` takes its values
    of the actions, float32 [n, num_actions], as a second input (`agents.decisions.DecisionBatch.action_values`), and as
    a third one, if it is made to see them, settled margins, float32 [n, num_players], own seat first
    (`projected_margins`).

    Raises ValueError if the network is to see cells and the observation has none, or if it has too many weights.
    """
    import torch

    # on "meta" nothing is drawn and no memory is taken
    with torch.device("meta"):
        weights = sum(weight.numel() for weight in _assemble(game, architecture).parameters())
    if weights > MOST_WEIGHTS:
        raise ValueError(
            f"a network for {game.name} with hidden={shorten(list(architecture.hidden))} and "
            f"channels={architecture.channels} has {weights:,} weights, more than the most, {MOST_WEIGHTS:,}"
        )
    return _assemble(game, architecture)


def _assemble(game: Game, architecture: Architecture) -> "nn.Module":
    network = _without_heuristic(game, architecture)
    if not architecture.heuristic:
        return network
    from .heuristic import HeuristicNetwork

    return HeuristicNetwork(network, architecture.heuristic_input)


def _without_heuristic(game: Game, architecture: Architecture) -> "nn.Module":
    if architecture.kind == "cells":
        if not sees_cells(game):
            form = f"{game.name} with the observation {game.observation}"
            raise ValueError(f"network cells needs an observation with a plane of cells, which {form} has not")
        from .cells import CellNetwork

        return CellNetwork(game, architecture)
    from .mlp import MLP

    inputs = game.observation_size + game.num_actions * architecture.heuristic_input
    inputs += game.num_players * architecture.margin_input
    sizes = (inputs, game.num_actions, game.num_players)
    return MLP(*sizes, architecture.hidden, architecture.shared)
