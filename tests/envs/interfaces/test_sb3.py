"""The Stable-Baselines3 vector environment for self-play, checked against games replayed on their own."""

from itertools import pairwise

import numpy as np
import pytest
from every_game import NAMES, quick

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import VecMonitor

from meeplezoo.agents import make_agent
from meeplezoo.envs import IllegalMove, make_game
from meeplezoo.envs.interfaces.sb3_vec_env import SelfPlayVecEnv

OPTIONS = [
    ("azul", {}),
    ("azul", {"num_players": 3}),
    ("azul", {"num_players": 4, "wall": "grey"}),
    ("qwirkle", {"num_players": 2, "board_size": 26}),
    ("qwirkle", {"num_players": 3, "board_size": 26, "opening": "free", "encoding": "flat"}),
    ("manhattan", {"num_players": 2}),
    ("manhattan", {}),
]
STEPS = {"azul": 120, "qwirkle": 700, "manhattan": 120}
"""Steps in which six games have ended at least twelve times."""


class Noting:
    """An agent that notes whose decisions it made: (seed of the game, ply) -> action."""

    def __init__(self, agent, notes):
        self.name = agent.name
        self._agent = agent
        self._notes = notes

    def act(self, decisions):
        actions = self._agent.act(decisions)
        for state, action in zip(decisions._states, actions, strict=True):
            key = (int(state["seed"]), int(state["ply"]))
            assert key not in self._notes
            self._notes[key] = int(action)
        return actions


def random_legal(mask, random):
    return np.array([random.choice(np.flatnonzero(row)) for row in mask])


def make_env(options=None, num_games=12, opponents=("random", "greedy"), name="azul", **arguments):
    game = make_game(name, **(options or {}))
    agents = [make_agent(name, game, 5) for name in opponents]
    return SelfPlayVecEnv(game, num_games, agents, **{"seed": 3, **arguments})


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_every_game_replayed_alone_is_the_one_the_learner_saw(name, options):
    game = make_game(name, **options)
    by_opponents, by_learner, episodes = {}, {}, []
    agents = [Noting(make_agent(name, game, 5), by_opponents) for name in ("random", "greedy")]
    env = SelfPlayVecEnv(game, 6, agents, rewards="margin", seed=9)
    random = np.random.default_rng(1)
    observation = env.reset()
    for _ in range(STEPS[name]):
        states = env.opponent_batch.batch.states.copy()
        actions = random_legal(env.action_masks(), random)
        for state, action, seen in zip(states, actions, observation, strict=True):
            by_learner[int(state["seed"]), int(state["ply"])] = (int(action), seen)
        observation, rewards, dones, infos = env.step(actions)
        episodes += [(int(states[i]["seed"]), float(rewards[i]), infos[i]) for i in np.flatnonzero(dones)]
    assert len(episodes) >= 12
    assert not by_opponents.keys() & by_learner.keys()
    for seed, reward, info in episodes:
        state = game.new(seed)
        moved = 0
        while not game.is_over(state):
            key = (seed, int(state["ply"]))
            if state["to_move"] == info["seat"]:
                action, seen = by_learner[key]
                np.testing.assert_array_equal(seen, game.observe(state, info["seat"]))
                moved += 1
            else:
                action = by_opponents[key]
            game.play_action(state, action)
        scores = game.result(state)["scores"]
        best_other = max(score for seat, score in enumerate(scores) if seat != info["seat"])
        assert info["scores"] == scores
        assert reward == pytest.approx((scores[info["seat"]] - best_other) / game.spec.margin_scale)
        assert info["episode"] == {"r": pytest.approx(reward), "l": moved}
        np.testing.assert_array_equal(info["terminal_observation"], game.observe(state, info["seat"]))


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_dense_rewards_are_the_changes_of_the_margin(name, options):
    env = make_env(options, 6, name=name, rewards="margin", dense=True)
    random = np.random.default_rng(1)
    env.reset()
    totals, counts, early = np.zeros(6), np.zeros(6, int), 0
    ended = []
    for _ in range(STEPS[name]):
        _, rewards, dones, infos = env.step(random_legal(env.action_masks(), random))
        totals += rewards
        counts += 1
        early += (rewards[~dones] != 0).sum()
        for index in range(6):
            if dones[index]:
                seat, scores = infos[index]["seat"], infos[index]["scores"]
                assert infos[index]["episode"] == {"r": pytest.approx(totals[index], abs=1e-5), "l": counts[index]}
                assert totals[index] == pytest.approx(margin(env.game, scores, seat), abs=1e-5)
                ended.append(totals[index])
                totals[index] = counts[index] = 0
            else:
                scores = env.game.result(env.opponent_batch.batch.states[index])["scores"]
                reached = margin(env.game, scores, env.opponent_batch.seats[index])
                assert totals[index] == pytest.approx(reached, abs=1e-5)
    assert len(ended) >= 12
    assert len(set(ended)) > 3
    assert early > 20


def margin(game, scores, seat):
    best_other = max(score for other, score in enumerate(scores) if other != seat)
    return (scores[seat] - best_other) / game.spec.margin_scale


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_masks_and_observations_are_the_engines_at_the_learners_turn(name, options):
    env = make_env(options, name=name)
    random = np.random.default_rng(2)
    observation = env.reset()
    for _ in range(60):
        states = env.opponent_batch.batch.states
        masks = get_action_masks(env)
        assert masks.shape == (12, env.game.num_actions)
        for index in range(12):
            np.testing.assert_array_equal(masks[index], env.game.mask(states[index]))
            seen = env.game.observe(states[index], int(states[index]["to_move"]))
            np.testing.assert_array_equal(observation[index], seen)
        assert (states["to_move"] == env.opponent_batch.seats).all()
        assert all(env.observation_space.contains(row) for row in observation)
        kept = observation.copy()
        following, *_ = env.step(random_legal(masks, random))
        np.testing.assert_array_equal(observation, kept)
        observation = following


@pytest.mark.parametrize(("name", "players"), [("azul", 2), ("azul", 3), ("manhattan", 2)])
def test_seats_rotate_and_opponents_are_drawn_by_weight(name, players):
    opponents = ("random", "greedy", "random")
    env = make_env({"num_players": players}, opponents=opponents, name=name, weights=[1, 3, 0])
    random = np.random.default_rng(3)
    env.reset()
    seats, names = [[] for _ in range(12)], []
    for _ in range(250):
        _, _, _, infos = env.step(random_legal(env.action_masks(), random))
        for index, info in enumerate(infos):
            if "seat" in info:
                seats[index].append(info["seat"])
                names += info["opponents"]
    for own in seats:
        assert len(own) > 3
        assert all((one + 1) % players == following for one, following in pairwise(own))
    assert {own[0] for own in seats} == set(range(players))
    share = names.count("greedy") / len(names)
    assert 0.6 < share < 0.9
    assert 2 not in env.opponent_batch.opponent_of


def test_a_game_cut_off_by_a_limit_is_scored_and_not_valued_again():
    env = make_env({"max_rounds": 1}, rewards="outcome")
    random = np.random.default_rng(4)
    env.reset()
    ended = 0
    for _ in range(12):
        _, rewards, dones, infos = env.step(random_legal(env.action_masks(), random))
        for index in np.flatnonzero(dones):
            info = infos[index]
            assert info["truncated"]
            assert info["TimeLimit.truncated"] is False
            alone = info["ranks"].count(0) == 1
            won = info["ranks"][info["seat"]] == 0
            assert rewards[index] == ((1 if won else -1) if alone else 0)
            ended += 1
    assert ended >= 12


def play(env, steps, random):
    rows = []
    for _ in range(steps):
        observation, rewards, dones, infos = env.step(random_legal(env.action_masks(), random))
        rows.append((observation, rewards, dones, [info.get("episode") for info in infos]))
    return rows


def assert_same(first, second):
    for one, other in zip(first, second, strict=True):
        for left, right in zip(one[:3], other[:3], strict=True):
            np.testing.assert_array_equal(left, right)
        assert one[3] == other[3]


def test_the_same_seed_gives_the_same_games_and_another_one_others():
    first, second, other = make_env(seed=8), make_env(seed=8), make_env(seed=9)
    np.testing.assert_array_equal(first.reset(), second.reset())
    assert (first.opponent_batch.observation != other.reset()).any()
    assert_same(play(first, 70, np.random.default_rng(0)), play(second, 70, np.random.default_rng(0)))
    # what SB3 does with a model's seed
    first.seed(21), second.seed(21)
    np.testing.assert_array_equal(first.reset(), second.reset())


@pytest.mark.parametrize("arguments", [{}, {"rewards": "margin", "dense": True}])
@pytest.mark.parametrize("name", NAMES)
def test_state_can_be_taken_and_put_back(name, arguments):
    env = make_env(quick(name), name=name, **arguments)
    env.reset()
    play(env, 40, np.random.default_rng(0))
    state = env.get_state()
    agents = [make_agent(name, env.game, 77) for name in ("random", "greedy")]
    env.set_opponents(agents, [0.5, 0.5])
    expected = play(env, 60, np.random.default_rng(1))
    again = make_env(quick(name), name=name, seed=1, **arguments)
    again.reset()
    again.set_opponents([make_agent(name, env.game, 77) for name in ("random", "greedy")], [0.5, 0.5])
    again.set_state(state)
    assert_same(expected, play(again, 60, np.random.default_rng(1)))


@pytest.mark.parametrize(("name", "episodes"), [("azul", 8), ("qwirkle", 0), ("manhattan", 8)])
def test_maskable_ppo_learns_evaluates_and_wraps(name, episodes):
    env = make_env(quick(name, num_players=2), num_games=8, name=name)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=1, device="cpu")
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(3 * 8 * 32)
    assert model.num_timesteps == 3 * 8 * 32
    assert any((old != new).any() for old, new in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer) >= episodes
    assert all(set(episode) == {"r", "l"} for episode in model.ep_info_buffer)
    count = 2 * episodes or 4
    rewards, lengths = evaluate_policy(model, env, n_eval_episodes=count, warn=False, return_episode_rewards=True)
    # an episode ends with a loss, a draw or a win, and pays nothing before
    assert len(rewards) == len(lengths) == count
    assert set(rewards) <= {-1.0, 0.0, 1.0}
    assert min(lengths) > 4
    wrapped = VecMonitor(env)
    wrapped.reset()
    assert get_action_masks(wrapped).shape == (8, env.game.num_actions)


def test_illegal_actions_and_wrong_calls_are_refused():
    env = make_env()
    env.reset()
    before = env.opponent_batch.batch.states.copy()
    actions = random_legal(env.action_masks(), np.random.default_rng(0))
    actions[4] = np.flatnonzero(env.action_masks()[4] == 0)[0]
    with pytest.raises(IllegalMove, match="game 4"):
        env.step(actions)
    assert (env.opponent_batch.batch.states == before).all()
    with pytest.raises(AttributeError, match="action_masks"):
        env.env_method("moves")
    with pytest.raises(AttributeError, match="no attribute 'spec'"):
        env.get_attr("spec")
    assert not env.has_attr("spec")
    game = env.game
    with pytest.raises(ValueError, match="only the rewards 'margin' can be dense, not 'outcome'"):
        make_env(dense=True)
    with pytest.raises(ValueError, match="at least one"):
        SelfPlayVecEnv(game, 2, [])
    for weights in ([1.0], [0, 0], [1, -1], [1, float("nan")]):
        with pytest.raises(ValueError, match="weight"):
            make_env(weights=weights)
    with pytest.raises(ValueError, match="replaced and added to"):
        env.set_opponents([make_agent("random", game, 1)])
