"""The two forms of every observation, floats and bytes, are the same numbers."""

import numpy as np
import pytest

from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.engine.observation import Observer, write_observation
from meeplezoo.envs.interfaces.spaces import observation_box
from meeplezoo.envs.registry import describe
from tests.every_game import NAMES, TABLES, quick

GAMES = 24


def batch_of(name, players, **arguments):
    batch = GameBatch(make_game(name, num_players=players, **quick(name), **arguments), GAMES)
    batch.reset(5)
    return batch


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_floats_are_the_bytes_times_the_scales(name, players):
    floats, compact = batch_of(name, players), batch_of(name, players, encoding="compact")
    spaces = observation_box(floats.game), observation_box(compact.game)
    assert [space.dtype for space in spaces] == [np.float32, np.uint8]
    for _ in range(150):
        for seat in range(players):
            seen, numbers = floats.observe(seat), compact.observe(seat)
            assert (seen.dtype, numbers.dtype) == (np.float32, np.uint8)
            assert (numbers.astype(np.float32) * compact.game.observation_scales == seen).all()
            for space, one in zip(spaces, (seen[0], numbers[0]), strict=True):
                assert space.contains(one)
        actions = floats.random_actions()
        for batch in (floats, compact):
            written = np.empty((GAMES, batch.game.observation_size), batch.game.observation_dtype)
            batch.step(actions, observation=written)
            assert (written == batch.observe()).all()


@pytest.mark.parametrize("name", NAMES)
def test_large_scores_are_exact_as_floats_and_255_as_bytes(name):
    game = make_game(name)
    compact = game.with_encoding("compact")
    scores = next(first for first, _, field in game.observation_ranges() if "score" in field.name)
    state = game.new(1)
    for score in (255, 256, 1000):
        state["score"][:] = score
        assert game.observe(state, 0)[scores] == pytest.approx(score / 100)
        assert compact.observe(state, 0)[scores] == 255


@pytest.mark.parametrize("name", NAMES)
def test_compact_is_an_encoding_of_every_game(name):
    assert describe(name).encodings[-1] == "compact"
    compact = make_game(name, encoding="compact")
    first = make_game(name)
    assert (compact.layout, compact.encoding) == (first.layout, "compact")
    assert compact != first
    assert compact.observation_fields == first.observation_fields
    batch = GameBatch(compact, 2)
    batch.reset(1)
    actions, floats = batch.random_actions(), np.zeros((2, compact.observation_size), np.float32)
    with pytest.raises(ValueError, match="observation must be a C-contiguous uint8 array"):
        batch.step(actions, observation=floats)


def test_every_byte_keeps_its_number_and_larger_ones_become_255():
    numbers = np.array([0, 1, 254, 255, 256, 32767] * 9, np.int16)
    game = make_game(NAMES[0])
    state = game.new(1)
    observer = Observer(0, np.ones(game.observation_size, np.float32), np.zeros(game.observation_size, np.int16))
    seen = np.zeros(game.observation_size, np.uint8)
    write_observation(state[None][0], 0, observer, seen)
    assert (seen == np.minimum(observer.numbers, 255)).all()
    from meeplezoo.envs.engine.observation import _saturate

    row = np.zeros(len(numbers), np.uint8)
    _saturate(numbers, np.ones(len(numbers), np.float32), row)
    assert (row == np.minimum(numbers, 255)).all()
