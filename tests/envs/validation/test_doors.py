"""Arguments of every kind at the public methods of games, batches and decisions: a result or one clear sentence."""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from compiled_forms import compiled_forms

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.streams import agent_stream
from meeplezoo.envs import Game, GameBatch, IllegalMove, game_names, make_game
from meeplezoo.envs.batch import MAX_GAMES, MAX_THREADS
from meeplezoo.envs.engine import batch as batch_kernels
from meeplezoo.envs.registry import describe

NAMES = game_names()
N = 5


class Unfriendly:
    """What numpy cannot make an array of."""

    def __array__(self, *arguments: Any, **named: Any) -> np.ndarray:
        raise RuntimeError("not today")

    def __repr__(self) -> str:
        return "Unfriendly()\nin two lines"


def game_of(name: str) -> Game:
    return make_game(name, num_players=describe(name).player_counts[0])


def under_way(game: Game, number: int = N, plies: int = 9) -> GameBatch:
    batch = GameBatch(game, number)
    batch.reset(1)
    for _ in range(plies):
        batch.step(batch.random_actions())
    return batch


def other_games(game: Game) -> Iterator[Game]:
    """Yield the game with other players, if it can have them, and another game."""
    for players in describe(game.name).player_counts:
        if players != game.num_players:
            yield make_game(game.name, num_players=players)
    yield from (make_game(name) for name in NAMES if name != game.name)


def no_integers() -> list[Any]:
    return [
        *("", "7", b"1", 1.0, float("nan"), 1j, True, np.True_, np.float64(1), np.array(1.5), np.array("a")),
        *([], [1], [[1]], [None], {}, (), object(), int, Unfriendly(), np.array(None), np.datetime64("2020")),
        *(2**64, 10**30, -(10**30), 10**5000),
    ]


def small_integers(value: int) -> Iterator[Any]:
    yield value
    for dtype in "bBhHiIlLqQ":
        yield np.array([value], dtype)[0]
        yield np.array(value, dtype)


def same_integers(values: np.ndarray) -> Iterator[Any]:
    """Yield the integers in every form that an array of them can have."""
    for dtype in (*"hiIlLqQ", ">i8", ">i4", "<u2"):
        yield values.astype(dtype)
    fixed = values.copy()
    fixed.flags.writeable = False
    misaligned = np.zeros(8 * len(values) + 1, np.uint8)[1:].view(np.int64)
    misaligned[:] = values
    yield from (fixed, np.repeat(values, 2)[::2], values[::-1].copy()[::-1], np.stack([values, values], 1)[:, 0])
    yield from (misaligned, np.ma.array(values), values.view(np.recarray), pickle.loads(pickle.dumps(values)))
    yield from (values.tolist(), tuple(values.tolist()), list(values), memoryview(values))


def wrong_integers(number: int) -> list[Any]:
    """Return what is no array of so many small integers."""
    good = np.zeros(number, np.int64)
    return [
        *(good.astype(dtype) for dtype in (float, np.float32, bool, complex, object, "U5", "M8[s]")),
        *(good[:, None], good[None], good[:-1], np.zeros(number + 1, np.int64), np.zeros((number, 0), np.int64)),
        *([None] * number, [[1], [2, 3]], ["a"] * number, [1.0] * number, [True] * number, [10**30] * number),
        *(np.full(number, 2**64 - 1, np.uint64), range(number + 1), iter([1]), Unfriendly(), None, 3, "abcde", {}),
    ]


def assert_refused(call: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011, the sentences are tested elsewhere
        call(value)
    assert type(caught.value) in (ValueError, IllegalMove)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", NAMES)
def test_no_integer_is_taken_for_one(name: str) -> None:
    game = game_of(name)
    batch = under_way(game)
    state = game.new(3)
    for value in no_integers():
        assert_refused(lambda seat: game.observe(state, seat), value)
        assert_refused(game.move, value)
        assert_refused(lambda action: game.play_action(state, action), value)
        assert_refused(game.new, value)
        assert_refused(lambda seed: game.from_position(game.position(state), seed), value)
        assert_refused(lambda number: GameBatch(game, number), value)
        assert_refused(lambda number: GameBatch(game, 2, threads=number), value)
        assert_refused(batch.play_out, value)
        assert_refused(batch.observe, value)
        assert_refused(batch.reset, value)
    assert_refused(lambda number: GameBatch(game, number), None)
    assert_refused(lambda seat: game.observe(state, seat), None)
    assert state.tobytes() == game.new(3).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_integers_of_every_width_are_taken(name: str) -> None:
    game = game_of(name)
    batch, state = under_way(game), game.new(3)
    for one in small_integers(1):
        assert (game.observe(state, one) == game.observe(state, 1)).all()
        assert game.move(one) == game.move(1)
        assert game.new(one).tobytes() == game.new(1).tobytes()
        assert (batch.observe(one) == batch.observe(1)).all()
        assert batch.clone().play_out(one) == batch.clone().play_out(1)
        assert GameBatch(game, one, threads=one).num_games == 1
    legal = int(np.flatnonzero(game.mask(state))[0])
    for action in small_integers(legal) if legal < 128 else [np.int64(legal), np.array(legal)]:
        played = game.new(3)
        game.play_action(played, action)
        assert played["ply"] == 1


@pytest.mark.parametrize("name", NAMES)
def test_numbers_out_of_range_are_refused_with_the_range(name: str) -> None:
    game = game_of(name)
    batch, state = under_way(game), game.new(3)
    last = game.num_players - 1
    for seat in (-1, game.num_players, 99, 10**9, 2**63, -(2**63), np.uint64(2**64 - 1)):
        with pytest.raises(ValueError, match=f"seat must be from 0 to {last}, not"):
            game.observe(state, seat)
        with pytest.raises(ValueError, match=f"seats must be from 0 to {last}, not"):
            batch.observe(seat)
        with pytest.raises(ValueError, match=f"seats must be (0 to {last}|integers)"):
            batch.observe(np.array([0, 0, 0, seat, 0]))
    for number in (0, -1, MAX_GAMES + 1, 10**15, 2**63):
        with pytest.raises(ValueError, match=f"num_games must be from 1 to {MAX_GAMES}, not"):
            GameBatch(game, number)
    for number in (0, -1, MAX_THREADS + 1, 10**8):
        with pytest.raises(ValueError, match=f"threads must be from 1 to {MAX_THREADS}, not"):
            GameBatch(game, 2, threads=number)
    for plies in (-1, 2**63):
        with pytest.raises(ValueError, match="max_plies must be from 0 to"):
            batch.play_out(plies)
    assert batch.play_out(0) == 0


@pytest.mark.parametrize("name", NAMES)
def test_other_arguments_of_the_making_are_refused(name: str) -> None:
    game = game_of(name)
    for value in (None, 3, "points", ["rank"], np.array(["rank", "rank"]), object()):
        assert_refused(lambda rewards: GameBatch(game, 2, rewards=rewards), value)
        assert_refused(lambda made: GameBatch(made, 2), value)
        assert_refused(game.with_encoding, [value])
        assert_refused(make_game, value)
    for value in (None, 1, "no", np.array([True]), 0.0):
        assert_refused(lambda auto_reset: GameBatch(game, 2, auto_reset=auto_reset), value)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arrays_of_integers_are_refused(name: str) -> None:
    game = game_of(name)
    batch = under_way(game)
    before = pickle.dumps(batch)
    actions = batch.random_actions()
    before = batch.states.tobytes()
    for value in wrong_integers(N):
        for check in (True, False):
            assert_refused(lambda array, check=check: batch.step(array, check=check), value)
            assert_refused(lambda array, check=check: batch.step_subset(np.arange(N), array, check=check), value)
        assert_refused(lambda array: batch.step_subset(array, actions), value)
        if value is not None and not isinstance(value, int):
            assert_refused(batch.observe, value)
            assert_refused(batch.reset, value)
    assert batch.states.tobytes() == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", [True, False])
def test_games_of_step_subset_are_checked(name: str, check: bool) -> None:
    batch = under_way(game_of(name))
    actions = batch.random_actions()
    before = batch.states.tobytes(), batch.outcomes.tobytes()
    for wrong in (-1, N, 10**9, -(2**63), 2**63 - 1):
        with pytest.raises(ValueError, match=f"games must be from 0 to 4, not {wrong}"):
            batch.step_subset(np.array([0, 2, wrong]), actions[[0, 2, 0]], check=check)
    for repeated in ([1, 3, 1], [4, 4, 0]):
        with pytest.raises(ValueError, match=f"games must all be different, but {repeated[0]} is given twice"):
            batch.step_subset(np.array(repeated), actions[repeated], check=check)
    with pytest.raises(ValueError, match=r"actions must have the shape \(2,\), not \(3,\)"):
        batch.step_subset(np.array([1, 3]), actions[:3], check=check)
    with pytest.raises(IllegalMove, match=r"game 3 of the batch: .*: action -1 is illegal"):
        batch.step_subset(np.array([1, 3]), np.array([actions[1], -1]), check=check)
    assert (batch.states.tobytes(), batch.outcomes.tobytes()) == before
    # nothing of those calls is left: the same games are played now
    batch.step_subset(np.array([3, 1]), actions[[3, 1]], check=check)
    batch.step_subset([], [], check=check)
    assert batch.states[[0, 2, 4]].tobytes() == np.frombuffer(before[0], batch.states.dtype)[[0, 2, 4]].tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_every_form_of_an_array_plays_the_same_and_compiles_nothing(name: str) -> None:
    game = game_of(name)
    start = under_way(game)
    actions, games, seats = start.random_actions(), np.array([4, 0, 2]), start.to_move.astype(np.int64)
    expected, some = start.clone(), start.clone()
    expected.step(actions)
    some.step_subset(games, actions[games])
    once = start.clone()
    once.step(actions, check=False)
    once.step_subset(games, once.random_actions()[games], check=False)
    once.observe(), game.margins(once.states), game.projected_margins(once.states)
    decisions = DecisionBatch(game, once.states)
    seen = (decisions.mask, decisions.observation, decisions.action_values, decisions.determinize(agent_stream(1)))
    state = game.new(3)
    game.play_action(state, int(game.mask(state).argmax())), game.result(state), game.observe(state, 0)
    game.legal_moves(once.states[1])
    compiled = compiled_forms(game)
    steps = [compiled[f"{batch_kernels.__name__}.{kernel}"] for kernel in ("step", "step_subset")] if compiled else []
    assert steps in ([1, 1], [])
    for given in same_integers(actions):
        for check in (True, False):
            batch = start.clone()
            batch.step(given, check=check)
            assert batch.states.tobytes() == expected.states.tobytes()
    for given, chosen in zip(same_integers(games), same_integers(actions[games]), strict=True):
        batch = start.clone()
        batch.step_subset(given, chosen)
        assert batch.states.tobytes() == some.states.tobytes()
    for given in same_integers(seats):
        assert (start.observe(given) == start.observe()).all()
        batch = start.clone()
        batch.reset(given)
        assert batch.states["seed"].tolist() == seats.tolist()
    for states in forms_of_states(once.states):
        assert (game.margins(states) == game.margins(once.states)).all()
        assert (game.projected_margins(states) == game.projected_margins(once.states)).all()
        decisions = DecisionBatch(game, states)
        again = (decisions.mask, decisions.observation, decisions.action_values, decisions.determinize(agent_stream(1)))
        assert [array.tobytes() for array in again] == [array.tobytes() for array in seen]
    for one in forms_of_a_state(once.states[1]):
        assert game.result(one) == game.result(once.states[1])
        assert (game.mask(one) == game.mask(once.states[1])).all()
        assert (game.observe(one, 0) == game.observe(once.states[1], 0)).all()
        assert game.legal_moves(one) == game.legal_moves(once.states[1])
    assert compiled_forms(game) == compiled


def forms_of_states(states: np.ndarray) -> Iterator[Any]:
    fixed = states.copy()
    fixed.flags.writeable = False
    packed = np.zeros(len(states), np.dtype([("before", "u1"), ("state", states.dtype)]))
    packed["state"] = states
    yield from (states, fixed, np.repeat(states, 2)[::2], states[::-1].copy()[::-1], packed["state"])
    yield from (pickle.loads(pickle.dumps(states)), states.view(np.recarray), list(states), np.ma.array(states))


def forms_of_a_state(state: np.void) -> Iterator[Any]:
    for states in forms_of_states(np.array([state])):
        if isinstance(states, np.ndarray):
            yield states[0]
    yield from (state, state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), np.array(state))


@pytest.mark.parametrize("name", NAMES)
def test_a_state_in_every_form_is_played_in_place_or_refused(name: str) -> None:
    game = game_of(name)
    action = int(game.mask(game.new(3)).argmax())
    for index, _ in enumerate(forms_of_a_state(game.new(3))):
        # several forms lie in the same memory
        state = list(forms_of_a_state(game.new(3)))[index]
        if isinstance(state, np.void) and state.flags.writeable:
            game.play_action(state, action)
            assert state["ply"] == 1
        elif isinstance(state, np.void):
            with pytest.raises(ValueError, match="the state is read-only"):
                game.play_action(state, action)
            with pytest.raises(ValueError, match="the state is read-only"):
                game.play(state, game.move(action, state))
            assert state["ply"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_state_of_the_game_is_refused(name: str) -> None:
    game = game_of(name)
    states = under_way(game).states
    agents = [make_agent(text, game, 1) for text in ("greedy", "mcts:sims=5")]
    wrong: list[Any] = [
        *no_integers(),
        3,
        None,
        states.tolist(),
        states.tobytes(),
        states["ply"],
        states.astype(object),
    ]
    wrong += [states.reshape(1, N), states[0].item(), np.void(b"abc"), states[["ply", "seed"]]]
    wrong += [states.astype(states.dtype.newbyteorder(">"))]
    for value in [*wrong, states]:
        for method in (game.mask, game.is_over, game.result, game.legal_moves, game.position):
            assert_refused(method, value)
        assert_refused(lambda state: game.observe(state, 0), value)
        assert_refused(lambda state: game.move(0, state), value if value is not None else 3)
        assert_refused(lambda state: game.play_action(state, 0), value)
        assert_refused(lambda state: game.play(state, game.move(0)), value)
    for value in [value for value in [*wrong, states[0]] if not isinstance(value, list | tuple) or value]:
        for method in (game.margins, game.projected_margins, game.check_states):
            assert_refused(method, value)
        assert_refused(lambda array: DecisionBatch(game, array), value)
    for other in other_games(game):
        assert_refused(game.mask, other.new(1))
        assert_refused(lambda state: game.observe(state, 0), other.new(1))
        assert_refused(lambda state: game.play_action(state, 0), other.new(1))
        assert_refused(game.margins, under_way(other).states)
        assert_refused(lambda array: DecisionBatch(game, array), under_way(other).states)
        for agent in agents:
            with pytest.raises(ValueError, match=f"agent '{agent.name}' was made for {name} with"):
                agent.act(DecisionBatch(other, under_way(other).states))
        if other.name == name:
            # one game of others among many
            assert_refused(game.margins, np.concatenate([states, other.template]))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_that_cannot_be_written_are_refused(name: str) -> None:
    game = game_of(name)
    batch = under_way(game)
    before = batch.states.tobytes()
    calls: list[tuple[Callable[[Any], Any], tuple[int, ...], type]] = [
        (lambda out: batch.step(batch.random_actions(), mask=out), (N, game.num_actions), np.int8),
        (lambda out: batch.step(batch.random_actions(), observation=out), (N, game.observation_size), np.float32),
        (batch.mask, (N, game.num_actions), np.int8),
        (lambda out: batch.observe(out=out), (N, game.observation_size), np.float32),
        (batch.random_actions, (N,), np.int64),
    ]
    records = GameBatch(game, 40)
    records.reset(1)
    for call, shape, dtype in calls:
        good = np.zeros(shape, dtype)
        fixed = good.copy()
        fixed.flags.writeable = False
        misaligned = np.zeros(good.nbytes + 1, np.uint8)[1:].view(dtype).reshape(shape)
        wrong = [fixed, good[:-1], good[None], good.astype(">i8"), good.astype(float), good.astype(bool), good.tolist()]
        wrong += [np.zeros((2 * N, *shape[1:]), dtype)[::2], 3, "mask", Unfriendly(), np.zeros(shape, object)]
        wrong += [good.T, np.asfortranarray(good), good[:, ::-1]] if len(shape) > 1 else []
        wrong += [misaligned] if good.itemsize > 1 else []
        for value in wrong:
            assert_refused(call, value)
    assert batch.states.tobytes() == before
    own = records.states.view(np.uint8)
    if own.size >= 40 * game.num_actions:
        mask = own[: 40 * game.num_actions].view(np.int8).reshape(40, game.num_actions)
        with pytest.raises(ValueError, match="mask must not share memory"):
            records.step(records.random_actions(), mask=mask)


def test_outputs_may_be_of_other_classes_and_change_their_flags(tmp_path: Any) -> None:
    game = game_of(NAMES[0])
    batch = under_way(game)
    mask = np.memmap(tmp_path / "mask", np.int8, "w+", shape=(N, game.num_actions))
    observation = np.zeros((N, game.observation_size), np.float32).view(np.recarray)
    batch.step(batch.random_actions(), mask=mask, observation=observation)
    assert (mask == batch.mask()).all()
    assert (observation == batch.observe()).all()
    mask.flags.writeable = False
    compiled = compiled_forms(game)
    batch.step(batch.random_actions(), mask=mask, observation=observation)
    assert compiled_forms(game) == compiled


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", [True, False])
def test_actions_that_lie_in_the_memory_of_an_output_are_read_before(name: str, check: bool) -> None:
    game = game_of(name)
    batch = under_way(game)
    twin = batch.clone()
    room = np.zeros(N * game.num_actions // 8 + 1, np.int64)
    mask, actions = room.view(np.int8)[: N * game.num_actions].reshape(N, game.num_actions), room[:N]
    for _ in range(20):
        actions[:] = batch.random_actions()
        twin.step(actions.copy(), check=check)
        batch.step(actions, check=check, mask=mask)
        assert batch.states.tobytes() == twin.states.tobytes()
        assert (mask == twin.mask()).all()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_played_before_reset(name: str) -> None:
    game = game_of(name)
    batch = GameBatch(game, 3)
    calls: list[Callable[[], Any]] = [
        *(batch.random_actions, batch.play_out, batch.mask, batch.observe),
        *(lambda check=check: batch.step(np.zeros(3, np.int64), check=check) for check in (True, False)),
        lambda: batch.step_subset(np.array([1]), np.array([0])),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"the games of {name} have not begun; call reset first"):
            call()
    assert not batch.results()[0].any()
    # records that have not begun end in no kernel in a loop or outside of its arrays
    decisions = DecisionBatch(game, batch.states)
    decisions.determinize(agent_stream(1))
    for text in ("greedy", "mcts:sims=5", "mcts:sims=5,leaf=random", "random"):
        agent = make_agent(text, game, 1)
        try:
            assert len(agent.act(DecisionBatch(game, batch.states))) == 3
        except IndexError:
            # there is no best of no actions
            assert not decisions.mask.any()


def test_arrays_of_a_batch_cannot_be_replaced() -> None:
    batch = under_way(game_of(NAMES[0]))
    for name in ("states", "finals", "outcomes"):
        with pytest.raises(AttributeError, match=name):
            setattr(batch, name, np.zeros(3))


@pytest.mark.parametrize("name", NAMES)
def test_decisions_check_what_they_are_given(name: str) -> None:
    game = game_of(name)
    states = under_way(game).states
    mask, observation = DecisionBatch(game, states).mask, DecisionBatch(game, states).observation
    for wrong in (mask[:-1], mask.astype(bool), mask.tolist(), observation, 3):
        with pytest.raises(ValueError, match="mask must be an array int8 of the shape"):
            DecisionBatch(game, states, mask=wrong)
    for wrong in (observation[:-1], observation.astype(float), observation.tolist(), mask, 3):
        with pytest.raises(ValueError, match="observation must be an array float32 of the shape"):
            DecisionBatch(game, states, observation=wrong)
    fixed = agent_stream(1)
    fixed.flags.writeable = False
    for stream in (None, 3, [1, 2, 3, 4], agent_stream(1)[:3], agent_stream(1).astype(np.int64), fixed):
        with pytest.raises(ValueError, match="stream must be a C-contiguous uint32 array of the shape"):
            DecisionBatch(game, states).determinize(stream)
