"""What strangers hand to the environments: each form takes it or refuses it in one sentence, all of them alike."""

import json
import pickle
import re

import numpy as np
import pytest
from compiled_forms import compiled_forms
from gymnasium.error import ResetNeeded

from meeplezoo.agents import make_agent
from meeplezoo.agents.environments import NamedOpponentsEnv, NamedOpponentsVectorEnv
from meeplezoo.envs import IllegalMove, azul_v0, make_game
from meeplezoo.envs.interfaces.pettingzoo_env import GameAECEnv

SENTENCES = (ValueError, AssertionError, IllegalMove, ResetNeeded)


class Tensor:
    """Stands for a tensor of another library, of one or several integers or booleans."""

    def __init__(self, *values, dtype="int64", axes=False):
        self.dtype = dtype
        self.shape = (len(values),) if axes or len(values) > 1 else ()
        self.ndim = len(self.shape)
        self._values = list(values)

    def __index__(self):
        if len(self._values) > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._values[0])

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(Tensor(value) for value in self._values)

    def __array__(self, dtype=None, copy=None):
        values = self._values if self.shape else self._values[0]
        return np.array(values, dtype or self.dtype)

    def __repr__(self):
        return f"tensor({self._values})"


class Lowest:
    """Plays the legal action of the lowest number, handed over in some form."""

    name = "lowest"

    def __init__(self, hand_over=np.asarray):
        self._hand_over = hand_over

    def act(self, decisions):
        return self._hand_over(decisions.mask.argmax(axis=1))


class Nameless:
    def act(self, decisions):
        return decisions.mask.argmax(axis=1)


# no integers, in every form that users come by
NO_INTEGERS = [
    None,
    True,
    np.True_,
    1.0,
    float("nan"),
    np.float32(1),
    np.array(1.0),
    1j,
    "1",
    b"1",
    [],
    [1],
    {},
    object(),
    int,
    np.array([1]),
    np.ones((2, 2)),
    np.datetime64("2020"),
    Tensor(1, axes=True),
    Tensor(True, dtype="bool"),
]
NO_WORDS = [0, 1.5, True, b"outcome", [], ["outcome"], object(), np.array(["outcome", "rank"]), "\x1b[31m", "a" * 1000]
INTEGERS = [int, np.int8, np.uint8, np.int32, np.uint64, np.array, Tensor]
"""What makes an integer of a small one."""


def turn(**arguments):
    return azul_v0.env(**arguments)


def raw(**arguments):
    return azul_v0.raw_env(**arguments)


def single(**arguments):
    return NamedOpponentsEnv(arguments.pop("game", "azul"), **arguments)


def vector(**arguments):
    return NamedOpponentsVectorEnv(arguments.pop("game", "azul"), **{"num_envs": 2, **arguments})


def self_play(**arguments):
    self_play_env = pytest.importorskip("meeplezoo.envs.interfaces.sb3_vec_env")
    game = make_game("azul", num_players=arguments.pop("num_players", 2))
    given = {"game": game, "num_games": 2, "opponents": [Lowest()], **arguments}
    return self_play_env.SelfPlayVecEnv(given.pop("game"), given.pop("num_games"), given.pop("opponents"), **given)


SINGLES, VECTORS = [turn, raw, single], [vector, self_play]
FORMS = SINGLES + VECTORS


def begin(env, seed=1):
    """Begin the game of a seed in any form."""
    if hasattr(env, "step_async"):
        env.seed(seed)
        env.reset()
    else:
        env.reset(seed=seed)


def legal(env):
    """Return a legal action of a single form, or one of each game, int64 [N]."""
    if isinstance(env, GameAECEnv):
        return int(env.observe(env.agent_selection)["action_mask"].argmax())
    actions = env.action_masks().argmax(axis=-1)
    return int(actions) if actions.shape == () else actions


def refused(call, *kinds):
    """Return the one sentence with which a call is refused."""
    with pytest.raises(kinds or SENTENCES) as caught:
        call()
    message = str(caught.value)
    assert message
    assert "\n" not in message
    assert len(message) < 400
    assert "\x1b" not in message
    return message


ARGUMENTS = [
    *[(form, name, NO_WORDS) for form in FORMS for name in ("rewards", "render_mode") if form != self_play],
    (self_play, "rewards", NO_WORDS),
    (turn, "illegal", NO_WORDS),
    (single, "illegal", NO_WORDS),
    *[(form, "wall", NO_WORDS) for form in (turn, raw, single, vector)],
    *[(form, "encoding", NO_WORDS) for form in (turn, raw, single, vector)],
    *[(form, "num_players", [*NO_INTEGERS, 0, 1, 5, -1, 10**400]) for form in (turn, raw, single, vector)],
    *[(form, "seat", [*NO_INTEGERS, -1, 2, 10**400]) for form in (single, vector)],
    (vector, "num_envs", [*NO_INTEGERS, 0, -1, 10**12, 10**400]),
    (self_play, "num_games", [*NO_INTEGERS, 0, -1, 10**12, 10**400]),
    *[(form, "game", [None, 3, object(), np.array(["azul"])]) for form in (single, vector, self_play)],
    (self_play, "game", ["azul"]),
    *[
        (form, "opponents", [None, 3, 1.5, {}, [], [None], ["random"] * 2, "strongest", Lowest, Nameless(), len])
        for form in (single, vector)
    ],
    (self_play, "opponents", [None, 3, {}, [], [None], "random", ["random"], Lowest(), [Lowest], [Nameless()]]),
    (self_play, "seed", [*[one for one in NO_INTEGERS if one is not None], -1, 2**53, 10**400]),
    (
        self_play,
        "weights",
        ["1", ["a"], [None], [], [0], [-1], [1, 1], [[1]], [float("nan")], [float("inf")], [10**400], 10**400, {}],
    ),
    (self_play, "dense", [True]),
]


@pytest.mark.parametrize(
    ("form", "name", "values"), ARGUMENTS, ids=[f"{form.__name__}-{name}" for form, name, _ in ARGUMENTS]
)
def test_wrong_arguments_are_refused_in_one_sentence(form, name, values):
    for value in values:
        if value is not None or name not in ("render_mode", "encoding"):
            refused(lambda value=value: form(**{name: value}), ValueError)
    if form in (turn, raw):
        assert "make_game" in refused(lambda: GameAECEnv("azul"), ValueError)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_every_library_are_taken_and_kept_as_plain_ones(kind):
    for env in (turn(num_players=kind(3)), single(num_players=kind(3), seat=kind(1)), vector(num_players=kind(3))):
        assert type(env.game.options["num_players"]) is int
        assert json.loads(json.dumps(env.game.options)) == env.game.options
        assert env.game == make_game("azul", num_players=3)
        begin(env, kind(7))
    assert vector(num_envs=kind(3)).num_envs == 3
    env = self_play(num_games=kind(3), seed=kind(5))
    assert type(env.num_envs) is int
    assert env.seed(kind(7)) == env.seed(7)
    options = make_game("azul", wall=np.str_("grey")).options
    assert type(options["wall"]) is str
    assert make_game("azul", encoding=np.str_("flat")) == make_game("azul")
    agents = [make_agent("random", make_game("azul"), seed) for seed in (kind(3), 3)]
    assert agents[0].stream.tolist() == agents[1].stream.tolist()


@pytest.mark.parametrize("form", [turn, raw, single, vector])
def test_seeds_of_a_reset(form):
    env = form()
    for value in (*NO_INTEGERS[1:], -1, 2**53, 10**400, (1, 2, 3), [None] * 3):
        assert "seed" in refused(lambda value=value: env.reset(seed=value), ValueError)
    env.reset(seed=7)
    first = env.state() if form in (turn, raw) else env.reset(seed=7)[0]
    for kind in INTEGERS:
        again = env.reset(seed=kind(7))
        np.testing.assert_array_equal(env.state() if form in (turn, raw) else again[0], first)
    with pytest.raises(ValueError, match="seed"):
        self_play(seed=-1)


def test_seeds_of_single_games_of_a_vector():
    env = vector(num_envs=3, opponents=Lowest())
    expected = env.reset(seed=[4, 5, 6])[0]
    for several in ((4, 5, 6), np.array([4, 5, 6], np.int16), range(4, 7), Tensor(4, 5, 6), [np.int8(4), 5, Tensor(6)]):
        np.testing.assert_array_equal(env.reset(seed=several)[0], expected)
    for wrong in ([4, 5], [4.0, 5.0, 6.0], [True, 1, 2], [4, -1, 6], "456", b"456", {4, 5, 6}, [[4], [5], [6]]):
        assert "seed" in refused(lambda wrong=wrong: env.reset(seed=wrong), ValueError)
    # a game without a seed gets the next one of the environment's stream
    runs = []
    for _ in range(2):
        env.reset(seed=9)
        runs.append([env.reset(seed=seed)[0] for seed in ([None, 5, None], [None, None, None])])
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0][0][1], expected[1])
    assert not np.array_equal(runs[0][0], runs[0][1])
    assert len({row.tobytes() for row in runs[0][1]}) == 3


@pytest.mark.parametrize("form", FORMS)
def test_options_of_a_reset_are_not_ignored_in_silence(form):
    env = form()

    def reset(options):
        if form is self_play:
            env.set_options(options)
            env.reset()
        else:
            env.reset(options=options)

    for nothing in (None, {}):
        reset(nothing)
    sentence = "reset takes no options, not num_players; those of a game are given when the environment is made"
    assert refused(lambda: reset({"num_players": 3}), ValueError) == sentence
    if form in (turn, raw):
        # PettingZoo's own tests hand over an option that no game has
        with pytest.warns(UserWarning, match="reset takes no options: spins changes nothing"):
            env.reset(options={"spins": 1})
    else:
        assert refused(lambda: reset({"spins": 1}), ValueError).startswith("reset takes no options, not spins")
    for wrong in (3, "x", [1]) if form is not self_play else ():
        refused(lambda wrong=wrong: reset(wrong), ValueError)


@pytest.mark.parametrize("form", FORMS)
def test_calls_before_the_first_reset_say_so(form):
    env = form(render_mode="ansi") if form is not self_play else form()
    calls = [lambda: env.step([0, 0] if form in VECTORS else 0)]
    calls += [env.render] if form is not self_play else []
    calls += [env.state, lambda: env.observe("player_0"), lambda: env.step(None)] if form in (turn, raw) else []
    for call in calls:
        assert "reset()" in refused(call, AssertionError if form in (turn, raw) else ResetNeeded)
    begin(env)
    env.step(legal(env))


@pytest.mark.parametrize("form", FORMS)
def test_a_closed_environment_goes_on(form):
    env = form(render_mode="ansi") if form is not self_play else form()
    env.close()
    begin(env)
    env.close()
    env.step(legal(env))
    if form is not self_play:
        assert env.render()
    env.close()


@pytest.mark.parametrize("form", SINGLES)
def test_what_is_no_integer_is_no_action(form):
    env = form()
    begin(env)
    for wrong in NO_INTEGERS:
        if wrong is None and form is raw:
            continue
        message = refused(lambda wrong=wrong: env.step(wrong), AssertionError if form is turn else ValueError)
        expected = "action is not in action space" if form is turn else "an action must be an integer, not "
        assert message.startswith(expected)
    # nothing has changed
    other = form()
    begin(other)
    for each in (env, other):
        each.step(legal(each))
    np.testing.assert_array_equal(
        *[each.state() if form is not single else each._opponent_batch.observation for each in (env, other)]
    )


@pytest.mark.parametrize("form", SINGLES)
@pytest.mark.parametrize("kind", INTEGERS)
def test_actions_are_integers_of_every_library(form, kind):
    env = form()
    begin(env)
    for _ in range(4):
        env.step(kind(legal(env)))
    assert getattr(env, "agents", True)


@pytest.mark.parametrize("number", [-1, 180, 10**12, -(10**12), 10**400])
def test_numbers_that_are_no_action_are_illegal_and_no_game_of_a_batch_is_spoken_of(number):
    env = single(illegal="raise")
    begin(env)
    message = refused(lambda: env.step(number), IllegalMove)
    assert message.startswith("azul: action ")
    assert message.endswith("is illegal: the actions are 0 to 179")
    env = raw()
    begin(env)
    assert refused(lambda: env.step(number), IllegalMove) == message
    env = single()
    begin(env)
    assert env.step(number)[1:3] == (-1.0, True)


@pytest.mark.parametrize("form", VECTORS)
def test_what_are_no_integers_are_no_actions(form):
    env = form()
    begin(env)
    wrong = [*NO_INTEGERS, 0, [0], [0, 0, 0], [[0], [0]], [0.0, 0.0], [True, False], ["0", "0"], [0, None], [2**64, 0]]
    wrong += [np.array([2**63, 0], np.uint64), np.zeros(2), np.array([0, 0], "m8[s]"), {0, 1}]
    for actions in wrong:
        message = refused(lambda actions=actions: env.step(actions), ValueError)
        assert message.startswith("actions must ")
    env.step(legal(env))


@pytest.mark.parametrize("form", VECTORS)
def test_actions_of_every_kind_are_played_by_the_same_kernels(form):
    env = form(num_envs=3) if form is vector else form(num_games=3)
    begin(env)
    env.step(legal(env))
    before = compiled_forms(env.game)
    for change in (
        lambda a: a.tolist(),
        tuple,
        lambda a: a.astype(np.int16),
        lambda a: a.astype(np.uint64),
        lambda a: a.astype(">i4"),
        lambda a: np.repeat(a, 2)[::2],
        lambda a: a[::-1].copy()[::-1],
        lambda a: np.broadcast_to(a, (2, 3))[0],
        lambda a: np.frombuffer(a.tobytes(), np.int64),
        lambda a: Tensor(*a.tolist()),
        lambda a: [Tensor(one) for one in a.tolist()],
    ):
        env.step(change(legal(env)))
    assert compiled_forms(env.game) == before


@pytest.mark.parametrize("form", [single, vector, self_play])
def test_opponents_that_answer_nonsense_are_named(form):
    for hand_over in (
        lambda actions: None,
        lambda actions: actions.astype(float),
        lambda actions: actions[:, None],
        lambda actions: np.append(actions, 0),
        lambda actions: actions < 0,
        lambda actions: -1 - actions,
        lambda actions: actions + 10**12,
        lambda actions: [10**30] * len(actions),
        lambda actions: "moves",
    ):
        env = form(opponents=[Lowest(hand_over)])

        def play(env=env):
            begin(env)
            for _ in range(2):
                env.step(legal(env))

        message = refused(play, IllegalMove)
        assert message.startswith("agent 'lowest' ")
        assert "batch" not in message
        # half a step has been played: there is nothing to go on from
        with pytest.raises(ResetNeeded):
            env.step([0, 0] if form is not single else 0)
    env = form(opponents=[Lowest(lambda actions: np.repeat(actions.astype(np.uint8), 2)[::2])])
    begin(env)
    before = compiled_forms(env.game)
    for _ in range(3):
        env.step(legal(env))
    assert compiled_forms(env.game) == before


def test_an_illegal_opponent_does_not_cost_the_learner_the_game():
    env = single(opponents=[Lowest(lambda actions: -1 - actions)], illegal="terminate", seat=0)
    env.reset(seed=next(seed for seed in range(99) if env.game.new(seed)["to_move"] == 0))
    with pytest.raises(IllegalMove, match="agent 'lowest' played an illegal action"):
        env.step(legal(env))


def test_steps_of_the_stable_baselines_form_come_in_pairs():
    env = self_play()
    begin(env)
    assert "step_async" in refused(env.step_wait, ValueError)
    env.step(legal(env))
    assert "step_async" in refused(env.step_wait, ValueError)


@pytest.mark.parametrize("form", [turn, raw])
def test_agents_that_are_not_there_are_named(form):
    env = form()
    begin(env)
    for wrong in (None, 0, "player_2", "", ["player_0"], np.array(["player_0", "player_1"]), object(), "a" * 1000):
        for method in (env.observe, env.observation_space, env.action_space):
            message = refused(lambda method=method, wrong=wrong: method(wrong), ValueError)
            assert re.fullmatch("there is no agent .*; the agents are player_0, player_1", message)
    assert env.action_space(np.str_("player_1")).n == 180


@pytest.mark.parametrize("form", [turn, raw])
def test_every_mask_in_the_infos_is_ones_own(form):
    env = form()
    begin(env)
    for _ in range(3):
        masks = [info["action_mask"] for info in env.infos.values()]
        assert all(mask.flags.writeable for mask in masks)
        assert not np.shares_memory(*masks)
        kept = masks[0].copy()
        masks[1 - env.possible_agents.index(env.agent_selection)][:] = 1
        env.step(legal(env))
        assert [info["action_mask"].any() for info in env.infos.values()].count(True) == 1
        assert masks[0].shape == kept.shape


def test_infos_are_numpys():
    _, info = single(seat=1).reset(seed=1)
    assert isinstance(info["seat"], np.integer)
    _, infos = vector(seat=1).reset(seed=1)
    assert infos["seat"].dtype == np.int64
    assert infos["_seat"].tolist() == [True, True]


def test_tensors_of_torch_are_actions_seeds_and_options():
    torch = pytest.importorskip("torch")
    for form in FORMS:
        env = form(num_players=torch.tensor(3)) if form is not self_play else form()
        begin(env, torch.tensor(5))
        for _ in range(3):
            env.step(torch.as_tensor(legal(env)))
        if form in SINGLES and form is not raw:
            for wrong in (torch.tensor(1.0), torch.tensor(True), torch.tensor([1]), torch.tensor([1, 2])):
                refused(lambda env=env, wrong=wrong: env.step(wrong))


@pytest.mark.parametrize("form", FORMS)
def test_environments_are_pickled_before_and_after_their_first_reset(form):
    env = form()
    twin = pickle.loads(pickle.dumps(env))
    for each in (env, twin):
        begin(each, 3)
        each.step(legal(each))
    other = pickle.loads(pickle.dumps(twin))
    for each in (env, twin, other):
        each.step(legal(each))
    np.testing.assert_array_equal(legal(env), legal(other))
    np.testing.assert_array_equal(legal(env), legal(twin))
