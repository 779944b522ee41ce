"""Every command in standard streams that are closed, full, unread or of another encoding, at terminals, and signals."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from meeplezoo.envs.system.messages import cut_middle
from meeplezoo.envs.system.signals import handle_signals, interrupt_on_terminate
from meeplezoo.training.graceful_stop import StopRequest, stop_on_signal
from meeplezoo.training.progress import ProgressLine
from meeplezoo.training.run_status import STOPPED, list_runs

for package in ("torch", "tensorboard", "matplotlib", "pygame"):
    pytest.importorskip(package)
pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the streams are those of Linux")

NO_SPACE = "meeplezoo: error: standard output: No space left on device\n"
WRONG = {"wrong": 2, "bench": 2}
"""The exit codes of the commands that end with an error and print nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which all commands have been run in all conditions."""
    path = tmp_path_factory.mktemp("streams")
    script = Path(__file__).with_name("commands_in_streams.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(script), str(path)], check=True, timeout=300, env=environment)
    return path


@pytest.fixture(scope="module")
def results(folder):
    """What came of every condition; a text is the traceback of a failure."""
    return lambda condition: json.loads((folder / f"{condition}.json").read_text())


def test_in_ordinary_streams_the_commands_do_what_they_say(results):
    for name, (code, out, err) in results("ordinary").items():
        assert code == WRONG.get(name, 0), name
        assert err.startswith("meeplezoo: error: ") if name in WRONG else out, name
        assert err.count("\n") == (name in WRONG or name == "tournament"), (name, err)


@pytest.mark.parametrize("condition", ["stdin closed", "stdout closed", "stderr closed", "all closed"])
def test_a_closed_stream_is_one_that_goes_nowhere(results, folder, condition):
    usual = results("ordinary")
    for name, (code, out, err) in results(condition).items():
        assert code == usual[name][0], name
        assert out is None or without_times(out) == without_times(usual[name][1]), name
        assert err is None or err == usual[name][2], name
    # what was to be printed has gone into none of the files that were opened instead
    for file in ("games.jsonl", "tournament/tournament.yaml"):
        assert (folder / condition / file).read_bytes() == (folder / "ordinary" / file).read_bytes()
    for file in ("table.json", "tournament/results.json"):
        json.loads((folder / condition / file).read_text())


def without_times(text):
    """Return the lines of an output that do not depend on the clock."""
    timed = ("per second", "/s", '"seconds"', '"decisions_per_second"', '"changed"')
    lines = [line for line in text.splitlines() if not any(word in line for word in timed)]
    # the table of a tournament ends with milliseconds
    return [re.sub(r"  +\d+\.\d{3}(  |$).*", "", line) for line in lines]


def test_a_full_disk_under_the_output_is_one_sentence(results, folder):
    for name, (code, _, err) in results("stdout full").items():
        assert code == WRONG.get(name, 1), name
        assert err == NO_SPACE or name in WRONG, (name, err)
    # what was computed is kept all the same
    assert json.loads((folder / "stdout full" / "table.json").read_text())["games"] == 4


def test_nobody_who_reads_the_output_is_quiet(results, folder):
    for name, (code, _, err) in results("stdout unread").items():
        assert code == WRONG.get(name, 141), name
        assert err == "" or name in WRONG, (name, err)
    assert json.loads((folder / "stdout unread" / "table.json").read_text())["games"] == 4


@pytest.mark.parametrize("condition", ["stderr full", "stderr unread"])
def test_errors_that_nobody_can_be_told_change_nothing(results, condition):
    usual = results("ordinary")
    for name, (code, out, _) in results(condition).items():
        assert code == usual[name][0], name
        assert without_times(out) == without_times(usual[name][1]), name


def test_what_ascii_cannot_hold_is_replaced(results):
    usual = results("ordinary")
    for name, (code, out, err) in results("ascii").items():
        assert code == usual[name][0], name
        assert (out + err).isascii(), name
    assert "line 0         ? |" in results("ascii")["person"][1]


def test_bytes_that_are_no_text_are_no_move(results):
    for code, out, err in results("bytes typed"):
        assert (code, err) == (0, "")
        assert r"'\x00\x1b[2J\u202e' is no legal move" in out or r"'\x00\x1b[2J???' is no legal move" in out
        assert "there is no move 9999999999" in out
        assert out.count("is no legal move; type") == 3
        assert not any(character in out for character in "\x1b\x00\u202e\x9b")
        assert max(map(len, out.splitlines())) < 300


def test_a_run_whose_output_nobody_reads_any_more_is_saved(results, folder):
    # Ctrl-C ends `tee` as well
    assert results("unread later") == [141, None, ""]
    (listed,) = list_runs([folder / "unread later" / "runs"])
    assert listed.state == STOPPED
    assert listed.decisions >= 128


def test_what_ignores_interrupts_goes_on(results):
    assert [code for code, *_ in results("interrupts ignored").values()] == [0, 0, 0]


def test_a_process_with_a_window_can_be_ended(results):
    assert results("window") == [-signal.SIGTERM, 130]


def test_terminals(results):
    found = results("terminals")
    assert {name: code for name, (code, _) in found.items()} == {**dict.fromkeys(found, 0), "Ctrl-C": 130}
    coloured = {name for name, (_, screen) in found.items() if "\x1b[" in screen}
    assert coloured == {"colours", "Ctrl-C", "Ctrl-D", "bytes", "dumb, asked for"}
    for name, (_, screen) in found.items():
        assert "Traceback" not in screen, name
        # codes but for colours
        assert not re.search("\x1b(?!\\[[0-9;]*m)", screen), name
    assert found["Ctrl-D"][1].endswith("q to quit): \r\nYou have left the game.\r\n")
    assert found["Ctrl-C"][1].endswith("q to quit): ^C\r\n")
    assert "is no legal move; type a number" in found["bytes"][1]
    assert "\n 2) " in found["narrow"][1]


def test_python_itself_starts_and_ends_well_without_streams(tmp_path):
    """Nothing is emulated here: shells start the command."""
    command = f"'{sys.executable}' -m meeplezoo.cli"
    tournament = "tournament azul random greedy --rounds 1 --deals 1 --processes 2 --out cup"
    script = f"""
        {command} --help <&- >&- 2>&-; echo $?
        {command} --help >/dev/full 2>errors; echo $?
        {command} evaluate 2>/dev/full; echo $?
        ({command} --help; echo $? >code) | :; cat code
        {command} {tournament} <&- >&- 2>&-; echo $?
    """
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    # the reader may have gone away before or after the pipe has taken everything
    assert done.stdout.split() in (["0", "1", "2", "141", "0"], ["0", "1", "2", "0", "0"])
    assert done.stderr == ""
    assert (tmp_path / "errors").read_text() == NO_SPACE
    assert json.loads((tmp_path / "cup" / "results.json").read_text())["games"] == 2


@pytest.fixture
def ignored():
    """SIGINT as nohup leaves it to a process, and SIGTERM as it is."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield signal.SIGINT
    signal.signal(signal.SIGINT, before)


def test_ignored_signals_stay_ignored_and_the_others_are_put_back(ignored):
    terminate = signal.getsignal(signal.SIGTERM)
    request, told = StopRequest(), []
    with stop_on_signal(request, told.append):
        os.kill(os.getpid(), signal.SIGINT)
        assert not request.requested
        os.kill(os.getpid(), signal.SIGTERM)
        assert request.requested
        assert len(told) == 1
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is terminate


def test_terminate_interrupts_unless_it_is_ignored():
    with interrupt_on_terminate(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with interrupt_on_terminate():
            os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_signals_are_left_alone_in_other_threads_and_where_python_knows_no_handler(monkeypatch):
    def work():
        with handle_signals([signal.SIGINT], lambda: None):
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    # of a program that Python runs in
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    monkeypatch.setattr(signal, "signal", lambda number, handler: pytest.fail("was changed"))
    with handle_signals([signal.SIGINT, signal.SIGTERM], lambda: None):
        pass


def test_an_interrupt_while_the_line_is_written_stops_all_the_same():
    class Busy(io.StringIO):
        def flush(self):
            raise RuntimeError("reentrant call inside <_io.BufferedWriter name='<stdout>'>")

    request = StopRequest()
    with stop_on_signal(request, ProgressLine(Busy()).print):
        os.kill(os.getpid(), signal.SIGINT)
    assert request.requested


def test_a_progress_line_is_not_wider_than_the_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    for columns, shown in (("20", "aaaaaaaa...bbbbbbbb"), ("1", "a...")):
        monkeypatch.setenv("COLUMNS", columns)
        terminal = Terminal()
        line = ProgressLine(terminal)
        line.update(20 * "a" + 20 * "b")
        line.update("\x1b[2J\n")
        line.end()
        first, second = terminal.getvalue()[1:].split("\r")
        assert first == shown
        assert second.rstrip(" \n") == cut_middle(r"\x1b[2J\n", max(4, int(columns) - 1))
        assert second.endswith("\n")
    monkeypatch.setenv("TERM", "dumb")
    plain = Terminal()
    ProgressLine(plain).update("round 1")
    assert plain.getvalue() == "round 1\n"
