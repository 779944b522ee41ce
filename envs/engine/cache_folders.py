"""Where compiled kernels are kept: in folders that nobody else can write to.

A root holds one folder per version of the sources. A compiled kernel is a pickle, which may run anything when it is
read, so folders and files that others could have written are never used. Where files have no owners (Windows),
the user's own folders are trusted.
"""

import atexit
import contextlib
import errno
import math
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "MEEPLEZOO_CACHE_DIR"
KERNEL, UNFINISHED = ".kernel", ".unfinished"
"""The suffixes of our files; nothing else is ever removed."""
MARKER = "meeplezoo-kernels.txt"
"""The marker file of a folder of kernels; nothing is removed from a folder without it."""

_MARKER_TEXT = "Compiled kernels of meeplezoo. This folder may be deleted at any time.\n"
_KEPT_VERSIONS = 4
_SECONDS_TO_FINISH = 3600.0


@dataclass(frozen=True)
class CacheFolders:
    """The folders that are searched for kernels, and the one for new kernels, if any."""

    read: tuple[Path, ...]
    write: Path | None


@dataclass(frozen=True)
class _Root:
    path: Path
    chosen: bool = False
    """Chosen by the user, who is told if it cannot be used."""
    public: bool = False
    """In a public folder under a predictable name, so it must be checked itself."""


def find_folders(version: str) -> CacheFolders:
    """Return the folders for a version of the kernels, which is the name of each.

    The first root that can be written to is written to. A folder of kernels that can only be read, such as one that
    came with an image, is read. A line on stderr says so if what the user has chosen can be neither.
    """
    read: list[Path] = []
    for root in _roots():
        folder = root.path / version
        try:
            _make_folder(root, version)
        except OSError as error:
            if is_trusted(folder) and (folder / MARKER).is_file():
                read.append(folder)
            elif root.chosen:
                _refuse(root.path, error.strerror or error)
            continue
        _remove_old_versions(root.path, folder)
        return CacheFolders((*read, folder), folder)
    fresh = _fresh_folder()
    return CacheFolders((*read, fresh) if fresh else tuple(read), fresh)


def renew_folder(folder: Path) -> None:
    """Make a folder of kernels once more if it has been removed; OSError if that cannot be."""
    _make_folder(_Root(folder.parent), folder.name)


def is_trusted(folder: Path) -> bool:
    """Tell whether a path is a folder, no link, that nobody else can write to."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _is_ours(status)


def is_trusted_file(handle: int) -> bool:
    """Tell whether an open file is a regular one that nobody else can write to."""
    status = os.fstat(handle)
    return stat.S_ISREG(status.st_mode) and _is_ours(status)


def tell(text: str) -> None:
    """Write a line to stderr, if there is one."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            print(f"meeplezoo: {text}", file=sys.stderr, flush=True)


def _refuse(path: Path | str, reason: object) -> None:
    tell(f"compiled kernels cannot be kept in {path}, as {VARIABLE} says: {reason}")


def _roots() -> Iterator[_Root]:
    """Yield the folders that may hold the cache, the best first."""
    wanted = os.environ.get(VARIABLE)
    if wanted:
        try:
            yield _Root(Path(wanted).expanduser().absolute(), chosen=True)
        except (RuntimeError, OSError) as error:
            _refuse(wanted, error)
    usual = _user_cache()
    if usual is not None:
        yield _Root(usual / "meeplezoo")
    with contextlib.suppress(OSError):
        # there may be no folder for temporary files that can be written to
        user = _user()
        name = "meeplezoo" if user is None else f"meeplezoo-{user}"
        yield _Root(Path(tempfile.gettempdir()).absolute() / name, public=True)


def _user_cache() -> Path | None:
    """Return the user's folder for caches; None if it cannot be told."""
    # by the specification of this variable relative paths in it are to be ignored
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if named.is_absolute():
        return named
    try:
        home = Path.home()
    except RuntimeError:
        # neither HOME nor an entry among the system's users
        return None
    return home / ".cache" if home.is_absolute() else None


def _fresh_folder() -> Path | None:
    """Return a folder of this process alone, which is removed at its end; None if there can be none."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="meeplezoo-"))
    except OSError:
        return None
    maker = os.getpid()

    def remove() -> None:
        # a fork ends before its parent does
        if os.getpid() == maker:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _user() -> int | None:
    """Return the number of the user; None where the system has no such numbers."""
    getuid = getattr(os, "getuid", None)
    return None if getuid is None else int(getuid())


def _is_ours(status: os.stat_result) -> bool:
    """Tell whether only we, the administrator or the owner of this program can write; these two have the say anyway."""
    user = _user()
    if user is None:
        return True
    trusted = {user, 0, os.stat(__file__).st_uid}
    return status.st_uid in trusted and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_private(folder: Path) -> bool:
    """Tell whether a path is a folder, no link, of this user and closed to all others."""
    status, user = os.lstat(folder), _user()
    is_closed = user is None or (status.st_uid == user and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    return stat.S_ISDIR(status.st_mode) and is_closed


def _make_folder(root: _Root, version: str) -> None:
    """Make the folder of a version with its marker, or note that it is used now; OSError if it is of no use."""
    root.path.parent.mkdir(parents=True, exist_ok=True)
    root.path.mkdir(0o700, exist_ok=True)
    folder = root.path / version
    if not root.public or _is_private(root.path):
        folder.mkdir(0o700, exist_ok=True)
    if not is_trusted(folder):
        raise PermissionError(errno.EPERM, "others could write there")
    marker = folder / MARKER
    if not marker.is_file():
        marker.write_text(_MARKER_TEXT, encoding="utf-8")
    os.utime(marker)


def _remove_old_versions(root: Path, current: Path) -> None:
    """Remove the folders that have not been used for longest, but for the newest few, and what was never finished."""
    _remove_files(current, (UNFINISHED,), time.time() - _SECONDS_TO_FINISH)
    users = {path: _last_use(path) for path in _entries(root) if path != current}
    newest_first = sorted((path for path in users if users[path]), key=users.__getitem__, reverse=True)
    for path in newest_first[_KEPT_VERSIONS:]:
        _remove_files(path, (KERNEL, UNFINISHED), math.inf)
        if [entry.name for entry in _entries(path)] == [MARKER]:
            with contextlib.suppress(OSError):
                (path / MARKER).unlink()
                path.rmdir()


def _entries(folder: Path) -> list[Path]:
    # other processes remove the same at the same time
    with contextlib.suppress(OSError):
        return list(folder.iterdir())
    return []


def _last_use(folder: Path) -> float:
    """Return the time of a folder's marker; 0 if it is no folder of kernels."""
    with contextlib.suppress(OSError):
        marker = os.lstat(folder / MARKER)
        if is_trusted(folder) and stat.S_ISREG(marker.st_mode):
            return marker.st_mtime
    return 0.0


def _remove_files(folder: Path, endings: tuple[str, ...], before: float) -> None:
    """Remove files of a folder whose names end so and that were last written before a time."""
    for path in _entries(folder):
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            if path.name.endswith(endings) and stat.S_ISREG(status.st_mode) and status.st_mtime < before:
                path.unlink()
