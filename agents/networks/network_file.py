"""Networks in files: one .safetensors file holds the weights, and in its metadata what they were trained for.

The head is JSON under the key `meeplezoo_network` of the file's metadata
(https://huggingface.co/docs/safetensors: eight bytes of length, a JSON header, the numbers). Reading runs no code
that a file could hold.
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
from .architecture import MOST_WEIGHTS, Architecture, build

if TYPE_CHECKING:
    import torch
    from torch import nn

VALUES = ("return", "reward", "change", "settled")
MOST_LEAF_PLIES = 10**6
"""Greedy plies behind a leaf, for reading and for playing; no game is so long."""
_MOST_HEADER_BYTES = 2**20
MOST_BYTES = 8 + _MOST_HEADER_BYTES + 4 * MOST_WEIGHTS
"""Bytes of a file that is read."""
_DAMAGED = "the file is damaged, or no safetensors file"
_KEY = "meeplezoo_network"
_FORMAT = 1


@dataclass(frozen=True)
class NetworkMetadata:
    """What a file says of its network.

    | field | meaning |
    |---|---|
    | `game`, `version`, `options` | the game: its name, the version of its rules and encodings, all its options |
    | `observation` | the form of observations that the network sees |
    | `observation_size`, `num_actions` | sizes of what goes in and comes out |
    | `architecture` | what `build` makes it of |
    | `value` | what the values mean, "return", "reward", "change" or "settled" |
    | `training` | where it comes from, JSON data; in it `win_weight`, of winning in its returns, and `leaf_plies` |

    With "return" sigmoid(values) are the returns, 0 to 1, that a tree search counts; with "reward" values are rewards
    of the kind "margin", so that 0.5 + 0.5 * tanh(values) are returns in which winning has no weight of its own; with
    "change" they are what such a reward will be beyond the margin as it stands, which is to be added first; with
    "settled" the same beyond the settled margin (`agents.decisions.DecisionBatch.projected_margins`).

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
        if isinstance(plies, bool) or not isinstance(plies, int) or not 0 <= plies <= MOST_LEAF_PLIES:
            reason = f"must be an integer from 0 to {MOST_LEAF_PLIES:,}, not {shorten(plies)}"
            raise ValueError(f"leaf_plies of a network's training {reason}")

    @property
    def leaf_plies(self) -> int:
        """Return the greedy plies from a leaf to the position that is valued in the searches it was trained with."""
        return int(self.training.get("leaf_plies", 0))

    @property
    def win_weight(self) -> float:
        """Return the weight of winning in the network's returns, 0 to 1; the rest is the squashed margin."""
        return float(self.training.get("win_weight", 0.5 if self.value == "return" else 0.0))


def make_metadata(game: Game, architecture: Architecture, value: str, training: dict[str, Any]) -> NetworkMetadata:
    """Return the head of a network that `build` made for this game."""
    return NetworkMetadata(
        game.name,
        game.spec.version,
        dict(game.options),
        game.observation,
        game.observation_size,
        game.num_actions,
        architecture,
        value,
        training,
    )


def save_network(file_or_path: IO[bytes] | str | Path, network: "nn.Module", head: NetworkMetadata) -> None:
    """Write a network and its head to an open binary file, or atomically to a path.

    The same network and head give the same bytes.
    """
    from safetensors.torch import save

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    content = save(tensors, {_KEY: json.dumps({"format": _FORMAT, **asdict(head)})})
    if isinstance(file_or_path, str | Path):
        with write_atomically(Path(file_or_path)) as file:
            file.write(content)
    else:
        file_or_path.write(content)


def load_network(path: str | Path | Traversable) -> tuple["nn.Module", NetworkMetadata]:
    """Return the network of a file, in evaluation mode on the CPU, and its head; torch's generator stays as it is.

    Raises ValueError, one sentence that names the file, if there is none, if it is damaged or no network's, or if
    its network is for another version of the game or does not fit its own head.
    """
    import torch

    content = _read_content(path)
    try:
        header = _read_header(content)
        head = _with_later_options(_read_head(header.pop("__metadata__", None)))
        game = _game_of(head)
        # on "meta" nothing is drawn and no memory is taken: the numbers come from the file
        with torch.device("meta"):
            network = build(game, head.architecture)
        _check_header(header, network.state_dict())
        tensors = _read_tensors(content, network.state_dict())
        # copies are aligned in memory as torch's own tensors are, so that they give the same bits
        network.load_state_dict({name: tensor.clone() for name, tensor in tensors.items()}, assign=True)
        network.eval()
        _check_answers(network, game, head.architecture)
    except ValueError as error:
        raise ValueError(f"{shown_path(str(path))}: {error}") from None
    return network, head


def _read_content(path: str | Path | Traversable) -> bytes:
    try:
        if isinstance(path, str | Path):
            return read_file(path, MOST_BYTES)
        return path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"there is no file {shorten(str(path), 200)}") from None
    except OSError as error:
        raise ValueError(f"{shown_path(str(path))} cannot be read: {error.strerror}") from None


def _read_header(content: bytes) -> dict[str, Any]:
    """Return the header of the content of a safetensors file: tensors by name, and what is said of the whole."""
    size = int.from_bytes(content[:8], "little")
    # before anything is parsed: a header may say what it likes
    if len(content) < 8 or not 0 < size <= min(_MOST_HEADER_BYTES, len(content) - 8):
        raise ValueError(f"{_DAMAGED} (the length of its header cannot be)")
    try:
        header = parse_json(content[8 : 8 + size])
    except ValueError as error:
        raise ValueError(f"{_DAMAGED} (its header {error})") from None
    if not isinstance(header, dict):
        raise ValueError(f"{_DAMAGED} (its header is no object)")
    return header


def _read_head(metadata: Any) -> NetworkMetadata:
    """Return the head of the metadata of a safetensors file."""
    text = metadata.get(_KEY) if isinstance(metadata, dict) else None
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
        hidden = architecture["hidden"]
        given = {**architecture, "hidden": tuple(hidden) if isinstance(hidden, list) else hidden}
        if _has_fields(plain, NetworkMetadata):
            return NetworkMetadata(**{**plain, "architecture": Architecture(**given)})
    raise ValueError("the file's description of its network lacks something, or has too much")


def _with_later_options(head: NetworkMetadata) -> NetworkMetadata:
    """Return the head of a file that may be older than some options of its game."""
    return replace(head, options=with_later_ones(describe(head.game).options, head.options))


def _has_fields(plain: dict[str, Any], kind: type) -> bool:
    """Tell whether all is there that has no default, and nothing else: files of older versions lack newer fields."""
    known = fields(kind)
    needed = {one.name for one in known if one.default is MISSING and one.default_factory is MISSING}
    return needed <= plain.keys() <= {one.name for one in known}


def _game_of(head: NetworkMetadata) -> Game:
    """Return the game that the head speaks of; ValueError if there is no such game here."""
    spec = describe(head.game)
    _check_version(head, spec)
    check_names(head.game, spec.options, head.options)
    game = make_game(head.game, observation=head.observation, **head.options)
    check_fits(head, game)
    return game


def _check_header(header: dict[str, Any], expected: dict[str, "torch.Tensor"]) -> None:
    """Raise ValueError if the tensors of a header differ from those expected in names, shapes or types."""
    for name in sorted(header.keys() | expected.keys()):
        if name not in expected or name not in header:
            lacks = "lacks" if name in expected else "should not have"
            raise ValueError(f"the network {lacks} the weights {shorten(name)}")
        wanted, found = expected[name], header[name]
        # every architecture is made of float32
        right = {"dtype": "F32", "shape": list(wanted.shape)}
        if not isinstance(found, dict) or first_difference(right, {key: found.get(key) for key in right}) is not None:
            form = f"{shorten(found.get('shape'))} {shorten(found.get('dtype'))}" if isinstance(found, dict) else "none"
            raise ValueError(f"the weights {name!r} must be {right['shape']} 'F32', not {form}")


def _read_tensors(content: bytes, expected: dict[str, "torch.Tensor"]) -> dict[str, "torch.Tensor"]:
    """Return the tensors of a file; ValueError if it is damaged or a weight is not finite."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        tensors = load(content)
    except SafetensorError as error:
        # it repeats what is wrong, however long
        raise ValueError(f"{_DAMAGED} ({shorten(str(error))[1:-1]})") from None
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape or tensor.dtype != expected[name].dtype:
            raise ValueError(f"{_DAMAGED} (the weights {name!r} are not what its header says)")
        if not torch.isfinite(tensor).all():
            raise ValueError(f"the weights {name!r} are not all finite")
    return tensors


def _check_answers(network: "nn.Module", game: Game, architecture: Architecture) -> None:
    """Raise ValueError if a network's weights, finite as they are, are so large that its answers are not finite."""
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
        if not all(torch.isfinite(answers).all() for answers in network(*inputs)):
            raise ValueError("the weights are so large that the network's answers are not finite numbers")


def check_fits(head: NetworkMetadata, game: Game) -> None:
    """Raise ValueError, one sentence, if a network was trained for something else than this game.

    The form of the game's observations does not matter: the network sees its own.
    """
    if head.game != game.name:
        raise ValueError(f"the network was trained for {head.game}, not for {game.name}")
    _check_version(head, game.spec)
    names = [*game.options, *(name for name in head.options if name not in game.options)]
    differing = [name for name in names if _option(head.options, name) != _option(game.options, name)]
    if differing:
        trained, given = (
            " and ".join(_option(options, name) for name in differing) for options in (head.options, game.options)
        )
        raise ValueError(f"the network was trained for {game.name} with {trained}, not with {given}")
    encodings = game.spec.observations
    if head.observation not in encodings:
        raise ValueError(
            f"the network sees the observation {shorten(head.observation)}, "
            f"but {game.name} has {' and '.join(encodings)}"
        )
    sizes = (game.with_observation(head.observation).observation_size, game.num_actions)
    if (head.observation_size, head.num_actions) != sizes:
        raise ValueError(
            f"the network was trained for observations of {shorten(head.observation_size)} numbers and "
            f"{shorten(head.num_actions)} actions, but {game.name} has {sizes[0]} and {sizes[1]}"
        )


def _option(options: dict[str, Any], name: str) -> str:
    return f"{name}={_plain(options[name])}" if name in options else f"no {name}"


def _plain(value: Any) -> str:
    shown = shorten(value)
    return shown[1:-1] if isinstance(value, str) else shown


def _check_version(head: NetworkMetadata, spec: GameSpec) -> None:
    if head.version != spec.version:
        raise ValueError(
            f"the network was trained for version {shorten(head.version)} of {head.game}, "
            f"this is version {spec.version}"
        )
