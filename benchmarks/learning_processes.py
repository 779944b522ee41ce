"""Run the processes of the learning benchmark in parallel, one thread each; Ctrl-C stops all."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..envs.system.files import write_json
from ..envs.system.signals import interrupt_on_terminate
from ..training.progress import format_duration

_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_POLL_SECONDS = 0.2


class Interrupted(Exception):
    """The user interrupted; all processes have exited."""


@dataclass(frozen=True)
class Job:
    """One process: its name, its plan, its result file, and the files of plan and output."""

    name: str
    plan: dict[str, Any]
    result: Path
    file: Path
    log: Path


def run_jobs(jobs: list[Job], processes: int, what: str) -> list[Job]:
    """Run the jobs that have left no result yet, so many side by side; return those that failed.

    Raises Interrupted after Ctrl-C or SIGTERM, once all processes have saved their work; a second one kills them.
    """
    waiting = [job for job in jobs if not job.result.is_file()]
    total, num_done = len(jobs), len(jobs) - len(waiting)
    running: dict[subprocess.Popen[bytes], Job] = {}
    failed: list[Job] = []
    began = time.monotonic()
    with interrupt_on_terminate():
        try:
            while waiting or running:
                while waiting and len(running) < processes:
                    job = waiting.pop(0)
                    running[_start(job)] = job
                time.sleep(_POLL_SECONDS)
                for process in [one for one in running if one.poll() is not None]:
                    job = running.pop(process)
                    num_done += 1
                    done = job.result.is_file()
                    failed += [] if done else [job]
                    text = f"{what}: {num_done} of {total}, {job.name}{'' if done else ' FAILED'}"
                    print(f"{text}, {format_duration(time.monotonic() - began)}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            _stop(running)
            raise Interrupted from None
    return failed


def _start(job: Job) -> subprocess.Popen[bytes]:
    write_json(job.file, job.plan)
    job.log.parent.mkdir(parents=True, exist_ok=True)
    module = f"{__package__}.learning_run"
    with job.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", module, str(job.file)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1")},
            # Ctrl-C is for this process alone, which passes it on once
            start_new_session=True,
        )


def _stop(running: dict[subprocess.Popen[bytes], Job]) -> None:
    """Ask processes to stop after their iteration and wait for them; kill them at the next KeyboardInterrupt."""
    try:
        print("stopping after the iterations under way; once more to stop at once", file=sys.stderr, flush=True)
        for process, job in running.items():
            # a partial measurement is useless
            (process.kill if job.plan["measure"] else process.terminate)()
        for process in running:
            process.wait()
    except KeyboardInterrupt:
        for process in running:
            process.kill()
