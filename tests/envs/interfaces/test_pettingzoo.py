"""The PettingZoo form: PettingZoo's own tests, agreement with the engine, checks, copies."""

import copy
import importlib
import pickle
import subprocess
import sys
import warnings
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pytest
from every_game import CASES, LIMITED, NAMES, TABLES, module_name, player_counts, quick
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from meeplezoo.envs import GameBatch, IllegalMove, azul_v0, make_game
from meeplezoo.envs.interfaces import pettingzoo_env
from meeplezoo.envs.registry import BUILT_IN

KINDS = ["env", "raw_env"]

# PettingZoo keeps a list of its own environments that may use dict observations and masks without legal actions
UNAVOIDABLE = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
    "Action mask numpy array is all zeros",
    # its test hands over an option of its own making
    "\x1b[33mWARN: reset takes no options: options changes nothing",
)


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    EnvLogger.suppress_output()
    EnvLogger.flush()


def make(name, kind="env", **arguments):
    """Return a game's environment, made by `env` or `raw_env`."""
    return getattr(pettingzoo_env, kind)(name, **arguments)


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "options"), CASES)
def test_pettingzoo_api_and_seeds(name, options, kind):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make(name, kind, **options))
        seed_test(lambda: make(name, kind, **options))
    avoidable = [str(w.message) for w in caught if not str(w.message).startswith(UNAVOIDABLE)]
    assert not avoidable


@pytest.mark.parametrize(("name", "kind"), list(zip(NAMES, cycle(["env", "raw_env"]), strict=False)))
def test_pettingzoo_rendering(name, kind):
    checks = {
        "svg": lambda frame: frame.startswith("<svg"),
        "ansi": lambda frame: "\x1b" not in frame and "player" in frame.lower(),
    }
    render_test(lambda render_mode: make(name, kind, render_mode=render_mode, **quick(name)), custom_tests=checks)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_pettingzoo_state(name, options):
    env = make(name, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_state_space(env)
        check_state(env, 10)
    assert env.terminations == {} or any(env.terminations.values())  # its unmasked actions ended the game


@pytest.mark.parametrize(("name", "options"), CASES)
def test_agrees_with_the_engine_at_every_step(name, options):
    env, game = make(name, **options), make_game(name, **options)
    decisions_in_a_row = decisions = 0
    for seed in range(3 if name == "azul" else 1):
        env.reset(seed=seed)
        state, random = game.new(seed), np.random.default_rng(seed)
        before = None
        while not game.is_over(state):
            agent, seat = env.agent_selection, int(state["to_move"])
            decisions_in_a_row += agent == before
            decisions += 1
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
        assert set(env.terminations.values()) == {not result["truncated"]}
        assert set(env.truncations.values()) == {result["truncated"]}
        for agent, info in env.infos.items():
            assert info["scores"].tolist() == result["scores"]
            assert info["winners"].nonzero()[0].tolist() == result["winners"]
            assert not info["action_mask"].any()
            np.testing.assert_array_equal(env.observe(agent)["observation"], game.observe(state, int(agent[-1])))
    if name == "qwirkle":
        # a turn is several decisions
        assert decisions_in_a_row > decisions / 2
    elif name == "manhattan":
        # each of two players selects for two colours in 6 rounds, and who built last begins 5 of them; with more
        # players nobody decides twice in a row
        assert decisions_in_a_row == (12 + 5 if game.num_players == 2 else 0)
    elif name == "azul":
        # the start player may have made the last move of the round before, and the grey wall asks for columns
        assert decisions_in_a_row > 0


@pytest.mark.parametrize("rewards", ["outcome", "margin", "rank"])
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_rewards_are_those_of_the_engine(name, rewards, players):
    options = quick(name, num_players=players)
    env = make(name, "raw_env", rewards=rewards, **options)
    batch = GameBatch(make_game(name, **options), 1, rewards=rewards, auto_reset=False)
    rewarded = False
    for seed in range(4):
        env.reset(seed=seed)
        batch.reset(seed)
        while not batch.done[0]:
            action = batch.random_actions()
            env.step(int(action[0]))
            batch.step(action)
        expected = dict(zip(env.possible_agents, batch.rewards[0].tolist(), strict=True))
        assert env.rewards == expected
        rewarded |= any(expected.values())
        received = {}
        for agent in env.agent_iter():
            received[agent] = env.last()[1]
            env.step(None)
        assert received == expected
    assert rewarded


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "options"), LIMITED)
def test_a_limit_truncates_everybody(name, options, kind):
    env = make(name, kind, num_players=3, **options)
    env.reset(seed=1)
    random = np.random.default_rng(1)
    last = {agent: (end, cut) for agent, _, _, end, cut, _ in play(env, random)}
    assert last == dict.fromkeys(env.possible_agents, (False, True))
    assert env.agents == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_dead_agents_leave_one_by_one(name, kind):
    players = max(player_counts(name))
    env = make(name, kind, **quick(name, num_players=players))
    env.reset(seed=2)
    random = np.random.default_rng(2)
    while not any(env.terminations.values()):
        env.step(int(random.choice(env.last()[0]["action_mask"].nonzero()[0])))
    for left in range(players, 0, -1):
        assert env.num_agents == left == len(env.rewards) == len(env.infos) == len(env.terminations)
        observation, _, termination, _, _ = env.last()
        assert termination
        assert not observation["action_mask"].any()
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(0)
        env.step(None)
    assert env.agents == []


def wrapped(name="azul", **options):
    """The environment that PettingZoo's own wrappers make of the raw one."""
    raw = make(name, "raw_env", **options)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(raw, -1)))


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


@pytest.mark.parametrize("name", NAMES)
def test_an_illegal_move_ends_the_game_as_the_wrapper_does(name):
    seen = []
    for env in (make(name, **quick(name)), wrapped(name, **quick(name))):
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
    assert {agent: reward for agent, reward, _, _ in endings} == dict.fromkeys(env.possible_agents, 0) | {mover: -1}
    assert len(messages) == 2


@pytest.mark.parametrize(("kind", "arguments"), [("raw_env", {}), ("env", {"illegal": "raise"})])
@pytest.mark.parametrize("name", NAMES)
def test_an_illegal_move_can_be_refused_without_harm(name, kind, arguments):
    env = make(name, kind, **arguments)
    env.reset(seed=4)
    before = env.state()
    observation = env.last()[0]
    illegal = int((observation["action_mask"] == 0).nonzero()[0][0])
    with pytest.raises(IllegalMove, match=f"{name}: action {illegal}, .* is illegal"):
        env.step(illegal)
    np.testing.assert_array_equal(env.state(), before)
    env.step(int(observation["action_mask"].nonzero()[0][0]))
    assert not np.array_equal(env.state(), before)


DUPLICATES = [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("duplicate", DUPLICATES)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("azul", {"num_players": 3, "wall": "grey"}),
        ("qwirkle", {"num_players": 3, "board_size": 26, "encoding": "flat"}),
        ("manhattan", {"num_players": 3}),
    ],
)
def test_copies_are_independent_and_have_the_same_future(name, options, kind, duplicate):
    env = make(name, kind, **options)
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


@pytest.mark.parametrize("name", NAMES)
def test_what_was_handed_out_stays_as_it_was(name):
    env = make(name, "raw_env", **quick(name))
    env.reset(seed=8)
    kept = [(o, info, copy.deepcopy((o, info))) for _, o, _, _, _, info in play(env, np.random.default_rng(8))]
    assert len(kept) > 5
    for observation, info, (observation_then, info_then) in kept:
        np.testing.assert_equal(observation, observation_then)
        np.testing.assert_equal(info["action_mask"], info_then["action_mask"])


@pytest.mark.parametrize("name", NAMES)
def test_reset_without_a_seed_goes_on_reproducibly(name):
    games = []
    for _ in range(2):
        env = make(name)
        env.reset(seed=9)
        first = trace(env, 9, 10)
        env.reset()
        second = trace(env, 9, 10)
        assert first != second
        games.append((first, second))
    assert games[0] == games[1]
    unseeded = [make(name) for _ in range(2)]
    for env in unseeded:
        env.reset()
    assert not np.array_equal(unseeded[0].state(), unseeded[1].state())


@pytest.mark.parametrize("name", NAMES)
def test_last_move_is_drawn(name):
    env = make(name, render_mode="ansi")
    env.reset(seed=0)
    assert "Last move" not in env.render()
    env.step(int(env.last()[0]["action_mask"].nonzero()[0][0]))
    assert "Last move" in env.render()
    env.reset()
    assert "Last move" not in env.render()


@pytest.mark.parametrize("name", NAMES)
def test_metadata(name):
    env = make(name)
    assert str(env) == env.metadata["name"] == module_name(name)
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array", "svg"]
    assert env.metadata["is_parallelizable"] is False


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_game_of_the_suite_has_a_module(name):
    module = importlib.import_module(f"meeplezoo.envs.{module_name(name)}")
    assert Path(module.__file__).name == f"{module_name(name)}.py"
    for kind in KINDS:
        made, expected = getattr(module, kind)(rewards="rank", **quick(name)), make(name, kind, **quick(name))
        assert (str(made), made.game) == (module_name(name), expected.game)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"meeplezoo.envs.{name}_v9")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("azul", {"players": 3}, "azul has no option 'players'; it has num_players, wall, max_rounds"),
        ("azul", {"num_players": 5}, "num_players must be one of the integers from 2 to 4, not 5"),
        ("azul", {"wall": "gray"}, "wall must be one of coloured, grey, not 'gray'"),
        ("azul", {"rewards": "score"}, "rewards must be one of outcome, margin, rank, not 'score'"),
        ("azul", {"render_mode": "gif"}, "render_mode must be one of human, ansi, rgb_array, svg, not 'gif'"),
        ("azul", {"illegal": "ignore"}, "illegal must be one of terminate, raise, not 'ignore'"),
        ("azul", {"encoding": "planes"}, "azul has the encodings flat, compact, not 'planes'"),
        ("qwirkle", {"encoding": "image"}, "qwirkle has the encodings planes, flat, compact, not 'image'"),
        ("qwirkle", {"board_size": 93}, "board_size must be one of the integers from 7 to 92, not 93"),
        ("manhattan", {"seats": "diagonal"}, "seats must be one of opposite, adjacent, not 'diagonal'"),
    ],
)
def test_bad_arguments_are_refused(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(name, **arguments)


def test_bad_seeds_and_agents_are_refused():
    env = azul_v0.env()
    with pytest.raises(ValueError, match="seed must be an integer from 0 to"):
        env.reset(seed=-1)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="no agent 'player_7'; the agents are player_0, player_1"):
        env.observe("player_7")


def test_pettingzoo_modules_are_attributes_of_the_environments():
    code = (
        "import meeplezoo.envs; print(meeplezoo.envs.azul_v0.env().metadata['name']);"
        "print(hasattr(meeplezoo.envs, 'azul_v9'))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.split() == ["azul_v0", "False"]
