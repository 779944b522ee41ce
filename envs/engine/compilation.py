"""The `kernel` decorator: numba functions that are compiled on first use and kept on disk (`kernel_cache`).

Environment variables: `MEEPLEZOO_CACHE_DIR` moves the cache (default: the user's cache folder);
`NUMBA_DISABLE_JIT=1` plays everything in plain Python, slowly, for debugging.
"""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba
from numba.core import event

from .cache_folders import tell
from .kernel_cache import KernelCache, cache_directory, source_hash

__all__ = ["JIT_DISABLED", "cache_directory", "inlined", "kernel", "load_bound", "source_hash"]

Function = TypeVar("Function", bound=Callable[..., Any])

# numba's settings are set at run time, where type checkers do not see them
_numba_settings: Any = numba.config
JIT_DISABLED = bool(_numba_settings.DISABLE_JIT)


class _Announcement(event.Listener):
    """Says on one line of stderr for what kernels are compiled, and about how long that takes, once for each purpose.

    Only the files that `load_bound` loads are worth a line; all other kernels take less than a second.
    """

    def __init__(self) -> None:
        # numba compiles under a lock of its own, and what a kernel calls while it compiles the kernel
        self._depth = 0
        self._said: set[str] = set()

    def on_start(self, event: event.Event) -> None:
        self._depth += 1
        module = getattr(getattr(event.data.get("dispatcher"), "py_func", None), "__module__", "")
        if self._depth == 1 and module in _bound and module not in self._said:
            self._said.add(module)
            bound = sys.modules[module]
            seconds = f"up to about {bound.COMPILATION_SECONDS} s of processor time"
            tell(f"compiling {_bound[module]}'s kernels for {bound.PURPOSE}, once: {seconds} ...")

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1


if not JIT_DISABLED:
    register: Callable[[str, event.Listener], None] = event.register
    register("numba:compile", _Announcement())


_bound: dict[str, str] = {}
"""Names of the modules that `load_bound` has loaded -> what they were bound to."""
_seen_by_bound: list[list[tuple[Path, str]]] = []
"""Files and names of the modules that are bound to the file that is being loaded."""


def kernel(function: Function) -> Function:
    """Compile a function of arrays and scalars on first use: cached, without the GIL, never raising."""
    compile_lazily: Any = numba.njit(nogil=True, error_model="numpy")
    compiled: Any = compile_lazily(function)
    if not JIT_DISABLED:
        compiled._cache = KernelCache(function, _seen_by_bound[-1] if _seen_by_bound else ())
    kept: Function = compiled
    return kept


def inlined(function: Function) -> Function:
    """Compile a kernel into each of its callers, so that constant arguments are constants of its code."""
    copy_in: Any = numba.njit(inline="always", error_model="numpy")
    compiled: Function = copy_in(function)
    return compiled


def load_bound(path: Path, name: str, **bindings: Any) -> ModuleType:
    """Load a file of this folder as a module of its own whose globals hold `bindings` before it runs.

    So one text of generic kernels is compiled once per game: functions handed over as arguments or caught in
    closures are never cached by numba, module globals are. The file says in `PURPOSE` and `COMPILATION_SECONDS` what
    its kernels are for and about how long they all take to compile.
    """
    spec = importlib.util.spec_from_file_location(f"{__package__}.{path.stem}_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load kernels from {path}")
    module = importlib.util.module_from_spec(spec)
    vars(module).update(bindings)
    # numba finds the module of a cached kernel by its name
    sys.modules[spec.name] = module
    _bound[spec.name] = name
    files = [(each.__file__, each.__name__) for each in bindings.values() if isinstance(each, ModuleType)]
    _seen_by_bound.append([(Path(file), each) for file, each in files if file])
    try:
        spec.loader.exec_module(module)
    finally:
        _seen_by_bound.pop()
    return module
