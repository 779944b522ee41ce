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

from ...envs.description import GameDescription
from ...envs.files import write_atomically
from ...envs.game import Game, make_game
from ...envs.options import with_later_ones
from ...envs.registry import describe
from .architecture import Architecture, build

if TYPE_CHECKING:
    import torch
    from torch import nn

VALUES = ("return", "reward", "change", "settled")
_KEY = "meeplezoo_network"
_FORMAT = 1


@dataclass(frozen=True)
class NetworkHead:
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
    "settled" the same beyond the settled margin (`agents.decisions.Decisions.settled_margins`).

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
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"{name} of a network cannot be {getattr(self, name)!r}")
        if self.value not in VALUES:
            raise ValueError(f"value of a network must be one of {', '.join(VALUES)}, not {self.value!r}")
        weight = self.training.get("win_weight", 0)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
            raise ValueError(f"win_weight of a network's training must be from 0 to 1, not {weight!r}")

        plies = self.training.get("leaf_plies", 0)
        if isinstance(plies, bool) or not isinstance(plies, int) or plies < 0:
            raise ValueError(f"leaf_plies of a network's training must be an integer from 0 on, not {plies!r}")

    @property
    def leaf_plies(self) -> int:
        """Return the greedy plies from a leaf to the position that is valued in the searches it was trained with."""
        return int(self.training.get("leaf_plies", 0))

    @property
    def win_weight(self) -> float:
        """Return the weight of winning in the network's returns, 0 to 1; the rest is the squashed margin."""
        return float(self.training.get("win_weight", 0.5 if self.value == "return" else 0.0))


def make_head(game: Game, architecture: Architecture, value: str, training: dict[str, Any]) -> NetworkHead:
    """Return the head of a network that `build` made for this game."""
    return NetworkHead(
        game.name,
        game.description.version,
        dict(game.options),
        game.observation,
        game.observation_size,
        game.num_actions,
        architecture,
        value,
        training,
    )


def save_network(file_or_path: IO[bytes] | str | Path, network: "nn.Module", head: NetworkHead) -> None:
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


def load_network(path: str | Path | Traversable) -> tuple["nn.Module", NetworkHead]:
    """Return the network of a file, in evaluation mode on the CPU, and its head; torch's generator stays as it is.

    Raises ValueError, one sentence that names the file, if there is none, if it is damaged or no network's, or if
    its network is for another version of the game or does not fit its own head.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        content = (Path(path) if isinstance(path, str) else path).read_bytes()
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    try:
        tensors = load(content)
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged, or no safetensors file ({error})") from None
    try:
        head = _with_later_options(_read_head(content))
        # on "meta" nothing is drawn and no memory is taken: the numbers come from the file
        with torch.device("meta"):
            network = build(_game_of(head), head.architecture)
        _check_tensors(tensors, network.state_dict())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    # copies are aligned in memory as torch's own tensors are, so that they give the same bits
    network.load_state_dict({name: tensor.clone() for name, tensor in tensors.items()}, assign=True)
    return network.eval(), head


def _read_head(content: bytes) -> NetworkHead:
    """Return the head of the content of a safetensors file."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    text = header.get("__metadata__", {}).get(_KEY)
    if text is None:
        raise ValueError("the file holds no network of meeplezoo")
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("the file's description of its network is no JSON") from None
    if not isinstance(plain, dict) or plain.pop("format", None) != _FORMAT:
        raise ValueError(f"the file's format is not {_FORMAT}, the one known here")
    architecture = plain.get("architecture")
    if isinstance(architecture, dict) and _has_fields(architecture, Architecture):
        hidden = architecture["hidden"]
        given = {**architecture, "hidden": tuple(hidden) if isinstance(hidden, list) else hidden}
        if _has_fields(plain, NetworkHead):
            return NetworkHead(**{**plain, "architecture": Architecture(**given)})
    raise ValueError("the file's description of its network lacks something, or has too much")


def _with_later_options(head: NetworkHead) -> NetworkHead:
    """Return the head of a file that may be older than some options of its game."""
    return replace(head, options=with_later_ones(describe(head.game).options, head.options))


def _has_fields(plain: dict[str, Any], kind: type) -> bool:
    """Tell whether all is there that has no default, and nothing else: files of older versions lack newer fields."""
    known = fields(kind)
    needed = {one.name for one in known if one.default is MISSING and one.default_factory is MISSING}
    return needed <= plain.keys() <= {one.name for one in known}


def _game_of(head: NetworkHead) -> Game:
    """Return the game that the head speaks of; ValueError if there is no such game here."""
    _check_version(head, describe(head.game))
    game = make_game(head.game, observation=head.observation, **head.options)
    check_fits(head, game)
    return game


def _check_tensors(tensors: dict[str, "torch.Tensor"], expected: dict[str, "torch.Tensor"]) -> None:
    """Raise ValueError if tensors differ from those expected in names, shapes or types, or are not finite."""
    import torch

    for name in sorted(tensors.keys() | expected.keys()):
        if name not in expected or name not in tensors:
            raise ValueError(f"the network {'lacks' if name in expected else 'should not have'} the weights {name!r}")
        found, wanted = tensors[name], expected[name]
        if found.shape != wanted.shape or found.dtype != wanted.dtype:
            form, right = (f"{tuple(one.shape)} {one.dtype}" for one in (found, wanted))
            raise ValueError(f"the weights {name!r} must be {right}, not {form}")
        if not torch.isfinite(found).all():
            raise ValueError(f"the weights {name!r} are not all finite")


def check_fits(head: NetworkHead, game: Game) -> None:
    """Raise ValueError, one sentence, if a network was trained for something else than this game.

    The form of the game's observations does not matter: the network sees its own.
    """
    if head.game != game.name:
        raise ValueError(f"the network was trained for {head.game}, not for {game.name}")
    _check_version(head, game.description)
    names = [*game.options, *(name for name in head.options if name not in game.options)]
    differing = [name for name in names if _option(head.options, name) != _option(game.options, name)]
    if differing:
        trained, given = (
            " and ".join(_option(options, name) for name in differing) for options in (head.options, game.options)
        )
        raise ValueError(f"the network was trained for {game.name} with {trained}, not with {given}")
    forms = game.description.observations
    if head.observation not in forms:
        raise ValueError(
            f"the network sees the observation {head.observation!r}, but {game.name} has {' and '.join(forms)}"
        )
    sizes = (game.with_observation(head.observation).observation_size, game.num_actions)
    if (head.observation_size, head.num_actions) != sizes:
        raise ValueError(
            f"the network was trained for observations of {head.observation_size} numbers and {head.num_actions} "
            f"actions, but {game.name} has {sizes[0]} and {sizes[1]}"
        )


def _option(options: dict[str, Any], name: str) -> str:
    return f"{name}={options[name]}" if name in options else f"no {name}"


def _check_version(head: NetworkHead, description: GameDescription) -> None:
    if head.version != description.version:
        raise ValueError(
            f"the network was trained for version {head.version} of {head.game}, this is version {description.version}"
        )
