"""The `kernel` decorator: numba functions that are compiled on first use and kept on disk (`kernel_cache`).

Environment variables: `MEEPLEZOO_CACHE_DIR` moves the cache (default: the user's cache folder);
`NUMBA_DISABLE_JIT=1` runs everything in plain Python, slowly, for debugging.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event

from .cache_folders import tell
from .dispatch import games_of_types
from .kernel_cache import KernelCache, cache_directory, source_hash

__all__ = ["JIT_DISABLED", "Integer", "Truth", "cache_directory", "inline_kernel", "kernel", "source_hash"]

Function = TypeVar("Function", bound=Callable[..., Any])

Integer = int | np.int64 | np.uint64
"""An integer in a kernel: 64 bits in numba, often a numpy integer in plain Python."""

Truth = bool | np.bool_
"""A boolean in a kernel: often a numpy boolean in plain Python."""

# without numba's runtime: kernels allocate nothing (code that does is refused), and passing an array on costs nothing,
# where numba would count its references with atomic operations
KERNEL_OPTIONS: Any = {"error_model": "numpy", "_nrt": False}

# numba sets its configuration at run time, which type checkers do not see
_numba_settings: Any = numba.config
JIT_DISABLED = bool(_numba_settings.DISABLE_JIT)


class _Announcement(event.Listener):
    """Announces on stderr, once per purpose, what kernels are compiled for and about how long it takes.

    Only modules with `PURPOSE` and `COMPILATION_SECONDS` are announced: all other kernels take less than a second.
    """

    def __init__(self) -> None:
        # numba compiles under its own lock, and the callees of a kernel while it compiles the kernel
        self._depth = 0
        self._said: set[tuple[str, str]] = set()

    def on_start(self, event: event.Event) -> None:
        self._depth += 1
        if self._depth > 1:
            return
        module = sys.modules.get(getattr(getattr(event.data.get("dispatcher"), "py_func", None), "__module__", ""))
        purpose = getattr(module, "PURPOSE", None)
        for game in games_of_types(event.data.get("args", ())):
            if module is not None and purpose is not None and (game, purpose) not in self._said:
                self._said.add((game, purpose))
                seconds = f"up to about {module.COMPILATION_SECONDS} s of processor time"
                tell(f"compiling {game}'s kernels for {purpose}, once: {seconds} ...")

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1


if not JIT_DISABLED:
    register: Callable[[str, event.Listener], None] = event.register
    register("numba:compile", _Announcement())


def kernel(function: Function) -> Function:
    """Compile a function of arrays and scalars on first use; the code is cached, releases the GIL and never raises."""
    compile_lazily: Any = numba.njit(nogil=True, **KERNEL_OPTIONS)
    compiled: Any = compile_lazily(function)
    if not JIT_DISABLED:
        compiled._cache = KernelCache(function)
    kept: Function = compiled
    return kept


def inline_kernel(function: Function) -> Function:
    """Inline a kernel into its callers, so that constant arguments become constants in its code."""
    copy_in: Any = numba.njit(inline="always", **KERNEL_OPTIONS)
    compiled: Function = copy_in(function)
    return compiled
