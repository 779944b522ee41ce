"""Bots of the user's own: the page's examples play, nobody peeks, and every failure costs its own decision alone."""

import copy
import gc
import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from meeplezoo.agents import DecisionBatch, agent_names, make_agent
from meeplezoo.agents.arena.matches import MatchLog, play_games
from meeplezoo.agents.arena.settings import make_settings
from meeplezoo.agents.arena.short_names import short_names
from meeplezoo.agents.external import bot_process, session
from meeplezoo.agents.external.bot_file import InvalidBot, load, required_parameters
from meeplezoo.agents.external.bot_process import BotProcess
from meeplezoo.agents.external.bot_settings import split_name
from meeplezoo.agents.protocol import AgentFailure
from meeplezoo.cli.main import main
from meeplezoo.cli.record import split_agents
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.engine.random_stream import game_seeds

PAGE = Path(__file__).parents[3] / "docs/your_bot.md"
AZUL = make_game("azul")
QWIRKLE = make_game("qwirkle", board_size=26)
MANHATTAN = make_game("manhattan")
PYTHON = shlex.quote(sys.executable)


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Write the page's examples into a folder and work in it."""
    examples = re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for name, text in examples:
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert [name for name, _ in examples] == ["my_bot.py", "moves_bot.py", "batch_bot.py", "bot.py"]
    return tmp_path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(path, decide, ready='{"type": "ready"}'):
    """Write a program that begins as it should, runs `decide` (lines of Python) for decisions; return the agent text.

    `decide` knows `message`, `say` and `number`, which counts the decisions over all runs of the program.
    """
    lines = "\n".join(f"        {line}" for line in decide.splitlines())
    path.write_text(f"""
import json, os, pathlib, sys, time
count = pathlib.Path({str(path)!r}).with_suffix(".count")
pathlib.Path({str(path)!r}).with_suffix(".pid").write_text(str(os.getpid()))
def say(**answer):
    print(json.dumps(answer), flush=True)
def first():
    say(id=message["id"], move=message["legal"][0])
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print({ready!r}, flush=True)
    elif message["type"] == "decision":
        number = int(count.read_text()) if count.exists() else 0
        count.write_text(str(number + 1))
{lines}
    else:
        break
""")
    return f"program:{PYTHON} {shlex.quote(str(path))}"


def begun(game, number, plies=0, seed=1):
    """Return a batch after some random plies."""
    batch = GameBatch(game, number)
    batch.reset(seed)
    for _ in range(plies):
        batch.step(batch.random_actions())
    return batch


def decisions(game, number, plies=0, seconds=None):
    return DecisionBatch(game, begun(game, number, plies).states, seconds_per_move=seconds)


def failures(agent, asked):
    """Return the actions and reasons of a call in which decisions fail."""
    with pytest.raises(AgentFailure) as caught:
        agent.act(asked)
    failure = caught.value
    failed = np.flatnonzero(failure.actions < 0).tolist()
    assert sorted(failure.reasons) == failed
    for index in set(range(len(asked))) - set(failed):
        assert asked.mask[index, failure.actions[index]]
    return failure.actions, failure.reasons


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def process_of(agent):
    return agent._session._process


# the page


@pytest.mark.parametrize(
    ("text", "games"),
    [
        ("my_bot.py:choose", [AZUL]),
        ("moves_bot.py:choose", [AZUL, QWIRKLE]),
        ("batch_bot.py:MyBot", [AZUL]),
        (f"program:{PYTHON} bot.py", [AZUL, QWIRKLE, MANHATTAN]),
    ],
)
def test_examples_of_the_page_play(page, text, games):
    for game in games:
        agent = make_agent(text, game, 5)
        assert agent.name == text
        agents = [agent, make_agent("random", game, 6)]
        seatings = np.array([[0, 1, 1, 1], [1, 0, 1, 1]])[:, : game.num_players]
        batch = play_games(game, agents, game_seeds(1, 2), seatings)
        assert (batch.states["status"] != 0).all()


def test_the_page_tells_the_protocol_that_is_spoken(page, monkeypatch):
    sent, received = [], []
    plain = BotProcess.exchange

    def exchange(self, line, seconds):
        sent.append(json.loads(line))
        answer = plain(self, line, seconds)
        received.append(json.loads(answer))
        return answer

    monkeypatch.setattr(BotProcess, "exchange", exchange)
    make_agent(f"program:{PYTHON} bot.py", AZUL, 5).act(decisions(AZUL, 1))
    rows = re.findall(r"^\| `(\{\"type\": \"(?:hello|decision).*?)` \| `(.*?)`", PAGE.read_text(), re.MULTILINE)
    assert [tuple(re.findall(r'"(\w+)": ', told)) for told, _ in rows] == [tuple(message) for message in sent]
    assert [tuple(re.findall(r'"(\w+)": ', said)) for _, said in rows] == [tuple(message) for message in received]
    assert sent[0]["protocol"] == "meeplezoo-bot/1"
    assert (sent[0]["game"], sent[0]["options"]) == ("azul", AZUL.options)
    state = begun(AZUL, 1).states[0]
    assert sent[1]["legal"] == AZUL.legal_moves(state)
    assert sent[1]["position"] == AZUL.position(state)
    assert sent[1]["player"] == state["to_move"]


def test_bots_are_named_on_the_command_line_and_in_environments(page, capfd):
    bot = f"program:{PYTHON} bot.py"
    assert main(["evaluate", "azul", bot, "random", "--games", "2"]) == 0
    assert bot in capfd.readouterr().out
    env = gymnasium.make("meeplezoo.envs:meeplezoo/Azul-v0", opponents=bot, seat=1)
    _, info = env.reset(seed=7)
    assert info["action_mask"].any()
    env.close()
    assert main(["games"]) == 0
    out = capfd.readouterr().out
    assert "program:COMMAND, a program of your own" in out
    assert "FILE.py:NAME, a function or class of your own" in out
    assert {"random", "greedy", "program", "FILE.py"} < set(agent_names())


# what is no bot


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bots/mine.py:choose", "there is no file 'bots/mine.py'"),
        ("bots/mine.py", r"lacks the name of a function or class in the file; write FILE\.py:NAME"),
        ("bots/mine.py:", "lacks the name of a function or class"),
        ("mine.python:choose", "there is no agent 'mine.python'; the agents are random, greedy, "),
        ("program:", "there is no command; write program:COMMAND"),
        ("program:'bot", "the command cannot be read"),
        ("program:./no_such_bot", "'./no_such_bot' cannot be started: No such file or directory"),
        (f"program:{PYTHON} -c 'exit(4)'", "the program ended with exit code 4"),
        (f"program:{PYTHON} -c 'print(1, flush=True); input()'", "answered 1, which is no JSON object"),
        (f"program:{PYTHON} -c 'print(\"hi\", flush=True); input()'", "answered no JSON: hi"),
        (f"program:{PYTHON} -c 'print(\"{{}}\", flush=True); input()'", r"answered \{\} to the hello"),
    ],
)
def test_what_is_no_bot_is_refused_at_once(folder, text, message):
    with pytest.raises(ValueError, match=message):
        make_agent(text, AZUL, 0)


def test_a_program_may_refuse_and_has_to_be_ready_in_time(folder, monkeypatch):
    refused = program(folder / "refuses.py", "", ready='{"type": "refused", "reason": "plays nothing but chess"}')
    with pytest.raises(ValueError, match="plays nothing but chess"):
        make_agent(refused, AZUL, 0)
    monkeypatch.setattr(session, "SECONDS_TO_START", 0.2)
    with pytest.raises(ValueError, match=r"did not say ready within 0\.2 s"):
        make_agent("program:sleep 60", AZUL, 0)


def test_files_without_a_bot_are_refused_with_the_reason(folder):
    (folder / "deep").mkdir()
    file = folder / "deep/random.py"
    file.write_text("import neighbour\n1 / neighbour.ZERO\n")
    (folder / "deep/neighbour.py").write_text("ZERO = 0\n")
    with pytest.raises(
        ValueError, match=r"cannot be imported: ZeroDivisionError: division by zero \(random.py, line 2"
    ):
        make_agent("deep/random.py:choose", AZUL, 0)
    file.write_text(
        "class Bot:\n    def __init__(self, game, seed):\n        raise OSError('no weights')\n    act = 1 .real"
    )
    with pytest.raises(ValueError, match=r"Bot\(game, seed\) without act is no bot: a function takes .* a class takes"):
        make_agent("deep/random.py:Bot", AZUL, 0)
    file.write_text(file.read_text().replace("act = 1 .real", "def act(self, decisions): pass"))
    with pytest.raises(ValueError, match=r"Bot cannot be made: OSError: no weights \(random\.py, line 3\)"):
        make_agent("deep/random.py:Bot", AZUL, 0)


def test_files_are_read_like_scripts(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    file = folder / "some.py"
    file.write_text("def choose(observation, mask): pass\ntable = [1]\n")
    assert required_parameters(load(file, "choose"), "choose") == {"observation", "mask"}
    with pytest.raises(InvalidBot, match=r"some\.py has no 'chose'; it has choose$"):
        load(file, "chose")
    with pytest.raises(InvalidBot, match=r"table is no function or class, but \[1\]"):
        required_parameters(load(file, "table"), "table")
    for text, reason in [("def (", "SyntaxError: invalid syntax"), ("import sys; sys.exit('no')", "SystemExit: no")]:
        file.write_text(text)
        with pytest.raises(InvalidBot, match=rf"some\.py cannot be imported: {reason}"):
            load(file, "choose")


def a_class(init):
    names = {}
    exec(f"class Bot:\n    {init}\n    def act(self, decisions): pass", names)
    return names["Bot"]


@pytest.mark.parametrize(
    ("thing", "wanted"),
    [
        (lambda observation, mask: 0, {"observation", "mask"}),
        (lambda mask, observation, random=None: 0, {"observation", "mask", "random"}),
        (lambda position: 0, {"position"}),
        (lambda position, depth=3, **more: 0, {"position"}),
        (lambda legal, position, *, random: 0, {"position", "legal", "random"}),
        (a_class("pass"), set()),
        (a_class("def __init__(self, seed, depth=2): pass"), {"seed"}),
        (a_class("def __init__(self, game, seed): pass"), {"game", "seed"}),
    ],
)
def test_parameters_tell_the_kind(thing, wanted):
    assert required_parameters(thing, "bot") == wanted


@pytest.mark.parametrize(
    "thing",
    [
        lambda: 0,
        lambda observation: 0,
        lambda mask, random: 0,
        lambda legal: 0,
        lambda observation, mask, position: 0,
        lambda position, depth: 0,
        lambda position, /: 0,
        lambda *arguments: 0,
        a_class("def __init__(self, weights): pass"),
        int,
    ],
)
def test_other_parameters_are_refused(thing):
    with pytest.raises(InvalidBot, match=r"is no bot: a function takes \(observation, mask\), \(position\) or "):
        required_parameters(thing, "bot")


# failures

FUNCTION = """
import os, pathlib, sys, time
count = pathlib.Path(__file__).with_suffix(".count")

def choose(observation, mask):
    number = int(count.read_text()) if count.exists() else 0
    count.write_text(str(number + 1))
    print('{"id": 1, "action": 0}')
    sys.stdin.read()
    if number == 1:
        return 1 / 0
    if number == 2:
        return 10**20
    if number == 3:
        return 0.5
    if number == 4:
        sys.exit("out of order")
    if number == 6:
        while True:
            pass
    if number == 8:
        return int(mask.argmin())
    if number == 9:
        os.kill(os.getpid(), 11)
    return mask.argmax()
"""


def test_failures_of_a_function_cost_their_own_decisions(folder, capfd):
    (folder / "odd.py").write_text(FUNCTION)
    agent = make_agent("odd.py:choose", AZUL, 0)
    asked = decisions(AZUL, 11, 4, seconds=0.5)
    began = time.monotonic()
    actions, reasons = failures(agent, asked)
    assert time.monotonic() - began < 20
    assert reasons == {
        1: "crashed: ZeroDivisionError: division by zero (odd.py, line 11)",
        2: "answered 100000000000000000000, which is not a legal move",
        3: "answered 0.5, which is not a legal move",
        4: "the program ended with exit code 1: out of order",
        6: "took longer than 0.5 s for a move",
        8: f"answered {asked.mask[8].argmin()}, which is not a legal move",
        9: 'the program was ended by signal 11 (Segmentation fault): {"id": 1, "action": 0}',
    }
    good = [0, 5, 7, 10]
    np.testing.assert_array_equal(actions[good], asked.mask[good].argmax(axis=1))
    # what it printed went to stderr, with the traceback of the first crash
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count('{"id": 1, "action": 0}') == 11
    assert err.count("Traceback") == 1


def test_failures_of_a_class(folder):
    (folder / "odd.py").write_text("""
import time
import numpy as np

class Bot:
    def __init__(self):
        self.calls = 0

    def act(self, decisions):
        self.calls += 1
        actions = decisions.mask.argmax(axis=1)
        assert decisions.seconds_per_move == 0.2
        if self.calls == 1:
            actions[1], actions[2] = -1, 10**6
        elif self.calls == 2:
            return actions[:2]
        elif self.calls == 3:
            return actions / 2
        elif self.calls == 4:
            raise KeyError("weights")
        elif self.calls == 5:
            time.sleep(0.4)
        elif self.calls == 6:
            time.sleep(60)
        return actions
""")
    agent = make_agent("odd.py:Bot", AZUL, 0)
    asked = decisions(AZUL, 3, seconds=0.2)
    _, reasons = failures(agent, asked)
    assert reasons == {
        1: "answered -1, which is not a legal move",
        2: "answered 1000000, which is not a legal move",
    }
    first = process_of(agent)
    for reason in (
        "answered int64 of shape (2,), not 3 integer actions",
        "answered float64 of shape (3,), not 3 integer actions",
        "crashed: KeyError: 'weights' (odd.py, line 20)",
    ):
        _, reasons = failures(agent, asked)
        assert reasons == dict.fromkeys(range(3), reason)
    # three decisions have three times the limit
    np.testing.assert_array_equal(agent.act(asked), asked.mask.argmax(axis=1))
    assert process_of(agent) is first
    began = time.monotonic()
    _, reasons = failures(agent, asked)
    assert 0.6 <= time.monotonic() - began < 3
    assert reasons == dict.fromkeys(range(3), "took longer than 0.6 s for 3 moves")
    assert len(agent.act(DecisionBatch(AZUL, asked._states[:0]))) == 0


def test_failures_of_a_program_cost_their_own_decisions(folder, monkeypatch, capfd):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    text = program(
        folder / "odd.py",
        """
if number == 1: say(id=message["id"], move={"source": 77})
elif number == 2: print("thinking ...", flush=True); first()
elif number == 3: print("fault", file=sys.stderr); sys.exit(3)
elif number == 4: time.sleep(60)
elif number == 5: say(id=message["id"] + 1, move=message["legal"][0])
elif number == 6: say(id=message["id"])
elif number == 7: print('{"id": %d' % message["id"]); time.sleep(60)  # not flushed
elif number == 8: say(id=message["id"], move="x" * 500)
elif number == 9: os.close(1); time.sleep(60)
elif number == 10: print("[" * 100000, flush=True)
elif number == 11: sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()
elif number == 12: say(id=message["id"], move=None)
elif number == 13: print(json.dumps([message["id"]]), flush=True)
else: first()""",
    )
    agent = make_agent(text, AZUL, 0)
    asked = decisions(AZUL, 15, 4, seconds=0.8)
    _, reasons = failures(agent, asked)
    assert re.fullmatch(r'answered \{"id": 7, "move": \{.* to the decision with the id 6', reasons.pop(5))
    assert reasons == {
        1: 'answered {"source": 77}, which is not a legal move',
        2: "answered no JSON: thinking ...",
        3: "the program ended with exit code 3: fault",
        4: "took longer than 0.8 s for a move",
        6: "answered without the key 'move'",
        7: "took longer than 0.8 s for a move",
        8: f'answered "{"x" * 76}..., which is not a legal move',
        9: "the program closed its input or output",
        10: f"answered no JSON: {'[' * 77}...",
        11: "answered no JSON: \ufffd",
        12: "answered null, which is not a legal move",
        13: "answered [14], which is no JSON object",
    }
    assert capfd.readouterr().err == "fault\n"


def test_a_program_that_cannot_be_started_again_fails_with_that_reason(folder):
    text = program(folder / "once.py", "if number == 1: os.remove(sys.argv[0]); sys.exit(1)\nfirst()")
    agent = make_agent(text, AZUL, 0)
    _, reasons = failures(agent, decisions(AZUL, 4))
    assert sorted(reasons) == [1, 2, 3]
    assert reasons[1] == "the program ended with exit code 1"
    assert re.match("could not be started again: the program ended with exit code 2: .*can't open file", reasons[3])


def test_more_than_a_pipe_holds_goes_both_ways_in_time(folder):
    text = program(
        folder / "loud.py",
        """
sys.stderr.write('x' * 300000 + chr(10))
sys.stderr.flush()
say(id=message['id'], move=message['legal'][0], why='y' * 300000)""",
    )
    agent = make_agent(text, QWIRKLE, 0)
    assert len(agent.act(decisions(QWIRKLE, 3, seconds=5))) == 3
    # a program that reads nothing: a message larger than the pipe cannot be written
    deaf = BotProcess(["sleep", "60"], b"", {})
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        deaf.exchange(b"x" * 10**6, 0.2)
    assert time.monotonic() - began < 2
    deaf.kill()
    chatty = BotProcess([sys.executable, "-c", "while True: print('x' * 99, end='')"], b"", {})
    with pytest.raises(EOFError, match="a line without an end"):
        chatty.exchange(b"", 20)
    chatty.kill()


def test_no_time_of_a_bot_is_spent_on_compiling():
    script = """
import numpy as np
from meeplezoo.agents import DecisionBatch
from meeplezoo.agents.external.requests import warm_up
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.engine.batch import determinize_games, write_masks, write_observations
game = make_game("manhattan")
warm_up(game)
kernels = (write_masks, write_observations, determinize_games)
print([len(kernel.signatures) for kernel in kernels])
batch = GameBatch(game, 3)
batch.reset(0)
for states in (batch.states, np.frombuffer(bytearray(batch.states[1:2].tobytes()), batch.states.dtype)):
    decisions = DecisionBatch(game, states)
    decisions.mask, decisions.observation, decisions.determinize(np.ones(4, np.uint32))
    game.legal_moves(states[0]), game.position(states[0])
print([len(kernel.signatures) for kernel in kernels])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    before, after = done.stdout.splitlines()
    assert before == after == "[1, 1, 1]"


# processes


def test_no_process_is_left_behind(folder, monkeypatch):
    monkeypatch.setattr(bot_process, "SECONDS_TO_EXIT", 0.3)
    child = "import subprocess; pathlib.Path('child').write_text(str(subprocess.Popen(['sleep', '60']).pid))\nfirst()"
    for name, decide in (("polite", "first()"), ("parent", child), ("deaf", "first(); time.sleep(60)")):
        agent = make_agent(program(folder / f"{name}.py", decide), AZUL, 0)
        agent.act(decisions(AZUL, 1))
        pid = int((folder / f"{name}.pid").read_text())
        assert is_running(pid)
        began = time.monotonic()
        del agent
        gc.collect()
        assert not is_running(pid)
        assert time.monotonic() - began < 2
    sleeper = int((folder / "child").read_text())
    for _ in range(100):
        if not is_running(sleeper):
            break
        time.sleep(0.01)
    assert not is_running(sleeper) or Path(f"/proc/{sleeper}/stat").read_text().split()[2] == "Z"


@pytest.mark.parametrize("end", ["", "1 / 0"])
def test_bots_end_with_python(folder, end):
    text = program(folder / "bot.py", "first()")
    script = f"""
from meeplezoo.agents import make_agent
from meeplezoo.envs import make_game
agent = make_agent({text!r}, make_game("azul"), 0)
{end}
"""
    subprocess.run([sys.executable, "-c", script], timeout=60, check=False, stderr=subprocess.DEVNULL)
    assert not is_running(int((folder / "bot.pid").read_text()))


def test_a_python_bot_that_runs_for_ever_ends_when_python_is_killed(folder):
    (folder / "loop.py").write_text(
        "import os, pathlib\ndef choose(position):\n"
        "    pathlib.Path('loop.new').write_text(str(os.getpid())); os.rename('loop.new', 'loop.pid')\n"
        "    while True: pass\n"
    )
    script = """
from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.envs import GameBatch, make_game
batch = GameBatch(make_game("azul"), 1)
batch.reset(0)
make_agent("loop.py:choose", batch.game, 0).act(DecisionBatch(batch.game, batch.states))
"""
    player = subprocess.Popen([sys.executable, "-c", script])
    pid = wait_for(lambda: int(Path("loop.pid").read_text()) if Path("loop.pid").exists() else None)
    assert is_running(pid)
    player.kill()
    player.wait()
    assert wait_for(lambda: not is_running(pid) or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z")


def wait_for(found):
    for _ in range(2000):
        value = found()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def test_an_interrupted_question_is_not_answered_later(folder):
    agent = make_agent(program(folder / "slow.py", "if number == 0: time.sleep(60)\nfirst()"), AZUL, 0)
    asked = decisions(AZUL, 1)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            agent.act(asked)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert process_of(agent) is None
    np.testing.assert_array_equal(agent.act(asked), asked.mask.argmax(axis=1))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_starts_a_process_of_its_own(folder):
    text = program(folder / "bot.py", "say(id=message['id'], move=message['legal'][0 if number < 2 else 1])")
    agent = make_agent(text, AZUL, 0)
    asked = decisions(AZUL, 1)
    pid = (folder / "bot.pid").read_text()
    agent.act(asked)
    child = os.fork()
    if child == 0:
        same = agent.act(asked)[0] == asked.mask[0].argmax() and (folder / "bot.pid").read_text() != pid
        del agent
        gc.collect()
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert is_running(int(pid))
    assert agent.act(asked)[0] > asked.mask[0].argmax()


# seeds and copies

RANDOM_BOTS = """
import random as plain
import numpy as np

def choose(observation, mask, random):
    return random.choice(np.flatnonzero(mask))

def own(position, legal):
    return plain.choice(legal)

class Bot:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
    def act(self, decisions):
        return (decisions.mask * self.random.random(decisions.mask.shape)).argmax(axis=1)
"""


@pytest.mark.parametrize("name", ["choose", "own", "Bot", "program"])
def test_seeds_restarts_and_copies(page, name):
    (page / "seeded.py").write_text(RANDOM_BOTS)
    text = f"program:{PYTHON} bot.py" if name == "program" else f"seeded.py:{name}"
    agent = make_agent(text, AZUL, 4)
    twin = pickle.loads(pickle.dumps(agent))
    other = copy.deepcopy(agent)
    asked = decisions(AZUL, 12)
    first, second = agent.act(asked), agent.act(asked)
    assert (first != second).any()
    process = process_of(agent)
    agent.reset(5)
    assert (agent.act(asked) != first).any()
    agent.reset(4)
    np.testing.assert_array_equal(agent.act(asked), first)
    np.testing.assert_array_equal(agent.act(asked), second)
    assert process_of(agent) is process
    for same in (twin, other):
        assert (same.name, process_of(same)) == (text, None)
    np.testing.assert_array_equal(twin.act(asked), first)


def test_a_restart_that_fails_shows_in_the_next_decision_alone(folder):
    text = program(folder / "bot.py", "first()")
    agent = make_agent(text, AZUL, 0)
    os.kill(int((folder / "bot.pid").read_text()), signal.SIGKILL)
    agent.reset(1)
    assert process_of(agent) is None
    assert len(agent.act(decisions(AZUL, 2))) == 2
    os.kill(int((folder / "bot.pid").read_text()), signal.SIGKILL)
    (folder / "bot.py").write_text("exit('no more')")
    agent.reset(2)
    _, reasons = failures(agent, decisions(AZUL, 2))
    assert set(reasons.values()) == {"could not be started again: the program ended with exit code 1: no more"}


# nobody peeks

SHOWN = """
import json
def choose(position, legal):
    with open("shown", "a") as file:
        file.write(json.dumps(position) + "\\n")
    return legal[0]
"""


@pytest.fixture
def wire(monkeypatch):
    """Keep every line that is sent to a bot."""
    lines = []
    plain = BotProcess.exchange

    def exchange(self, line, seconds):
        lines.append(line)
        return plain(self, line, seconds)

    monkeypatch.setattr(BotProcess, "exchange", exchange)
    return lines


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        *((game, kind) for game in (AZUL, QWIRKLE, MANHATTAN) for kind in ("class", "program")),
        (QWIRKLE, "function"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_what_is_hidden_changes_no_byte_of_what_is_sent(page, wire, game, kind):
    (page / "shown.py").write_text(SHOWN)
    text = {"class": "batch_bot.py:MyBot", "function": "shown.py:choose", "program": f"program:{PYTHON} bot.py"}[kind]
    truth = begun(game, 8, 45).states
    alike = DecisionBatch(game, truth).determinize(np.arange(4, dtype=np.uint32) + 9)
    alike["seed"] += 1
    changed = {name for name in truth.dtype.names if (truth[name] != alike[name]).any()}
    assert {"seed", "random"} < changed | {"hands"}
    assert ("hands" in changed) == (game is not AZUL)
    agent = make_agent(text, game, 3)
    agent.act(DecisionBatch(game, truth))
    sent = list(wire)
    assert len(sent) == (2 if kind == "class" else 9)
    wire.clear()
    agent.reset(3)
    agent.act(DecisionBatch(game, alike))
    assert wire == sent
    # another seed of the agent deals other hands, and none of its messages tells a seed of the game
    wire.clear()
    agent.reset(4)
    agent.act(DecisionBatch(game, truth))
    assert (wire[1:] != sent[1:]) == ((game, kind) != (AZUL, "program"))
    assert json.loads(wire[0])["seed"] not in {3, 4, *truth["seed"].tolist()}


@pytest.mark.parametrize("game", [QWIRKLE, MANHATTAN], ids=lambda game: game.name)
def test_a_bot_is_never_shown_the_hands_of_others(page, game):
    (page / "shown.py").write_text(SHOWN)
    agent = make_agent("shown.py:choose", game, 1)
    truths = []

    def on_step(games, states, actions):
        truths.extend(state.copy() for state in states[states["to_move"] == 0])

    agents = [agent, make_agent("greedy", game, 2)]
    seatings = np.tile([0, 1, 1, 1], (2, 1))[:, : game.num_players]
    play_games(game, agents, game_seeds(1, 2), seatings, on_step)
    positions = [json.loads(line) for line in (page / "shown").read_text().splitlines()]
    assert len(positions) == len(truths) > 40
    compared = 0
    for shown, state in zip(positions, truths, strict=True):
        truth = game.position(state)
        assert shown["hands"][0] == truth["hands"][0]
        assert list(map(len, shown["hands"])) == list(map(len, truth["hands"]))
        hidden = ("hands", "bag", "deck")
        assert {key: shown[key] for key in shown if key not in hidden} == {
            key: truth[key] for key in truth if key not in hidden
        }
        # while much is hidden, the same six tiles or three times the same four cards do not come by chance
        if game is MANHATTAN or sum(truth["bag"].values()) >= 30:
            compared += 1
            assert shown["hands"][1:] != truth["hands"][1:]
    assert compared > 40


def test_a_class_gets_nothing_but_redealt_states(page):
    (page / "keeps.py").write_text("""
import numpy as np
class Bot:
    def act(self, decisions):
        np.save("states.npy", decisions._states.view(np.uint8))
        np.savez("parts.npz", mask=decisions.mask, observation=decisions.observation, seats=decisions.seats)
        return decisions.mask.argmax(axis=1)
""")
    truth = begun(MANHATTAN, 8, 45).states
    make_agent("keeps.py:Bot", MANHATTAN, 1).act(DecisionBatch(MANHATTAN, truth))
    states = np.load("states.npy").view(truth.dtype)
    asked = DecisionBatch(MANHATTAN, truth)
    assert (states["seed"] == 0).all()
    assert (states["random"] != truth["random"]).all(axis=1).all()
    for index in range(8):
        others = np.arange(4) != asked.seats[index]
        assert (states["hands"][index] != truth["hands"][index])[others].any()
        np.testing.assert_array_equal(
            states["hands"][index, asked.seats[index]], truth["hands"][index, asked.seats[index]]
        )
    with np.load("parts.npz") as parts:
        for name in ("mask", "observation", "seats"):
            np.testing.assert_array_equal(parts[name], getattr(asked, name))


# which game, settings, names

INDEXED = """
import json
import numpy as np

def note(index, ply, shown):
    with open("noted", "a") as file:
        file.write(json.dumps([int(index), int(ply), shown]) + chr(10))

def choose(observation, mask, game_index, ply):
    note(game_index, ply, float(observation.sum()))
    return mask.argmax()

class Bot:
    def act(self, decisions):
        for index, ply, shown in zip(decisions.game_indices, decisions.plies, decisions.observation.sum(axis=1)):
            note(index, ply, float(shown))
        assert decisions.game_indices.dtype == decisions.plies.dtype == np.int64
        return decisions.mask.argmax(axis=1)
"""


@pytest.mark.parametrize("kind", ["choose", "Bot", "program"])
def test_a_bot_is_told_which_game_a_decision_belongs_to(folder, monkeypatch, kind):
    (folder / "indexed.py").write_text(INDEXED)
    note = "open('noted', 'a').write(json.dumps([message['game_index'], message['ply'], 0.0]) + chr(10))\nfirst()"
    text = program(folder / "bot.py", note) if kind == "program" else f"indexed.py:{kind}"
    agents = [make_agent(text, AZUL, 1), make_agent("greedy", AZUL, 2)]
    seen = []

    def on_step(games, states, actions):
        own = states["to_move"] == games % 2
        shown = DecisionBatch(AZUL, states).observation.sum(axis=1, dtype=np.float32)
        for game, state, value in zip(games[own], states[own], shown[own], strict=True):
            seen.append([int(game) + 7, int(state["ply"]), 0.0 if kind == "program" else float(value)])

    play_games(AZUL, agents, game_seeds(3, 4), np.array([[0, 1], [1, 0]] * 2), on_step, first_index=7)
    noted = [json.loads(line) for line in (folder / "noted").read_text().splitlines()]
    assert noted == seen
    assert {index for index, _, _ in noted} == {7, 8, 9, 10}


def test_decisions_number_their_games_themselves_if_nobody_else_does():
    asked = decisions(AZUL, 3, 5)
    assert asked.game_indices.tolist() == [0, 1, 2]
    assert asked.plies.tolist() == [5, 5, 5]


def test_in_an_environment_the_index_is_the_place_of_the_game():
    noted = []

    class Noting:
        name = "noting"

        def act(self, decisions):
            noted.append((decisions.game_indices.tolist(), decisions.plies.tolist()))
            return decisions.mask.argmax(axis=1)

    env = gymnasium.make_vec("meeplezoo.envs:meeplezoo/Azul-v0", 4, opponents=Noting(), seat="rotate")
    _, infos = env.reset(seed=1)
    # in rotation the learner begins the games 0 and 2
    assert noted == [([1, 3], [0, 0])]
    env.step(infos["action_mask"].argmax(axis=1))
    assert noted[1:] == [([0, 1, 2, 3], [1, 2, 1, 2])]
    env.close()


SETTINGS = """
class Bot:
    def __init__(self, game, seed, sims=50, share=0.5, bold=False, style="calm"):
        print(repr((sims, share, bold, style)))
    def act(self, decisions):
        return decisions.mask.argmax(axis=1)

class Any:
    def __init__(self, **settings):
        print(settings)
    act = Bot.act

def choose(observation, mask, depth, width=2):
    print(repr((depth, width)))
    return mask.argmax()
"""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Bot", "(50, 0.5, False, 'calm')"),
        ("Bot,sims=7,share=1e-1,bold=true,style=a:b=c", "(7, 0.1, True, 'a:b=c')"),
        ("Bot,style=,share=-2,bold=False", "(50, -2, False, '')"),
        ("Any,sims=7,seeds=x", "{'sims': 7, 'seeds': 'x'}"),
        ("choose,depth=3", "(3, 2)"),
    ],
)
def test_settings_stand_behind_the_name(folder, capfd, text, shown):
    (folder / "set.py").write_text(SETTINGS)
    agent = make_agent(f"set.py:{text}", AZUL, 0)
    assert len(agent.act(decisions(AZUL, 1))) == 1
    assert agent.name == f"set.py:{text}"
    assert capfd.readouterr().err == f"{shown}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Bot,sim=7", "Bot has no setting 'sim'; its settings are sims, share, bold, style"),
        ("Bot,seed=7", "Bot has no setting 'seed'; its settings are sims"),
        ("choose,depth=3,mask=1", "choose has no setting 'mask'; its settings are depth, width"),
        ("choose", r"choose\(observation, mask, depth, width\) is no bot"),
    ],
)
def test_settings_that_a_bot_does_not_have_are_refused(folder, text, message):
    (folder / "set.py").write_text(SETTINGS)
    with pytest.raises(ValueError, match=message):
        make_agent(f"set.py:{text}", AZUL, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("set.py:Bot,50", "'50' is no setting; write FILE.py:NAME,SETTING=VALUE"),
        ("set.py:Bot,", "'' is no setting"),
        ("set.py:Bot,a b=1", "'a b=1' is no setting"),
        ("set.py:Bot,sims=1,sims=2", "sims is given twice"),
        ("set.py:,sims=1", "lacks the name of a function or class"),
    ],
)
def test_texts_that_are_no_settings_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        split_name(text)


def test_values_of_settings_are_what_they_look_like():
    text = "a/b.py:Bot,a=1,b=-1.5,c=1e3,d=TRUE,e=none,f=1_000,g=0x10,h=nan,i=" + "9" * 400
    file, name, settings = split_name(text)
    assert (file, name) == ("a/b.py", "Bot")
    assert list(settings.values()) == [1, -1.5, 1000.0, True, "none", "1_000", "0x10", "nan", float("inf")]
    assert type(settings["c"]) is float


def test_records_are_made_of_agents_with_settings(folder):
    assert split_agents("mcts:sims=5,leaf=random,a.py:Bot,sims=3,greedy") == [
        *("mcts:sims=5,leaf=random", "a.py:Bot,sims=3", "greedy")
    ]
    (folder / "set.py").write_text(SETTINGS)
    words = ["record", "azul", "--agents", "set.py:Any,sims=3,more=x,greedy", "--out", "out.jsonl"]
    assert main(words) == 0
    assert json.loads((folder / "out.jsonl").read_text())["agents"] == ["set.py:Any,sims=3,more=x", "greedy"]


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["greedy", "net:runs/a/best.safetensors"], ["greedy", "net:runs/a/best.safetensors"]),
        (["bots/a.py:f,x=/y/z", "/b c/d.py:f"], ["a.py:f,x=/y/z", "d.py:f"]),
        (["a/x.py:f", "b/x.py:f", "c/y.py:f"], ["a/x.py:f", "b/x.py:f", "y.py:f"]),
        (["x.py:f", "b/x.py:f"], ["x.py:f", "b/x.py:f"]),
        (["b/x.py:f", "b/x.py:f"], ["x.py:f", "x.py:f"]),
        (["program:python3 /l/p/x.py --level 3"], ["program:python3 x.py --level 3"]),
        (["program:/usr/bin/python3 'a b/x.py' --at=/c/d"], ["program:python3 a b/x.py --at=/c/d"]),
        (["program:sh -c 'cat a/b | c'"], ["program:sh -c cat a/b | c"]),
        (["program:'x"], ["program:'x"]),
        ([f"program:x {'y' * 50}"], [f"program:x {'y' * 27}..."]),
    ],
)
def test_names_in_tables_are_short_and_different(texts, names):
    assert short_names(texts) == names


def test_tables_name_bots_shortly_and_files_whole(folder, capsys):
    (folder / "deep").mkdir()
    program(folder / "deep/bot.py", "first()")
    text = f"program:{PYTHON} deep/bot.py"
    short = f"program:{Path(sys.executable).name} bot.py"
    assert main(["evaluate", "azul", text, "random", "--games", "2", "--json", "out.json"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert sum(row.startswith(f"{short}  ") for row in rows) == 1
    assert f"{short}: {text}" in rows
    assert json.loads((folder / "out.json").read_text())["agents"][0]["name"] == text
    words = ["tournament", "azul", text, "random", "--rounds", "1", "--deals", "1", "--processes", "1", "--out", "cup"]
    assert main([*words, "--anchor", text]) == 0
    assert f"{short}  " in capsys.readouterr().out
    results = json.loads((folder / "cup/results.json").read_text())
    assert {agent["name"]: agent["agent"] for agent in results["agents"]} == {short: text, "random": "random"}
    assert results["anchor"] == short


# time to start


def test_time_to_start_is_given_apart_from_that_of_moves(folder):
    text = program(folder / "slow.py", "if number == 0: sys.exit(1)\nfirst()")
    (folder / "slow.py").write_text("import time\ntime.sleep(1)\n" + (folder / "slow.py").read_text())
    with pytest.raises(ValueError, match=r"did not say ready within 0\.3 s"):
        make_agent(text, AZUL, 0, start_seconds=0.3)
    agent = make_agent(text, AZUL, 0, start_seconds=60)
    log = MatchLog(2, 2, 0.8)
    agents = [agent, make_agent("random", AZUL, 1)]
    began = time.perf_counter()
    play_games(AZUL, agents, game_seeds(1, 2), np.array([[0, 1], [0, 1]]), None, log)
    elapsed = time.perf_counter() - began
    # the first decision ends the process, for the second one it is started anew
    assert log.failures == {0: (0, "the program ended with exit code 1")}
    assert agent.seconds_starting > 1
    assert log.seconds.sum() + agent.seconds_starting < elapsed


def test_commands_give_bots_time_to_start(folder, capsys, monkeypatch):
    text = program(folder / "slow.py", "first()")
    (folder / "slow.py").write_text("import time\ntime.sleep(0.6)\n" + (folder / "slow.py").read_text())
    for words in (
        ["evaluate", "azul", text, "random", "--games", "2"],
        ["record", "azul", "--agents", f"{text},random", "--out", "out.jsonl"],
        ["play", "azul", text, "random"],
        ["tournament", "azul", text, "random", "--out", "cup"],
    ):
        assert main([*words, "--start-seconds", "0.2"]) == 2
        assert "did not say ready within 0.2 s" in capsys.readouterr().err
    settings = make_settings({"game": "azul", "agents": ["random", "greedy"]})
    assert settings.start_seconds == session.SECONDS_TO_START == 120
    with pytest.raises(ValueError, match="start_seconds must be a number above 0, at most 86,400, not None"):
        make_settings({"game": "azul", "agents": ["random", "greedy"], "start_seconds": None})


# whatever a bot answers

ANSWERS = {
    b'{"id": %d, "move": NaN}': 'answered {"id": 1, "move": NaN}, which holds NaN, which is not a JSON number',
    b'{"id": %d, "id": 2}': 'answered {"id": 1, "id": 2}, which has the key \'id\' twice in one object',
    b'{"id": %d, "move": 1e999}': 'answered {"id": 1, "move": 1e999}, which holds the number',
    b'{"id": %d, "move": ' + b"7" * 5000 + b"}": 'answered {"id": 1, "move": 7777',
    b'{"id": %d, "move": ' + b"[" * 200 + b"]" * 200 + b"}": "answered [[[[",
    b'{"id": %d, "move": ' + b"[" * 5000 + b"]" * 5000 + b"}": 'answered no JSON: {"id": 1, "move": [[[',
    b'{"id": %d, "move": {"source": {}, "colour": [], "line": true}}': "answered {",
    b'{"id": %d, "move": {"source": -1, "colour": "red", "line": 99999999999999999999999}}': "answered {",
    b'{"id": %d, "move": {"source": 1.0, "colour": "red", "line": 1e300}}': "answered {",
    b'{"id": %d, "move": "\\ud800\\u001b[2J"}': 'answered {"id": 1, "move": "\\ud800\\u001b[2J"}, which holds half',
    b'{"id": %d, "\xff": 1}': "answered no JSON: {",
    b'{"id": %d, "move": "\x1b[2J"}': r'answered no JSON: {"id": 1, "move": "\x1b[2J"}',
    b"\x1b]0;title\x07": r"answered no JSON: \x1b]0;title\x07",
    b'{"id": ' + b"1" * 4000 + b"}": 'answered {"id": 1111',
    b'{"id": {"a": ' + b"[" * 500 + b"]" * 500 + b"}}": 'answered {"id": {',
    b'{"id": null}': 'answered {"id": null} to the decision with the id 1',
    b"": "answered no JSON: ",
    b"null": "answered null, which is no JSON object",
}


def test_whatever_a_program_answers_costs_that_decision_alone(folder):
    (folder / "says.py").write_text("""
import json, sys
answer = open("answer", "rb").read()
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "ready"}', flush=True)
    else:
        sys.stdout.buffer.write(answer.replace(b"%d", str(message.get("id")).encode()) + b"\\n")
        sys.stdout.flush()
""")
    asked = decisions(AZUL, 1)
    for answer, expected in ANSWERS.items():
        (folder / "answer").write_bytes(answer)
        agent = make_agent(f"program:{PYTHON} -I -S says.py", AZUL, 0)
        _, reasons = failures(agent, asked)
        assert reasons[0].startswith(expected), answer[:80]
        assert len(reasons[0]) < 200
        assert reasons[0].isprintable()
        agent._session._discard_process()


def test_refusals_are_shown_short_and_without_what_acts_on_a_terminal(folder):
    for reason, shown in (
        ('"\\u001b[2J' + "x" * 9999 + '"', r"\\x1b\[2Jx{480,}\.\.\."),
        ("[[1]]", r"\[\[1\]\]"),
        ("7", "7"),
    ):
        text = program(folder / "refuses.py", "", ready=f'{{"type": "refused", "reason": {reason}}}')
        with pytest.raises(ValueError, match=shown) as caught:
            make_agent(text, AZUL, 0)
        assert len(str(caught.value)) < 900
        assert str(caught.value).isprintable()


HOSTILE = """
import os
import numpy as np

def forge(text):
    for number in range(3, 64):
        try:
            os.write(number, text)
        except OSError:
            pass

class Untold(Exception):
    def __str__(self):
        raise KeyError

class Bot:
    calls = 0
    def act(self, decisions):
        Bot.calls += 1
        if Bot.calls == 1:
            forge(b'{"id": 1, "actions": 7}' + chr(10).encode())
        if Bot.calls == 2:
            return [10**5000] * len(decisions)
        if Bot.calls == 3:
            raise Untold
        if Bot.calls == 4:
            raise ValueError("\x1b[2J" + "x" * 10**6)
        return decisions.mask.argmax(axis=1)

def choose(observation, mask):
    return 10**5000
"""


def test_what_a_python_bot_forges_or_raises_costs_its_own_decisions(folder):
    (folder / "hostile.py").write_text(HOSTILE)
    agent = make_agent("hostile.py:Bot", AZUL, 0)
    asked = decisions(AZUL, 2)
    shown = []
    for _ in range(4):
        _, reasons = failures(agent, asked)
        assert len(set(reasons.values())) == 1
        shown.append(reasons[0])
    # the forged line was taken for the answer, so the true one is that to the next decision
    assert shown[0] == "answered 7, not 2 integer actions"
    assert shown[1].startswith("answered {")
    assert all(len(reason) < 300 and reason.isprintable() for reason in shown)
    agent = make_agent("hostile.py:choose", AZUL, 0)
    _, reasons = failures(agent, decisions(AZUL, 1))
    assert reasons[0] == "answered a int too large to write, which is not a legal move"
