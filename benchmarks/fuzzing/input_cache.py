"""Valid inputs that take long to make: made once, in a folder that all processes share."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def make_once(kept: Path, name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of that name, filled by `make` if no process has done so before."""
    path = kept / name
    if not path.is_dir():
        kept.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=kept))
        try:
            make(folder)
            os.rename(folder, path)
        except OSError:
            # another process was first
            shutil.rmtree(folder, ignore_errors=True)
            if not path.is_dir():
                raise
    return path


def files_below(folder: Path, prefix: str = "") -> dict[str, bytes]:
    """Return the files of a folder by their paths in it, behind a prefix."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {f"{prefix}{path.relative_to(folder).as_posix()}": path.read_bytes() for path in found}
