"""Compiled kernels on disk: where they are, whose files are read, what becomes of old, damaged and foreign ones."""

import ast
import errno
import importlib.util
import itertools
import os
import pickle
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import stones
from other_games import write_distribution

from meeplezoo.envs.engine import cache_folders, kernel_cache
from meeplezoo.envs.engine.cache_folders import KERNEL, MARKER, UNFINISHED, CacheFolders, find_folders
from meeplezoo.envs.engine.compilation import JIT_DISABLED, cache_directory, source_hash
from meeplezoo.envs.engine.kernel_sources import hash_files, kernel_sources, module_sources

pwd = pytest.importorskip("pwd", reason="owners of files and their names are those of POSIX systems")

ENVS = Path(cache_folders.__file__).resolve().parents[1]
VERSION = "0123456789abcdef"

needs_compiler = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")


@pytest.fixture(autouse=True)
def own_surroundings(tmp_path, monkeypatch):
    """A home and a folder for temporary files of the test's own, and no other settings."""
    for name in ("home", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("MEEPLEZOO_CACHE_DIR", raising=False)


def usual(tmp_path):
    return tmp_path / "home" / ".cache" / "meeplezoo" / VERSION


def fallback(tmp_path):
    return tmp_path / "temporary" / f"meeplezoo-{os.getuid()}"


def without_home(monkeypatch):
    def unknown(number):
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)


def test_kernels_are_kept_in_the_users_cache_closed_to_others(tmp_path):
    found = find_folders(VERSION)
    assert found == CacheFolders((usual(tmp_path),), usual(tmp_path))
    assert stat.S_IMODE(usual(tmp_path).stat().st_mode) == 0o700
    assert [path.name for path in usual(tmp_path).iterdir()] == [MARKER]
    assert find_folders(VERSION) == found


def test_the_specification_of_the_users_cache_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert find_folders(VERSION).write == tmp_path / "elsewhere" / "meeplezoo" / VERSION
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert find_folders(VERSION).write == usual(tmp_path)


@pytest.mark.parametrize("missing", ["home", "getuid", "temporary folder"])
def test_what_a_system_may_lack(tmp_path, monkeypatch, missing):
    if missing == "home":
        without_home(monkeypatch)
        assert find_folders(VERSION).write == fallback(tmp_path) / VERSION
        assert stat.S_IMODE(fallback(tmp_path).stat().st_mode) == 0o700
    elif missing == "getuid":
        monkeypatch.delattr(os, "getuid")
        assert find_folders(VERSION).write == usual(tmp_path)
    else:
        monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
        assert find_folders(VERSION).write == usual(tmp_path)


def no_temporary_folder():
    raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")


def test_neither_home_nor_temporary_folder(monkeypatch, capsys):
    without_home(monkeypatch)
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_folder)
    assert find_folders(VERSION) == CacheFolders((), None)
    assert capsys.readouterr().err == ""


def test_a_folder_of_ones_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, folder in [
        (tmp_path / "new" / "deep", tmp_path / "new" / "deep"),
        ("relative", tmp_path / "relative"),
        ("~/mine", tmp_path / "home" / "mine"),
        ("", tmp_path / "home" / ".cache" / "meeplezoo"),
    ]:
        monkeypatch.setenv("MEEPLEZOO_CACHE_DIR", str(name))
        assert find_folders(VERSION).write == folder / VERSION
    # a place that all may write to, as /tmp is: what is made there is ours alone
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o1777)
    monkeypatch.setenv("MEEPLEZOO_CACHE_DIR", str(tmp_path / "open"))
    assert stat.S_IMODE(find_folders(VERSION).write.stat().st_mode) == 0o700
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["file", "file/below", "~nobody-of-this-name/cache", "others"])
def test_a_folder_of_ones_own_that_cannot_be_used_is_told_of(tmp_path, monkeypatch, capsys, name):
    (tmp_path / "file").touch()
    (tmp_path / "others" / VERSION).mkdir(parents=True)
    (tmp_path / "others" / VERSION).chmod(0o777)
    wanted = name if name.startswith("~") else str(tmp_path / name)
    monkeypatch.setenv("MEEPLEZOO_CACHE_DIR", wanted)
    assert find_folders(VERSION).write == usual(tmp_path)
    told = capsys.readouterr().err
    assert told.startswith(f"meeplezoo: compiled kernels cannot be kept in {wanted}, as MEEPLEZOO_CACHE_DIR says: ")
    assert told.count("\n") == 1
    assert (tmp_path / "file").read_bytes() == b""


def test_kernels_that_can_only_be_read_are_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MEEPLEZOO_CACHE_DIR", str(tmp_path / "image"))
    image = find_folders(VERSION).write
    utime = os.utime

    def refuse(path, *arguments):
        if Path(path).parent == image:
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        utime(path, *arguments)

    monkeypatch.setattr(os, "utime", refuse)
    assert find_folders(VERSION) == CacheFolders((image, usual(tmp_path)), usual(tmp_path))
    (image / MARKER).unlink()
    monkeypatch.setattr(Path, "write_text", lambda path, *rest, **named: refuse(path))
    monkeypatch.setenv("MEEPLEZOO_CACHE_DIR", str(image.parent))
    assert image not in find_folders(VERSION).read
    assert "Read-only file system" in capsys.readouterr().err


@pytest.mark.parametrize("fault", ["link", "open", "readable", "another's"])
def test_the_folder_among_temporary_ones_is_used_only_if_it_is_ours_alone(tmp_path, monkeypatch, fault):
    without_home(monkeypatch)
    root = fallback(tmp_path)
    if fault == "link":
        (tmp_path / "target").mkdir(mode=0o700)
        root.symlink_to(tmp_path / "target")
    else:
        root.mkdir(mode=0o700)
        root.chmod({"open": 0o777, "readable": 0o755}.get(fault, 0o700))
    if fault == "another's":
        other = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: other)
        root.rename(fallback(tmp_path))
    before = sorted(tmp_path.rglob("*"))
    found = find_folders(VERSION)
    fresh = found.write
    assert found.read == (fresh,)
    assert fresh.parent == tmp_path / "temporary"
    assert fresh not in before
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    assert sorted(tmp_path.rglob("*")) == sorted([*before, fresh])


def test_old_versions_are_removed_and_nothing_else(tmp_path, monkeypatch):
    root = usual(tmp_path).parent
    names = [f"{number:016x}" for number in range(9)]
    for age, name in enumerate(names):
        folder = root / name
        folder.mkdir(parents=True)
        (folder / f"step{KERNEL}").touch()
        (folder / MARKER).touch()
        os.utime(folder / MARKER, (time.time() - 100 * age,) * 2)
    # a person's own folder, another's mark, a link to a folder of kernels, and something put among old kernels
    (root / "my-own-thesis-00").mkdir()
    (root / "my-own-thesis-00" / f"text{KERNEL}").touch()
    (root / "directory-marker" / MARKER).mkdir(parents=True)
    shutil.copytree(root / names[0], tmp_path / "linked")
    os.utime(tmp_path / "linked" / MARKER, (0, 0))
    (root / "link").symlink_to(tmp_path / "linked")
    (root / names[8] / "notes.txt").touch()
    find_folders(VERSION)
    left = {path.name for path in root.iterdir()}
    assert left == {VERSION, *names[:4], names[8], "my-own-thesis-00", "directory-marker", "link"}
    assert sorted(path.name for path in (root / names[8]).iterdir()) == [MARKER, "notes.txt"]
    assert len(list((tmp_path / "linked").iterdir())) == 2
    assert len(list((root / "my-own-thesis-00").iterdir())) == 1


def test_others_may_remove_old_versions_at_the_same_time(tmp_path, monkeypatch):
    root = usual(tmp_path).parent
    for number in range(8):
        (root / f"{number:016x}").mkdir(parents=True)
        (root / f"{number:016x}" / MARKER).touch()
    lstat = os.lstat

    def vanishing(path, **named):
        # whatever is looked at is gone at once
        if Path(path).name == MARKER and VERSION not in str(path):
            shutil.rmtree(Path(path).parent)
        return lstat(path, **named)

    find_folders(VERSION)
    monkeypatch.setattr(os, "lstat", vanishing)
    find_folders(VERSION)
    assert [path.name for path in root.iterdir()] == [VERSION]
    monkeypatch.setattr(Path, "iterdir", lambda path: (_ for _ in ()).throw(FileNotFoundError(errno.ENOENT, "gone")))
    assert find_folders(VERSION).write == usual(tmp_path)


def test_files_that_a_killed_process_left_are_removed_in_time(tmp_path):
    folder = find_folders(VERSION).write
    for name, age in (("old", 7200), ("new", 60)):
        path = folder / f"{name}{UNFINISHED}"
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
    find_folders(VERSION)
    assert sorted(path.name for path in folder.iterdir()) == [MARKER, f"new{UNFINISHED}"]


_names = itertools.count()


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Returns a function that loads a module with a kernel, as a new process would, and calls it."""
    folder = tmp_path / "kernels"
    monkeypatch.setattr(kernel_cache, "folders", lambda: CacheFolders((folder,), folder))
    cache_folders.renew_folder(folder)
    kernel_cache._tell_once.cache_clear()
    kernel_cache._hash_other_sources.cache_clear()
    file = tmp_path / "tiny.py"
    file.write_text(
        "from meeplezoo.envs.engine.compilation import kernel\n@kernel\ndef double(number):\n    return 2 * number\n"
    )

    def load():
        spec = importlib.util.spec_from_file_location("tiny", file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "tiny", module)
        spec.loader.exec_module(module)
        assert module.double(21) == 42
        return "loaded" if sum(module.double._cache_hits.values()) else "compiled"

    load.folder, load.file = folder, file
    return load


def kernels(folder):
    return sorted(path for path in folder.iterdir() if path.name != MARKER)


@needs_compiler
def test_a_kernel_is_compiled_once(tiny):
    assert [tiny(), tiny()] == ["compiled", "loaded"]
    (path,) = kernels(tiny.folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@needs_compiler
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: b"\0" * len(content),
        lambda content: content[:900] + bytes([content[900] ^ 1]) + content[901:],
        lambda content: pickle.dumps({"a": "garbage"}),
    ],
    ids=["empty", "head", "cut", "longer", "zeros", "one bit", "another pickle"],
)
def test_damaged_kernels_are_compiled_anew(tiny, damage):
    tiny()
    (path,) = kernels(tiny.folder)
    content = path.read_bytes()
    path.write_bytes(damage(content))
    assert [tiny(), tiny()] == ["compiled", "loaded"]
    assert kernels(tiny.folder) == [path]


class Trap:
    """Something whose pickle runs code when it is read."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


@needs_compiler
@pytest.mark.parametrize("fault", ["mode", "owner"])
def test_no_code_of_another_user_is_run(tiny, tmp_path, monkeypatch, fault):
    tiny()
    (path,) = kernels(tiny.folder)
    kernel_cache._write(path, pickle.dumps(Trap(tmp_path / "run")))
    if fault == "mode":
        path.chmod(0o666)
    else:
        fstat = os.fstat

        def of_another(handle):
            fields = list(fstat(handle))
            fields[4] = 4711
            return os.stat_result(fields)

        monkeypatch.setattr(os, "fstat", of_another)
    assert tiny() == "compiled"
    assert not (tmp_path / "run").exists()
    # the trap works: ours would have been read
    kernel_cache._write(path, pickle.dumps(Trap(tmp_path / "run")))
    monkeypatch.undo()
    kernel_cache._read(path)
    pickle.loads(kernel_cache._read(path))
    assert (tmp_path / "run").exists()


@needs_compiler
def test_a_full_disk_is_told_of_once_and_stops_nothing(tiny, monkeypatch, capsys):
    def full(*arguments, **named):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert [tiny(), tiny()] == ["compiled", "compiled"]
    monkeypatch.setattr(tempfile, "mkstemp", full)
    assert tiny() == "compiled"
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("meeplezoo: compiled kernels cannot be kept")
    assert "No space left on device" in told
    assert kernels(tiny.folder) == []


@needs_compiler
def test_without_a_folder_kernels_are_compiled_at_every_start(tiny, monkeypatch, capsys):
    monkeypatch.setattr(kernel_cache, "folders", lambda: CacheFolders((), None))
    assert [tiny(), tiny()] == ["compiled", "compiled"]
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setattr(sys, "stderr", None)
    kernel_cache._tell_once.cache_clear()
    assert tiny() == "compiled"


@needs_compiler
def test_the_folder_may_be_removed_while_a_process_runs(tiny):
    tiny()
    shutil.rmtree(tiny.folder)
    assert [tiny(), tiny()] == ["compiled", "loaded"]
    assert (tiny.folder / MARKER).is_file()
    shutil.rmtree(tiny.folder)
    tiny.folder.touch()
    assert tiny() == "compiled"


@needs_compiler
def test_constants_that_a_kernel_imports_belong_to_it(tiny, tmp_path):
    (tmp_path / "numbers_of_tiny.py").write_text("from more_of_tiny import FACTOR\n")
    (tmp_path / "more_of_tiny.py").write_text("FACTOR = 2\n")
    source = tiny.file.read_text().replace("2 *", "FACTOR *")
    tiny.file.write_text(f"from numbers_of_tiny import FACTOR\n{source}")
    sys.path.insert(0, str(tmp_path))
    try:
        assert [tiny(), tiny()] == ["compiled", "loaded"]
        (tmp_path / "more_of_tiny.py").write_text("FACTOR = 42 // 21\n")
        for cached in (kernel_cache._hash_other_sources, module_sources):
            cached.cache_clear()
        assert tiny() == "compiled"
    finally:
        sys.path.remove(str(tmp_path))


@needs_compiler
def test_processors_share_a_folder_and_so_do_processes_at_the_same_time(tmp_path):
    (tmp_path / "tiny.py").write_text(
        "from meeplezoo.envs.engine.compilation import kernel\n"
        "@kernel\ndef double(number):\n    return 2 * number\n"
        "print(double(21), sum(double._cache_hits.values()))\n"
    )

    def start(**variables):
        environment = {**os.environ, "MEEPLEZOO_CACHE_DIR": str(tmp_path / "cache"), **variables}
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", "import tiny"]
        return subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True)

    processes = [start(), start(), start(NUMBA_CPU_NAME="haswell"), start(NUMBA_CPU_NAME="haswell")]
    assert {process.communicate()[1] for process in processes} == {""}
    (folder,) = (tmp_path / "cache").iterdir()
    assert len(kernels(folder)) == 2
    later = [start(), start(NUMBA_CPU_NAME="haswell")]
    assert [process.communicate() for process in later] == [("42 1\n", ""), ("42 1\n", "")]


def test_an_edit_of_anything_that_kernels_see_makes_another_version(tmp_path):
    tree = tmp_path / "envs"
    shutil.copytree(ENVS, tree, ignore=shutil.ignore_patterns("__pycache__"))

    def version():
        from meeplezoo.envs.engine import kernel_sources as sources

        sources._text.cache_clear()
        return hash_files(kernel_sources(tree), tree)

    first = version()
    assert first == hash_files(kernel_sources(ENVS), ENVS)
    seen = {path.relative_to(tree).as_posix() for path in kernel_sources(tree)}
    states = [path.relative_to(tree).as_posix() for path in tree.glob("*/state.py")]
    assert len(states) >= 4
    for name in [*states, "engine/random_stream.py", "engine/compilation.py"]:
        assert name in seen
        path = tree / name
        source = path.read_text()
        path.write_text(f"{source}\nANOTHER = 1\n")
        assert version() != first
        path.write_text(source)
    for path in [*tree.glob("*/view/*.py"), tree / "records/record.py"]:
        path.write_text(f"{path.read_text()}\nANOTHER = 1\n")
    assert version() == first
    for path in tree.glob("*/state.py"):
        path.rename(path.with_name("constants.py"))
        assert version() != first


def test_the_sources_of_kernels_are_those_that_the_syntax_tree_shows():
    """The imports are found by their text, quickly; here by parsing."""
    waiting = [path for path in ENVS.rglob("*.py") if has_kernels(ast.parse(path.read_text()))]
    assert len(waiting) > 20
    found = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                place = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                for each in (place, *(place / name.name for name in node.names)):
                    files = (each.with_name(f"{each.name}.py"), each / "__init__.py")
                    waiting += [file for file in files if file.is_file()]
    assert found == set(kernel_sources(ENVS))


def has_kernels(tree):
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = {decorator.id for each in functions for decorator in each.decorator_list if isinstance(decorator, ast.Name)}
    return bool(names & {"kernel", "inline_kernel"})


@needs_compiler
def test_the_folder_in_use_is_that_of_this_version():
    assert cache_directory().name == source_hash()


_LAST_STONES = """
import sys
from meeplezoo.envs import make_game
from meeplezoo.envs.engine import batch

game = make_game("duel", pile=5)
state = game.new(1)
luck = state["luck"].tolist()
while not game.is_over(state):
    game.play_action(state, int(game.mask(state).nonzero()[0][0]))
taken = state["taken"].tolist()
scores = game.result(state)["scores"]
gained = [score - own - lucky for score, own, lucky in zip(scores, taken, luck)]
print(gained, sum(batch.apply_one._cache_hits.values()))
"""


@needs_compiler
def test_an_edit_of_a_constant_of_another_packages_game_compiles_its_kernels_anew(tmp_path):
    """What the generic kernels have of a game is part of their code, wherever the game comes from."""
    shutil.copytree(Path(stones.__file__).parent, tmp_path / "stones", ignore=shutil.ignore_patterns("__pycache__"))
    write_distribution(tmp_path, "stones", {"duel": "stones:DUEL"})
    path = tmp_path / "stones" / "state.py"
    environment = {**os.environ, "MEEPLEZOO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def points_of_the_last_stones():
        command = [sys.executable, "-c", _LAST_STONES]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
        return done.stdout.strip()

    assert [points_of_the_last_stones() for _ in range(2)] == ["[3, 0] 0", "[3, 0] 1"]
    source = path.read_text()
    assert "LAST_POINTS = 3" in source
    path.write_text(source.replace("LAST_POINTS = 3", "LAST_POINTS = 7"))
    assert [points_of_the_last_stones() for _ in range(2)] == ["[7, 0] 0", "[7, 0] 1"]
