"""Policies of MaskablePPO (sb3-contrib) out of the files of Stable-Baselines3, without running code that they hold.

Such a file is a zip: `data` is JSON in which some values are pickled objects, `policy.pth` holds the weights. The
objects are never decoded. What the policy is made of follows from the names and shapes of the weights, and from the
JSON beside the objects; who wants a policy of a class of its own has to trust the file.
"""

import io
import re
import zipfile
from math import prod
from pathlib import Path
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from ...envs.game import Game
from ...envs.interfaces.spaces import observation_box
from ...envs.system.files import read_file
from ...envs.system.messages import shorten
from ...envs.system.strict_json import parse_json
from ..networks.architecture import has_cell_plane
from .conv_policy import ConvFeatures, ConvPolicy

_LARGEST_FILE = 2**28
_LARGEST_DATA = 2**26
_MOST_ENTRIES = 10_000
_MOST_COPIES = 4
"""Weights may stand under several names: those of `ConvFeatures` do under three."""
_ENTRY = b"PK\x01\x02"
"""With what every entry of a zip's directory begins."""
_PARTS = ("data", "policy.pth")
_OF_LIBRARY = "sb3_contrib.common.maskable.policies"
_BOX = "<class 'gymnasium.spaces.box.Box'>"
_FLAT = "<class 'stable_baselines3.common.torch_layers.FlattenExtractor'>"
_ACTIVATION = re.compile(r"<class 'torch\.nn\.modules\.activation\.(\w+)'>")
# those without weights of their own
_ACTIVATIONS = (
    *("CELU", "ELU", "GELU", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish", "ReLU"),
    *("ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus", "Softsign", "Tanh", "Tanhshrink"),
)

Weights = dict[str, torch.Tensor]


class TrustNeeded(ValueError):
    """The file can be read only by running code that it holds."""


def load_policy(path: Path, game: Game, *, trust: bool = False) -> tuple[Any, str]:
    """Return the policy of a file on the CPU, and the form of the game's observations that it sees.

    With `trust` a policy of a class of its own is unpickled. Raises TrustNeeded without, and ValueError, one sentence,
    if the file is no model, damaged, or was trained for other sizes.
    """
    content = read_file(path, _LARGEST_FILE)
    try:
        archive = _open_zip(content)
        data, packed = (_read_part(archive, name) for name in _PARTS)
        return _rebuild_policy(_plain_data(data), _read_weights(packed), game)
    except TrustNeeded as reason:
        if not trust:
            raise TrustNeeded(
                f"{path} can be read only by running code that it holds, as {reason}; if you trust whoever made it, "
                "say so with --trust (in Python trust=True)"
            ) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return _unpickle_policy(path, game)


def _unpickle_policy(path: Path, game: Game) -> tuple[Any, str]:
    """Return the policy of a file as the library reads it, which runs whatever the file says."""
    try:
        model = MaskablePPO.load(path, device="cpu")
    except Exception as error:
        # code that somebody wrote has run: it may raise anything
        raise ValueError(f"{path} is no MaskablePPO model ({type(error).__name__}: {error})") from None
    shape, actions = model.observation_space.shape, getattr(model.action_space, "n", None)
    model.policy.set_training_mode(False)
    try:
        return model.policy, _find_encoding(prod(shape) if shape else 0, int(actions or 0), game)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _rebuild_policy(data: dict[str, Any], weights: Weights, game: Game) -> tuple[Any, str]:
    """Return a policy of one of the classes that are known here, and its form of observations."""
    module = _plain(data, "policy_class").get("__module__")
    if _plain(data, "observation_space").get(":type:") != _BOX:
        raise TrustNeeded("its observations are of a kind that is not known here")
    activation = _activation(_plain(data, "policy_kwargs"))
    if module == _OF_LIBRARY:
        policy, encoding = _flat_policy(_plain(data, "policy_kwargs"), weights, game, activation)
    elif module == ConvPolicy.__module__:
        policy, encoding = _conv_policy(weights, game, activation)
    else:
        raise TrustNeeded(f"its class of policies, out of {shorten(module)}, is not known here")
    _load_weights(policy, weights)
    policy.set_training_mode(False)
    return policy, encoding


def _flat_policy(
    settings: dict[str, Any], weights: Weights, game: Game, activation: type[torch.nn.Module]
) -> tuple[Any, str]:
    """Return a policy of fully connected layers, the library's `MlpPolicy`."""
    if settings.get("features_extractor_class", _FLAT) != _FLAT:
        raise TrustNeeded("its features come from a class that is not known here")
    widths = {name: _widths(weights, f"mlp_extractor.{name}_net") for name in ("policy", "value")}
    first = weights.get("mlp_extractor.policy_net.0.weight", weights.get("action_net.weight"))
    last = weights.get("action_net.bias")
    if first is None or last is None or first.ndim != 2 or last.ndim != 1:
        raise TrustNeeded("its layers are not those of the policies that are known here")
    encoding = _find_encoding(first.shape[1], last.shape[0], game)
    sizes = {"pi": widths["policy"], "vf": widths["value"]}
    return _build(MaskableActorCriticPolicy, game, encoding, net_arch=sizes, activation_fn=activation), encoding


def _conv_policy(weights: Weights, game: Game, activation: type[torch.nn.Module]) -> tuple[Any, str]:
    """Return a policy of our own class."""
    numbers, cells = (weights.get(f"features_extractor.{name}.weight") for name in ("numbers", "embedding"))
    first, others = game.spec.first_cell_action, weights.get("action_net.others.bias")
    if numbers is None or cells is None or others is None or {numbers.ndim, cells.ndim} != {2} or others.ndim != 1:
        raise ValueError("its weights are not those of a policy that sees cells")
    for encoding in game.spec.layouts:
        seen = game.with_encoding(encoding)
        plane = seen.observation_fields[0]
        sizes = (numbers.shape[1] + plane.size, others.shape[0], cells.shape[0])
        if has_cell_plane(seen) and sizes == (seen.observation_size, first, int(plane.high) + 1):
            extractor = {"side": plane.shape[1], "codes": sizes[2], "channels": cells.shape[1]}
            policy = _build(
                ConvPolicy,
                game,
                encoding,
                net_arch=_widths(weights, "mlp_extractor.policy"),
                activation_fn=activation,
                features_extractor_class=ConvFeatures,
                features_extractor_kwargs=extractor,
                first_cell_action=first,
            )
            return policy, encoding
    raise ValueError(
        f"it was trained for observations of a plane of {cells.shape[0]} codes and {numbers.shape[1]} numbers, and "
        f"{others.shape[0]} actions beside the cells, which {game.name} with {game.options} has not"
    )


def _build(kind: type[Any], game: Game, encoding: str, **settings: Any) -> Any:
    """Return a new policy; torch's generator stays as it is."""
    seen = game.with_encoding(encoding)
    with torch.random.fork_rng(devices=[]):
        return kind(
            observation_box(seen), spaces.Discrete(game.num_actions), lambda _: 0.0, ortho_init=False, **settings
        )


def _find_encoding(size: int, actions: int, game: Game) -> str:
    """Return the form of observations that has a size."""
    sizes = {encoding: game.with_encoding(encoding).observation_size for encoding in game.spec.layouts}
    encodings = [encoding for encoding in sizes if sizes[encoding] == size and actions == game.num_actions]
    if not encodings:
        raise ValueError(
            f"it was trained for observations of {size} numbers and {actions} actions, but {game.name} with "
            f"{game.options} has {' or '.join(map(str, sizes.values()))} and {game.num_actions}"
        )
    return encodings[0]


def _load_weights(policy: Any, weights: Weights) -> None:
    expected = policy.state_dict()
    for name in sorted(weights.keys() | expected.keys()):
        if name not in expected or name not in weights:
            raise TrustNeeded(f"its layers are not those of the policies that are known here ({shorten(name)})")
        if weights[name].shape != expected[name].shape:
            found, right = tuple(weights[name].shape), tuple(expected[name].shape)
            raise ValueError(f"its weights {shorten(name)} must be {right}, not {found}")
    policy.load_state_dict(weights)


def _widths(weights: Weights, prefix: str) -> list[int]:
    """Return the widths of a stack of linear layers with an activation behind each."""
    widths: list[int] = []
    while (bias := weights.get(f"{prefix}.{2 * len(widths)}.bias")) is not None and bias.ndim == 1:
        widths.append(bias.shape[0])
    return widths


def _activation(settings: dict[str, Any]) -> type[torch.nn.Module]:
    """Return the class of the activations that the JSON names; the library's own choice if it names none."""
    text = settings.get("activation_fn")
    if text is None:
        return torch.nn.Tanh
    named = _ACTIVATION.fullmatch(text) if isinstance(text, str) else None
    if named is None or named[1] not in _ACTIVATIONS:
        raise TrustNeeded(f"its activation, {shorten(text)}, is not known here")
    found: type[torch.nn.Module] = getattr(torch.nn, named[1])
    return found


def _plain_data(content: bytes) -> dict[str, Any]:
    try:
        data = parse_json(content)
    except ValueError as error:
        raise ValueError(f"its part data {error}") from None
    if not isinstance(data, dict):
        raise ValueError("its part data is no JSON object")
    return data


def _plain(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what the JSON says of a value in plain words."""
    found = data.get(name)
    if not isinstance(found, dict):
        raise ValueError(f"its part data says nothing of the {name}")
    return found


def _open_zip(content: bytes) -> zipfile.ZipFile:
    """Return a zip; ValueError if it is none, or has a directory that is too large to be read."""
    if content.count(_ENTRY) > _MOST_ENTRIES:
        raise ValueError("it has too many parts")
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except Exception:
        # damaged bytes give all kinds of errors
        raise ValueError("it is no zip, or damaged") from None


def _read_part(archive: zipfile.ZipFile, name: str) -> bytes:
    limit = _LARGEST_DATA if name == "data" else _LARGEST_FILE
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise ValueError(f"it has no part {name}") from None
    if info.file_size > limit or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"its part {name} is larger than {limit:,} bytes, or packed in an unusual way")
    try:
        with archive.open(info) as file:
            return file.read(limit)
    except Exception:
        # here, too
        raise ValueError(f"its part {name} is damaged") from None


def _read_weights(content: bytes) -> Weights:
    """Return finite float32 tensors by their names, out of a file of torch's."""
    inner = _open_zip(content)
    # torch packs nothing: what is packed would unfold to any size
    if any(info.compress_type != zipfile.ZIP_STORED for info in inner.infolist()):
        raise ValueError("its weights are packed")
    try:
        found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        weights = dict(found)
    except Exception:
        # torch says that some things are not allowed in many ways and at great length
        raise ValueError("its weights cannot be read as weights alone, or are damaged") from None
    kinds = (torch.Tensor, torch.nn.Parameter)
    if not all(isinstance(name, str) and type(tensor) in kinds for name, tensor in weights.items()):
        raise ValueError("its weights are not tensors by name")
    if any(one.dtype != torch.float32 or one.layout != torch.strided for one in weights.values()):
        raise ValueError("its weights are not all of the type float32")
    # views can make little look large
    storages = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in weights.values()}
    if sum(storages.values()) > len(content) or sum(one.nbytes for one in weights.values()) > _MOST_COPIES * len(
        content
    ):
        raise ValueError("its weights are larger than the file")
    if not all(torch.isfinite(one).all() for one in weights.values()):
        raise ValueError("its weights are not all finite")
    return {name: tensor.detach() for name, tensor in weights.items()}
