"""Gymnasium's own wrappers around both of its forms: which work and which are refused, as the page has it."""

import re
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from every_game import gymnasium_name
from gymnasium import wrappers
from gymnasium.error import DependencyNotInstalled
from gymnasium.spaces import Box
from gymnasium.wrappers import vector

ID = gymnasium_name("azul")
PAGE = Path(__file__).parents[3] / "docs" / "environments.md"
BOX = Box(0, 1, (181,), np.float32)
WORKS = None
AUTORESET, BOXES, PICTURES = "autoreset_mode", "Box", "image|3 channels|Dict"
PIXELS = {"HumanRendering", "RecordVideo", "AddRenderObservation", "AddWhiteNoise", "ObstructView", "RenderCollection"}


def same(value):
    return value


def half(observation):
    return (observation / 2).astype(np.float32)


# name -> (arguments, what the refusal speaks of)
VECTOR = {
    "DictInfoToList": ({}, WORKS),
    "RecordEpisodeStatistics": ({}, WORKS),
    "TransformAction": ({"func": same}, WORKS),
    "VectorizeTransformAction": (
        {"wrapper": wrappers.TransformAction, "func": same, "action_space": gymnasium.spaces.Discrete(180)},
        WORKS,
    ),
    "TransformReward": ({"func": same}, WORKS),
    "VectorizeTransformReward": ({"wrapper": wrappers.TransformReward, "func": same}, WORKS),
    "ClipReward": ({"min_reward": 0}, WORKS),
    "NormalizeReward": ({}, WORKS),
    "ArrayConversion": ({"env_xp": np, "target_xp": np}, WORKS),
    "NumpyToTorch": ({}, WORKS),
    "TransformObservation": ({"func": same}, AUTORESET),
    "VectorizeTransformObservation": (
        {"wrapper": wrappers.TransformObservation, "func": half, "observation_space": BOX},
        AUTORESET,
    ),
    "FlattenObservation": ({}, AUTORESET),
    "ReshapeObservation": ({"shape": (181, 1)}, AUTORESET),
    "RescaleObservation": ({"min_obs": 0, "max_obs": 1}, AUTORESET),
    "DtypeObservation": ({"dtype": np.float64}, AUTORESET),
    "NormalizeObservation": ({}, AUTORESET),
    "FilterObservation": ({"filter_keys": [0]}, AUTORESET),
    "GrayscaleObservation": ({}, AUTORESET),
    "ResizeObservation": ({"shape": (8, 8)}, AUTORESET),
    "ClipAction": ({}, BOXES),
    "RescaleAction": ({"min_action": 0, "max_action": 1}, BOXES),
}
SINGLE = {
    "Autoreset": ({}, WORKS),
    "OrderEnforcing": ({}, WORKS),
    "PassiveEnvChecker": ({}, WORKS),
    "RecordEpisodeStatistics": ({}, WORKS),
    "TimeLimit": ({"max_episode_steps": 5}, WORKS),
    "DelayObservation": ({"delay": 1}, WORKS),
    "DtypeObservation": ({"dtype": np.float64}, WORKS),
    "FlattenObservation": ({}, WORKS),
    "FrameStackObservation": ({"stack_size": 2}, WORKS),
    "NormalizeObservation": ({}, WORKS),
    "RescaleObservation": ({"min_obs": 0, "max_obs": 1}, WORKS),
    "ReshapeObservation": ({"shape": (181, 1)}, WORKS),
    "TransformObservation": ({"func": half, "observation_space": BOX}, WORKS),
    "TransformAction": ({"func": same, "action_space": gymnasium.spaces.Discrete(180)}, WORKS),
    "TransformReward": ({"func": same}, WORKS),
    "ClipReward": ({"min_reward": 0}, WORKS),
    "NormalizeReward": ({}, WORKS),
    "AddRenderObservation": ({}, WORKS),
    "AddWhiteNoise": ({"probability_of_noise_per_pixel": 0.5}, WORKS),
    "ObstructView": ({"obstructed_pixels_ratio": 0.5, "obstruction_width": 4}, WORKS),
    "RenderCollection": ({}, WORKS),
    "HumanRendering": ({}, WORKS),
    "ArrayConversion": ({"env_xp": np, "target_xp": np}, WORKS),
    "NumpyToTorch": ({}, WORKS),
    "ClipAction": ({}, BOXES),
    "DiscretizeAction": ({"bins": 4}, BOXES),
    "RescaleAction": ({"min_action": 0, "max_action": 1}, BOXES),
    "FilterObservation": ({"filter_keys": [0]}, PICTURES),
    "GrayscaleObservation": ({}, PICTURES),
    "ResizeObservation": ({"shape": (8, 8)}, PICTURES),
}
# these repeat or exchange actions, which makes them illegal, or want other packages or games of another kind
NOT_TRIED = {"RepeatAction", "StickyAction", "MaxAndSkipObservation", "DiscretizeObservation", "TimeAwareObservation"}
NOT_TRIED |= {"AtariPreprocessing", "RecordVideo", "JaxToNumpy", "JaxToTorch", "vector"}


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")


def wrapped(module, name, arguments, make, **made_with):
    """Return an environment in a wrapper; the test is skipped where the wrapper needs what is not installed."""
    if not hasattr(module, "__all__") or name not in module.__all__:
        pytest.skip("this version of Gymnasium does not have it")
    try:
        return getattr(module, name)(
            make(ID, render_mode="rgb_array" if name in PIXELS else None, **made_with), **arguments
        )
    except (DependencyNotInstalled, ModuleNotFoundError) as error:
        pytest.skip(str(error))


def steps(env, number, single):
    """Play legal actions and return the episodes that ended."""
    _, info = env.reset(seed=1)
    ends = 0
    for _ in range(number):
        actions = env.unwrapped.action_masks().argmax(axis=-1)
        if type(env).__name__ == "NumpyToTorch":
            actions = pytest.importorskip("torch").as_tensor(actions)
        _, _, terminated, truncated, info = env.step(int(actions) if single else actions)
        ended = bool(terminated or truncated) if single else (np.asarray(terminated) | np.asarray(truncated)).any()
        ends += int(ended)
        if single and ended and type(env).__name__ != "Autoreset":
            env.reset()
        assert info
    env.close()
    return ends


@pytest.mark.parametrize("name", VECTOR)
def test_wrappers_of_many_games(name):
    arguments, refusal = VECTOR[name]
    make = {"make": gymnasium.make_vec, "num_envs": 3}
    if refusal is WORKS:
        env = wrapped(vector, name, arguments, **make)
        assert steps(env, 1 if name in PIXELS else 50, single=False) or name in PIXELS
    else:
        with pytest.raises((TypeError, ValueError), match=refusal):
            wrapped(vector, name, arguments, **make)


@pytest.mark.parametrize("name", [name for name, (_, refusal) in VECTOR.items() if refusal == AUTORESET])
def test_what_is_refused_takes_single_environments_side_by_side(name):
    if name in ("FilterObservation", "GrayscaleObservation", "ResizeObservation"):
        pytest.skip("for other kinds of observations")
    env = wrapped(vector, name, VECTOR[name][0], gymnasium.make_vec, num_envs=2, vectorization_mode="sync")
    env.reset(seed=1)
    for _ in range(3):
        masks = np.array([each.unwrapped.action_masks() for each in env.unwrapped.envs])
        env.step(masks.argmax(axis=1))


@pytest.mark.parametrize("name", SINGLE)
def test_wrappers_of_one_game(name):
    arguments, refusal = SINGLE[name]
    if refusal is WORKS:
        with warnings.catch_warnings():
            # of float64 made to float32
            warnings.simplefilter("ignore")
            env = wrapped(wrappers, name, arguments, gymnasium.make)
            assert steps(env, 1 if name in PIXELS else 40, single=True) or name in PIXELS
    else:
        with pytest.raises((TypeError, ValueError), match=refusal):
            wrapped(wrappers, name, arguments, gymnasium.make)


@pytest.mark.skipif(not gymnasium.__version__.startswith("1.4"), reason="the table is that of one version")
def test_the_page_names_them_all():
    assert set(vector.__all__) - NOT_TRIED - {"HumanRendering"} == set(VECTOR)
    assert set(wrappers.__all__) - NOT_TRIED == set(SINGLE)
    page = " ".join(PAGE.read_text().split())
    works, refused = (
        set(re.findall(r"`(\w+)`", re.search(f"\\| {row} \\|([^|]*)\\|", page).group(1))) for row in ("work", "refused")
    )
    assert works == {name for name, (_, refusal) in VECTOR.items() if refusal is WORKS}
    assert refused == {name for name, (_, refusal) in VECTOR.items() if refusal is not WORKS}


def test_attributes_that_wrappers_and_trainers_look_for():
    envs = gymnasium.make_vec(ID, num_envs=2)
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    assert envs.autoreset_mode is mode
    assert envs.metadata["autoreset_mode"] is mode
    assert vector.RecordEpisodeStatistics(envs).unwrapped.autoreset_mode is mode
