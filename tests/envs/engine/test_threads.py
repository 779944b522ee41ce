"""Batches with threads of their own: after a fork, a pickle, a copy, in processes of data loaders."""

import os
import subprocess
import sys

import pytest

from meeplezoo.envs import game_names

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

_PROGRAM = """
import copy, os, pickle, signal, sys
from meeplezoo.envs import GameBatch, make_game


def played(batch):
    batch.step(batch.random_actions(), mask=batch.mask(), observation=batch.observe())
    batch.step(batch.random_actions(), check=False)
    batch.clone().play_out(5)
    return batch.states.tobytes()


def in_child(work):
    child = os.fork()
    if child == 0:
        # what hangs is ended
        signal.alarm(30)
        os._exit(0 if work() else 1)
    assert os.waitpid(child, 0)[1] == 0


batch = GameBatch(make_game(sys.argv[1]), 8, threads=2)
batch.reset(1)
played(batch)
batches = [batch, copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
for one in batches[1:]:
    one.mask()
expected = played(batch.clone())


def grandchild():
    in_child(lambda: played(batch) != expected)
    return True


in_child(lambda: all(played(one) == expected for one in batches))
in_child(lambda: played(batch.clone()) == expected)
in_child(lambda: played(batch) == expected and grandchild())
in_child(lambda: batch.reset(1) is None and played(batch) != expected)
assert [played(one) for one in batches] == [expected] * 3
print("done")
"""


def test_a_batch_with_threads_goes_on_in_the_child_of_a_fork() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM, game_names()[0]], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "done\n"


_LOADER = """
import sys
from torch.utils.data import DataLoader, IterableDataset
from meeplezoo.envs import GameBatch, make_game


class Games(IterableDataset):
    def __init__(self):
        self.batch = GameBatch(make_game(sys.argv[1]), 4, threads=2)
        self.batch.reset(1)
        self.batch.step(self.batch.random_actions())

    def __iter__(self):
        for _ in range(3):
            self.batch.step(self.batch.random_actions())
            yield self.batch.observe()


loader = DataLoader(Games(), batch_size=None, num_workers=2, multiprocessing_context="fork", timeout=60)
print(len([observation.sum() for observation in loader]))
"""


def test_a_batch_with_threads_goes_on_in_the_workers_of_a_data_loader() -> None:
    pytest.importorskip("torch")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _LOADER, game_names()[0]], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "6\n"
