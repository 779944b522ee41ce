"""Systems without POSIX: nothing that Windows lacks is needed to import the package or to play.

They are simulated: the names are removed in a process of its own, after other libraries, which know their way on
Windows, have been imported. Their own checks of `sys.platform` are left alone.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from meeplezoo.agents import make_agent
from meeplezoo.agents.registry import kind_of
from meeplezoo.envs import make_game

PACKAGE = Path(__file__).parents[1]
PARTS = ("envs", "agents", "training", "configs", "benchmarks", "cli")

WITHOUT_POSIX = """
import concurrent.futures.process, importlib, multiprocessing.pool, os, pkgutil, select, selectors, shutil, signal
import subprocess, sys, tempfile, threading
import gymnasium, matplotlib.figure, numba, numpy, pettingzoo.utils, safetensors.torch, sb3_contrib, stable_baselines3
import torch, yaml
import torch.utils.tensorboard

REMOVED = {
    os: "getuid geteuid getgid getegid getgroups getpwnam fork forkpty register_at_fork setsid getsid setpgid getpgid "
    "getpgrp killpg wait wait3 wait4 waitid WNOHANG sched_getaffinity sched_setaffinity set_blocking get_blocking "
    "mkfifo mknod chown fchown fchmod chroot uname getloadavg nice posix_spawn pidfd_open memfd_create pipe2 sysconf "
    "O_NOFOLLOW O_NONBLOCK O_DIRECTORY O_CLOEXEC O_PATH statvfs openpty ttyname ctermid setuid setgid getpriority",
    select: "poll epoll POLLIN POLLOUT POLLHUP POLLERR",
    signal: "SIGKILL SIGPIPE SIGHUP SIGUSR1 SIGUSR2 SIGCHLD SIGALRM SIGSTOP SIGCONT SIGTSTP SIGQUIT SIGWINCH SIGXFSZ "
    "alarm setitimer getitimer pause siginterrupt pthread_sigmask pthread_kill sigwait sigpending sigtimedwait",
}
for module, names in REMOVED.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "readline", "syslog", "posix"):
    sys.modules[name] = None


def import_all():
    imported = []
    for part in {parts!r}:
        package = importlib.import_module("meeplezoo." + part)
        imported.append(package.__name__)
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            # `__main__` runs the command line
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
                imported.append(found.name)
    return imported

"""

PROGRAM = """
print(len(import_all()))
from meeplezoo.cli.main import main
from meeplezoo.envs.engine.compilation import cache_directory
from meeplezoo.envs import game_names

assert cache_directory() is not None
for name in game_names():
    assert main(["record", name, "--agents", "random,greedy", "--out", "games.jsonl", "--positions"]) == 0
    assert main(["replay", "games.jsonl", "--check"]) == 0
name = game_names()[0]
assert main(["replay", "games.jsonl"]) == 0
assert main(["evaluate", name, "mcts:sims=2", "greedy", "--games", "2", "--json", "table.json"]) == 0
assert main(["tournament", name, "random", "greedy", "--rounds", "1", "--deals", "1", "--processes", "1"]) == 0
assert main(["play", name, "random", "greedy", "--seed", "1"]) == 0
assert main(["runs"]) == 0
print("played")
"""


def test_everything_imports_and_plays_without_posix(tmp_path):
    """Trains nothing, and lets no bots of the user's own play."""
    program = WITHOUT_POSIX.replace("{parts!r}", repr(PARTS)) + PROGRAM
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[-1] == "played"
    assert int(lines[0]) > 150


def test_text_has_an_encoding_everywhere():
    """The usual one is another on Windows; and JSON Lines are written as bytes, whose line ends stay what they are."""
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and opens_text(node):
                assert any(keyword.arg == "encoding" for keyword in node.keywords), f"{path}:{node.lineno}"


def sources():
    found = [path for part in PARTS for path in (PACKAGE / part).rglob("*.py")]
    assert len(found) > 150
    return found


def opens_text(call):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("read_text", "write_text"):
        return True
    if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in (
        "os",
        "Image",
        "webbrowser",
        "archive",
        "one",
    ):
        return False
    texts = [
        one.value for one in (*call.args, *(each.value for each in call.keywords)) if isinstance(one, ast.Constant)
    ]
    return name == "open" and not any(isinstance(text, str) and re.fullmatch("[rwax]b[+]?", text) for text in texts)


@pytest.mark.parametrize("file", [r"C:\bots\bot.py", r"bots\bot.py", "D:/bots/bot.py"])
def test_drives_are_no_kinds_of_agents(file):
    assert kind_of(f"{file}:choose") == "FILE.py"
    with pytest.raises(ValueError, match="there is no file") as caught:
        make_agent(f"{file}:choose", make_game("azul"))
    assert repr(file) in str(caught.value)
    with pytest.raises(ValueError, match="there is no file") as caught:
        make_agent(f"net:{file}.safetensors,sims=2", make_game("azul"))
    assert repr(f"{file}.safetensors") in str(caught.value)
