"""Files: written atomically, and read only if they are regular and not too large.

Errors of writing name the file: the system's own errors do not when a disk is full.
"""

import io
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from .locks import try_lock
from .messages import escape_controls
from .strict_json import json_bytes

_LONGEST_PATH = 200
_TEMPORARY = re.compile(r"\.meeplezoo-[0-9a-f]{12}\.tmp")
"""The names of temporary files, by which the remains of killed processes are recognized."""
_A_DAY = 86_400
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_looked_into: set[Path] = set()


@contextmanager
def write_atomically(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Yield a temporary file beside `path` that replaces it at the end, or is removed after an error.

    `mode` is "wb" or "w", UTF-8. Temporary files of killed processes in the folder are removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers_once(path.parent)
    with name_errors(path):
        temporary, handle = _make_temporary(path.parent)
    try:
        raw = _NamedFile(handle, "wb")
        raw.shown = path
        buffered = io.BufferedWriter(raw)
        with buffered if mode == "wb" else io.TextIOWrapper(buffered, encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            with name_errors(path):
                os.fsync(handle)
                # before it is closed, which unlocks it; Windows cannot move open files
                if os.name != "nt":
                    os.replace(temporary, path)
        if os.name == "nt":
            os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, value: Any, indent: int = 1) -> None:
    """Write a value atomically as JSON in UTF-8, followed by a line end."""
    with write_atomically(path) as file:
        file.write(json_bytes(value, indent=indent) + b"\n")


def append(path: Path, content: bytes) -> None:
    """Append to a file, or create it; after an error, which names the file, it is unchanged."""
    with name_errors(path), open(path, "ab", buffering=0) as file:
        before = file.seek(0, os.SEEK_END)
        left = memoryview(content)
        try:
            while left:
                left = left[file.write(left) :]
        except OSError:
            with suppress(OSError):
                file.truncate(before)
            raise


def read_file(path: str | Path, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises ValueError that names the file if it is larger or not a regular file (a device, a pipe, a folder), and
    OSError if it cannot be read.
    """
    with open_regular(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{shown_path(path)} is larger than {limit:,} bytes, the most that is read")
    return content


def read_lines(path: str | Path, limit: int) -> Iterator[bytes]:
    """Yield the lines of a regular file lazily, with their line ends.

    Raises ValueError if the file is not a regular one or a line is longer than `limit` bytes, and OSError if the file
    cannot be read.
    """
    with open_regular(path) as file:
        number = 1
        while line := file.readline(limit + 1):
            if len(line) > limit:
                raise ValueError(f"line {number}: is longer than {limit:,} bytes, the most that is read")
            yield line
            number += 1


def find_free_path(path: Path) -> Path:
    """Return the path, or the first of path-2, path-3, ... that does not exist."""
    candidates = [path, *(path.with_name(f"{path.name}-{number}") for number in range(2, 1000))]
    return next(candidate for candidate in candidates if not candidate.exists())


def shown_path(path: str | Path) -> str:
    """Return a path for messages: on one line, and shortened in the middle if it is long."""
    text = escape_controls(str(path))
    return text if len(text) <= _LONGEST_PATH else f"{text[: _LONGEST_PATH // 2]}...{text[-_LONGEST_PATH // 2 :]}"


def open_regular(path: str | Path) -> IO[bytes]:
    """Open a file for reading; ValueError if it is a device, a pipe or a folder, OSError as `open`."""
    # checked before it is opened: opening a pipe waits for a writer, and opening a device may do anything
    try:
        mode = os.stat(path).st_mode
    except ValueError:
        raise ValueError(f"{shown_path(path)} cannot be the name of a file") from None
    if not stat.S_ISREG(mode):
        raise ValueError(f"{shown_path(path)} is not a regular file")
    return open(path, "rb")


@contextmanager
def name_errors(path: Path) -> Iterator[None]:
    """Add this file's name to system errors that lack one, like those of writing and closing."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        elif isinstance(error.filename, str) and _TEMPORARY.fullmatch(Path(error.filename).name):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files of killed processes from a folder.

    Files that are being written are locked and stay; without locks, all files younger than a day stay.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_left(entry.path)


class _NamedFile(io.FileIO):
    """A file whose errors name the file that it will replace."""

    shown: Path

    def write(self, data: Any) -> int:
        with name_errors(self.shown):
            return super().write(data)

    def close(self) -> None:
        with name_errors(self.shown):
            super().close()


def _make_temporary(folder: Path) -> tuple[Path, int]:
    """Return a new temporary file and its handle, locked so that no other process removes it."""
    while True:
        path = folder / f".meeplezoo-{secrets.token_hex(6)}.tmp"
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY, 0o666)
        except FileExistsError:
            continue
        if try_lock(handle) is not False and os.fstat(handle).st_nlink:
            return path, handle
        # another process removed it before it was locked
        os.close(handle)
        path.unlink(missing_ok=True)


def _remove_leftovers_once(folder: Path) -> None:
    """Remove leftovers from a folder when this process first writes to it."""
    absolute = folder.absolute()
    if absolute not in _looked_into:
        _looked_into.add(absolute)
        remove_leftovers(folder)


def _remove_if_left(path: str) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | _NO_LINK)
        locked = try_lock(handle)
        old = time.time() - os.fstat(handle).st_mtime > _A_DAY
        removable = locked or (locked is None and old)
        # while it is locked; Windows cannot remove open files
        if removable and os.name != "nt":
            os.unlink(path)
        os.close(handle)
        if removable and os.name == "nt":
            os.unlink(path)
