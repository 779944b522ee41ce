"""Writing: whole files or none, what killed processes leave, full disks, and locks on folders."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from meeplezoo.envs.system import files, locks
from meeplezoo.envs.system.files import append, remove_leftovers, write_atomically
from meeplezoo.envs.system.locks import FolderInUse, is_unused, lock_folder


def temporary_files(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".meeplezoo-")]


def fail_while_writing(path):
    with write_atomically(path) as file:
        file.write(b"x" * 10**6)
        raise ZeroDivisionError


def run(program, *words, **arguments):
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True, timeout=60, **arguments
    )


class Child:
    """A process that runs a program up to its first line of output, and then waits."""

    def __init__(self, program, *words):
        words = [sys.executable, "-c", program, *map(str, words)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


WRITE = """
import sys
from pathlib import Path
from meeplezoo.envs.system.files import write_atomically
with write_atomically(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_files_are_whole_or_as_they_were(tmp_path):
    path = tmp_path / "new" / "file"
    with write_atomically(path) as file:
        file.write(b"one")
    with write_atomically(path, "w") as file:
        file.write("tw\N{GREEK SMALL LETTER OMICRON}\n")
    assert path.read_bytes() == "tw\N{GREEK SMALL LETTER OMICRON}\n".encode()
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    with pytest.raises(ZeroDivisionError):
        fail_while_writing(path)
    assert path.read_bytes().startswith(b"tw")
    assert list(path.parent.iterdir()) == [path]


def test_what_a_killed_process_leaves_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    killed, living = Child(WRITE, tmp_path / "a"), Child(WRITE, tmp_path / "b")
    killed.kill()
    others = [tmp_path / name for name in (".meeplezoo-mine.tmp", ".a.0123456789ab", "meeplezoo-0123456789ab.tmp")]
    for path in others:
        path.touch()
    (tmp_path / ".meeplezoo-ffffffffffff.tmp").symlink_to(others[0])
    assert len(temporary_files(tmp_path)) == 4
    with write_atomically(tmp_path / "c") as file:
        file.write(b"c")
    # the file that is being written, somebody's own, the link
    assert len(temporary_files(tmp_path)) == 3
    assert all(path.exists() for path in others)
    living.process.communicate("")
    assert (tmp_path / "b").read_bytes() == b"half"
    assert len(temporary_files(tmp_path)) == 2


def test_without_locks_a_day_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "try_lock", lambda handle: None)
    young, old = (tmp_path / f".meeplezoo-{12 * digit}.tmp" for digit in "01")
    for path in (young, old):
        path.touch()
    os.utime(old, (0, time.time() - 90_000))
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == [young]
    with write_atomically(tmp_path / "file") as file:
        file.write(b"x")
    assert (tmp_path / "file").read_bytes() == b"x"


def test_systems_without_locks_do_without(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with lock_folder(tmp_path), lock_folder(tmp_path):
        pass
    with write_atomically(tmp_path / "file") as file:
        file.write(b"x")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_file_systems_without_locks_do_without(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def refuse(handle, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert locks.try_lock(0) is None
    with lock_folder(tmp_path), lock_folder(tmp_path):
        pass


# --- full disks


FILL = """
import errno, os, resource, sys
from pathlib import Path
from meeplezoo.envs.system.files import append, write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
path = Path(sys.argv[1])
def write():
    with write_atomically(path) as file:
        file.write(bytes(200_000))
def write_little_by_little():
    with write_atomically(path, "w") as file:
        for _ in range(20_000):
            file.write("0123456789")
def add():
    append(path, bytes(60_000))
    append(path, bytes(60_000))
try:
    {"write": write, "little": write_little_by_little, "append": add}[sys.argv[2]]()
except OSError as error:
    print(error.filename == str(path), error.errno == errno.EFBIG, error)
"""


@pytest.mark.parametrize("way", ["write", "little", "append"])
def test_a_full_disk_names_the_file_and_leaves_nothing_half_written(tmp_path, way):
    path = tmp_path / "file"
    done = run(FILL, path, way)
    assert done.stdout == f"True True [Errno 27] File too large: '{path}'\n", done.stderr
    assert temporary_files(tmp_path) == []
    # what was appended before is there, and nothing of what did not fit
    assert [len(one.read_bytes()) for one in tmp_path.iterdir()] == ([60_000] if way == "append" else [])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_errors_that_come_at_the_end_name_the_file_too(tmp_path, monkeypatch, number):
    def refuse(handle):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match=r"file'$") as caught, write_atomically(tmp_path / "file") as file:
        file.write(b"x")
    assert caught.value.errno == number
    assert list(tmp_path.iterdir()) == []


def test_only_the_file_itself_gives_errors_its_name(tmp_path):
    with pytest.raises(BrokenPipeError) as caught, write_atomically(tmp_path / "file"):
        # of a bot, say, whose game is being recorded
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
    assert caught.value.filename is None
    with pytest.raises(OSError, match=r"file'$"), write_atomically(tmp_path / "folder" / "file"):
        (tmp_path / "folder" / "file").mkdir()
    if os.path.exists("/dev/full"):
        (tmp_path / "full").symlink_to("/dev/full")
        with pytest.raises(OSError, match=r"No space left on device: '.*full'$"):
            append(tmp_path / "full", b"x")


# --- locks


LOCK = """
import sys
from pathlib import Path
from meeplezoo.envs.system.locks import lock_folder
with lock_folder(Path(sys.argv[1]), "run folder"):
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_one_process_at_a_time_has_a_folder(tmp_path):
    holder = Child(LOCK, tmp_path)
    assert is_unused(tmp_path)
    expected = f"run folder {tmp_path} is in use by process {holder.process.pid}: two cannot write to it"
    for _ in range(2):
        with pytest.raises(FolderInUse, match=expected), lock_folder(tmp_path, "run folder"):
            pass
    holder.process.communicate("")
    # it takes its file along
    assert list(tmp_path.iterdir()) == []
    holder = Child(LOCK, tmp_path)
    holder.kill()
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    assert is_unused(tmp_path)
    with lock_folder(tmp_path), pytest.raises(FolderInUse), lock_folder(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


COUNT = """
import sys, time
from pathlib import Path
from meeplezoo.envs.system.locks import FolderInUse, lock_folder
folder, counter = Path(sys.argv[1]), Path(sys.argv[2])
done = 0
while done < 50:
    try:
        with lock_folder(folder):
            number = int(counter.read_text())
            counter.write_text(str(number + 1))
            done += 1
    except FolderInUse:
        time.sleep(0.0001)
"""


def test_nobody_gets_a_lock_that_another_has_while_the_file_comes_and_goes(tmp_path):
    folder, counter = tmp_path / "folder", tmp_path / "counter"
    folder.mkdir()
    counter.write_text("0")
    words = [sys.executable, "-c", COUNT, str(folder), str(counter)]
    processes = [subprocess.Popen(words) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert counter.read_text() == "150"


def test_what_is_no_folder_or_holds_a_file_is_used(tmp_path):
    assert is_unused(tmp_path / "none")
    (tmp_path / "file").touch()
    assert not is_unused(tmp_path)
    assert not is_unused(tmp_path / "file")
