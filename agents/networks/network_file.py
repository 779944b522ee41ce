"""Network files: a .safetensors file with the weights and `NetworkMetadata`.

The metadata are JSON under the key `meeplezoo_network` of the metadata of the file
(https://huggingface.co/docs/safetensors: eight bytes of length, a JSON header, the tensors). Reading a file runs no
code from it.
"""

import json
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...envs.game import Game, make_game
from ...envs.options import check_names, with_later_ones
from ...envs.registry import describe
from ...envs.spec import GameSpec
from ...envs.system.files import read_file, shown_path, write_atomically
from ...envs.system.messages import shorten
from ...envs.system.strict_json import first_difference, parse_json
from .architecture import MAX_WEIGHTS, Architecture, build

if TYPE_CHECKING:
    import torch
    from torch import nn

VALUES = ("return", "reward", "reward_minus_score", "reward_minus_projected_score")
MAX_LEAF_PLIES = 10**6
"""Greedy plies after a leaf; no game is so long."""
_MAX_HEADER_BYTES = 2**20
MAX_BYTES = 8 + _MAX_HEADER_BYTES + 4 * MAX_WEIGHTS
"""Size of a file, at most."""
_DAMAGED = "the file is damaged, or no safetensors file"
_KEY = "meeplezoo_network"
_FORMAT = 2


@dataclass(frozen=True)
class NetworkMetadata:
    """What a network was trained for, and its architecture.

    | field | meaning |
    |---|---|
    | `game`, `version`, `options` | the game: its name, the version of its rules and encodings, all its options |
    | `observation` | the observation that the network sees |
    | `observation_size`, `num_actions` | sizes of input and policy output |
    | `architecture` | the argument of `build` |
    | `value` | the meaning of the values, one of `VALUES` |
    | `training` | the training run, JSON data; `win_weight` and `leaf_plies` of its searches among them |

    | value v | return of a tree search, 0 to 1 |
    |---|---|
    | "return" | sigmoid(v) |
    | "reward" | 0.5 + 0.5 * tanh(v): v predicts the reward "margin", without a weight of winning |
    | "reward_minus_score" | the same of v + `DecisionBatch.margins` |
    | "reward_minus_projected_score" | the same of v + `DecisionBatch.projected_margins` |

    Raises ValueError that names the field if a value is none of these.
    """

    game: str
    version: int
    options: dict[str, Any]
    observation: str
    observation_size: int
    num_actions: int
    architecture: Architecture
    value: str
    training: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        types = {"game": str, "version": int, "options": dict, "observation": str, "training": dict}
        for name, kind in {**types, "observation_size": int, "num_actions": int}.items():
            value = getattr(self, name)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise ValueError(f"{name} of a network cannot be {shorten(value)}")
        if not isinstance(self.value, str) or self.value not in VALUES:
            raise ValueError(f"value of a network must be one of {', '.join(VALUES)}, not {shorten(self.value)}")
        weight = self.training.get("win_weight", 0)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise ValueError(f"win_weight of a network's training must be from 0 to 1, not {shorten(weight)}")
        plies = self.training.get("leaf_plies", 0)
        if isinstance(plies, bool) or not isinstance(plies, int) or not 0 <= plies <= MAX_LEAF_PLIES:
            reason = f"must be an integer from 0 to {MAX_LEAF_PLIES:,}, not {shorten(plies)}"
            raise ValueError(f"leaf_plies of a network's training {reason}")

    @property
    def leaf_plies(self) -> int:
        """Return the greedy plies from a leaf to the evaluated position in the searches of its training."""
        return int(self.training.get("leaf_plies", 0))

    @property
    def win_weight(self) -> float:
        """Return the weight of winning in the returns, 0 to 1; the rest is the squashed margin."""
        return float(self.training.get("win_weight", 0.5 if self.value == "return" else 0.0))


def make_metadata(game: Game, architecture: Architecture, value: str, training: dict[str, Any]) -> NetworkMetadata:
    """Return the metadata of a network from `build` for this game."""
    return NetworkMetadata(
        game.name,
        game.spec.version,
        dict(game.options),
        game.encoding,
        game.observation_size,
        game.num_actions,
        architecture,
        value,
        training,
    )


def save_network(file_or_path: IO[bytes] | str | Path, network: "nn.Module", metadata: NetworkMetadata) -> None:
    """Write a network and its metadata to an open binary file, or atomically to a path.

    The same network and metadata give the same bytes.
    """
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    content = save(tensors, {_KEY: json.dumps({"format": _FORMAT, **asdict(metadata)})})
    if isinstance(file_or_path, str | Path):
        with write_atomically(Path(file_or_path)) as file:
            file.write(content)
    else:
        file_or_path.write(content)


def load_network(path: str | Path | Traversable) -> tuple["nn.Module", NetworkMetadata]:
    """Return the network of a file, in evaluation mode on the CPU, and its metadata; draws no random numbers.

    Raises ValueError, one sentence that names the file, if there is none, if it is damaged or not a network file, or if
    its network is for another version of the game or does not fit its metadata.
    """
    import torch

    content = _read_content(path)
    try:
        header = _read_header(content)
        metadata = _add_later_options(_parse_metadata(header.pop("__metadata__", None)))
        game = _game_of(metadata)
        # "meta" initialises nothing and allocates no memory: the weights come from the file
        with torch.device("meta"):
            network = build(game, metadata.architecture)
        _check_header(header, network.state_dict())
        tensors = _read_tensors(content, network.state_dict())
        # copies have the alignment of tensors of torch, so that they give the same bits
        network.load_state_dict({name: tensor.clone() for name, tensor in tensors.items()}, assign=True)
        network.eval()
        _check_outputs(network, game, metadata.architecture)
    except ValueError as error:
        raise ValueError(f"{shown_path(str(path))}: {error}") from None
    return network, metadata


def _read_content(path: str | Path | Traversable) -> bytes:
    try:
        if isinstance(path, str | Path):
            return read_file(path, MAX_BYTES)
        return path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"there is no file {shorten(str(path), 200)}") from None
    except OSError as error:
        raise ValueError(f"{shown_path(str(path))} cannot be read: {error.strerror}") from None


def _read_header(content: bytes) -> dict[str, Any]:
    """Return the header of a safetensors file: tensors by name, and metadata."""
    size = int.from_bytes(content[:8], "little")
    # checked before parsing: a header may claim any length
    if len(content) < 8 or not 0 < size <= min(_MAX_HEADER_BYTES, len(content) - 8):
        raise ValueError(f"{_DAMAGED} (the length of its header cannot be)")
    try:
        header = parse_json(content[8 : 8 + size])
    except ValueError as error:
        raise ValueError(f"{_DAMAGED} (its header {error})") from None
    if not isinstance(header, dict):
        raise ValueError(f"{_DAMAGED} (its header is no object)")
    return header


def _parse_metadata(file_metadata: Any) -> NetworkMetadata:
    """Return the metadata of a network from those of its safetensors file."""
    text = file_metadata.get(_KEY) if isinstance(file_metadata, dict) else None
    if not isinstance(text, str):
        raise ValueError("the file holds no network of meeplezoo")
    try:
        plain = parse_json(text)
    except ValueError as error:
        raise ValueError(f"the file's description of its network {error}") from None
    if not isinstance(plain, dict) or first_difference(_FORMAT, plain.pop("format", None)) is not None:
        raise ValueError(f"the file's format is not {_FORMAT}, the one known here")
    architecture = plain.get("architecture")
    if isinstance(architecture, dict) and _has_fields(architecture, Architecture):
        sizes = architecture["hidden_sizes"]
        given = {**architecture, "hidden_sizes": tuple(sizes) if isinstance(sizes, list) else sizes}
        if _has_fields(plain, NetworkMetadata):
            return NetworkMetadata(**{**plain, "architecture": Architecture(**given)})
    raise ValueError("the file's description of its network lacks something, or has too much")


def _add_later_options(metadata: NetworkMetadata) -> NetworkMetadata:
    """Add options of the game that are newer than the file."""
    return replace(metadata, options=with_later_ones(describe(metadata.game).options, metadata.options))


def _has_fields(plain: dict[str, Any], kind: type) -> bool:
    """Return whether the keys are fields and none without a default is missing: older files lack newer fields."""
    known = fields(kind)
    needed = {one.name for one in known if one.default is MISSING and one.default_factory is MISSING}
    return needed <= plain.keys() <= {one.name for one in known}


def _game_of(metadata: NetworkMetadata) -> Game:
    """Return the game of the metadata; ValueError if it does not exist."""
    spec = describe(metadata.game)
    _check_version(metadata, spec)
    check_names(metadata.game, spec.options, metadata.options)
    game = make_game(metadata.game, encoding=metadata.observation, **metadata.options)
    check_fits(metadata, game)
    return game


def _check_header(header: dict[str, Any], expected: dict[str, "torch.Tensor"]) -> None:
    """Raise ValueError if the tensors of a header differ from those expected in names, shapes or types."""
    for name in sorted(header.keys() | expected.keys()):
        if name not in expected or name not in header:
            lacks = "lacks" if name in expected else "should not have"
            raise ValueError(f"the network {lacks} the weights {shorten(name)}")
        tensor, found = expected[name], header[name]
        # every architecture is made of float32
        right = {"dtype": "F32", "shape": list(tensor.shape)}
        if not isinstance(found, dict) or first_difference(right, {key: found.get(key) for key in right}) is not None:
            given = (
                f"{shorten(found.get('shape'))} {shorten(found.get('dtype'))}" if isinstance(found, dict) else "none"
            )
            raise ValueError(f"the weights {name!r} must be {right['shape']} 'F32', not {given}")


def _read_tensors(content: bytes, expected: dict[str, "torch.Tensor"]) -> dict[str, "torch.Tensor"]:
    """Return the tensors of a file; ValueError if it is damaged or a weight is not finite."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        tensors = load(content)
    except SafetensorError as error:
        # its message can be long
        raise ValueError(f"{_DAMAGED} ({shorten(str(error))[1:-1]})") from None
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape or tensor.dtype != expected[name].dtype:
            raise ValueError(f"{_DAMAGED} (the weights {name!r} are not what its header says)")
        if not torch.isfinite(tensor).all():
            raise ValueError(f"the weights {name!r} are not all finite")
    return tensors


def _check_outputs(network: "nn.Module", game: Game, architecture: Architecture) -> None:
    """Raise ValueError if a network's weights, finite as they are, are so large that its outputs are not finite."""
    import torch

    from ...envs.interfaces.spaces import observation_high

    low = torch.zeros(2, game.observation_size)
    low[1] = torch.from_numpy(observation_high(game))
    inputs = [low]
    if architecture.heuristic:
        inputs.append(torch.tensor([[0.0], [100.0]]).expand(2, game.num_actions).contiguous())
    if architecture.margin_input:
        inputs.append(torch.tensor([[0.0], [1.0]]).expand(2, game.num_players).contiguous())
    with torch.inference_mode():
        if not all(torch.isfinite(output).all() for output in network(*inputs)):
            raise ValueError("the weights are so large that the network's outputs are not finite numbers")


def check_fits(metadata: NetworkMetadata, game: Game) -> None:
    """Raise ValueError, one sentence, if a network was trained for another game or other options.

    The observation of the game does not matter: the network sees its own.
    """
    if metadata.game != game.name:
        raise ValueError(f"the network was trained for {metadata.game}, not for {game.name}")
    _check_version(metadata, game.spec)
    names = [*game.options, *(name for name in metadata.options if name not in game.options)]
    differing = [name for name in names if _option(metadata.options, name) != _option(game.options, name)]
    if differing:
        trained, given = (
            " and ".join(_option(options, name) for name in differing) for options in (metadata.options, game.options)
        )
        raise ValueError(f"the network was trained for {game.name} with {trained}, not with {given}")
    encodings = game.spec.layouts
    if metadata.observation not in encodings:
        raise ValueError(
            f"the network sees the observation {shorten(metadata.observation)}, "
            f"but {game.name} has {' and '.join(encodings)}"
        )
    sizes = (game.with_encoding(metadata.observation).observation_size, game.num_actions)
    if (metadata.observation_size, metadata.num_actions) != sizes:
        raise ValueError(
            f"the network was trained for observations of {shorten(metadata.observation_size)} numbers and "
            f"{shorten(metadata.num_actions)} actions, but {game.name} has {sizes[0]} and {sizes[1]}"
        )


def _option(options: dict[str, Any], name: str) -> str:
    return f"{name}={_plain(options[name])}" if name in options else f"no {name}"


def _plain(value: Any) -> str:
    shown = shorten(value)
    return shown[1:-1] if isinstance(value, str) else shown


def _check_version(metadata: NetworkMetadata, spec: GameSpec) -> None:
    if metadata.version != spec.version:
        raise ValueError(
            f"the network was trained for version {shorten(metadata.version)} of {metadata.game}, "
            f"this is version {spec.version}"
        )
