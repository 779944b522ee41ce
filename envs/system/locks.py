"""Locks between processes: on a folder for a single writer, and on files that are being written.

They end with the process that holds them, however it ends. Everything works without locks if the system or the file
system has none. On network file systems with locks for one machine only, they do not keep other machines out.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK_NAME = ".lock"
"""The file in a locked folder; it contains the number of the process, and is removed with the lock."""

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_HELD_BY_ANOTHER = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)
_FAR = 2**30
"""The position of the byte that Windows locks: a locked byte cannot be read."""


class FolderInUse(ValueError):
    """Another process writes to the folder."""


def try_lock(handle: int) -> bool | None:
    """Lock an open file without waiting.

    Return True if it is now locked, until the handle is closed; False if another process holds it; None if there are no
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
    """Keep other processes out of an existing folder; FolderInUse if one uses it already.

    `what` names the folder in the message. Processes that do not ask for the lock are not kept out.
    """
    path = folder / LOCK_NAME
    handle = _acquire(path, f"{what} {folder}")
    try:
        # if the disk has room: it only improves the message
        with suppress(OSError):
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        # while it is locked, or another process might have locked it by then; Windows cannot remove open files
        if os.name != "nt":
            path.unlink(missing_ok=True)
        os.close(handle)
        with suppress(OSError):
            if os.name == "nt":
                path.unlink(missing_ok=True)


def is_unused(folder: Path) -> bool:
    """Tell whether a folder is empty except for its lock, or does not exist."""
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
        # its previous owner removed it between opening and locking
        os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    """Tell whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
