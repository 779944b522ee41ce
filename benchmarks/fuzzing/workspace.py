"""The folder that an input runs in: made with its files, and looked at afterwards."""

import os
import re
import shutil
from pathlib import Path

from .cases import PIPE, Case
from .hostile import MARKER

_TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}")
"""The names of files that are being written (`envs.files.write_atomically`)."""


def lay_out(place: Path, case: Case) -> None:
    """Make the working folder anew with the files of an input."""
    for entry in os.scandir(place):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
    for name, content in case.files.items():
        path = place / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(PIPE):
            if hasattr(os, "mkfifo"):
                os.mkfifo(path.with_name(path.name.removesuffix(PIPE)))
            continue
        path.write_bytes(content)


def code_has_run(place: Path) -> bool:
    """Tell whether code that an input holds has run."""
    return any(Path(name).name == MARKER for name in _files(place))


def wrong_traces(place: Path, case: Case, refused: bool, may_make_files: bool) -> str:
    """Return what an input has left that it may not, "" if nothing.

    Temporary files may never stay. A refused input changes no file, and makes none but where that is said.
    """
    found = _files(place)
    temporary = [name for name in found if _TEMPORARY.fullmatch(Path(name).name)]
    if temporary:
        return "a temporary file stays behind"
    if not refused:
        return ""
    given = {name: content for name, content in case.files.items() if not name.endswith(("/", PIPE))}
    for name, content in given.items():
        if name not in found:
            return f"a refused input removed {Path(name).name}"
        if (place / name).stat().st_size != len(content) or (place / name).read_bytes() != content:
            return f"a refused input changed {Path(name).name}"
    made = [name for name in found if name not in given and f"{name}{PIPE}" not in case.files]
    return "" if may_make_files or not made else "a refused input made files"


def _files(place: Path) -> list[str]:
    if not any(os.scandir(place)):
        return []
    return [os.path.relpath(os.path.join(folder, name), place) for folder, _, names in os.walk(place) for name in names]
