"""Locks between processes: on a folder that one process at a time writes to, and on files that are being written.

They end with the process that holds them, however it ends. Where the system or the file system knows no locks
everything works without; on network file systems that lock for one machine alone they keep no other machine out.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK_NAME = ".lock"
"""The file in a locked folder; it holds the number of the process, and goes with the lock."""

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_HELD_BY_ANOTHER = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_FAR = 2**30
"""Where Windows locks a byte: one that is read cannot be locked there."""


class FolderInUse(ValueError):
    """Another process writes to the folder."""


def try_lock(handle: int) -> bool | None:
    """Lock an open file without waiting.

    Returns True if it is locked now, until the handle is closed, False if another holds it, and None if there are no
    locks here.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, _FAR, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return None
    except OSError as error:
        return False if error.errno in _HELD_BY_ANOTHER else None
    return True


@contextmanager
def lock_folder(folder: Path, what: str = "folder") -> Iterator[None]:
    """Keep other processes out of an existing folder; FolderInUse, one sentence, if one is in there already.

    `what` is what the sentence calls the folder. Processes that do not ask for the lock are not kept out.
    """
    path = folder / LOCK_NAME
    handle = _acquire(path, f"{what} {folder}")
    try:
        # where there is room for it: it only makes the sentence better
        with suppress(OSError):
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        # while it is locked, or another process might have it by then; Windows removes no open files
        if os.name != "nt":
            path.unlink(missing_ok=True)
        os.close(handle)
        with suppress(OSError):
            if os.name == "nt":
                path.unlink(missing_ok=True)


def is_unused(folder: Path) -> bool:
    """Tell whether a folder holds nothing but its lock, or is not there."""
    return not folder.exists() or (folder.is_dir() and all(one.name == LOCK_NAME for one in folder.iterdir()))


def _acquire(path: Path, shown: str) -> int:
    """Return the handle of a lock file, locked."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
        if try_lock(handle) is False:
            owner = os.read(handle, 20).decode("ascii", "replace").strip() if os.name != "nt" else ""
            os.close(handle)
            by = f"process {owner}" if owner.isdigit() else "another process"
            raise FolderInUse(f"{shown} is in use by {by}: two cannot write to it")
        if _is_at(handle, path):
            return handle
        # whoever had it has removed it between our opening and our locking
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    """Tell whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
