"""Threads that share the work of one call with the thread that makes it."""

import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any

Work = Callable[[int], Any]
"""What each thread does, given its number, 0 for the thread that calls."""


class ThreadTeam:
    """The calling thread and some others, which wait for work and end with the team.

    The caller works too, so two threads need only one hand-over, and it begins while the other is still waking up.
    """

    def __init__(self, threads: int) -> None:
        self._tasks: list[SimpleQueue[Any]] = [SimpleQueue() for _ in range(threads - 1)]
        for number, tasks in enumerate(self._tasks, start=1):
            Thread(target=_serve, args=(number, tasks), name=f"meeplezoo-{number}", daemon=True).start()
        weakref.finalize(self, _dismiss, self._tasks)

    def run(self, work: Work) -> list[Any]:
        """Call work(number) in every thread and return the results in the order of the numbers."""
        results: SimpleQueue[Any] = SimpleQueue()
        for tasks in self._tasks:
            tasks.put((work, results))
        try:
            own = work(0)
        finally:
            # nobody touches the arrays of a call after its end
            others = dict(results.get() for _ in self._tasks)
        return [own, *(_result(others[number]) for number in sorted(others))]


def _serve(number: int, tasks: "SimpleQueue[Any]") -> None:
    while True:
        task = tasks.get()
        if task is None:
            return
        work, results = task
        try:
            results.put((number, (work(number), None)))
        except BaseException as error:  # it is raised where the team was called
            results.put((number, (None, error)))
        # what the work refers to may be dropped while this thread waits
        del task, work, results


def _result(answer: tuple[Any, BaseException | None]) -> Any:
    result, error = answer
    if error is not None:
        raise error
    return result


def _dismiss(tasks: "list[SimpleQueue[Any]]") -> None:
    for queue in tasks:
        queue.put(None)
