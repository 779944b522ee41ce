"""Runs commands in standard streams of every condition, for test_streams: `python commands_in_streams.py FOLDER`.

Every condition is a fork of this process, which has loaded by then all that is slow to load; its standard streams are
made as Python makes them when it starts. FOLDER/CONDITION.json tells what came of it.
"""

import io
import json
import os
import pty
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import matplotlib.backends.backend_agg
import matplotlib.figure  # noqa: F401
import numpy as np
import torch._dynamo
import torch.utils.tensorboard  # noqa: F401

import meeplezoo.training.ppo
import meeplezoo.training.trainer  # noqa: F401
from meeplezoo import evaluate, make_game
from meeplezoo.cli.main import main
from meeplezoo.envs.view.pixels import Window

_TINY = {"decisions": 256, "games": 16, "rollout": 8, "minibatch": 64, "hidden": "[8]", "evaluation_games": 4}
TRAIN = [
    "train",
    "azul/own-ppo",
    *(f"{name}={value}" for name, value in _TINY.items()),
    "evaluation_opponents=[random]",
]
TOURNAMENT = ["tournament", "azul", "random", "greedy", "--rounds", "1", "--deals", "1", "--processes", "1"]
COMMANDS = {
    "version": ["--version"],
    "help": ["--help"],
    "help of a command": ["evaluate", "--help"],
    "wrong": ["evaluate", "azul", "greedy"],
    "games": ["games"],
    "record": ["record", "azul", "--agents", "random,greedy", "--games", "2", "--out", "games.jsonl"],
    "replay": ["replay", "games.jsonl"],
    "check": ["replay", "games.jsonl", "--check"],
    "evaluate": ["evaluate", "azul", "greedy", "random", "--games", "4", "--json", "table.json"],
    "play": ["play", "azul", "greedy", "random", "--seed", "1", "--option", "max_rounds=1"],
    "person": ["play", "azul", "--seed", "1"],
    "tournament": [*TOURNAMENT, "--out", "tournament"],
    "train": [*TRAIN, "run=runs/mine"],
    "runs": ["runs", "../ordinary/runs"],
    "runs as json": ["runs", "--json", "../ordinary/runs"],
    "bench": ["bench", "--only", "nothing of this name"],
}


def new_file(content: bytes = b"") -> int:
    """Return a file that has no name."""
    handle, path = tempfile.mkstemp()
    os.unlink(path)
    os.pwrite(handle, content, 0)
    return handle


def full() -> int:
    """Return a file on a disk that is full."""
    return os.open("/dev/full", os.O_WRONLY)


def without_reader() -> int:
    """Return the end of a pipe that nobody reads."""
    other, end = os.pipe()
    os.close(other)
    return end


TYPED = b"\xff\xfe\x80\n\x00\x1b[2J\xe2\x80\xae\n" + b"9" * 100_000 + b'\n{"\xff": "\x9b"}\nq\n'
CONDITIONS: dict[str, dict[str, Any]] = {
    "ordinary": {},
    "ascii": {"encoding": "ascii"},
    "stdin closed": {"stdin": None},
    "stdout closed": {"stdout": None},
    "stderr closed": {"stderr": None},
    "all closed": {"stdin": None, "stdout": None, "stderr": None},
    "stdout full": {"stdout": full},
    "stderr full": {"stderr": full},
    "stdout unread": {"stdout": without_reader},
    "stderr unread": {"stderr": without_reader},
}
_STANDARD = (("stdin", "r", "strict"), ("stdout", "w", "strict"), ("stderr", "w", "backslashreplace"))


def run(words: list[str], streams: dict[str, Any]) -> list[Any]:
    """Run a command in some streams; return exit code, output and errors, None for what is in no file."""
    # all files before one of the first descriptors is closed, which the next file would get
    files = {name: streams.get(name, new_file) and streams.get(name, new_file)() for name, *_ in _STANDARD}
    for number, (name, mode, errors) in enumerate(_STANDARD):
        if files[name] is None:
            os.close(number)
            setattr(sys, name, None)
        else:
            os.dup2(files[name], number)
            set_stream(number, name, mode, errors, streams.get("encoding", "utf-8"))
    code = main(words)
    for stream in (sys.stdout, sys.stderr):
        # as Python does at its end, where it complains about what goes wrong
        if stream is not None:
            stream.flush()
    written = [None if name in streams else os.pread(files[name], 10**7, 0) for name in ("stdout", "stderr")]
    return [code, *(None if content is None else content.decode() for content in written)]


def set_stream(number: int, name: str, mode: str, errors: str, encoding: str = "utf-8") -> None:
    """Make one of the standard streams anew."""
    binary = open(number, f"{mode}b", closefd=False)  # noqa: SIM115
    setattr(sys, name, io.TextIOWrapper(binary, encoding, errors, line_buffering=name == "stderr" or binary.isatty()))


def run_all(streams: dict[str, Any]) -> dict[str, list[Any]]:
    """Run all commands in some streams."""
    # training takes the longest, and what it does with its streams concerns standard output
    names = [name for name in COMMANDS if name != "train" or not streams or {"stdout", "encoding"} & set(streams)]
    return {name: run(COMMANDS[name], streams) for name in names}


def run_with_bytes_typed() -> list[list[Any]]:
    """Let a person type what is no UTF-8, no ASCII, or acts on terminals."""
    streams = {"stdin": lambda: new_file(TYPED)}
    return [run(COMMANDS["person"], {**streams, "encoding": encoding}) for encoding in ("utf-8", "ascii")]


def run_unread_later() -> list[Any]:
    """Train with a reader of the output that goes away, as `tee` does at Ctrl-C; return the exit code and errors."""
    other, end = os.pipe()

    def read() -> None:
        with open(other, "rb") as reader:
            # of the folder, of the beginning, and of two iterations
            for _ in range(3):
                reader.readline()

    threading.Thread(target=read).start()
    return run([*TRAIN, "run=runs/mine", "decisions=1000000000", "evaluation_interval=2"], {"stdout": lambda: end})


def run_with_ignored_interrupts() -> dict[str, list[Any]]:
    """Train and play a tournament as nohup starts them, while SIGINT comes again and again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def interrupt() -> None:
        while True:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    threading.Thread(target=interrupt, daemon=True).start()
    return {name: run(COMMANDS[name], {}) for name in ("train", "tournament", "evaluate")}


def show_window_and_be_sent(number: int) -> int:
    """Return how a process ends that shows a window and is sent a signal."""
    process = os.fork()
    if not process:
        os.environ["SDL_VIDEODRIVER"] = "dummy"
        try:
            Window().show(np.zeros((60, 80, 3), np.uint8))
            os.kill(os.getpid(), number)
            time.sleep(5)
        except KeyboardInterrupt:
            os._exit(130)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def play_at_terminal(keys: bytes, variables: dict[str, str], words: tuple[str, ...] = ()) -> list[Any]:
    """Type keys at the first prompt of a game in a terminal; return exit code and what the screen got."""
    process, terminal = pty.fork()
    if not process:
        os.environ.pop("NO_COLOR", None)
        os.environ.update({"TERM": "xterm", **variables})
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, stream in enumerate(_STANDARD):
            set_stream(number, *stream)
        os._exit(main([*COMMANDS["person"], *words]))
    screen = b""
    with suppress(OSError):
        while True:
            if select.select([terminal], [], [], 0.1)[0]:
                screen += os.read(terminal, 65536)
            elif b"q to quit): " in screen:
                # again if nothing came of it: Python misses an interrupt just before it waits for a line
                os.write(terminal, keys)
    os.close(terminal)
    return [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), screen.decode(errors="replace")]


def at_terminals() -> dict[str, list[Any]]:
    """Play in terminals of all kinds."""
    return {
        "colours": play_at_terminal(b"q\n", {}),
        "Ctrl-C": play_at_terminal(b"\x03", {}),
        "Ctrl-D": play_at_terminal(b"\x04", {}),
        "bytes": play_at_terminal(b"\xff\xfe\nq\n", {}),
        "dumb": play_at_terminal(b"q\n", {"TERM": "dumb"}),
        "dumb, asked for": play_at_terminal(b"q\n", {"TERM": "dumb"}, ("--colour", "always")),
        "NO_COLOR": play_at_terminal(b"q\n", {"NO_COLOR": "1"}),
        "never": play_at_terminal(b"q\n", {}, ("--color", "never")),
        "narrow": play_at_terminal(b"?\nq\n", {"COLUMNS": "1", "LINES": "1", "NO_COLOR": "1"}),
    }


def in_fork(folder: Path, name: str, work: Callable[[], Any]) -> None:
    """Do something in a fork, in a folder of its own, and keep what it returns."""
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        return
    try:
        (folder / name).mkdir()
        os.chdir(folder / name)
        found = work()
    except BaseException:
        found = traceback.format_exc()
    (folder / f"{name}.json").write_text(json.dumps(found))
    os._exit(0)


if __name__ == "__main__":
    # loads the kernels
    evaluate(make_game("azul"), ["greedy", "random"], 2, 0)
    path = Path(sys.argv[1])
    for condition, streams in CONDITIONS.items():
        in_fork(path, condition, lambda streams=streams: run_all(streams))
    in_fork(path, "bytes typed", run_with_bytes_typed)
    in_fork(path, "unread later", run_unread_later)
    in_fork(path, "interrupts ignored", run_with_ignored_interrupts)
    in_fork(path, "window", lambda: [show_window_and_be_sent(number) for number in (signal.SIGTERM, signal.SIGINT)])
    in_fork(path, "terminals", at_terminals)
