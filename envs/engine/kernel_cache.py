"""Compiled kernels on disk: one file per kernel and signature, written atomically, and read only if it is valid.

numba's own cache has an index file, which processes that compile at the same time overwrite for each other. It also
only looks at the source of the function itself, and it ends the program if the disk is full. Here the name of a file
is a hash of everything its code depends on. Files that are missing, damaged or of unknown origin are recompiled.
"""

import contextlib
import hashlib
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import serialize
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

from .cache_folders import KERNEL, UNFINISHED, VARIABLE, CacheFolders, find_folders, is_trusted_file, renew_folder, tell
from .dispatch import sources_of_types
from .kernel_sources import hash_files, kernel_sources, module_sources

_SOURCES = Path(__file__).resolve().parents[1]
_HEAD = b"meeplezoo kernel 1\n"
_DIGEST_SIZE = 32

# numba has no types here
_dumps: Any = serialize.dumps


@cache
def source_hash() -> str:
    """Return a hash of all sources that the kernels of `envs/` depend on, and of the compiler versions."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag)
    text = f"{versions} {hash_files(kernel_sources(_SOURCES), _SOURCES)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def folders() -> CacheFolders:
    """Return the folders of compiled kernels, determined at the first use."""
    return find_folders(source_hash())


def cache_directory() -> Path | None:
    """Return the folder for newly compiled kernels; None if none is writeable."""
    return folders().write


class KernelCache(NullCache):
    """The cache of one kernel, as numba uses it: loaded from before compiling and saved to afterwards.

    Arguments:
        function: the kernel.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__.replace('<locals>', '')}"
        self._source = Path(function.__code__.co_filename), function.__module__
        # functions of a notebook or a prompt have no file to hash
        self._has_source = self._source[0].is_file()

    @property
    def cache_path(self) -> str | None:
        """Return the folder for compiled code."""
        directory = cache_directory()
        return None if directory is None else str(directory)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if it must be compiled."""
        # as numba's own cache does: the context may not know the functions that this kernel calls
        target_context.refresh()
        if not self._has_source:
            return None
        name = self._file_name(sig, target_context.codegen())
        for folder in folders().read:
            content = _read(folder / name)
            if content is not None:
                rebuild: Any = CompileResult._rebuild
                return rebuild(target_context, *pickle.loads(content))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save compiled code, if there is a folder for it."""
        directory = cache_directory()
        if directory is None:
            _tell_once("there is no folder that can be written to")
        elif data.library.has_dynamic_globals:
            warnings.warn(f"{self._name} is compiled at every start: it uses a large array of its module", stacklevel=2)
        elif self._has_source:
            try:
                if not directory.is_dir():
                    renew_folder(directory)
                _write(directory / self._file_name(sig, data.codegen), _dumps(data._reduce()))
            except RuntimeError:
                # Ctrl-C during the work of LLVM: the code runs, but cannot be serialized
                pass
            except OSError as error:
                _tell_once(f"{directory}: {error.strerror or error}")

    def _file_name(self, signature: Any, codegen: Any) -> str:
        """Return a file name that depends on everything the machine code does, except the sources of `envs/`."""
        code = self._function.__code__
        # the processor and its features, which differ between machines with a shared home or image
        target = codegen.magic_tuple()
        # kernels that `interface` resolves for the records in the signature become part of the code
        sources = (self._source, *sources_of_types(signature))
        key = f"{self._function.__module__} {code.co_firstlineno} {signature} {target} {_hash_other_sources(sources)}"
        return f"{self._name}-{hashlib.sha256(key.encode() + code.co_code).hexdigest()[:24]}{KERNEL}"


@cache
def _hash_other_sources(sources: tuple[tuple[Path, str], ...]) -> str:
    """Return a hash of the modules outside `envs/`, and of everything they import."""
    files = {
        source
        for file, module in sources
        if not file.resolve().is_relative_to(_SOURCES)
        for source in module_sources(file, module)
    }
    return hash_files(sorted(files), _SOURCES)


def _read(path: Path) -> bytes | None:
    """Return the content of a kernel file; None if it is missing, damaged or may have been written by others."""
    try:
        with path.open("rb") as file:
            stored = file.read() if is_trusted_file(file.fileno()) else b""
    except OSError:
        return None
    start = len(_HEAD) + _DIGEST_SIZE
    content = stored[start:]
    if stored[:start] != _HEAD + hashlib.sha256(content).digest():
        return None
    return content


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_HEAD + hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        # Windows cannot replace a file that another process reads; that process was first
        if not (isinstance(error, PermissionError) and path.is_file()):
            raise


@cache
def _tell_once(reason: str) -> None:
    tell(
        f"compiled kernels cannot be kept, and are compiled at every start ({reason}); {VARIABLE}=FOLDER names a folder"
    )
