"""Files: written whole or not at all, read only if they are regular and of a sensible size."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def write_atomically(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Yield a temporary file beside `path` that takes its place at the end, or vanishes after an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, mode) as file:
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


def open_regular(path: str | Path) -> IO[bytes]:
    """Open a file for reading; ValueError, one sentence, if it is a device, a pipe or a folder, OSError as `open`."""
    # looked at before it is opened: opening a pipe waits for a writer, opening a device may do anything
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(f"{path} is not a regular file")
    return open(path, "rb")


def read_file(path: str | Path, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises ValueError, one sentence that names the file, if it is larger or not a regular file (a device, a pipe, a
    folder), and OSError if it cannot be read.
    """
    with open_regular(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{path} is larger than {limit:,} bytes, the most that is read")
    return content
