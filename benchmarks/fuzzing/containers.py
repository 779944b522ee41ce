"""Changes to files that know what lies in them: a damaged part in a whole whose checksums and directories are right."""

import hashlib
import io
import json
import random
import re
import struct
import warnings
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import yaml

from .hostile import JSON, PICKLE, YAML, to_json, to_yaml
from .mutations import change_bytes, change_text, change_tree, several

_CHECKSUM = re.compile(rb"[0-9a-f]{64}")
_NPY = b"\x93NUMPY"
_DTYPES: dict[str, np.dtype] = {
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "BOOL": np.dtype("u1"),
}
"""The types of safetensors; a byte that should be true or false can be anything."""
_AS_BYTES = 0.2
"""How often a file is damaged blindly all the same."""

Members = list[tuple[str, bytes, int]]
"""Name, content and kind of compression of the files in a zip."""


def change_file(name: str, data: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Return the content of a file with some changes, and what they are."""
    notes = []
    for _ in range(several(draw)):
        data, note = change_content(name, data, draw)
        notes.append(note)
    return data, f"{name}: {'; '.join(notes)}"


def change_content(name: str, data: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Return content with one change, made in the innermost container that can be opened."""
    if not data or draw.random() < _AS_BYTES:
        return change_bytes(data, draw)
    payload = _find_checked_payload(data)
    if payload is not None:
        inner, note = change_content(name, payload, draw)
        head = data[: len(data) - len(payload)]
        return _CHECKSUM.sub(hashlib.sha256(inner).hexdigest().encode(), head) + inner, f"{note} (checksum right)"
    if data.startswith(b"PK\x03\x04"):
        return _change_zip(data, draw)
    if data.startswith(_NPY):
        return _change_npy(data, draw)
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data):
        return _change_safetensors(data, draw)
    if name.endswith((".yaml", ".yml")):
        return _change_yaml(data, draw)
    if name.endswith((".pkl", ".pickle")) and draw.random() < 0.3:
        return PICKLE, "replaced by a pickle that runs code"
    return _change_lines(data, draw)


def _find_checked_payload(data: bytes) -> bytes | None:
    """Return what stands behind the first line if that holds its SHA-256."""
    head, end, payload = data.partition(b"\n")
    found = _CHECKSUM.search(head) if end and len(head) < 1000 else None
    if found is None or hashlib.sha256(payload).hexdigest().encode() != found[0]:
        return None
    return payload


def _change_lines(data: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Change JSON, or a line of JSON Lines, or any other text."""
    lines = data.splitlines(keepends=True)
    number = draw.randrange(len(lines)) if lines else 0
    whole = _as_json(data)
    one = None if whole is not None or not lines else _as_json(lines[number])
    if whole is not None:
        changed, note = change_tree(whole, draw, JSON)
        return to_json(changed).encode(errors="surrogatepass"), note
    if one is None:
        try:
            text, note = change_text(data.decode(), draw)
        except UnicodeDecodeError:
            return change_bytes(data, draw)
        return text.encode(errors="surrogatepass"), note
    kind = draw.choice(("change",) * 8 + ("remove", "repeat", "exchange"))
    other = draw.randrange(len(lines))
    if kind == "change":
        changed, note = change_tree(one, draw, JSON)
        lines[number] = to_json(changed).encode(errors="surrogatepass") + b"\n"
        return b"".join(lines), f"line {number + 1}: {note}"
    if kind == "exchange":
        lines[number], lines[other] = lines[other], lines[number]
        return b"".join(lines), f"lines {number + 1} and {other + 1} exchanged"
    lines[number : number + 1] = [] if kind == "remove" else [lines[number]] * 2
    return b"".join(lines), f"line {number + 1} {kind}d"


def _as_json(data: bytes) -> Any:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _change_yaml(data: bytes, draw: random.Random) -> tuple[bytes, str]:
    try:
        # aliases are left alone: what they stand for may be endless
        found = None if b"&" in data else yaml.safe_load(data)
        if isinstance(found, dict) and draw.random() < 0.9:
            changed, note = change_tree(found, draw, YAML)
            return to_yaml(changed).encode(errors="surrogatepass"), note
    except Exception:  # whatever YAML damaged before makes of it
        return change_bytes(data, draw)
    text, note = change_text(data.decode(errors="replace"), draw)
    return text.encode(errors="surrogatepass"), note


def read_zip(data: bytes) -> Members:
    """Return what is in a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return [(one.filename, file.read(one), one.compress_type) for one in file.infolist()]


def write_zip(members: Members) -> bytes:
    """Return a zip with those files, the same name twice if it is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name, content, compression in members:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = compression
            file.writestr(entry, content)
    return buffer.getvalue()


def _change_zip(data: bytes, draw: random.Random) -> tuple[bytes, str]:
    try:
        members = read_zip(data)
    except Exception:  # whatever a zip damaged before makes of it
        return change_bytes(data, draw)
    if not members:
        return change_bytes(data, draw)
    number = draw.randrange(len(members))
    name, content, compression = members[number]
    kind = draw.choice(("content",) * 8 + ("remove", "rename", "twice", "add", "pickle"))
    note = f"member {name!r} {kind}d"
    if kind == "content":
        content, note = change_content(name, content, draw)
        members[number] = name, content, compression
        note = f"member {name!r}: {note}"
    elif kind == "remove":
        del members[number]
    elif kind == "rename":
        other, _ = change_text(name, draw)
        members[number] = other.replace("\x00", "") or "x", content, compression
    elif kind == "twice":
        members.append((name, change_bytes(content, draw)[0], compression))
    elif kind == "add":
        members.append((draw.choice(("extra", "../x", "data.pkl", "")) or "x", draw.randbytes(30), compression))
    else:
        pickled = [place for place, one in enumerate(members) if one[0].endswith(".pkl")] or [number]
        place = draw.choice(pickled)
        members[place] = members[place][0], PICKLE, members[place][2]
        note = f"member {members[place][0]!r} replaced by a pickle that runs code"
    return write_zip(members), note


def npy(array: np.ndarray) -> bytes:
    """Return an array as the content of an .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _change_npy(data: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Change the numbers of an array, or what its head says of them."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:  # whatever an array damaged before makes of it
        return change_bytes(data, draw)
    kind = draw.choice(("numbers", "numbers", "head", "head", "shape", "dtype", "objects", "text"))
    if kind == "numbers" and array.size and array.dtype.kind in "iufb":
        changed = array.copy()
        place = draw.randrange(array.size)
        changed.flat[place] = value = hostile_number(array.dtype, draw)
        return npy(changed), f"number {place} of the array replaced by {value}"
    if kind == "shape":
        shapes = (
            array.reshape(-1),
            array.reshape(1, *array.shape),
            array.reshape(-1)[:-1],
            array[:0] if array.ndim else array,
        )
        changed = draw.choice(shapes)
        return npy(changed), f"array of the shape {array.shape} made one of {changed.shape}"
    if kind == "dtype" and array.dtype.kind in "iufb":
        other = draw.choice(("<i8", ">i4", "<f4", "<f8", "|b1", "<c16", "<U3", "|u1", "<M8[s]"))
        return npy(array.astype(other)), f"array of {array.dtype} made one of {other}"
    if kind == "objects":
        return _npy_head({"descr": "|O", "fortran_order": False, "shape": (1,)}) + PICKLE, "a pickle that runs code"
    if kind == "text" and array.dtype.kind == "U" and array.ndim == 0:
        text, note = _change_lines(str(array).encode(), draw)
        return npy(np.array(text.decode(errors="replace"))), note
    head, note = _hostile_head(array, draw)
    return _npy_head(head) + array.tobytes(), note


def _hostile_head(array: np.ndarray, draw: random.Random) -> tuple[dict[str, Any], str]:
    head = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    name = draw.choice(list(head))
    values: dict[str, Sequence[Any]] = {
        "descr": ("|O", "<f8", "<U1000000", [("a", "<i4")], "x", 3, "|V1", "<M8[ns]", ("<i4", (3,)), None),
        "fortran_order": (True, 1, None),
        "shape": ((10**9,), (10**12,), (2**62, 4), (-1,), (), (0,), (1.5,), "x", [3], (2**31, 2**31, 2**31), (True,)),
    }
    head[name] = draw.choice(values[name])
    return head, f"{name} in the head of the array: {head[name]!r}"


def _npy_head(head: dict[str, Any]) -> bytes:
    text = repr(head).encode().ljust(118) + b"\n"
    return _NPY + b"\x01\x00" + struct.pack("<H", len(text)) + text


def hostile_number(dtype: np.dtype, draw: random.Random) -> Any:
    """Return a number that a dtype can hold: one of its ends, near 0, or any."""
    if dtype.kind == "b":
        return draw.random() < 0.5
    if dtype.kind == "f":
        return dtype.type(draw.choice((0, -1, 1e38, -1e38, 1e-40, float("nan"), float("inf"), float("-inf"))))
    ends = np.iinfo(dtype)
    number = draw.choice((0, 1, 2, 3, 4, 5, 7, 16, 99, 255, 256, 30000, -1, -2, ends.min, ends.max, None))
    if number is None:
        number = draw.randrange(int(ends.min), int(ends.max) + 1)
    return dtype.type(max(int(ends.min), min(int(ends.max), number)))


def split_safetensors(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the head of a safetensors file and its numbers."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def join_safetensors(head: str, numbers: bytes, claimed: int | None = None) -> bytes:
    """Return the file of a head, its length as claimed (default: the true one), and numbers."""
    content = head.encode(errors="surrogatepass")
    return (len(content) if claimed is None else claimed).to_bytes(8, "little") + content + numbers


def _change_safetensors(data: bytes, draw: random.Random) -> tuple[bytes, str]:
    try:
        head, numbers = split_safetensors(data)
    except (ValueError, RecursionError):
        return change_bytes(data, draw)
    kind = draw.choice(("head",) * 6 + ("metadata",) * 6 + ("length", "bytes") + ("numbers",) * 8)
    if kind == "length":
        claimed = draw.choice((0, 1, 8, 2**31, 2**63, 2**64 - 1, len(data), len(data) - 8))
        return join_safetensors(to_json(head), numbers, claimed), f"length of the head said to be {claimed}"
    if kind == "bytes":
        changed, note = change_bytes(numbers, draw)
        return join_safetensors(to_json(head), changed), f"numbers: {note}"
    if kind == "numbers" and isinstance(head, dict):
        changed, note = _change_tensor(head, numbers, draw)
        return join_safetensors(to_json(head), changed), note
    if kind == "metadata" and isinstance(head, dict) and isinstance(head.get("__metadata__"), dict):
        metadata, note = change_tree(head["__metadata__"], draw, JSON)
        return join_safetensors(to_json({**head, "__metadata__": metadata}), numbers), f"metadata: {note}"
    tree, note = change_tree(head, draw, JSON)
    return join_safetensors(to_json(tree), numbers), f"head: {note}"


def _change_tensor(head: dict[str, Any], numbers: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Put a hostile number into one place of a tensor, or into all of them."""
    name = draw.choice([one for one in head if one != "__metadata__"] or [""])
    try:
        start, stop = head[name]["data_offsets"]
        dtype = _DTYPES[head[name]["dtype"]]
        array: np.ndarray = np.frombuffer(numbers[start:stop], dtype).copy()
        place = draw.choice((slice(None), draw.randrange(array.size)))
    except (KeyError, TypeError, ValueError):
        # damaged before
        return change_bytes(numbers, draw)
    array[place] = value = hostile_number(array.dtype, draw)
    where = "all" if isinstance(place, slice) else place
    return numbers[:start] + array.tobytes() + numbers[stop:], f"numbers of {name!r}: {where} made {value}"
