"""The Gymnasium forms: checkers, agreement with the engine and with each other, seats, opponents, copies."""

import copy
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from every_game import CASES, LIMITED, NAMES, first_case, gymnasium_name, quick
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from meeplezoo.agents import make_agent
from meeplezoo.envs import GameBatch, IllegalMove, make_game
from meeplezoo.envs.engine.learners import random_seat
from meeplezoo.envs.engine.random_stream import game_seeds
from meeplezoo.envs.interfaces import opponent_batch
from meeplezoo.envs.interfaces.opponent_batch import OpponentBatch
from meeplezoo.envs.registry import describe

ID = gymnasium_name("azul")


def seats_of_seeds(seeds, players):
    return np.array([random_seat(seed, players) for seed in seeds])


class FirstLegal:
    """Plays the first legal action, and notes in whose place and for how many games at once it was asked."""

    def __init__(self, name="first", last=False):
        self.name = name
        self.last = last
        self.calls = []

    def act(self, decisions):
        self.calls.append(decisions.seats.tolist())
        mask = decisions.mask[:, ::-1] if self.last else decisions.mask
        found = mask.argmax(axis=1)
        return mask.shape[1] - 1 - found if self.last else found


class Illegal:
    """Plays an action that is not legal."""

    name = "cheat"

    def act(self, decisions):
        return decisions.mask.argmin(axis=1)


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")


def play(env, seed, num_steps, reset_seed=None):
    """Return everything seen in some steps of random legal play as one comparable list."""
    random = np.random.default_rng(seed)
    observation, info = env.reset(seed=reset_seed)
    seen = [(observation.tobytes(), info["action_mask"].tobytes(), info["seat"])]
    for _ in range(num_steps):
        action = int(random.choice(info["action_mask"].nonzero()[0]))
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((observation.tobytes(), info["action_mask"].tobytes(), info["seat"], reward))
        if terminated or truncated:
            observation, info = env.reset()
            seen.append((observation.tobytes(), info["action_mask"].tobytes(), info["seat"]))
    return seen


def random_legal(random, mask):
    """Return a random legal action of every row, int64 [n]."""
    return (random.random(mask.shape) * mask).argmax(axis=1)


@pytest.mark.parametrize("imports", ["gymnasium", "gymnasium, meeplezoo.envs", "meeplezoo.envs, gymnasium"])
def test_ids_work_whichever_is_imported_first(imports):
    ids = [gymnasium_name(name) for name in NAMES]
    names = ids if "meeplezoo" not in imports else [one.partition(":")[2] for one in ids]
    code = (
        f"import {imports}\n"
        f"for name in {names!r}:\n"
        "    env = gymnasium.make(name, num_players=3)\n"
        "    envs = gymnasium.make_vec(name, num_envs=2, opponents='greedy')\n"
        "    print(env.spec.id, env.unwrapped.game.num_players, envs.num_envs, type(envs.unwrapped).__name__)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    titles = ("Azul", "Qwirkle", "Manhattan")
    assert run.stdout.splitlines() == [f"meeplezoo/{title}-v0 3 2 NamedOpponentsVectorEnv" for title in titles]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_gymnasium_and_sb3_checkers(name, options):
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(gymnasium_name(name), **options)
        # every render mode is drawn for one set of options, it takes its time
        check_env(env.unwrapped, skip_render_check=options != first_case(name))
        sb3.check_env(env.unwrapped, skip_render_check=True)
        sb3.check_env(env, skip_render_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_maskable_ppo_learns_from_the_single_form(name):
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

    env = gymnasium.make(gymnasium_name(name), illegal="raise", **quick(name))
    env.reset(seed=0)
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.dtype == np.bool_
    assert masks.shape == (env.action_space.n,)
    # illegal="raise": had the masks not been used, this would fail
    sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=0).learn(128)


@pytest.mark.parametrize("name", NAMES)
def test_render_modes(name):
    game = make_game(name)
    seed = next(seed for seed in range(99) if game.new(seed)["to_move"] == 0)
    for mode in ("ansi", "svg", "rgb_array", "human"):
        env = gymnasium.make(gymnasium_name(name), render_mode=mode, seat=1)
        _, info = env.reset(seed=seed)
        first = env.render()
        env.step(int(info["action_mask"].nonzero()[0][0]))
        second = env.render()
        if mode == "ansi":
            assert "Last move: Player 0" in first
            assert "Last move: Player" in second
        if mode == "svg":
            assert first.startswith("<svg")
            assert first != second
        if mode == "rgb_array":
            assert first.dtype == np.uint8
            assert first.shape == second.shape
            assert not np.array_equal(first, second)
        if mode == "human":
            assert first is None
        env.close()
        env.close()


@pytest.mark.parametrize(("name", "options"), CASES)
def test_single_seat_agrees_with_the_engine(name, options):
    game = make_game(name, **options)
    random = np.random.default_rng(1)
    for seat in range(game.num_players):
        others = [FirstLegal(f"after {k}", last=bool(k % 2)) for k in range(game.num_players - 1)]
        env = gymnasium.make(gymnasium_name(name), opponents=others, seat=seat, **options)
        observation, info = env.reset(seed=seat + 10)
        assert env.observation_space.contains(observation)
        state = game.new(seat + 10)
        ended = False
        while not ended:
            while not game.is_over(state) and state["to_move"] != seat:
                legal = game.mask(state).nonzero()[0]
                distance = (int(state["to_move"]) - seat) % game.num_players
                game.play_action(state, int(legal[-1] if distance % 2 == 0 else legal[0]))
            np.testing.assert_array_equal(observation, game.observe(state, seat))
            np.testing.assert_array_equal(info["action_mask"], game.mask(state))
            np.testing.assert_array_equal(env.get_wrapper_attr("action_masks")(), game.mask(state).astype(bool))
            assert info["seat"] == seat
            action = int(random.choice(info["action_mask"].nonzero()[0]))
            game.play_action(state, action)
            observation, reward, terminated, truncated, info = env.step(action)
            ended = terminated or truncated
            assert ended or reward == 0
        while not game.is_over(state):
            legal = game.mask(state).nonzero()[0]
            distance = (int(state["to_move"]) - seat) % game.num_players
            game.play_action(state, int(legal[-1] if distance % 2 == 0 else legal[0]))
        result = game.result(state)
        np.testing.assert_array_equal(observation, game.observe(state, seat))
        assert (terminated, truncated) == (not result["truncated"], result["truncated"])
        assert info["scores"].tolist() == result["scores"]
        assert info["winners"].nonzero()[0].tolist() == result["winners"]
        assert not info["action_mask"].any()
        won = seat in result["winners"]
        assert reward == pytest.approx(1.0 if won else -1 / max(game.num_players - 1, 1)) or len(result["winners"]) > 1
        for k, other in enumerate(others):
            assert {s for call in other.calls for s in call} == {(seat + 1 + k) % game.num_players}


@pytest.mark.parametrize("rewards", ["margin", "rank"])
@pytest.mark.parametrize(("name", "options"), LIMITED)
def test_rewards_and_truncation(name, options, rewards):
    env = gymnasium.make(gymnasium_name(name), rewards=rewards, num_players=3, seat=1, **options)
    random = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    ended = False
    while not ended:
        _, reward, terminated, truncated, info = env.step(int(random.choice(info["action_mask"].nonzero()[0])))
        ended = terminated or truncated
    assert (terminated, truncated) == (False, True)
    scores = info["scores"]
    if rewards == "margin":
        assert reward == pytest.approx((scores[1] - max(scores[0], scores[2])) / describe(name).margin_scale)
    else:
        assert reward in (-1.0, -0.5, 0.0, 0.5, 1.0)
    with pytest.raises(ResetNeeded, match=f"{name}: no game is running"):
        env.step(0)


@pytest.mark.parametrize("opponents", ["random", "greedy", ["greedy", "random"]])
@pytest.mark.parametrize(
    ("name", "seat"),
    [("azul", "random"), ("azul", "rotate"), ("azul", 2), ("qwirkle", "random"), ("manhattan", "rotate")],
)
def test_seeds_are_reproducible(name, opponents, seat):
    make = {"opponents": opponents, "seat": seat, **quick(name, num_players=3)}
    env_id = gymnasium_name(name)
    one, two = gymnasium.make(env_id, **make), gymnasium.make(env_id, **make)
    first = play(one, 1, 60, reset_seed=5)
    play(two, 9, 70)
    assert play(two, 1, 60, reset_seed=5) == first
    assert play(one, 1, 60, reset_seed=6) != first
    assert play(one, 1, 10) != play(gymnasium.make(env_id, **make), 1, 10)


_BOT = """
with open({made!r}, "a") as file:
    print("made", file=file)


def choose(observation, mask, random):
    return int(random.choice(mask.nonzero()[0]))
"""


def test_an_opponent_is_made_once_and_begins_anew_with_every_seed(tmp_path):
    made, bot = tmp_path / "made", tmp_path / "bot.py"
    bot.write_text(_BOT.format(made=str(made)))
    make = {"opponents": f"{bot}:choose"}
    env = gymnasium.make(ID, **make)
    seen = [play(env, 1, 12, reset_seed=seed) for seed in (5, 5, 6)]
    assert made.read_text().split() == ["made"]
    assert seen[0] == seen[1] != seen[2]
    assert play(gymnasium.make(ID, **make), 1, 12, reset_seed=5) == seen[0]
    assert made.read_text().split() == ["made"] * 2
    envs = gymnasium.make_vec(ID, num_envs=2, **make)
    runs = []
    for seed in (5, 5, 6):
        runs.append([envs.reset(seed=seed)[0]])
        runs[-1] += [envs.step(envs.action_masks().argmax(axis=1))[0] for _ in range(8)]
    assert made.read_text().split() == ["made"] * 3
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_agents_given_as_objects_stay_what_they_are():
    first = FirstLegal()
    env = gymnasium.make(ID, opponents=["greedy", first], num_players=3).unwrapped
    greedy = env._opponent_batch.opponents[0]
    for seed in (1, 2):
        env.reset(seed=seed)
        assert env._opponent_batch.opponents[0] is greedy
        assert env._opponent_batch.opponents[1] is first


def test_seats_rotate_and_random_seats_are_even():
    env = gymnasium.make(ID, seat="rotate", num_players=4)
    seats = [env.reset(seed=3 if k == 0 else None)[1]["seat"] for k in range(8)]
    assert seats == [0, 1, 2, 3, 0, 1, 2, 3]
    for players in (2, 3, 4):
        counts = np.bincount(seats_of_seeds(game_seeds(1, 30_000), players))
        assert len(counts) == players
        np.testing.assert_allclose(counts / 30_000, 1 / players, atol=0.012)
    # the seat must tell nothing about the next game's
    seats = seats_of_seeds(game_seeds(2, 30_000), 2)
    assert abs(np.corrcoef(seats[1:], seats[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize("name", NAMES)
def test_illegal_moves(name):
    env_id = gymnasium_name(name)
    env = gymnasium.make(env_id)
    _, info = env.reset(seed=0)
    illegal = int(info["action_mask"].argmin())
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated, info["illegal"]) == (-1.0, True, False, True)
    assert not info["action_mask"].any()
    with pytest.raises(ResetNeeded):
        env.step(0)
    strict = gymnasium.make(env_id, illegal="raise")
    observation, info = strict.reset(seed=0)
    with pytest.raises(IllegalMove, match=f"action {illegal}, .* is illegal"):
        strict.step(illegal)
    # nothing has changed
    other = gymnasium.make(env_id)
    np.testing.assert_array_equal(observation, other.reset(seed=0)[0])
    action = int(info["action_mask"].argmax())
    np.testing.assert_array_equal(strict.step(action)[0], other.step(action)[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": "strong"}, "there is no agent 'strong'; the agents are random, greedy, mcts, minimax, ppo"),
        ({"opponents": ["random", "random"]}, "azul with 2 players needs 1 opponent, not 2"),
        ({"opponents": []}, "azul with 2 players needs 1 opponent, not 0"),
        (
            {"opponents": ["random"] * 2, "num_players": 4},
            "4 players needs 1 opponent for all other seats or 3, one for each, not 2",
        ),
        ({"seat": 2}, "seat must be 'random', 'rotate' or a number from 0 to 1, not 2"),
        ({"seat": "first"}, "seat must be 'random', 'rotate' or a number from 0 to 1, not 'first'"),
        ({"seat": True}, "seat must be 'random', 'rotate' or a number from 0 to 1, not True"),
        ({"rewards": "score"}, "rewards must be one of outcome, margin, rank, not 'score'"),
        ({"players": 3}, "azul has no option 'players'; it has num_players, wall, max_rounds"),
    ],
)
@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_bad_arguments_are_refused(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(ID, **arguments)


def test_more_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="illegal must be one of terminate, raise, not 'ignore'"):
        gymnasium.make(ID, illegal="ignore")
    with pytest.raises(ValueError, match="render_mode must be one of ansi, rgb_array, svg, not 'human'"):
        gymnasium.make_vec(ID, num_envs=2, render_mode="human")
    with pytest.raises(ValueError, match="num_players cannot be set besides"):
        gymnasium.make(ID, game=make_game("azul"), num_players=3)
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(ValueError, match="qwirkle has the encodings planes, flat, compact, not 'image'"):
            make(gymnasium_name("qwirkle"), encoding="image")
        with pytest.raises(ValueError, match="encoding cannot be set besides"):
            make(gymnasium_name("qwirkle"), game=make_game("qwirkle"), encoding="flat")
    envs = gymnasium.make_vec(ID, num_envs=2)
    with pytest.raises(ValueError, match="seed must be one integer, or 2 of them"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="reset takes no options, not reset_mask"):
        envs.reset(options={"reset_mask": np.ones(2, bool)})


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("opponents", ["random", "greedy"])
@pytest.mark.parametrize("name", NAMES)
def test_copies_have_the_same_future(name, duplicate, opponents):
    env_id, options = gymnasium_name(name), quick(name)
    env = gymnasium.make(env_id, opponents=opponents, render_mode="human", **options).unwrapped
    env.render_mode = None  # keeps the frames, draws nothing
    play(env, 2, 30, reset_seed=2)
    twin = duplicate(env)
    assert play(twin, 3, 80) == play(env, 3, 80)
    envs = gymnasium.make_vec(env_id, num_envs=3, opponents=opponents, **options)
    envs.reset(seed=1)
    twins = duplicate(envs)
    random = np.random.default_rng(4)
    for _ in range(40):
        actions = random_legal(random, envs.action_masks())
        for ours, theirs in zip(envs.step(actions)[:4], twins.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_vector_games_are_those_of_the_single_form(name, options):
    seeds, count = [11, 12, 13, 14, 15], 5
    players = make_game(name, **options).num_players
    make = {"opponents": [FirstLegal(last=bool(k % 2)) for k in range(players - 1)], **options}
    envs = gymnasium.make_vec(gymnasium_name(name), num_envs=count, **make)
    singles = [gymnasium.make(gymnasium_name(name), **make) for _ in range(count)]
    observations, infos = envs.reset(seed=seeds)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    running = {}
    for index, (env, seed) in enumerate(zip(singles, seeds, strict=True)):
        running[index] = env.reset(seed=seed)[1]
    random = np.random.default_rng(0)
    seats = set()
    while running:
        assert envs.observation_space.contains(observations)
        actions = random_legal(random, infos["action_mask"])
        assert envs.action_space.contains(actions)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        for index in list(running):
            observation, reward, terminated, truncated, info = singles[index].step(int(actions[index]))
            seats.add(info["seat"])
            assert (reward, terminated, truncated) == (rewards[index], terminations[index], truncations[index])
            if terminated or truncated:
                np.testing.assert_array_equal(infos["final_obs"][index], observation)
                for key, value in info.items():
                    assert infos["final_info"][f"_{key}"][index]
                    np.testing.assert_array_equal(infos["final_info"][key][index], value)
                del running[index]
            else:
                np.testing.assert_array_equal(observations[index], observation)
                np.testing.assert_array_equal(infos["action_mask"][index], info["action_mask"])
                assert infos["seat"][index] == info["seat"]
    assert len(seats) > 1 or make_game(name, **options).num_players == 1


def test_vector_infos_are_built_like_those_of_sync_vector_env():
    envs = gymnasium.make_vec(ID, num_envs=3)
    reference = SyncVectorEnv([lambda: gymnasium.make(ID)] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    shapes = []
    for vector in (envs, reference):
        random = np.random.default_rng(0)
        observations, infos = vector.reset(seed=0)
        described = [form_of(observations), form_of(infos)]
        dones = np.zeros(3, bool)
        while not dones.any():
            results = vector.step(random_legal(random, infos["action_mask"]))
            infos, dones = results[4], results[2] | results[3]
            assert ("final_obs" in infos) == dones.any()
        np.testing.assert_array_equal(infos["_final_obs"], dones)
        np.testing.assert_array_equal(infos["_final_info"], dones)
        np.testing.assert_array_equal(infos["final_info"]["_scores"], dones)
        assert [final is not None for final in infos["final_obs"]] == dones.tolist()
        shapes.append([*described, *map(form_of, results)])
    assert shapes[0] == shapes[1]
    assert envs.observation_space == reference.observation_space
    assert envs.action_space == reference.action_space


def form_of(value):
    if isinstance(value, dict):
        return {key: form_of(part) for key, part in value.items()}
    return value.shape, value.dtype


@pytest.mark.parametrize(("name", "num_steps"), [("azul", 80), ("qwirkle", 500), ("manhattan", 150)])
def test_vector_statistics_and_final_observations(name, num_steps):
    make = quick(name, opponents="greedy", num_players=2)
    envs = RecordEpisodeStatistics(gymnasium.make_vec(gymnasium_name(name), num_envs=8, **make))
    random = np.random.default_rng(0)
    observations, infos = envs.reset(seed=3)
    kept = []
    lengths, returns = np.zeros(8, int), []
    for _ in range(num_steps):
        kept.append((observations, observations.copy(), infos["action_mask"], infos["action_mask"].copy()))
        observations, rewards, terminations, truncations, infos = envs.step(random_legal(random, infos["action_mask"]))
        lengths += 1
        for index in (terminations | truncations).nonzero()[0]:
            assert infos["episode"]["r"][index] == rewards[index]
            assert infos["episode"]["l"][index] == lengths[index]
            scores = infos["final_info"]["scores"][index]
            seat = infos["final_info"]["seat"][index]
            assert rewards[index] == np.sign(scores[seat] - scores[1 - seat]) or scores[0] == scores[1]
            lengths[index] = 0
            returns.append(rewards[index])
        assert not rewards[~(terminations | truncations)].any()
    assert len(returns) > 8
    assert np.mean(returns) < -0.5  # random play against greedy
    for observations, observations_then, mask, mask_then in kept:
        np.testing.assert_array_equal(observations, observations_then)
        np.testing.assert_array_equal(mask, mask_then)


@pytest.mark.parametrize("name", NAMES)
def test_vector_seeds_and_rendering(name):
    env_id = gymnasium_name(name)
    envs = gymnasium.make_vec(env_id, num_envs=4, opponents="random", render_mode="ansi")
    runs = []
    for seed in (5, 5, 6, None):
        random = np.random.default_rng(0)
        observations, infos = envs.reset(seed=seed)
        run = [observations]
        for _ in range(50):
            observations, _, _, _, infos = envs.step(random_legal(random, infos["action_mask"]))
            run.append(observations)
        runs.append(np.stack(run).tobytes())
    assert runs[0] == runs[1]
    assert len(set(runs)) == 3
    frames = envs.render()
    assert len(frames) == 4
    assert all(describe(name).title in frame for frame in frames)
    batch = GameBatch(make_game(name), 4)
    batch.reset(5)
    first = gymnasium.make_vec(env_id, num_envs=4, seat=0, opponents=FirstLegal())
    starts = batch.to_move == 0
    assert starts.any()
    np.testing.assert_array_equal(first.reset(seed=5)[0][starts], batch.observe(0)[starts])


@pytest.mark.parametrize("name", NAMES)
def test_vector_refuses_illegal_actions_before_anything_has_changed(name):
    env_id = gymnasium_name(name)
    envs = gymnasium.make_vec(env_id, num_envs=3)
    observations, infos = envs.reset(seed=1)
    actions = infos["action_mask"].argmax(axis=1)
    wrong = actions.copy()
    wrong[2] = infos["action_mask"][2].argmin()
    with pytest.raises(IllegalMove, match=f"game 2 of the batch: {name}: action {wrong[2]}"):
        envs.step(wrong)
    other = gymnasium.make_vec(env_id, num_envs=3)
    np.testing.assert_array_equal(other.reset(seed=1)[0], observations)
    np.testing.assert_array_equal(envs.step(actions)[0], other.step(actions)[0])


def test_opponents_are_called_once_per_ply_for_all_their_games():
    game = make_game("azul", num_players=2)
    agent = FirstLegal()
    seated = OpponentBatch(game, 64, [agent], seat=0)
    seated.reset(1)
    agent.calls.clear()
    seated.step(seated.mask.argmax(axis=1))
    assert agent.calls == [[1] * 64]


def last_decision(game, seed, player):
    """Return the record before the decision that ends a random game, the player's, and that decision."""
    random = np.random.default_rng(seed)
    while True:
        state = game.new(int(random.integers(1000)))
        while not game.is_over(state):
            before = state.copy()
            action = int(random.choice(game.mask(state).nonzero()[0]))
            game.play_action(state, action)
        if before["to_move"] == player:
            return before, action, state


def test_a_game_that_ends_before_the_learners_first_turn_does_not_count(monkeypatch):
    game = make_game("azul")
    endings = [last_decision(game, seed, 0) for seed in (1, 2)]
    scores = [game.result(state)["scores"] for _, _, state in endings]
    assert scores[0] != scores[1]
    seated = OpponentBatch(game, 1, [FirstLegal()], seat=1, rewards="margin")
    seated.reset(1)
    act_or_raise = opponent_batch.act_or_raise

    def hasty(agent, game, states, game_indices):
        """Find itself at the last decision of a game, as often as there are such games in `endings`."""
        if not endings:
            return act_or_raise(agent, game, states, game_indices)
        before, action, _ = endings.pop(0)
        seated.batch.states[:] = before
        return np.array([action])

    monkeypatch.setattr(opponent_batch, "act_or_raise", hasty)
    rewards, done, _, finished = seated.step(seated.mask.argmax(axis=1))
    assert not endings
    assert done.tolist() == [True]
    assert finished.scores.tolist() == [scores[0]]
    assert rewards[0] == pytest.approx((scores[0][1] - scores[0][0]) / 50)
    assert seated.batch.states["ply"][0] == 1
    assert seated.seats.tolist() == seated.batch.to_move.tolist() == [1]


@pytest.mark.parametrize(("name", "options"), LIMITED)
def test_vector_truncation(name, options):
    envs = gymnasium.make_vec(gymnasium_name(name), num_envs=4, seat=0, **options)
    random = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    ended = np.zeros(4, bool)
    while not ended.all():
        _, _, terminations, truncations, infos = envs.step(random_legal(random, infos["action_mask"]))
        assert not terminations.any()
        ended |= truncations
        np.testing.assert_array_equal(infos.get("_final_info", np.zeros(4, bool)), truncations)


def test_an_illegal_opponent_is_named():
    seated = OpponentBatch(make_game("azul"), 2, [Illegal()], seat=1)
    with pytest.raises(IllegalMove, match="agent 'cheat' played an illegal action: azul: action"):
        seated.reset(1)


def test_weights_say_how_often_each_opponent_plays():
    game = make_game("azul", num_players=3)
    agents = [FirstLegal(str(k)) for k in range(4)]
    seated = OpponentBatch(game, 2000, agents, seat="rotate", weights=[1, 0, 2, 1])
    seated.reset(1)
    np.testing.assert_array_equal(seated.seats, np.arange(2000) % 3)
    assert ((seated.opponent_of == -1) == (np.arange(3) == seated.seats[:, None])).all()
    counts = np.bincount(seated.opponent_of[seated.opponent_of >= 0], minlength=4)
    np.testing.assert_allclose(counts / 4000, [0.25, 0, 0.5, 0.25], atol=0.03)
    # in each of the two seats independently of the other
    after = (seated.seats[:, None] + [1, 2]) % 3
    first, second = np.take_along_axis(seated.opponent_of, after, 1).T
    assert abs(np.mean((first == 2) & (second == 2)) - 0.25) < 0.04
    before = seated.opponent_of.copy(), seated.seats.copy()
    random = np.random.default_rng(0)
    endings = 0
    while endings < 300:
        _, done, _, finished = seated.step(random_legal(random, seated.mask))
        np.testing.assert_array_equal(finished.games, done.nonzero()[0])
        np.testing.assert_array_equal(finished.opponent_of, before[0][finished.games])
        np.testing.assert_array_equal(finished.seats, before[1][finished.games])
        np.testing.assert_array_equal(seated.seats[done], (before[1][done] + 1) % 3)
        np.testing.assert_array_equal(seated.opponent_of[~done], before[0][~done])
        before = seated.opponent_of.copy(), seated.seats.copy()
        endings += len(finished.games)
    assert not (seated.opponent_of == 1).any()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch)), None])
@pytest.mark.parametrize(
    ("name", "options", "num_steps"),
    [("azul", {"wall": "grey"}, 100), ("qwirkle", {"board_size": 26}, 400), ("manhattan", {}, 100)],
)
def test_a_seated_batch_goes_on_from_its_state(name, options, num_steps, duplicate):
    game = make_game(name, num_players=3, **options)
    make = {"seat": "rotate", "rewards": "rank"}
    seated = OpponentBatch(game, 6, [make_agent("greedy", game, 1), make_agent("random", game, 2)], **make)
    seated.reset(3)
    random = np.random.default_rng(0)
    for _ in range(30):
        seated.step(random_legal(random, seated.mask))
    if duplicate is None:
        state, opponents = seated.get_state(), copy.deepcopy(seated.opponents)
        twin = OpponentBatch(game, 6, opponents, **make)
        twin.set_state(state)
        with pytest.raises(ValueError, match=f"the state is not one of 5 games of {name}"):
            OpponentBatch(game, 5, opponents, **make).set_state(state)
    else:
        twin = duplicate(seated)
    ended = 0
    for _ in range(num_steps):
        np.testing.assert_array_equal(seated.observation, twin.observation)
        np.testing.assert_array_equal(seated.mask, twin.mask)
        actions = random_legal(random, seated.mask)
        ours, theirs = seated.step(actions), twin.step(actions)
        for mine, other in zip(ours[:3], theirs[:3], strict=True):
            np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(ours[3].opponent_of, theirs[3].opponent_of)
        ended += len(ours[3].games)
    assert ended > 10
