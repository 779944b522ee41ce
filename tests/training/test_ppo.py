"""The own PPO: distributions over legal actions, advantages by seat, what a rollout holds, runs."""

import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

import torch
import yaml
from tiny_training import TINY, assert_equal_runs, assert_same, metrics, tiny, train_tiny

from meeplezoo.agents import make_agent
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.networks.network_file import load_network
from meeplezoo.envs import GameBatch, IllegalMove, make_game
from meeplezoo.envs.interfaces.decision_batch import DecisionBatch
from meeplezoo.training.checkpoint import load_checkpoint
from meeplezoo.training.command import train_command
from meeplezoo.training.config import settings_of
from meeplezoo.training.gae import compute_gae
from meeplezoo.training.masked_categorical import legal_probabilities, log_probability_and_entropy, sample
from meeplezoo.training.ppo import TrainingBatch as Learned
from meeplezoo.training.ppo import build_batch, clipped_loss, make_algorithm, normalise
from meeplezoo.training.run_folder import RunFolder

# --- distributions over legal actions


def random_case(seed, rows=64, actions=37, scale=3.0):
    """Return logits float32, and a mask int8 in which action 5 is always legal."""
    random = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(rows, actions, generator=random)
    mask = torch.rand(rows, actions, generator=random) < 0.3
    mask[:, 5] = True
    return logits, mask.to(torch.int8)


@pytest.mark.parametrize("scale", [0.01, 3.0, 200.0])
def test_probabilities_logarithms_and_entropies_are_those_of_torch(scale):
    logits, mask = random_case(1, scale=scale)
    mask[0] = 0
    mask[0, 5] = 1
    expected = torch.distributions.Categorical(logits=logits.masked_fill(mask == 0, -torch.inf))
    probabilities = legal_probabilities(logits, mask)
    assert (probabilities[mask == 0] == 0).all()
    torch.testing.assert_close(probabilities, expected.probs)
    actions = expected.sample()
    logarithms, entropies = log_probability_and_entropy(logits, mask, actions)
    torch.testing.assert_close(logarithms, expected.log_prob(actions), rtol=1e-5, atol=1e-4)
    legal = expected.probs * expected.logits.masked_fill(mask == 0, 0.0)
    torch.testing.assert_close(entropies, -legal.sum(dim=1), rtol=1e-5, atol=1e-4)
    # one legal action: nothing to choose
    assert (float(logarithms[0]), float(entropies[0])) == (0.0, pytest.approx(0.0, abs=1e-5))


def test_gradients_are_those_of_the_formula_spelled_out():
    logits, mask = random_case(2)
    actions = torch.full((64,), 5)
    weights = torch.randn(2, 64, generator=torch.Generator().manual_seed(3))
    gradients = []
    for by_hand in (True, False):
        leaf = logits.clone().requires_grad_()
        if by_hand:
            logarithm, entropy = log_probability_and_entropy(leaf, mask, actions)
        else:
            logarithms = leaf.masked_fill(mask == 0, -torch.inf).log_softmax(dim=1)
            entropy = -(logarithms.exp() * logarithms.masked_fill(mask == 0, 0.0)).sum(dim=1)
            logarithm = logarithms.gather(1, actions[:, None])[:, 0]
        (weights[0] * logarithm + weights[1] * entropy).sum().backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-6)
    assert (gradients[0][mask == 0] == 0).all()


def test_samples_are_legal_and_as_frequent_as_they_should_be():
    logits = torch.tensor([[0.0, 1.0, 2.0, 5.0, -1.0, 0.0]]).expand(200_000, 6)
    mask = torch.tensor([[0, 1, 1, 0, 1, 0]], dtype=torch.int8).expand(200_000, 6)
    probabilities = legal_probabilities(logits, mask)
    drawn = sample(probabilities, mask, torch.Generator().manual_seed(1))
    shares = torch.bincount(drawn, minlength=6) / len(drawn)
    expected = torch.tensor([0.0, 1.0, 2.0, 0.0, -1.0, 0.0]).exp() * mask[0]
    torch.testing.assert_close(shares, expected / expected.sum(), rtol=0, atol=0.005)
    assert (shares[mask[0] == 0] == 0).all()
    again = sample(probabilities, mask, torch.Generator().manual_seed(1))
    assert torch.equal(drawn, again)


@pytest.mark.parametrize("point", [0.0, 1 - 2**-24])
def test_the_ends_of_the_distribution_are_legal(point, monkeypatch):
    logits, mask = random_case(6, scale=30.0)
    monkeypatch.setattr(torch, "rand", lambda *shape, **_: torch.full(shape, point))
    drawn = sample(legal_probabilities(logits, mask), mask, torch.Generator())
    assert (mask[torch.arange(64), drawn] == 1).all()


# --- advantages


def scan(plies, gamma, gae_lambda, players, learning=None):
    """Return the results for one game of plies (mover, value, rewards, done)."""
    movers = np.array([[ply[0]] for ply in plies])
    values = np.array([[ply[1]] for ply in plies], np.float32)
    rewards = np.array([[ply[2]] for ply in plies], np.float32)
    done = np.array([[ply[3]] for ply in plies])
    seats = np.ones(players, bool) if learning is None else np.array(learning)
    learning = np.broadcast_to(seats, (len(plies), 1, players))
    return [part[:, 0] for part in compute_gae(rewards, done, movers, learning, values, gamma, gae_lambda)]


def test_two_players_by_hand():
    plies = [
        (0, 0.5, (0.0, 0.0), False),
        (1, -0.2, (0.0, 0.0), False),
        (0, 0.7, (0.1, -0.1), False),  # two decisions in a row
        (0, 0.3, (0.0, 0.0), False),
        (1, 0.1, (1.0, -1.0), True),  # the end, by the other player's decision
        (1, 0.4, (0.0, 0.0), False),  # the next game
        (0, -0.6, (0.2, -0.2), False),
        (1, 0.9, (0.3, -0.3), False),  # open
    ]
    advantages, has_advantage, returns, has_return = scan(plies, 0.9, 0.8, 2)
    # from the end backwards; 0: 0.9 and 0.8 are gamma and lambda, 0.72 their product
    fourth_of_0 = 1.0 - 0.3
    third_of_0 = 0.1 + 0.9 * 0.3 - 0.7 + 0.72 * fourth_of_0
    first_of_0 = 0.0 + 0.9 * 0.7 - 0.5 + 0.72 * third_of_0
    last_of_1 = -1.0 - 0.1
    first_of_1 = -0.1 + 0.9 * 0.1 - -0.2 + 0.72 * last_of_1
    # the last decision's value stands for all that comes after it
    next_of_1 = -0.2 + 0.9 * 0.9 - 0.4
    expected = [first_of_0, first_of_1, third_of_0, fourth_of_0, last_of_1, next_of_1, 0.0, 0.0]
    np.testing.assert_allclose(advantages, expected, atol=1e-6)
    assert has_advantage.tolist() == [True] * 6 + [False, False]
    # the mover's return is its advantage and its value
    movers, values = [0, 1, 0, 0, 1, 1], [0.5, -0.2, 0.7, 0.3, 0.1, 0.4]
    np.testing.assert_allclose(returns[range(6), movers], np.array(expected[:6]) + values, atol=1e-6)
    # the other one's, where it does not decide: what it is paid up to its next decision, and that one's share
    assert returns[0, 1] == pytest.approx(0.9 * (-0.2 + 0.8 * first_of_1))
    assert returns[1, 0] == pytest.approx(0.9 * (0.7 + 0.8 * third_of_0))
    assert returns[2, 1] == pytest.approx(-0.1 + 0.9 * (0.1 + 0.8 * last_of_1))
    assert returns[4, 0] == pytest.approx(1.0)
    assert returns[6, 1] == pytest.approx(-0.2 + 0.9 * 0.9)
    assert has_return.tolist() == [[True, True]] * 5 + [[True, True], [False, True], [False, False]]


def test_three_players_by_hand():
    plies = [
        (0, 0.1, (0.0, 0.0, 0.0), False),
        (1, 0.2, (0.5, 0.0, 0.0), False),
        (2, 0.3, (0.0, -0.5, 0.25), False),
        (1, 0.4, (0.0, 0.0, 0.0), False),  # out of turn
        (0, 0.5, (0.0, 0.0, 1.0), False),
        (2, 0.6, (2.0, -1.0, -1.0), True),
    ]
    advantages, has_advantage, returns, has_return = scan(plies, 0.5, 0.5, 3)
    second_of_0 = 2.0 - 0.5
    second_of_1 = -1.0 - 0.4
    second_of_2 = -1.0 - 0.6
    expected = [
        0.5 + 0.5 * 0.5 - 0.1 + 0.25 * second_of_0,
        -0.5 + 0.5 * 0.4 - 0.2 + 0.25 * second_of_1,
        0.25 + 1.0 + 0.5 * 0.6 - 0.3 + 0.25 * second_of_2,
        second_of_1,
        second_of_0,
        second_of_2,
    ]
    np.testing.assert_allclose(advantages, expected, atol=1e-6)
    assert has_advantage.all()
    assert has_return.all()
    np.testing.assert_allclose(returns[5], [2.0, -1.0, -1.0])
    np.testing.assert_allclose(returns[4], [2.0, -1.0, 1.0 + 0.5 * (0.6 + 0.5 * second_of_2)], atol=1e-6)


def test_seats_that_do_not_learn_have_neither_advantages_nor_returns():
    nonsense = np.nan
    plies = [
        (0, 0.5, (0.0, 0.0), False),
        (1, nonsense, (0.25, -0.25), False),
        (1, nonsense, (0.0, 0.0), False),
        (0, -0.25, (1.0, -1.0), True),
        (1, nonsense, (0.0, 0.0), False),
    ]
    advantages, has_advantage, returns, has_return = scan(plies, 1.0, 0.5, 2, learning=[True, False])
    np.testing.assert_allclose(advantages, [0.25 - 0.25 - 0.5 + 0.5 * 1.25, 0, 0, 1.25, 0], atol=1e-6)
    assert has_advantage.tolist() == [True, False, False, True, False]
    assert has_return.tolist() == [[True, False]] * 4 + [[False, False]]
    np.testing.assert_allclose(returns[1, 0], 0.25 - 0.25 + 0.5 * 1.25)


def test_lambda_1_and_gamma_1_give_what_the_game_brings():
    random = np.random.default_rng(1)
    rewards = random.normal(size=(12, 5, 3)).astype(np.float32)
    done = np.zeros((12, 5), bool)
    done[-1] = True
    movers = random.integers(3, size=(12, 5))
    values = random.normal(size=(12, 5)).astype(np.float32)
    learning = np.ones((12, 5, 3), bool)
    advantages, has_advantage, returns, _ = compute_gae(rewards, done, movers, learning, values, 1.0, 1.0)
    to_come = rewards[::-1].cumsum(axis=0)[::-1]
    np.testing.assert_allclose(returns, to_come, atol=1e-4)
    assert has_advantage.all()
    own = np.take_along_axis(to_come, movers[:, :, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(advantages, own - values, atol=1e-4)


# --- the loss


def test_the_loss_by_hand():
    config = tiny(algorithm="ppo", clip=0.2, value_weight=0.5, entropy=0.1)
    new = torch.tensor([0.5, 0.25, 0.1, 0.4])
    old = torch.tensor([0.25, 0.5, 0.1, 0.5])
    logits = torch.stack([torch.stack([p, 1 - p]).log() for p in new])
    learned = Learned(
        torch.zeros(4, 1),
        torch.ones(4, 2, dtype=torch.int8),
        torch.zeros(4, dtype=torch.int64),
        old.log(),
        torch.tensor([1.0, 1.0, -1.0, -1.0]),
        torch.tensor([[1.0, 9.0], [0.0, -1.0], [0.0, 0.0], [0.0, 0.0]]),
        torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 0.0]]),
    )
    values = torch.tensor([[0.0, 0.0], [0.5, 0.0], [0.0, 0.0], [0.0, 7.0]])
    loss, (policy, value, entropy, kl, clipped) = clipped_loss(logits, values, learned, config)
    # ratios 2, 0.5, 1, 0.8; clipped at 1.2 and 0.8
    assert float(policy) == pytest.approx(-(1.2 + 0.5 - 1.0 - 0.8) / 4)
    assert float(value) == pytest.approx((1.0 + 0.25 + 1.0) / 6)
    by_torch = torch.distributions.Bernoulli(new).entropy().mean()
    assert float(entropy) == pytest.approx(float(by_torch))
    ratios = np.array([2, 0.5, 1, 0.8])
    assert float(kl) == pytest.approx(np.mean(ratios - 1 - np.log(ratios)), rel=1e-5)
    assert float(clipped) == 0.5
    assert float(loss) == pytest.approx(float(policy + 0.5 * value - 0.1 * entropy))


def test_advantages_are_normalised():
    np.testing.assert_allclose(normalise(torch.tensor([1.0, 3.0])), [-1.0, 1.0], atol=1e-6)
    assert float(normalise(torch.tensor([5.0]))[0]) == 0.0


# --- rollouts


def learner_of(**changes):
    config = tiny(algorithm="ppo", **changes)
    return make_algorithm(config, config.make_game())


@pytest.mark.parametrize(
    ("name", "players", "share"), [("azul", 2, 0.0), ("azul", 3, 1.0), ("manhattan", 4, 0.5), ("manhattan", 2, 0.5)]
)
def test_a_rollout_says_what_happened(name, players, share):
    changes = {"game": name, "options": {"num_players": players}, "rollout": 130, "games": 4, "rewards": "margin"}
    learner = learner_of(**changes, dense=True, share_league=share)
    learner.league.grow()
    game, games, rollout = learner.game, learner.collector, learner.collector.rollout
    states, seats = games.batch.states.copy(), games.seats.copy()
    learner.train_iteration(0)
    # the same once more, by hand
    batch = GameBatch(game, 4, rewards="margin")
    batch.reset(0)
    batch.states[:] = states
    paid, ended = np.zeros((4, players)), 0
    for ply in range(130):
        np.testing.assert_array_equal(rollout.observation[ply].numpy(), batch.observe())
        np.testing.assert_array_equal(rollout.mask[ply].numpy(), batch.mask())
        np.testing.assert_array_equal(rollout.mover[ply], batch.to_move)
        still = rollout.done[:ply].sum(axis=0) == 0
        np.testing.assert_array_equal(rollout.learning[ply][still], (seats < 0)[still])
        batch.step(rollout.action[ply].numpy())
        np.testing.assert_array_equal(rollout.done[ply], batch.done)
        paid += rollout.reward[ply]
        for place in batch.done.nonzero()[0]:
            np.testing.assert_allclose(paid[place], batch.rewards[place], atol=1e-5)
            paid[place] = 0
            ended += 1
    assert ended > 0
    np.testing.assert_allclose(paid, game.margins(batch.states), atol=1e-5)


def test_learned_from_are_the_learners_decisions_with_a_successor():
    learner = learner_of(rollout=90, games=8, share_league=0.5)
    with torch.no_grad():
        learner.collector.play(learner._act)
    rollout = learner.collector.rollout
    decisions, rows, _ = build_batch(rollout, learner.config)
    chosen = np.zeros((90, 8), bool)
    chosen.reshape(-1)[rows.numpy()] = True
    for game in range(8):
        for ply in range(90):
            seat = rollout.mover[ply, game]
            later = rollout.mover[ply + 1 :, game] == seat
            followed = later.any() or rollout.done[ply:, game].any()
            assert chosen[ply, game] == (rollout.learning[ply, game, seat] and followed)
    assert 0 < chosen.sum() < chosen.size
    # the learner's own policy and values, of the player to move and those after it
    logits, values = learner.network(decisions.observation[rows])
    logarithms, _ = log_probability_and_entropy(logits, decisions.mask[rows], decisions.action[rows])
    torch.testing.assert_close(logarithms, decisions.log_probability[rows], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(values, rollout.value.flatten(0, 1)[rows], rtol=1e-4, atol=1e-5)
    assert (decisions.known[rows][:, 0] == 1).all()
    # both have learned it: margins of two players are opposite, and so are what both expect at the end
    last = torch.from_numpy(rollout.done.reshape(-1))[rows] & (decisions.known[rows][:, 1] == 1)
    assert last.any()
    torch.testing.assert_close(decisions.returns[rows][last][:, 0], -decisions.returns[rows][last][:, 1])


def test_margins_of_all_seats_by_hand():
    game = make_game("azul", num_players=3)
    states = np.array([game.new(seed) for seed in range(3)])
    states["score"][:, :3] = [[10, 60, 35], [50, 50, 0], [7, 7, 7]]
    np.testing.assert_allclose(game.margins(states), [[-1, 0.5, -0.5], [0, 0, -1], [0, 0, 0]])


def test_an_opponent_that_plays_illegally_is_named():
    learner = learner_of(share_league=1.0, baselines=["greedy"])

    class Illegal:
        name = "cheat"

        def act(self, decisions):
            return (decisions.mask == 0).argmax(axis=1)

    learner.league.agent = lambda member: Illegal()
    with pytest.raises(IllegalMove, match="opponent 'cheat': azul: action"):
        learner.train_iteration(0)


def test_one_step_moves_the_policy_towards_better_actions():
    learner = learner_of(epochs=1, minibatch=512, games=32, rollout=16, share_league=0.0, entropy=0.0)
    learner.collector.play(learner._act)
    decisions, rows, _ = build_batch(learner.collector.rollout, learner.config)
    chosen = decisions.select(rows)

    def mean_of_better():
        with torch.no_grad():
            logits, _ = learner.network(chosen.observation)
            logarithms, _ = log_probability_and_entropy(logits, chosen.mask, chosen.action)
        return float((normalise(chosen.advantage) * (logarithms - chosen.log_probability)).mean())

    before = mean_of_better()
    logged = learner._learn(decisions, rows)
    assert mean_of_better() > before + 1e-4
    assert logged["train/kl"] == pytest.approx(0.0, abs=1e-6)
    assert logged["train/epochs"] == 1


def test_target_kl_ends_the_epochs():
    calm, wild = (learner_of(epochs=8, learning_rate=0.03, target_kl=kl).train_iteration(0) for kl in (None, 1e-4))
    assert calm["train/epochs"] == 8
    assert wild["train/epochs"] < 8


def test_a_rollout_too_short_to_learn_from_is_refused():
    with pytest.raises(ValueError, match="rollout must be at least 6, two decisions of each player, not 5"):
        tiny(algorithm="ppo", rollout=5, options={"num_players": 3})


# --- runs


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A tiny run that was never stopped."""
    path = tmp_path_factory.mktemp("runs") / "straight"
    train_tiny(path, algorithm="ppo")
    return path


def test_a_run_logs_what_happens(straight):
    rows = metrics(straight)
    assert rows[-1]["decisions"] >= 768
    # the learner's decisions alone, less the last one of each seat
    steps = np.diff([row["decisions"] for row in rows])
    assert (steps > 0).all()
    assert (steps <= 128 - 2 * 16 + 16).all()
    for name in ("policy_loss", "value_loss", "entropy", "kl", "learning_rate", "explained_variance"):
        assert all(np.isfinite(row[f"train/{name}"]) for row in rows[1:])
    assert {"league/random", "league/greedy", "league/past 0", "league/past 1"} <= rows[-1].keys()
    assert rows[-1]["train/learning_rate"] < rows[1]["train/learning_rate"] == 1e-3


def test_the_file_plays_as_the_learner_does(straight):
    network, head = load_network(RunFolder(straight).last("safetensors"))
    assert head.training["algorithm"] == "ppo"
    assert head.training["decisions"] == metrics(straight)[-1]["decisions"]
    assert head.training["config"]["share_league"] == 0.5
    assert head.value == "reward"
    trainer = train_tiny(straight, algorithm="ppo", resume=True)
    assert_same(network.state_dict(), trainer.algorithm.network.state_dict())
    game = make_game("azul")
    states = np.array([game.new(seed) for seed in range(20)])
    of_file = make_agent(f"net:{RunFolder(straight).last('safetensors')}", game, 1)
    actions = trainer.algorithm.agent("learner", 1).act(DecisionBatch(game, states))
    np.testing.assert_array_equal(of_file.act(DecisionBatch(game, states)), actions)
    logits, _ = network(torch.from_numpy(DecisionBatch(game, states).observation))
    mask = torch.from_numpy(DecisionBatch(game, states).mask)
    np.testing.assert_array_equal(logits.masked_fill(mask == 0, -torch.inf).argmax(dim=1), actions)


def test_values_of_dense_rewards_are_added_to_the_margin():
    learner = learner_of(options={"num_players": 3}, dense=True, rollout=16)
    states = learner.collector.batch.states.copy()
    states["score"][:, 1] = 25
    decisions = DecisionBatch(learner.game, states)
    _, returns = learner.agent("learner", 1).evaluate(decisions)
    values = learner.network(torch.from_numpy(decisions.observation))[1].detach().numpy()
    offsets = (np.arange(3) - decisions.seats[:, None]) % 3
    margins = np.array([-0.5, 0.5, -0.5]) + np.take_along_axis(values, offsets, axis=1)
    np.testing.assert_allclose(returns, 0.5 + 0.5 * np.tanh(margins), atol=1e-5)


def test_evaluations_can_search():
    learner = learner_of(evaluation_simulations=4)
    agent = learner.agent("learner", 1)
    assert agent.settings.sims == 4
    assert evaluate(learner.game, [agent, "random"], 2, 1).games == 2


def test_a_stopped_and_resumed_run_equals_one_that_was_not(straight, tmp_path):
    path = tmp_path / "resumed"
    train_tiny(path, stop_after=3, algorithm="ppo")
    assert metrics(path) == metrics(straight)[:4]
    train_tiny(path, resume=True, algorithm="ppo")
    assert_equal_runs(straight, path)


def test_three_players_cells_and_other_settings_resume_too(tmp_path):
    settings = {
        "algorithm": "ppo",
        "game": "qwirkle",
        "options": {"num_players": 3},
        "network": "cells",
        "channels": 4,
        "dense": True,
        "shared": True,
        "gamma": 0.99,
        "precision": "bfloat16",
        "games": 4,
        "decisions": 60,
        "evaluation_interval": 100,
        "evaluation_games": 1,
        "evaluation_opponents": ["random"],
    }
    train_tiny(tmp_path / "straight", **settings)
    train_tiny(tmp_path / "resumed", stop_after=2, **settings)
    train_tiny(tmp_path / "resumed", resume=True, **settings)
    assert_equal_runs(tmp_path / "straight", tmp_path / "resumed")
    assert len(metrics(tmp_path / "straight")) >= 4


CHILD = """
import os, signal, sys
from meeplezoo.training.command import train_command
from meeplezoo.training.run_folder import RunFolder

add_metrics = RunFolder.add_metrics

def add_metrics_and_be_killed(folder, row):
    add_metrics(folder, row)
    if row["iteration"] == 5:
        os.kill(os.getpid(), signal.SIGKILL)

RunFolder.add_metrics = add_metrics_and_be_killed
train_command({config!r}, [{run!r}], None)
"""


def test_kill_loses_little_and_changes_nothing(straight, tmp_path):
    config, path = tmp_path / "config.yaml", tmp_path / "killed"
    known = [one.name for one in settings_of("ppo")]
    settings = {name: value for name, value in TINY.items() if name in known}
    config.write_text(yaml.safe_dump({**settings, "algorithm": "ppo"}))
    code = CHILD.format(config=str(config), run=f"run={path}")
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert process.returncode == -signal.SIGKILL, process.stderr
    assert metrics(path)[-1]["iteration"] == 5
    assert load_checkpoint(RunFolder(path).checkpoint, make_game("azul"))["progress"].iteration == 4
    assert train_command(None, [], str(path)) == 0
    assert_equal_runs(straight, path)


def test_training_learns_to_beat_random(tmp_path):
    settings = {"algorithm": "ppo", "decisions": 30_000, "hidden": [128], "epochs": 3, "games": 64, "rollout": 32}
    settings |= {"minibatch": 512, "evaluation_interval": 10**6, "evaluation_games": 200}
    train_tiny(tmp_path / "learns", **settings)
    first, *_, last = metrics(tmp_path / "learns")
    assert first["evaluation"]["random"]["win_rate"] < 0.6
    assert last["evaluation"]["random"]["win_rate"] > 0.8
