"""Processes of the user's own bots: nothing of them is left behind, whatever they start and whoever is killed."""

import gc
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.external import bot_process, prints, supervisor
from meeplezoo.agents.external.bot_process import BotProcess
from meeplezoo.agents.external.prints import Prints
from meeplezoo.agents.protocol import AgentFailure
from meeplezoo.envs import GameBatch, make_game

AZUL = make_game("azul")
PYTHON = shlex.quote(sys.executable)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process inherit orphans")

BOT = """
import json, os, pathlib, signal, subprocess, sys, time
folder = pathlib.Path(__file__).parent
def note():
    (folder / f"child.{os.getpid()}").touch()
%s
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready"}', flush=True)
        begin()
    elif message["type"] == "decision":
        print(json.dumps({"id": message["id"], "move": message["legal"][0]}), flush=True)
    else:
        break
"""

# what a bot may start: each notes the process that is to be found dead later
CHILDREN = {
    "child": "def begin(): subprocess.Popen(['sleep', '100']); note()",
    "session": """
def begin():
    if os.fork() == 0:
        os.setsid(); note(); time.sleep(100); os._exit(0)
""",
    "daemon": """
def begin():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid(); note(); os.closerange(0, 64); time.sleep(100)
        os._exit(0)
    os.wait()
""",
    "deaf": """
def begin():
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                note(); time.sleep(100)
            note(); time.sleep(100)
        note(); time.sleep(100)
""",
    "leader": """
def begin():
    # inherits orphans itself
    import ctypes
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(36, 1)
        os.setsid()
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.setsid(); note(); time.sleep(100)
                os._exit(0)
        time.sleep(100)
""",
}
NUMBER = {"child": 1, "session": 1, "daemon": 1, "deaf": 3, "leader": 3}


def write_bot(folder, begin):
    (folder / "bot.py").write_text(BOT % begin)
    return f"program:{PYTHON} {shlex.quote(str(folder / 'bot.py'))}"


def wait_for(found, seconds=20):
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
    return value


def children(folder, number):
    """Return the processes that a bot has noted when there are that many."""
    noted = wait_for(lambda: len(found := list(folder.glob("child.*"))) >= number and found)
    return [int(path.name.partition(".")[2]) for path in noted]


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def one_decision():
    batch = GameBatch(AZUL, 1)
    batch.reset(0)
    return DecisionBatch(AZUL, batch.states)


@LINUX
@pytest.mark.parametrize("end", ["kill", "collect"])
@pytest.mark.parametrize("kind", CHILDREN)
def test_nothing_that_a_bot_has_started_outlives_it(tmp_path, kind, end):
    agent = make_agent(write_bot(tmp_path, CHILDREN[kind]), AZUL, 0)
    left = children(tmp_path, NUMBER[kind])
    assert all(map(is_running, left))
    agent.act(one_decision())
    if end == "kill":
        agent._session._discard_process()
    else:
        del agent
        gc.collect()
    assert not any(map(is_running, left))


@LINUX
def test_daemons_of_a_bot_end_with_it_when_it_ends_by_itself(tmp_path):
    process = BotProcess(
        [sys.executable, "-c", f"__file__ = {str(tmp_path / 'bot.py')!r}\n" + (BOT % CHILDREN["daemon"])], b"", {}
    )
    process.exchange(b'{"type": "hello"}', 20)
    (left,) = children(tmp_path, 1)
    with pytest.raises(EOFError, match="ended with exit code 0"):
        process.exchange(b'{"type": "goodbye"}', 20)
    assert not is_running(left)
    process.kill()


@LINUX
@pytest.mark.parametrize("kind", ["daemon", "deaf"])
def test_nothing_of_a_bot_is_left_when_its_user_is_killed(tmp_path, kind):
    """A copy of the killed process still holds its files: the supervisor looks whether its parent lives."""
    script = f"""
import os, time
from meeplezoo.agents.external.bot_process import BotProcess
process = BotProcess([{sys.executable!r}, {str(tmp_path / "bot.py")!r}], b"", {{}})
process.exchange(b'{{"type": "hello"}}', 20)
if os.fork() == 0:
    open({str(tmp_path / "copy")!r}, "w").write(str(os.getpid()))
time.sleep(100)
"""
    write_bot(tmp_path, CHILDREN[kind])
    user = subprocess.Popen([sys.executable, "-c", script])
    left = children(tmp_path, NUMBER[kind])
    copy = int(wait_for(lambda: (tmp_path / "copy").exists() and (tmp_path / "copy").read_text()))
    user.kill()
    user.wait()
    try:
        wait_for(lambda: not any(map(is_running, left)))
    finally:
        os.kill(copy, signal.SIGKILL)


@LINUX
def test_other_children_of_the_user_are_left_alone(tmp_path):
    """Orphans of others do not become children of this process, and its own children keep their exit codes."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5); exit(7)"])
    agent = make_agent(write_bot(tmp_path, CHILDREN["daemon"]), AZUL, 0)
    (left,) = children(tmp_path, 1)
    stat = Path(f"/proc/{left}/stat").read_text().rpartition(")")[2].split()
    (supervisor_process,) = {agent._session._process._streams._supervisor.pid}
    assert int(stat[1]) == supervisor_process
    agent._session._discard_process()
    assert other.wait(20) == 7
    with pytest.raises(ChildProcessError):
        os.waitpid(supervisor_process, 0)


@LINUX
def test_a_bot_does_not_outlive_its_supervisor(tmp_path):
    agent = make_agent(write_bot(tmp_path, "def begin(): note()"), AZUL, 0)
    (bot,) = children(tmp_path, 1)
    os.kill(agent._session._process._streams._supervisor.pid, signal.SIGKILL)
    wait_for(lambda: not is_running(bot))
    # and is started anew for the next decision but one
    with pytest.raises(AgentFailure, match="the program closed its input or output"):
        agent.act(one_decision())
    assert len(agent.act(one_decision())) == 1


def test_without_orphans_the_bots_group_is_killed(tmp_path, monkeypatch):
    """As on macOS: the supervisor runs without what only Linux has."""
    own = tmp_path / "supervisor.py"
    own.write_text(Path(supervisor.__file__).read_text().replace('sys.platform != "linux"', "True"))
    monkeypatch.setattr(bot_process, "_SUPERVISOR", own)
    agent = make_agent(
        write_bot(
            tmp_path, "def begin():\n    os.fork()\n    note()\n    os.getpid() == os.getsid(0) or time.sleep(100)"
        ),
        AZUL,
        0,
    )
    left = children(tmp_path, 2)
    assert len(agent.act(one_decision())) == 1
    agent._session._discard_process()
    wait_for(lambda: not any(map(is_running, left)))


PORTABLE = """
import os, select, selectors, signal, subprocess, sys
import meeplezoo.envs
for module, names in ((os, "fork killpg set_blocking getppid"), (select, "poll"),
                      (selectors, "PollSelector EpollSelector"), (signal, "SIGKILL SIGHUP SIGALRM")):
    for name in names.split():
        delattr(module, name)
sys.platform = "win32"
import meeplezoo.agents
from meeplezoo.agents.arena import tournament
from meeplezoo.agents.external import private_memory, python_host
from meeplezoo.envs import make_game
with private_memory.private_memory():
    pass
game = make_game("azul")
assert meeplezoo.agents.make_agent("greedy", game, 0)
try:
    meeplezoo.agents.make_agent("program:echo", game, 0)
except ValueError as error:
    print(error)
"""


def test_systems_without_posix_say_so_when_a_bot_is_made_and_not_before():
    done = subprocess.run([sys.executable, "-c", PORTABLE], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == (
        "agent 'program:echo': 'echo' cannot be started: bots of your own need a POSIX system, such as Linux or macOS\n"
    ), done.stderr


# what bots print


def test_prints_are_shown_without_what_acts_on_a_terminal(capfd):
    shown = Prints("bot")
    shown.show("a\tb\r\nc\x1b[2J\x07\u202e\n")
    assert capfd.readouterr().err == "a\tb\nc\\x1b[2J\\x07\\u202e\n"


def test_prints_end_at_a_limit_that_holds_over_restarts(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(prints, "MOST_BYTES", 700)
    (tmp_path / "bot.py").write_text("def choose(position, legal):\n    print('x' * 300)\n    return 1 / 0")
    agent = make_agent(f"{tmp_path}/bot.py:choose", AZUL, 0)
    for _ in range(3):
        with pytest.raises(AgentFailure, match="ZeroDivisionError"):
            agent.act(one_decision())
        agent._session._discard_process()
    printed = capfd.readouterr().err
    assert printed.count("x") <= 700
    assert len(printed) < 900
    assert printed.count("more output of") == 1
    assert printed.endswith("bot.py:choose is not shown)\n")


def test_a_flood_of_prints_neither_blocks_nor_fills_memory(tmp_path, capfd):
    text = "def begin():\n    for _ in range(300): sys.stderr.write('y' * 99999 + chr(10))"
    agent = make_agent(write_bot(tmp_path, text), AZUL, 0)
    assert len(agent.act(one_decision())) == 1
    printed = capfd.readouterr().err
    assert len(printed) < 1.1 * prints.MOST_BYTES
    assert "is not shown" in printed


def test_a_bot_that_floods_at_the_end_is_cut_short(monkeypatch):
    monkeypatch.setattr(bot_process, "SECONDS_TO_EXIT", 0.3)
    flood = "import os\nwhile True: os.write(1, b'z' * 65536); os.write(2, b'z' * 65536)"
    process = BotProcess([sys.executable, "-c", flood], b"{}", {}, Prints("flood"))
    streams = process._streams
    began = time.monotonic()
    del process
    gc.collect()
    assert time.monotonic() - began < 5
    assert streams._supervisor.returncode is not None


SLOW = """
import sys, time
for byte in 'größe\\n'.encode():
    sys.stderr.buffer.write(bytes([byte]))
    sys.stderr.flush()
    time.sleep(0.02)
"""


def test_characters_are_whole_however_they_come(capfd):
    process = BotProcess([sys.executable, "-c", SLOW], b"", {}, Prints("bot"))
    with pytest.raises(EOFError, match="ended with exit code 0: größe"):
        process.exchange(b"", 20)
    process.kill()
    assert capfd.readouterr().err == "größe\n"


def test_the_supervisor_tells_how_a_program_ended_or_why_it_did_not_begin(tmp_path):
    for command, error in (("no/such/program", FileNotFoundError), (str(tmp_path), PermissionError)):
        with pytest.raises(error):
            BotProcess([command], b"", {})
    with pytest.raises(ValueError, match="null byte"):
        BotProcess(["echo", "\0"], b"", {})
    for program, told in (("exit(300)", "exit code 44"), ("import os; os.abort()", r"signal 6 \(Aborted\)")):
        process = BotProcess([sys.executable, "-c", program], b"", {})
        with pytest.raises(EOFError, match=f"the program (ended with|was ended by) {told}"):
            process.exchange(json.dumps({}).encode(), 20)
        process.kill()
