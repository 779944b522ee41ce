"""Environments in other processes: they go there by fork and by pickle, and play there what they play here."""

import multiprocessing

import gymnasium
import numpy as np
import pytest
from every_game import gymnasium_name
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

ID = gymnasium_name("azul")


def make():
    return gymnasium.make(ID, opponents="greedy", seat=np.int64(1), num_players=np.int64(3))


def seen(envs, num_steps=12):
    """Return the observations of some steps of legal play."""
    observation, infos = envs.reset(seed=3)
    observations = [observation]
    for _ in range(num_steps):
        observation, _, _, _, infos = envs.step(infos["action_mask"].argmax(axis=-1))
        observations.append(observation)
    return np.stack(observations)


@pytest.mark.parametrize(("context", "number"), [("fork", 3), ("spawn", 1)])
def test_single_environments_in_processes_of_their_own(context, number):
    if context not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {context}")
    expected = seen(SyncVectorEnv([make] * number))
    envs = AsyncVectorEnv([make] * number, context=context)
    try:
        np.testing.assert_array_equal(seen(envs), expected)
    finally:
        envs.close()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
def test_stable_baselines_processes():
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env")
    runs = []
    for envs in (vec_env.SubprocVecEnv([make] * 2, start_method="fork"), vec_env.DummyVecEnv([make] * 2)):
        envs.seed(5)
        run = [envs.reset()]
        for _ in range(8):
            run.append(envs.step(np.stack(envs.env_method("action_masks")).argmax(axis=1))[0])
        envs.close()
        runs.append(run)
    np.testing.assert_array_equal(*runs)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.parametrize("many", [False, True])
def test_workers_that_load_data_play_on_in_live_environments(many):
    data = pytest.importorskip("torch.utils.data")

    class Play(data.IterableDataset):
        def __init__(self, env):
            self.env = env

        def __iter__(self):
            yield from seen(self.env, 6)

    env = gymnasium.make_vec(ID, num_envs=3, opponents="greedy") if many else make()
    expected = seen(env, 6)
    loaded = list(data.DataLoader(Play(env), batch_size=None, num_workers=2, multiprocessing_context="fork"))
    assert len(loaded) == 2 * len(expected)
    for index, row in enumerate(loaded):
        np.testing.assert_array_equal(row, expected[index // 2])
