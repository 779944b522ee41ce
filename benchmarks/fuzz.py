"""Fuzz every format: thousands of damaged and hostile inputs, read in processes that are watched.

python -m meeplezoo.benchmarks.fuzz [--inputs 20000] [--seed 0] [--only FORMAT] [--processes 2] [--keep FOLDER]
python -m meeplezoo.benchmarks.fuzz --replay FILE

An input may be taken, or refused in one short sentence. Everything else is a fault: another exception, a traceback, a
crash, more than 10 seconds or 1 GiB, a refused input that changes files, code out of a file that runs.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ..envs.system.messages import escape_controls
from .fuzzing.cases import Format, read_case
from .fuzzing.formats import FORMATS
from .fuzzing.pool import Limits, Outcome, WatchedProcess, run_formats
from .fuzzing.verdicts import ACCEPTED, FAULT, REFUSED

USUAL_LIMITS = Limits()

_KEPT_OF_EACH = 3
_LONGEST_LINE = 240
_INTERRUPTED = 130


@dataclass
class Summary:
    """What has been found: inputs by format and verdict, and the faults that differ, each with its inputs."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: dict[tuple[str, str, str], list[Outcome]] = field(default_factory=dict)
    peak: float = 0.0
    slowest: float = 0.0

    def add(self, outcome: Outcome) -> int:
        """Count an outcome; return how many faults of its kind there are now, 0 if it is none."""
        self.counts[outcome.format, outcome.verdict.kind] += 1
        self.peak = max(self.peak, outcome.peak)
        self.slowest = max(self.slowest, outcome.seconds)
        if outcome.verdict.kind != FAULT:
            return 0
        found = self.faults.setdefault((outcome.format, outcome.verdict.reason, outcome.verdict.place), [])
        found.append(outcome)
        return len(found)

    @property
    def number_of_faults(self) -> int:
        """Return how many inputs were faults."""
        return sum(map(len, self.faults.values()))


def fuzz(
    formats: Sequence[tuple[Format, int]],
    seed: int = 0,
    processes: int = 1,
    limits: Limits = USUAL_LIMITS,
    *,
    summary: Summary | None = None,
    keep: Path | None = None,
    environment: Mapping[str, str] | None = None,
    tell: Callable[[Outcome], None] | None = None,
) -> Summary:
    """Run so many inputs of each format and return what was found.

    Arguments:
        processes: how many run inputs side by side.
        summary: to which everything is added; None for a new one.
        keep: the folder to which inputs that are faults are written, the first ones of each kind; None for nowhere.
        environment: variables of the processes beside those of this one.
        tell: called with the first fault of every kind.
    """
    found = Summary() if summary is None else summary
    by_name = {one.name: one for one, _ in formats}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        # the last one writes files of what the others find
        workers = [WatchedProcess(folder, seed, limits, environment or {}) for _ in range(processes + 1)]
        for worker in workers:
            stack.callback(worker.end)
        for outcome in run_formats(formats, workers[:-1]):
            number = found.add(outcome)
            if number == 1 and tell is not None:
                tell(outcome)
            if keep is not None and 0 < number <= _KEPT_OF_EACH:
                path = keep / f"{outcome.format}-{seed}-{outcome.index}.json"
                about = {"seed": seed, "index": outcome.index, **outcome.verdict.as_json()}
                workers[-1].keep(by_name[outcome.format], outcome.index, path, about)
    return found


def split_inputs(formats: Sequence[Format], inputs: int) -> list[tuple[Format, int]]:
    """Return the formats with how many of the inputs are of each, by their weights, one at least."""
    whole = sum(one.weight for one in formats)
    return [(one, max(1, round(inputs * one.weight / whole))) for one in formats]


def table(summary: Summary) -> str:
    """Return inputs, accepted, refused and faults by format, then every fault that differs with its first input."""
    names = list(dict.fromkeys(name for name, _ in summary.counts))
    lines = [f"{'format':<16}{'inputs':>9}{'accepted':>10}{'refused':>9}{'faults':>8}"]
    for name in names:
        accepted, refused, faults = (summary.counts[name, kind] for kind in (ACCEPTED, REFUSED, FAULT))
        lines.append(f"{name:<16}{accepted + refused + faults:>9,}{accepted:>10,}{refused:>9,}{faults:>8,}")
    for _, found in sorted(summary.faults.items()):
        lines.append(f"\n{len(found):,} times {describe_fault(found[0])}")
    return "\n".join(lines)


def describe_fault(outcome: Outcome) -> str:
    """Return a fault in two or three lines: what, where, of which input, and the text that came with it."""
    verdict = outcome.verdict
    place = f" at {verdict.place}" if verdict.place else ""
    lines = [f"{outcome.format}: {verdict.reason}{place}", f"  input {outcome.index}: {_printable(outcome.note)}"]
    return "\n".join([*lines, f"  {_printable(verdict.text)}"] if verdict.text else lines)


def _printable(text: str) -> str:
    shown = escape_controls(text)
    return shown if len(shown) <= _LONGEST_LINE else f"{shown[: _LONGEST_LINE - 3]}..."


def main(arguments: list[str] | None = None) -> int:
    """Fuzz, print the table, and return 1 if there are faults."""
    chosen = _parser().parse_args(arguments)
    limits = Limits(chosen.seconds, chosen.mib)
    environment = _environment(chosen.bounds)
    if chosen.replay is not None:
        return _replay(chosen.replay, limits, environment)
    formats = [one for one in FORMATS if not chosen.only or one.name in chosen.only]
    began = time.perf_counter()
    summary = Summary()
    interrupted = False
    try:
        fuzz(
            split_inputs(formats, chosen.inputs),
            chosen.seed,
            chosen.processes,
            limits,
            summary=summary,
            keep=chosen.keep,
            environment=environment,
            tell=_tell,
        )
    except KeyboardInterrupt:
        interrupted = True
    inputs = sum(summary.counts.values())
    print(f"{table(summary)}\n")
    print(
        f"{inputs:,} inputs in {time.perf_counter() - began:,.0f} s, seed {chosen.seed}: "
        f"{summary.number_of_faults:,} faults of {len(summary.faults):,} kinds; "
        f"at most {summary.peak:,.0f} MiB and {summary.slowest:.1f} s an input"
    )
    return _INTERRUPTED if interrupted else int(bool(summary.faults))


def _tell(outcome: Outcome) -> None:
    print(f"found: {describe_fault(outcome)}", file=sys.stderr, flush=True)


def _replay(path: Path, limits: Limits, environment: Mapping[str, str]) -> int:
    name, case = read_case(path)
    (one,) = (one for one in FORMATS if one.name == name)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = WatchedProcess(Path(folder), 0, limits, environment)
        try:
            outcome = process.replay(one, path)
        finally:
            process.end()
    if outcome.verdict.kind == FAULT:
        print(describe_fault(outcome))
        return 1
    print(f"{name}: {outcome.verdict.kind}: {_printable(outcome.verdict.text)}\n  {_printable(case.note)}")
    return 0


def _environment(bounds: bool) -> dict[str, str]:
    """Return the variables of the processes: the same hashes in every run, one thread, kernels that test indices."""
    plain = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "COLUMNS": "100", "NO_COLOR": "1"}
    if not bounds:
        return plain
    # numba does not tell kernels with and without these tests apart in its cache
    root = os.environ.get("MEEPLEZOO_CACHE_DIR") or str(Path.home() / ".cache" / "meeplezoo")
    return {**plain, "NUMBA_BOUNDSCHECK": "1", "MEEPLEZOO_CACHE_DIR": f"{root}-bounds"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fuzz", description="Read thousands of damaged and hostile inputs of every format in watched processes."
    )
    parser.add_argument("--inputs", type=int, default=20_000, metavar="N", help="how many (default: 20000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the inputs follow from it (default: 0)")
    parser.add_argument(
        "--only", action="append", choices=[one.name for one in FORMATS], help="this format alone, repeatable"
    )
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write inputs that are faults to files")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one of those files again")
    parser.add_argument("--bounds", action="store_true", help="let kernels test every index; compiles them anew")
    parser.add_argument("--seconds", type=float, default=10.0, help="limit for an input (default: 10)")
    parser.add_argument("--mib", type=float, default=1024.0, help="memory limit of a process (default: 1024)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
