"""A team of threads: everyone works, results come in order, errors reach the caller, threads end with the team."""

import gc
import threading
import time

import numpy as np
import pytest

from meeplezoo.envs import GameBatch, IllegalMove, make_game
from meeplezoo.envs.system.thread_team import ThreadTeam
from tests.every_game import NAMES, quick


def workers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("meeplezoo-")]


def wait_for(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_results_come_in_the_order_of_the_threads():
    team = ThreadTeam(4)
    barrier = threading.Barrier(4, timeout=30)

    def work(number):
        barrier.wait()
        return number, threading.get_ident()

    results = team.run(work)
    assert [number for number, _ in results] == [0, 1, 2, 3]
    assert len({thread for _, thread in results}) == 4
    assert results[0][1] == threading.get_ident()


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_in_any_thread_reaches_the_caller_after_all_have_ended(failing):
    team = ThreadTeam(3)
    ended = []

    def work(number):
        if number == failing:
            raise ZeroDivisionError(str(number))
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(ZeroDivisionError, match=str(failing)):
        team.run(work)
    assert sorted(ended) == [number for number in range(3) if number != failing]
    assert team.run(lambda number: number) == [0, 1, 2]


def test_threads_end_with_their_batch():
    before = workers()
    batch = GameBatch(make_game(NAMES[0]), 8, threads=3)
    batch.reset(1)
    batch.step(batch.random_actions())
    own = [thread for thread in workers() if thread not in before]
    assert len(own) == 2
    del batch
    gc.collect()
    assert wait_for(lambda: not any(thread.is_alive() for thread in own))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(name, threads):
    game = make_game(name, **quick(name))
    alone, together = GameBatch(game, 150), GameBatch(game, 150, threads=threads)
    for batch in (alone, together):
        batch.reset(7)
    written = [(batch.mask(), batch.observe()) for batch in (alone, together)]
    for ply in range(60):
        actions = alone.random_actions()
        assert (together.random_actions() == actions).all()
        for batch, (mask, observation) in zip((alone, together), written, strict=True):
            batch.step(actions, check=ply % 2 == 0, mask=mask, observation=observation)
        for one, other in zip(*written, strict=True):
            assert (one == other).all()
    assert alone.states.tobytes() == together.states.tobytes()


def test_an_illegal_action_changes_nothing_with_threads():
    batch = GameBatch(make_game(NAMES[0]), 200, threads=2)
    batch.reset(3)
    actions = batch.random_actions()
    for wrong in (150, 20):
        actions[wrong] = -5
        before = batch.states.copy()
        with pytest.raises(IllegalMove, match=f"game {wrong} of the batch"):
            batch.step(actions)
        assert batch.states.tobytes() == before.tobytes()
        with pytest.raises(IllegalMove, match=f"game {wrong} of the batch"):
            batch.step(actions, check=False)
    actions[[20, 150]] = batch.random_actions()[[20, 150]]
    batch.step(actions)
    assert (batch.states["ply"] == 1).all()
    assert np.isin(batch.states["status"], [0, 1]).all()
