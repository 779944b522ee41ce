"""The PettingZoo form: PettingZoo's own tests, agreement with the engine, checks, copies."""

import copy
import importlib
import pickle
import warnings
from itertools import islice, product

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

import meeplezoo.envs
from meeplezoo.envs import GameBatch, IllegalMove, azul_v0, make_game

OPTIONS = [{"num_players": n, "wall": wall} for n, wall in product((2, 3, 4), ("coloured", "grey"))]
MAKERS = [azul_v0.env, azul_v0.raw_env]

# PettingZoo keeps a list of its own environments that may use dict observations and masks without legal actions
UNAVOIDABLE = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
    "Action mask numpy array is all zeros",
)


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    EnvLogger.suppress_output()
    EnvLogger.flush()


def play(env, random, num_steps=None):
    """Yield what `last` gives at every step, playing random legal actions."""
    for agent in islice(env.agent_iter(), num_steps):
        observation, reward, termination, truncation, info = env.last()
        yield agent, observation, reward, termination, truncation, info
        over = termination or truncation
        env.step(None if over else int(random.choice(observation["action_mask"].nonzero()[0])))


def trace(env, seed, num_steps=None):
    """Return everything seen in a game as one comparable list."""
    random = np.random.default_rng(seed)
    return [
        (agent, o["observation"].tobytes(), o["action_mask"].tobytes(), reward, termination, truncation)
        for agent, o, reward, termination, truncation, _ in play(env, random, num_steps)
    ]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("options", OPTIONS)
def test_pettingzoo_api_and_seeds(make, options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(**options))
        seed_test(lambda: make(**options))
    avoidable = [str(w.message) for w in caught if not str(w.message).startswith(UNAVOIDABLE)]
    assert not avoidable


@pytest.mark.parametrize(("make", "options"), [(azul_v0.env, OPTIONS[0]), (azul_v0.raw_env, OPTIONS[5])])
def test_pettingzoo_rendering(make, options):
    checks = {
        "svg": lambda frame: frame.startswith("<svg"),
        "ansi": lambda frame: "\x1b" not in frame and "player" in frame.lower(),
    }
    render_test(lambda render_mode: make(render_mode=render_mode, **options), custom_tests=checks)


@pytest.mark.parametrize("options", OPTIONS)
def test_pettingzoo_state(options):
    env = azul_v0.env(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_state_space(env)
        check_state(env, 10)
    assert env.terminations == {} or any(env.terminations.values())  # its unmasked actions ended the game


@pytest.mark.parametrize("options", OPTIONS)
def test_agrees_with_the_engine_at_every_step(options):
    env, game = azul_v0.env(**options), make_game("azul", **options)
    decisions_in_a_row = 0
    for seed in range(3):
        env.reset(seed=seed)
        state, random = game.new(seed), np.random.default_rng(seed)
        before = None
        while not game.is_over(state):
            agent, seat = env.agent_selection, int(state["to_move"])
            decisions_in_a_row += agent == before
            assert agent == f"player_{seat}"
            assert env.state_space.contains(env.state())
            np.testing.assert_array_equal(
                env.state(), np.concatenate([game.observe(state, s) for s in range(game.num_players)])
            )
            for other in env.agents:
                seen = env.observe(other)
                assert env.observation_space(other).contains(seen)
                np.testing.assert_array_equal(seen["observation"], game.observe(state, int(other[-1])))
                legal = game.mask(state) if other == agent else np.zeros(game.num_actions)
                np.testing.assert_array_equal(seen["action_mask"], legal)
                np.testing.assert_array_equal(env.infos[other]["action_mask"], legal)
            assert not any(env.rewards.values())
            action = int(random.choice(game.mask(state).nonzero()[0]))
            env.step(action)
            game.play_action(state, action)
            before = agent
        result = game.result(state)
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        for agent, info in env.infos.items():
            assert info["scores"].tolist() == result["scores"]
            assert info["winners"].nonzero()[0].tolist() == result["winners"]
            assert not info["action_mask"].any()
            np.testing.assert_array_equal(env.observe(agent)["observation"], game.observe(state, int(agent[-1])))
    # Azul's start player may have made the last move of the round before, and the grey wall asks for columns
    assert decisions_in_a_row > 0


@pytest.mark.parametrize("rewards", ["outcome", "margin", "rank"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_rewards_are_those_of_the_engine(rewards, players):
    env = azul_v0.raw_env(num_players=players, rewards=rewards)
    batch = GameBatch(make_game("azul", num_players=players), 1, rewards=rewards, auto_reset=False)
    for seed in range(4):
        env.reset(seed=seed)
        batch.reset(seed)
        while not batch.done[0]:
            action = batch.random_actions()
            env.step(int(action[0]))
            batch.step(action)
        expected = dict(zip(env.possible_agents, batch.rewards[0].tolist(), strict=True))
        assert env.rewards == expected
        assert any(expected.values())
        received = {}
        for agent in env.agent_iter():
            received[agent] = env.last()[1]
            env.step(None)
        assert received == expected


@pytest.mark.parametrize("make", MAKERS)
def test_a_limit_truncates_everybody(make):
    env = make(num_players=3, max_rounds=1)
    env.reset(seed=1)
    random = np.random.default_rng(1)
    last = {agent: (end, cut) for agent, _, _, end, cut, _ in play(env, random)}
    assert last == dict.fromkeys(env.possible_agents, (False, True))
    assert env.agents == []


@pytest.mark.parametrize("make", MAKERS)
def test_dead_agents_leave_one_by_one(make):
    env = make(num_players=4)
    env.reset(seed=2)
    random = np.random.default_rng(2)
    while not any(env.terminations.values()):
        env.step(int(random.choice(env.last()[0]["action_mask"].nonzero()[0])))
    for left in (4, 3, 2, 1):
        assert env.num_agents == left == len(env.rewards) == len(env.infos) == len(env.terminations)
        observation, _, termination, _, _ = env.last()
        assert termination
        assert not observation["action_mask"].any()
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(0)
        env.step(None)
    assert env.agents == []


def wrapped():
    """The environment that PettingZoo's own wrappers make of the raw one."""
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(azul_v0.raw_env(), -1)))


def outcome_of(call):
    try:
        return ("returned", call())
    except (AssertionError, AttributeError) as error:
        return (type(error).__name__, str(error))


MISUSES = {
    "step before reset": lambda env: env.step(0),
    "observe before reset": lambda env: env.observe("player_0"),
    "state before reset": lambda env: env.state(),
    "render before reset": lambda env: env.render(),
    "agent_iter before reset": lambda env: env.agent_iter(),
    **{
        f"{name} before reset": lambda env, name=name: getattr(env, name)
        for name in ("agents", "num_agents", "rewards", "terminations", "truncations", "infos", "agent_selection")
    },
    "no step in the loop": lambda env: (env.reset(seed=0), list(env.agent_iter(9))),
    "action too large": lambda env: (env.reset(seed=0), env.step(180)),
    "action negative": lambda env: (env.reset(seed=0), env.step(-1)),
    "action a fraction": lambda env: (env.reset(seed=0), env.step(0.5)),
    "no action": lambda env: (env.reset(seed=0), env.step(None)),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_checks_are_those_of_the_wrappers(misuse):
    ours = outcome_of(lambda: MISUSES[misuse](azul_v0.env()))
    theirs = outcome_of(lambda: MISUSES[misuse](wrapped()))
    assert ours == theirs
    assert ours[0] in ("AssertionError", "AttributeError")


def test_an_illegal_move_ends_the_game_as_the_wrapper_does():
    seen = []
    for env in (azul_v0.env(), wrapped()):
        EnvLogger.flush()
        env.reset(seed=3)
        random = np.random.default_rng(3)
        for _ in play(env, random, 5):
            pass
        mover = env.agent_selection
        illegal = int((env.last()[0]["action_mask"] == 0).nonzero()[0][0])
        env.step(illegal)
        endings = [(a, reward, end, cut) for a, _, reward, end, cut, _ in play(env, random)]
        env.step(None)  # warns: nobody is left
        seen.append((mover, endings, list(EnvLogger.mqueue)))
    assert seen[0] == seen[1]
    mover, endings, messages = seen[0]
    assert {agent: reward for agent, reward, _, _ in endings} == {"player_0": 0, "player_1": 0} | {mover: -1}
    assert len(messages) == 2


@pytest.mark.parametrize("env", [azul_v0.raw_env(), azul_v0.env(illegal="raise")])
def test_an_illegal_move_can_be_refused_without_harm(env):
    env.reset(seed=4)
    before = env.state()
    observation = env.last()[0]
    illegal = int((observation["action_mask"] == 0).nonzero()[0][0])
    with pytest.raises(IllegalMove, match=f"azul: action {illegal}, .* is illegal"):
        env.step(illegal)
    np.testing.assert_array_equal(env.state(), before)
    env.step(int(observation["action_mask"].nonzero()[0][0]))
    assert not np.array_equal(env.state(), before)


DUPLICATES = [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("duplicate", DUPLICATES)
def test_copies_are_independent_and_have_the_same_future(make, duplicate):
    env = make(num_players=3, wall="grey")
    duplicate(env).reset(seed=1)  # before the first reset too
    env.reset(seed=5)
    for _ in play(env, np.random.default_rng(5), 20):
        pass
    twin = duplicate(env)
    kept = twin.state()
    rest = trace(env, 6)
    np.testing.assert_array_equal(twin.state(), kept)
    assert trace(twin, 6) == rest
    env.reset()
    twin.reset()
    assert trace(env, 7, 10) == trace(twin, 7, 10)


@pytest.mark.parametrize("duplicate", DUPLICATES)
def test_copies_open_a_window_of_their_own(duplicate):
    env = azul_v0.env(render_mode="human")
    env.reset(seed=5)
    twin = duplicate(env)
    env.close()
    assert trace(env, 6, 1) == trace(twin, 6, 1)
    twin.close()


def test_what_was_handed_out_stays_as_it_was():
    env = azul_v0.raw_env()
    env.reset(seed=8)
    kept = [(o, info, copy.deepcopy((o, info))) for _, o, _, _, _, info in play(env, np.random.default_rng(8))]
    assert len(kept) > 20
    for observation, info, (observation_then, info_then) in kept:
        np.testing.assert_equal(observation, observation_then)
        np.testing.assert_equal(info["action_mask"], info_then["action_mask"])


def test_reset_without_a_seed_goes_on_reproducibly():
    games = []
    for _ in range(2):
        env = azul_v0.env()
        env.reset(seed=9)
        first = trace(env, 9, 10)
        env.reset()
        second = trace(env, 9, 10)
        assert first != second
        games.append((first, second))
    assert games[0] == games[1]
    unseeded = [azul_v0.env() for _ in range(2)]
    for env in unseeded:
        env.reset()
    assert not np.array_equal(unseeded[0].state(), unseeded[1].state())


def test_last_move_is_drawn():
    env = azul_v0.env(render_mode="ansi")
    env.reset(seed=0)
    assert "Last move" not in env.render()
    env.step(int(env.last()[0]["action_mask"].nonzero()[0][0]))
    assert "Last move" in env.render()
    env.reset()
    assert "Last move" not in env.render()


def test_metadata_and_imports():
    env = azul_v0.env()
    assert str(env) == env.metadata["name"] == "azul_v0"
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array", "svg"]
    assert env.metadata["is_parallelizable"] is False
    assert importlib.import_module("meeplezoo.envs.azul_v0") is azul_v0
    with pytest.raises(AttributeError, match="'azul_v9'; its PettingZoo games are azul_v0"):
        _ = meeplezoo.envs.azul_v9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 3}, "azul has no option 'players'; it has num_players, wall, max_rounds"),
        ({"num_players": 5}, "num_players must be one of the integers from 2 to 4, not 5"),
        ({"wall": "gray"}, "wall must be one of coloured, grey, not 'gray'"),
        ({"rewards": "score"}, "rewards must be one of outcome, margin, rank, not 'score'"),
        ({"render_mode": "gif"}, "render_mode must be one of human, ansi, rgb_array, svg, not 'gif'"),
        ({"illegal": "ignore"}, "illegal must be one of terminate, raise, not 'ignore'"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        azul_v0.env(**arguments)


def test_bad_seeds_and_agents_are_refused():
    env = azul_v0.env()
    with pytest.raises(ValueError, match="seed must be an integer from 0 to"):
        env.reset(seed=-1)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="no agent 'player_7'; the agents are player_0, player_1"):
        env.observe("player_7")
