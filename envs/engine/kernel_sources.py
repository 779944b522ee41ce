"""The sources that compiled code depends on: files with kernels, and everything they import.

numba compiles the values of global constants and the code of called functions into a kernel. So everything that a file
with kernels imports from its own package, directly or indirectly, is part of them.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_WITH_KERNELS = re.compile(r"@[\w.]*\b(?:kernel|inline_kernel)\b|\bimport\b[^\n]*\b(?:kernel|inline_kernel)\b")
_IMPORT = re.compile(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_PLAIN_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n]+)", re.MULTILINE)


def kernel_sources(folder: Path) -> list[Path]:
    """Return the files below a folder that contain kernels, and everything they import, sorted."""
    return _with_imports(path for path in folder.rglob("*.py") if _WITH_KERNELS.search(_text(path)))


@cache
def module_sources(file: Path, module: str) -> list[Path]:
    """Return the file of a module, and everything it imports from its own package or folder, sorted."""
    depth = module.count(".") + (file.name == "__init__.py")
    return _with_imports([file], file.parents[min(depth, len(file.parents) - 1)])


def hash_files(files: Iterable[Path], base: Path) -> str:
    """Return a hash, 64 hexadecimal digits, of the files' paths relative to a folder, and of their contents."""
    digest = hashlib.sha256()
    for path in files:
        place = path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name
        content = path.read_bytes()
        digest.update(f"{place} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _with_imports(files: Iterable[Path], top: Path | None = None) -> list[Path]:
    """Return the files and everything they import by relative names, or by absolute ones below the folder `top`."""
    waiting, found = list(files), set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _find_imports(path, top)
    return sorted(found)


def _find_imports(path: Path, top: Path | None) -> Iterator[Path]:
    text = _text(path).replace("\\\n", " ")
    for module, names in _IMPORT.findall(text):
        stem = module.lstrip(".")
        above = len(module) - len(stem)
        # one dot is the package of the file, each further dot the package above
        base = path.parents[above - 1] if 0 < above <= len(path.parents) else top
        if base is not None:
            place = base.joinpath(*stem.split(".")) if stem else base
            # words of comments and aliases are no files, so they do no harm
            yield from _files_of(place, re.findall(r"\w+", names))
    if top is None:
        return
    for modules in _PLAIN_IMPORT.findall(text):
        for module in re.findall(r"\w[\w.]*", modules):
            yield from _files_of(top.joinpath(*module.split(".")), [])


def _files_of(place: Path, names: list[str]) -> Iterator[Path]:
    for each in (place, *(place / name for name in names)):
        for file in (each.with_name(f"{each.name}.py"), each / "__init__.py"):
            if file.is_file():
                yield file


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
