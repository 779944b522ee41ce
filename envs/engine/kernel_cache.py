"""Compiled kernels on disk: one file per kernel and signature, complete or not there, read only if nothing is amiss.

numba's own cache keeps an index beside its files, which two processes that compile at the same time overwrite for each
other, looks at the source of a function alone and ends the program if the disk is full. Here a file's name follows from
all that its code depends on; whatever is missing, damaged or of unknown origin is compiled anew.
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

# numba carries no types here
_dumps: Any = serialize.dumps


@cache
def source_hash() -> str:
    """Return a hash of all sources that the kernels of `envs/` depend on, and of the versions of what compiles them."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag)
    text = f"{versions} {hash_files(kernel_sources(_SOURCES), _SOURCES)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def folders() -> CacheFolders:
    """Return the folders of compiled kernels, found at the first use."""
    return find_folders(source_hash())


def cache_directory() -> Path | None:
    """Return the folder that newly compiled kernels go to; None if none can be written to."""
    return folders().write


class KernelCache(NullCache):
    """What numba asks for the compiled forms of one kernel before it compiles, and gives them to afterwards.

    Arguments:
        function: the kernel.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__.replace('<locals>', '')}"
        self._source = Path(function.__code__.co_filename), function.__module__
        # functions of a notebook or a prompt have none, and their constants would be found nowhere
        self._has_source = self._source[0].is_file()

    @property
    def cache_path(self) -> str | None:
        """Return the folder that compiled forms go to."""
        directory = cache_directory()
        return None if directory is None else str(directory)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled form for a signature; None if there is none, so that it is compiled."""
        # as numba's own cache does: the context may know less than the kernels that this one calls
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
        """Keep a compiled form, if there is a folder for it."""
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
                # Ctrl-C while LLVM was at work: the code is there and runs, but LLVM has not handed it over
                pass
            except OSError as error:
                _tell_once(f"{directory}: {error.strerror or error}")

    def _file_name(self, signature: Any, codegen: Any) -> str:
        """Return a name that follows from all that the machine code depends on, beside the sources of `envs/`."""
        code = self._function.__code__
        # the processor and its features, which a shared home or image may find to be others
        target = codegen.magic_tuple()
        # the kernels of the games whose records it is compiled for are found by `interface`, and are part of its code
        sources = (self._source, *sources_of_types(signature))
        key = f"{self._function.__module__} {code.co_firstlineno} {signature} {target} {_hash_other_sources(sources)}"
        return f"{self._name}-{hashlib.sha256(key.encode() + code.co_code).hexdigest()[:24]}{KERNEL}"


@cache
def _hash_other_sources(sources: tuple[tuple[Path, str], ...]) -> str:
    """Return a hash of the sources of modules that lie outside `envs/`, and of all that they import."""
    files = {
        source
        for file, module in sources
        if not file.resolve().is_relative_to(_SOURCES)
        for source in module_sources(file, module)
    }
    return hash_files(sorted(files), _SOURCES)


def _read(path: Path) -> bytes | None:
    """Return the content of a file of ours; None if it is not there, is damaged or may have been made by others."""
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
        # Windows replaces no file that another process reads: that one was first
        if not (isinstance(error, PermissionError) and path.is_file()):
            raise


@cache
def _tell_once(reason: str) -> None:
    tell(
        f"compiled kernels cannot be kept, and are compiled at every start ({reason}); {VARIABLE}=FOLDER names a folder"
    )
