"""The file format of checkpoints: plain data and arrays; reading one runs no code.

The first line is "meeplezoo-checkpoint/4 SHA-256", of all that follows: a file in the format safetensors
(https://huggingface.co/docs/safetensors), whose metadata hold a tree of plain data as JSON. An array is
written as `{"$array": NAME}`, a tensor as `{"$tensor": NAME}`, an integer beyond 2**53 as `{"$integer": DIGITS}`, a
number that is not finite as `{"$number": "inf"}`.

Arrays are written without a copy and memory-mapped when they are read: a replay buffer can take a gigabyte.
"""

import hashlib
import json
import math
import mmap
import os
import re
import stat
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch

from ..envs.system.files import write_atomically
from ..envs.system.messages import shorten
from ..envs.system.strict_json import parse_json

_FORMAT = b"meeplezoo-checkpoint/4"
_FIRST_LINE = len(_FORMAT) + 1 + 64 + 1
_KEY = "meeplezoo_checkpoint"
_LARGEST_HEADER = 2**26
_DEEPEST = 32
_LARGEST_INTEGER = 2**53
_DIGITS = re.compile(r"-?[0-9]{1,60}")
_CHUNK = 2**20
_KINDS = {
    "F64": np.float64,
    "I64": np.int64,
    "U64": np.uint64,
    "F32": np.float32,
    "I32": np.int32,
    "U32": np.uint32,
    "F16": np.float16,
    "I16": np.int16,
    "U16": np.uint16,
    "I8": np.int8,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
_NAMES = {np.dtype(kind): name for name, kind in _KINDS.items()}


def write_tree(path: Path, tree: dict[str, Any]) -> None:
    """Write a tree of dicts with texts as keys, lists, plain values, arrays and tensors; TypeError for other things."""
    arrays: dict[str, np.ndarray] = {}
    plain = _encode(tree, "", arrays)
    # the widest elements first, so that all are aligned
    names = sorted(arrays, key=lambda name: -arrays[name].itemsize)
    header: dict[str, Any] = {"__metadata__": {_KEY: json.dumps(plain, allow_nan=False)}}
    start = 0
    for name in names:
        array = arrays[name]
        stop = start + array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, stop]}
        start = stop
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    with write_atomically(path) as file:
        file.write(bytes(_FIRST_LINE))
        digest = hashlib.sha256()
        start_of_file: tuple[Any, ...] = (len(encoded).to_bytes(8, "little"), encoded)
        for part in (*start_of_file, *(_bytes_of(arrays[name]) for name in names)):
            digest.update(part)
            file.write(part)
        file.seek(0)
        file.write(_FORMAT + b" " + digest.hexdigest().encode() + b"\n")


def read_tree(path: Path) -> dict[str, Any]:
    """Return the tree of a file; its arrays are read-only, its tensors are not.

    Raises ValueError, one sentence that names the file, if it is missing, of another version or damaged.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError(f"{path} is no checkpoint: it is not a regular file")
        with path.open("rb") as file:
            _check_digest(file, path)
            # a mapped file is read when it is used, and not copied
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise ValueError(f"there is no checkpoint {path}") from None
    try:
        return _read(content)
    except ValueError as error:
        raise ValueError(f"checkpoint {path} is damaged: {error}") from None


def _check_digest(file: IO[bytes], path: Path) -> None:
    name, _, expected = file.read(_FIRST_LINE).rstrip(b"\n").partition(b" ")
    if name != _FORMAT:
        raise ValueError(
            f"{path} is no checkpoint of this version of meeplezoo (it does not begin with {_FORMAT.decode()})"
        )
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    if digest.hexdigest().encode() != expected:
        raise ValueError(f"checkpoint {path} is damaged: its checksum does not agree; the run cannot be resumed")


def _encode(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Return a value as JSON data, and put its arrays aside under their paths in the tree."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < _LARGEST_INTEGER else {"$integer": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$number": repr(value)}
    if isinstance(value, dict):
        if not all(isinstance(key, str) and not key.startswith("$") for key in value):
            raise TypeError(f"the keys of {name} cannot be kept: {shorten(list(value))}")
        return {key: _encode(one, f"{name}/{key}" if name else key, arrays) for key, one in value.items()}
    if isinstance(value, list):
        return [_encode(one, f"{name}/{place}", arrays) for place, one in enumerate(value)]
    kind = "$tensor" if isinstance(value, torch.Tensor) else "$array"
    array = value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value
    if not isinstance(array, np.ndarray) or array.dtype not in _NAMES:
        raise TypeError(f"{name} cannot be kept: {shorten(type(value))} {getattr(value, 'dtype', '')}")
    arrays[name] = np.ascontiguousarray(array).reshape(array.shape)
    return {kind: name}


def _bytes_of(array: np.ndarray) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a view of the bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8)


def _read(content: mmap.mmap) -> dict[str, Any]:
    first = _FIRST_LINE + 8
    size = int.from_bytes(content[_FIRST_LINE:first], "little")
    if not 0 < size <= min(_LARGEST_HEADER, len(content) - first):
        raise ValueError("its header is longer than it")
    header = parse_json(content[first : first + size])
    metadata = header.pop("__metadata__", None) if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get(_KEY), str):
        raise ValueError("it is no file of a checkpoint")
    arrays = {name: _array(name, one, content, first + size) for name, one in header.items()}
    tree = _decode(parse_json(metadata[_KEY]), arrays, 0)
    if not isinstance(tree, dict):
        raise ValueError("it holds no mapping")
    return tree


def _array(name: str, entry: Any, content: mmap.mmap, start: int) -> np.ndarray:
    """Return the array of an entry of the header, as a view of the file's content."""
    kind = entry.get("dtype") if isinstance(entry, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{shorten(name)} is no array")
    dtype, shape, offsets = np.dtype(_KINDS[kind]), entry["shape"], entry["data_offsets"]
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2 or len(shape) > 8:
        raise ValueError(f"{shorten(name)} has sizes that are none")
    count = math.prod(shape)
    if count * dtype.itemsize != offsets[1] - offsets[0] or start + offsets[1] > len(content):
        raise ValueError(f"{shorten(name)} is larger or smaller than its part of the file")
    array = np.frombuffer(content, np.uint8, count * dtype.itemsize, start + offsets[0])
    if dtype == np.bool_ and (array > 1).any():
        raise ValueError(f"{shorten(name)} holds what is neither true nor false")
    return array.view(dtype).reshape(shape)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(one, int) and not isinstance(one, bool) and 0 <= one < _LARGEST_INTEGER for one in values
    )


def _decode(value: Any, arrays: dict[str, np.ndarray], depth: int) -> Any:
    """Return what JSON data stand for."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, list):
        return [_decode(one, arrays, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    special = [key for key in value if key.startswith("$")]
    if not special:
        return {key: _decode(one, arrays, depth + 1) for key, one in value.items()}
    kind, text = special[0], value[special[0]]
    if len(value) > 1 or not isinstance(text, str):
        raise ValueError(f"it holds {shorten(value)}, which stands for nothing")
    if kind in ("$array", "$tensor") and text in arrays:
        return arrays[text] if kind == "$array" else torch.from_numpy(arrays[text].copy())
    if kind == "$integer" and _DIGITS.fullmatch(text):
        return int(text)
    if kind == "$number" and text in ("inf", "-inf", "nan"):
        return float(text)
    raise ValueError(f"it holds {shorten(value)}, which stands for nothing")
