"""Watched processes that run inputs: those that hang, crash or take too much memory are ended and begun anew."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from .cases import Format
from .memory import resident_mib
from .verdicts import FAULT, Verdict, frames_of_package

_SECONDS_BETWEEN_LOOKS = 0.05
_SECONDS_TO_PREPARE = 1800.0
"""Compiling and making valid inputs come before the first input."""
_CHUNK = 50
_TAIL = 4000


@dataclass(frozen=True)
class Limits:
    """Seconds and MiB that one input may take."""

    seconds: float = 10.0
    mib: float = 1024.0


@dataclass(frozen=True)
class Outcome:
    """What has become of one input; `alone`: a fault that comes again when the input runs in a process of its own."""

    format: str
    index: int
    verdict: Verdict
    note: str = ""
    peak: float = 0.0
    seconds: float = 0.0
    alone: bool = True


class _Lost(Exception):
    """A process had to be ended, or ended itself; the text says why."""


class WatchedProcess:
    """A process of `worker`, begun when it is first needed and anew after it was lost."""

    def __init__(self, kept: Path, seed: int, limits: Limits, environment: Mapping[str, str]) -> None:
        self._command = [sys.executable, "-m", f"{__package__}.worker", str(kept), str(seed)]
        self._environment = {**os.environ, **environment}
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._last_words = ""
        self._of = ""
        self._note = ""
        self._answers: queue.Queue[bytes] = queue.Queue()

    def run(self, one: Format, indices: Sequence[int]) -> Iterator[Outcome]:
        """Yield what becomes of inputs; a process that is lost is replaced, and the input tried again alone."""
        left = list(indices)
        while left:
            done, lost = 0, ""
            try:
                for outcome in self._ask(one, {"do": "run", "indices": left}):
                    done += 1
                    yield outcome
            except _Lost as loss:
                lost = str(loss)
            if lost:
                yield self._again(one, left[done], lost)
                done += 1
            left = left[done:]

    def replay(self, one: Format, path: Path) -> Outcome:
        """Return what becomes of a kept input."""
        try:
            (outcome,) = self._ask(one, {"do": "replay", "path": str(path.absolute())})
        except _Lost as loss:
            return Outcome(one.name, 0, self._loss(loss), self._note)
        return outcome

    def keep(self, one: Format, index: int, path: Path, about: dict[str, Any]) -> None:
        """Write an input to a file."""
        try:
            list(self._ask(one, {"do": "keep", "index": index, "path": str(path.absolute()), "about": about}))
        except (_Lost, RuntimeError):
            print(f"input {index} of {one.name} could not be kept", file=sys.stderr)

    def end(self) -> None:
        """End the process and all that it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        _kill(process)
        for stream in (process.stdin, process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def _again(self, one: Format, index: int, lost: str) -> Outcome:
        """Try an input once more alone: other work on the machine, and inputs before it, are no fault of its own."""
        try:
            (outcome,) = self._ask(one, {"do": "run", "indices": [index]})
        except _Lost as loss:
            return Outcome(one.name, index, self._loss(loss), self._note)
        if lost.startswith("hangs") or outcome.verdict.kind == FAULT:
            return outcome
        # memory that one input has damaged shows itself in a later one
        return Outcome(one.name, index, Verdict(FAULT, f"{lost}, after others"), outcome.note, alone=False)

    def _ask(self, one: Format, message: dict[str, Any]) -> Iterator[Outcome]:
        if self._of != one.name:
            # memory that one format has damaged shall not be another one's fault
            self.end()
            self._of = one.name
        self._begin()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({**message, "format": asdict(one)}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            self._lose("ended before the next input")
        limit = _SECONDS_TO_PREPARE
        while True:
            try:
                answer = self._next(limit)
            except _Lost as loss:
                if limit == _SECONDS_TO_PREPARE:
                    raise RuntimeError(
                        f"inputs of {one.name} cannot be made: the process {loss}\n{self._last_words}"
                    ) from None
                raise
            if "done" in answer:
                return
            # the limit holds once an input runs
            limit = self._limits.seconds if "begins" in answer else _SECONDS_TO_PREPARE
            self._note = answer.get("note", "")
            if "verdict" in answer:
                yield self._outcome(one, answer)

    def _outcome(self, one: Format, answer: dict[str, Any]) -> Outcome:
        verdict = Verdict(**answer["verdict"])
        if answer["peak"] > self._limits.mib:
            verdict = Verdict(FAULT, f"takes more than {self._limits.mib:.0f} MiB", verdict.text, verdict.place)
        elif answer["seconds"] > self._limits.seconds:
            verdict = Verdict(FAULT, f"takes more than {self._limits.seconds:g} s", verdict.text, verdict.place)
        return Outcome(one.name, answer["index"], verdict, answer["note"], answer["peak"], answer["seconds"])

    def _next(self, seconds: float) -> dict[str, Any]:
        """Return the next answer; _Lost if it does not come in time, within the memory, or ever."""
        assert self._process is not None
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._answers.get(timeout=_SECONDS_BETWEEN_LOOKS)
            except queue.Empty:
                if resident_mib(self._process.pid) > self._limits.mib:
                    self._lose(f"takes more than {self._limits.mib:.0f} MiB")
                if time.monotonic() > deadline:
                    self._lose(f"hangs for more than {seconds:g} s")
                continue
            if not line:
                code = self._process.wait()
                self._lose(f"crashes with {signal.Signals(-code).name}" if code < 0 else f"ends with exit code {code}")
            answer: dict[str, Any] = json.loads(line)
            return answer

    def _begin(self) -> None:
        if self._process is not None:
            return
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=self._environment,
            start_new_session=True,
        )
        self._answers = queue.Queue()
        threading.Thread(target=_pass_on, args=(self._process.stdout, self._answers), daemon=True).start()

    def _lose(self, reason: str) -> None:
        self._last_words = self._read_errors()
        self.end()
        raise _Lost(reason)

    def _loss(self, loss: _Lost) -> Verdict:
        """Return the fault of a process that was lost: why it crashed, and where in the package."""
        before, fatal, after = self._last_words.partition("Fatal Python error: ")
        if not fatal:
            return Verdict(FAULT, str(loss))
        why = [*before.strip().splitlines()[-1:], *after.splitlines()[:1]]
        # the crash handler writes the innermost call first
        place = next(iter(frames_of_package(after)), "")
        return Verdict(FAULT, str(loss), " | ".join(why), place)

    def _read_errors(self) -> str:
        if self._errors is None:
            return ""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _TAIL))
        return self._errors.read().decode(errors="replace")


def _pass_on(stream: IO[bytes], answers: "queue.Queue[bytes]") -> None:
    for line in stream:
        answers.put(line)
    answers.put(b"")


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def run_formats(formats: Sequence[tuple[Format, int]], processes: Sequence[WatchedProcess]) -> Iterator[Outcome]:
    """Yield what becomes of so many inputs of each format, as they end; the processes share the work."""
    chunks: queue.SimpleQueue[tuple[Format, range]] = queue.SimpleQueue()
    for one, number in formats:
        for start in range(0, number, _CHUNK):
            chunks.put((one, range(start, min(number, start + _CHUNK))))
    outcomes: queue.SimpleQueue[Outcome | BaseException | None] = queue.SimpleQueue()

    def work(process: WatchedProcess) -> None:
        try:
            while True:
                one, indices = chunks.get_nowait()
                for outcome in process.run(one, indices):
                    outcomes.put(outcome)
        except queue.Empty:
            outcomes.put(None)
        except BaseException as error:
            outcomes.put(error)

    for process in processes:
        threading.Thread(target=work, args=(process,), daemon=True).start()
    working = len(processes)
    while working:
        found = outcomes.get()
        if isinstance(found, BaseException):
            raise found
        if found is None:
            working -= 1
        else:
            yield found
