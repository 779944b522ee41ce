"""A format of the fuzzer in which nearly every input is a fault of another kind, to see that it finds them."""

import os
import signal
import tempfile
import time
from pathlib import Path

from meeplezoo.benchmarks.fuzzing.cases import Case, CommandResult, FaultFound, Format
from meeplezoo.benchmarks.fuzzing.hostile import MARKER

LIMIT_SECONDS, LIMIT_MIB = 2, 400


def accepts():
    return None


def refuses():
    raise ValueError("the key 'a' is missing")


def misses_a_file():
    Path("missing").read_bytes()


def raises():
    return {}["a"]


def is_raw():
    b"\xff".decode()


def is_long():
    raise ValueError("x" * 600)


def is_of_two_lines():
    raise ValueError("one\ntwo")


def writes_an_escape():
    raise ValueError("no \x1b[2J")


def lists_choices():
    raise ValueError(f"must be one of {', '.join(f'choice{number}' for number in range(200))}, not 3")


def finds_something():
    raise FaultFound("a refused move changed the state")


def hangs():
    time.sleep(60)


def crashes():
    os.kill(os.getpid(), signal.SIGSEGV)


def grows():
    room = b"x" * (LIMIT_MIB * 2**20)
    time.sleep(60)
    return len(room)


def reserves_too_much():
    bytearray(2**40)


def changes_a_file():
    Path("input").write_bytes(b"damaged")
    raise ValueError("is no input")


def leaves_a_file():
    tempfile.mkstemp(dir=".", prefix=".input.")


def runs_code():
    Path(MARKER).touch()


def prints_a_traceback():
    return CommandResult("x", 1, "", 'Traceback (most recent call last):\n  File "x", line 1, in x\nKeyError: 1\n')


def says_nothing():
    return CommandResult("x", 2, "", "")


def says_two_lines():
    return CommandResult("x", 2, "", "usage: x\nmeeplezoo: error: no\n")


def says_one_line():
    return CommandResult("x", 2, "", "meeplezoo: error: no\n")


def prints_an_escape():
    return CommandResult("x", 0, "a name: \x1b[2J\n", "")


def ends_strangely():
    return CommandResult("x", 3, "", "meeplezoo: error: no\n")


def cannot_be_made():
    raise AssertionError


KINDS = {
    accepts: "",
    refuses: "",
    misses_a_file: "",
    lists_choices: "",
    says_one_line: "",
    raises: "KeyError",
    is_raw: "UnicodeDecodeError",
    is_long: "error text of more than 500 characters",
    is_of_two_lines: "error text of several lines",
    writes_an_escape: "control characters in an error text",
    finds_something: "a refused move changed the state",
    reserves_too_much: "MemoryError",
    changes_a_file: "a refused input changed input",
    leaves_a_file: "a temporary file stays behind",
    runs_code: "code out of the input has run",
    prints_a_traceback: "traceback",
    says_nothing: "exit code 2 without a sentence",
    says_two_lines: "error text of several lines",
    prints_an_escape: "control characters on stdout",
    ends_strangely: "exit code 3",
    cannot_be_made: "no input: KeyError in the fuzzer",
    hangs: f"hangs for more than {LIMIT_SECONDS} s",
    crashes: "crashes with SIGSEGV",
    grows: f"takes more than {LIMIT_MIB} MiB",
}
"""Everything that inputs do, with the reason of the fault, "" if it is none."""
FATAL = ("hangs", "crashes", "grows")
"""What ends the process."""


class Planted:
    refusals = ()

    def __init__(self, kept):
        pass

    def make(self, draw):
        kind = draw.choice(list(KINDS))
        if kind is cannot_be_made:
            raise KeyError("a")
        return Case(kind.__name__, {"input": b"whole"}, f"it {kind.__name__}")

    def run(self, case):
        return globals()[case.words]()


FORMAT = Format("planted", "planted_faults:Planted", 1)
