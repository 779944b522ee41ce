"""The `kernel` decorator: numba functions cached on disk, keyed by the sources of all kernels.

numba's own cache looks at the file of a function alone, so a kernel that calls an edited function of another
file would go on with the old code. Here the cache folder's name is a hash over every source that defines
kernels: after any edit the kernels are compiled once more, into a folder of their own.

Environment variables: `MEEPLEZOO_CACHE_DIR` moves the cache (default: the user's cache folder);
`NUMBA_DISABLE_JIT=1` plays everything in plain Python, slowly, for debugging.
"""

import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

# numba's settings are set at run time, where type checkers do not see them
_numba_settings: Any = numba.config
JIT_DISABLED = bool(_numba_settings.DISABLE_JIT)
_SOURCES = Path(__file__).resolve().parents[1]
_KEPT_VERSIONS = 4


@cache
def source_hash() -> str:
    """Return the hash of every file of `envs/` that defines a kernel, and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_SOURCES.rglob("*.py")):
        source = path.read_bytes()
        if b"@kernel" in source:
            digest.update(path.relative_to(_SOURCES).as_posix().encode())
            digest.update(source)
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    chosen = os.environ.get("MEEPLEZOO_CACHE_DIR")
    if chosen:
        return Path(chosen)
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(user_cache) / "meeplezoo"


@cache
def cache_directory() -> Path:
    """Return the folder of the compiled kernels, made if need be (a temporary one if no other is writable)."""
    for root in (_cache_root(), Path(tempfile.gettempdir()) / f"meeplezoo-{os.getuid()}"):
        directory = root / source_hash()
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            _remove_old_versions(root, directory)
            return directory
    return Path(tempfile.mkdtemp(prefix="meeplezoo-"))


def _remove_old_versions(root: Path, current: Path) -> None:
    others = [path for path in root.iterdir() if path.is_dir() and path != current and len(path.name) == 16]
    others.sort(key=lambda path: path.stat().st_mtime)
    for path in others[: max(0, len(others) - _KEPT_VERSIONS)]:
        shutil.rmtree(path, ignore_errors=True)


class _Announcement(event.Listener):
    """Says on one line of stderr that a first start compiles; later starts find the cache and stay silent."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: event.Event) -> None:
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if not self.said and function is not None and function.__module__.startswith("meeplezoo."):
            self.said = True
            print("meeplezoo: compiling the game kernels, once, some seconds ...", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


if not JIT_DISABLED:
    register: Callable[[str, event.Listener], None] = event.register
    register("numba:compile", _Announcement())


@contextmanager
def _cached_in(directory: Path) -> Iterator[None]:
    # numba reads this setting when a function is decorated; it is put back so that other users of numba
    # in the same process keep their own cache.
    previous = _numba_settings.CACHE_DIR
    _numba_settings.CACHE_DIR = str(directory)
    try:
        yield
    finally:
        _numba_settings.CACHE_DIR = previous


_directory_in_use: list[Path] = []


def kernel(function: Function) -> Function:
    """Compile a function of arrays and scalars on first use: cached, without the GIL, never raising."""
    directory = _directory_in_use[-1] if _directory_in_use else cache_directory()
    compile_lazily: Any = numba.njit(cache=True, nogil=True, error_model="numpy")
    with _cached_in(directory):
        compiled: Function = compile_lazily(function)
    return compiled


def inlined(function: Function) -> Function:
    """Compile a kernel into each of its callers, so that constant arguments are constants of its code."""
    copy_in: Any = numba.njit(inline="always", error_model="numpy")
    compiled: Function = copy_in(function)
    return compiled


def load_bound(path: Path, name: str, **bindings: Any) -> ModuleType:
    """Load a file of this folder as a module of its own whose globals hold `bindings` before it runs.

    So one text of generic kernels is compiled once per game: functions handed over as arguments or caught in
    closures are never cached by numba, module globals are. Every name gets its own cache folder, since numba
    names cache files after the source file only.
    """
    spec = importlib.util.spec_from_file_location(f"{__package__}.{path.stem}_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load kernels from {path}")
    module = importlib.util.module_from_spec(spec)
    vars(module).update(bindings)
    # numba finds the module of a cached kernel by its name
    sys.modules[spec.name] = module
    _directory_in_use.append(cache_directory() / name)
    try:
        spec.loader.exec_module(module)
    finally:
        _directory_in_use.pop()
    return module
