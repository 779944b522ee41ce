"""Files: written whole or not at all, read only if they are regular and of a sensible size."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .messages import escape_controls

_LONGEST_PATH = 200


@contextmanager
def write_atomically(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Yield a temporary file beside `path` that takes its place at the end, or vanishes after an error.

    Text is UTF-8, whatever the locale says.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner may read; give them the usual rights instead
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_file(path: str | Path, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises ValueError, one sentence that names the file, if it is larger or not a regular file (a device, a pipe, a
    folder), and OSError if it cannot be read.
    """
    with _open_regular(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{shown_path(path)} is larger than {limit:,} bytes, the most that is read")
    return content


def read_lines(path: str | Path, limit: int) -> Iterator[bytes]:
    """Yield the lines of a regular file, their ends included, one after the other as they are asked for.

    Raises ValueError, one sentence, if the file is not a regular one or where a line is longer than `limit` bytes, and
    OSError if the file cannot be read.
    """
    with _open_regular(path) as file:
        number = 1
        while line := file.readline(limit + 1):
            if len(line) > limit:
                raise ValueError(f"line {number}: is longer than {limit:,} bytes, the most that is read")
            yield line
            number += 1


def shown_path(path: str | Path) -> str:
    """Return a path for messages: on one line, a long one cut in the middle."""
    text = escape_controls(str(path))
    return text if len(text) <= _LONGEST_PATH else f"{text[: _LONGEST_PATH // 2]}...{text[-_LONGEST_PATH // 2 :]}"


def _open_regular(path: str | Path) -> IO[bytes]:
    # looked at before it is opened: opening a pipe waits for a writer, opening a device may do anything
    try:
        mode = os.stat(path).st_mode
    except ValueError:
        raise ValueError(f"{shown_path(path)} cannot be the name of a file") from None
    if not stat.S_ISREG(mode):
        raise ValueError(f"{shown_path(path)} is not a regular file")
    return open(path, "rb")
