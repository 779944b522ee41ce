"""The process that inputs run in: `python -m meeplezoo.benchmarks.fuzzing.worker KEPT SEED`, spoken to by `pool`.

It gets one JSON object per line on stdin and answers with such lines on stdout. What the targets print goes to
stderr, which `pool` keeps in a file.
"""

import faulthandler
import json
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from .cases import Case, Format, Target, make_case, read_case, write_case
from .memory import forget_peak, limit_growth, peak_mib
from .verdicts import FAULT, REFUSED, Verdict, judge
from .workspace import code_has_run, lay_out, wrong_traces

_GROWTH_MIB = 6 * 1024
"""More than an input may use: what is reserved need not be used."""
_SECONDS_BETWEEN_LOOKS = 1.0

Tell = Callable[[dict[str, Any]], None]


class Worker:
    """Runs inputs.

    Arguments:
        kept: the folder for valid inputs that take long to make.
        seed: of all inputs.
        place: the folder they run in, which is emptied before each of them.
        tell: called with every answer.
        growth: MiB that this process may reserve beyond what it has when a format is ready; None for any.
    """

    def __init__(self, kept: Path, seed: int, place: Path, tell: Tell, growth: int | None = None) -> None:
        self._kept = kept
        self._seed = seed
        self._place = place
        self._tell = tell
        self._growth = growth
        self._targets: dict[str, Target] = {}

    def answer(self, message: dict[str, Any]) -> None:
        """Do what a message says and tell what has come of it."""
        one = Format(**message["format"])
        target = self._target(one)
        self._tell({"ready": one.name})
        if message["do"] == "run":
            for index in message["indices"]:
                try:
                    case = self._make_case(target, one.name, index)
                except Exception as error:
                    # the fuzzer's own fault, told like any other so that a long run goes on
                    broken = Verdict(FAULT, f"no input: {type(error).__name__} in the fuzzer", str(error)[:200])
                    self._tell({"index": index, "note": "", "verdict": broken.as_json(), "peak": 0.0, "seconds": 0.0})
                    continue
                self._answer_input(target, case, index)
        elif message["do"] == "keep":
            case = self._make_case(target, one.name, message["index"])
            write_case(Path(message["path"]), one.name, case, message["about"])
        else:
            self._answer_input(target, read_case(Path(message["path"]))[1], 0)
        self._tell({"done": True})

    def _make_case(self, target: Target, name: str, index: int) -> Case:
        lay_out(self._place, Case(None))
        os.chdir(self._place)
        return make_case(target, name, self._seed, index)

    def _answer_input(self, target: Target, case: Case, index: int) -> None:
        # told before it runs: it may be the last thing that is heard of this process
        self._tell({"begins": index, "note": case.note})
        self._tell({"index": index, "note": case.note, **self._run(target, case)})

    def _target(self, one: Format) -> Target:
        if one.name not in self._targets:
            lay_out(self._place, Case(None))
            self._targets[one.name] = one.open(self._kept)
            if self._growth is not None:
                limit_growth(self._growth)
        return self._targets[one.name]

    def _run(self, target: Target, case: Case) -> dict[str, Any]:
        lay_out(self._place, case)
        os.chdir(self._place)
        forget_peak()
        began = time.perf_counter()
        verdict = judge(target, case)
        seconds = time.perf_counter() - began
        if code_has_run(self._place):
            verdict = Verdict(FAULT, "code out of the input has run", verdict.text, verdict.place)
        elif verdict.kind != FAULT:
            may_make_files = getattr(target, "may_make_files", False) and verdict.reason != "exit code 2"
            trace = wrong_traces(self._place, case, verdict.kind == REFUSED, may_make_files)
            verdict = Verdict(FAULT, trace, verdict.text, verdict.place) if trace else verdict
        return {"verdict": verdict.as_json(), "peak": peak_mib(), "seconds": seconds}


def main() -> None:
    """Answer every line until there are no more."""
    kept, seed = Path(sys.argv[1]).absolute(), int(sys.argv[2])
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    lines, answers = _private_streams()
    faulthandler.enable()
    # what numpy complains about in the package is a fault, as in the tests
    warnings.filterwarnings("error", category=RuntimeWarning, module="meeplezoo")

    def tell(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message).encode() + b"\n")
        answers.flush()

    with tempfile.TemporaryDirectory(prefix="meeplezoo-fuzz-") as folder:
        place = Path(folder).resolve() / "outer" / "place"
        place.mkdir(parents=True)
        os.chdir(place)
        worker = Worker(kept, seed, place, tell, _GROWTH_MIB)
        for line in lines:
            worker.answer(json.loads(line))
        os.chdir(folder)


def _end_with(parent: int) -> None:
    """End this process when its parent has been killed: an input that runs for ever would not notice."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the streams of the protocol; from here on stdin is empty and what is printed goes to stderr."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return lines, answers


if __name__ == "__main__":
    main()
