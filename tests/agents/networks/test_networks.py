"""Training on every kind of network and observation: cells of a plane, flat vectors, other games and players."""

from io import StringIO

import gymnasium
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from every_game import gymnasium_name
from tiny_training import StopAfter, assert_equal_runs, metrics, tiny, train_tiny

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.arena.evaluation import evaluate
from meeplezoo.agents.maskable_ppo.conv_policy import ConvPolicy
from meeplezoo.agents.maskable_ppo.model_agent import MaskablePPOAgent
from meeplezoo.agents.networks.conv import crop_starts
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.interfaces.sb3_vec_env import SelfPlayVecEnv
from meeplezoo.training.maskable_ppo import make_model
from meeplezoo.training.progress import ProgressLine
from meeplezoo.training.run_folder import RunFolder, new_run_folder
from meeplezoo.training.trainer import Trainer

SIDE = 26
QWIRKLE = {
    "game": "qwirkle",
    "options": {"board_size": SIDE, "max_turns": 40},
    "decisions": 4 * 64,
    "games": 8,
    "minibatch": 32,
    "epochs": 1,
    "dense": True,
    "evaluation_games": 2,
}
CELLS = {**QWIRKLE, "network": "cells", "channels": 4}


@pytest.fixture(scope="module")
def cells_run(tmp_path_factory):
    """A tiny run of the convolutional network that was never stopped."""
    path = tmp_path_factory.mktemp("cells") / "straight"
    train_tiny(path, **CELLS)
    return path


@pytest.fixture(scope="module")
def flat_run(tmp_path_factory):
    """A tiny run on Qwirkle's flat observation."""
    path = tmp_path_factory.mktemp("flat") / "straight"
    train_tiny(path, **{**QWIRKLE, "observation": "flat", "evaluation_opponents": ["random"]})
    return path


def some_positions(game, plies, count=16, seed=1):
    """Return the running games of a batch after some random plies."""
    batch = GameBatch(game, count, auto_reset=False)
    batch.reset(seed)
    for _ in range(plies):
        batch.step(batch.random_actions())
    return batch.states[batch.states["status"] == 0]


def lively_policy():
    """Return a new policy of cells whose logits differ a lot."""
    config = tiny(**CELLS)
    game = config.make_game()
    model = make_model(config, SelfPlayVecEnv(game, config.games, [make_agent("random", game, 1)], seed=1))
    assert type(model.policy) is ConvPolicy
    with torch.no_grad():
        for layer in (model.policy.features_extractor.cell_logit, model.policy.action_net.others):
            layer.weight.mul_(100)
    model.policy.set_training_mode(False)
    return game, model.policy


def outputs(policy, observation, mask):
    """Return the logarithms of the probabilities of all legal actions, and the values."""
    with torch.no_grad():
        logits = policy.get_distribution(observation).distribution.logits.masked_fill(~mask, -torch.inf)
        return logits.log_softmax(dim=1), policy.predict_values(observation)


@pytest.mark.parametrize("plies", [0, 2, 9, 60, 150])
def test_logits_do_not_depend_on_the_size_of_the_part_that_is_looked_at(plies):
    game, policy = lively_policy()
    decisions = DecisionBatch(game, some_positions(game, plies))
    observation = torch.as_tensor(decisions.observation)
    mask = torch.as_tensor(decisions.mask, dtype=torch.bool)
    # one more game with a tile in the corner has the whole window looked at
    corner = observation[:1].clone()
    corner[0, 0] = 1
    filled = torch.cat([observation, corner])
    assert int(crop_starts(filled[:, : SIDE * SIDE].view(-1, SIDE, SIDE)).min()) == 0
    log_whole, value_whole = outputs(policy, filled, torch.cat([mask, mask[:1]]))
    spread = 0.0
    for index in range(len(observation)):
        one = observation[index : index + 1]
        assert plies > 100 or int(crop_starts(one[:, : SIDE * SIDE].view(-1, SIDE, SIDE))) > 0
        log_alone, value_alone = outputs(policy, one, mask[index : index + 1])
        legal = mask[index]
        torch.testing.assert_close(log_alone[0, legal], log_whole[index, legal], rtol=0, atol=2e-5)
        torch.testing.assert_close(value_alone[0], value_whole[index], rtol=0, atol=2e-5)
        spread = max(spread, float(log_alone[0, legal].max() - log_alone[0, legal].min()))
    assert spread > 0.01


def test_the_logit_of_a_cell_is_that_of_its_place():
    game, policy = lively_policy()
    decisions = DecisionBatch(game, some_positions(game, 21, 64))
    placing = decisions.mask[:, game.spec.first_cell_action :].any(axis=1)
    board = decisions.observation[placing, : SIDE * SIDE]
    # the cells marked in the plane are the actions of the same numbers
    np.testing.assert_array_equal(board == 73, decisions.mask[placing, game.spec.first_cell_action :] == 1)
    assert placing.sum() > 5
    # turning a picture over turns the logits over, if the kernels are symmetric
    with torch.no_grad():
        for convolution in policy.features_extractor.convolutions:
            convolution.weight.copy_((convolution.weight + convolution.weight.flip(3)) / 2)
        observation = torch.as_tensor(decisions.observation[placing])
        turned = observation.clone()
        turned[:, : SIDE * SIDE] = observation[:, : SIDE * SIDE].view(-1, SIDE, SIDE).flip(2).flatten(1)
        _, cells = policy.extract_features(observation, policy.features_extractor)
        _, other = policy.extract_features(turned, policy.features_extractor)
    expected = cells.view(-1, SIDE, SIDE).flip(2).flatten(1)
    torch.testing.assert_close(other, expected, rtol=0, atol=2e-5)
    assert cells.std() > 0.01


def test_every_part_of_the_network_of_cells_is_trained(tmp_path):
    config = tiny(run=str(tmp_path / "run"), **{**CELLS, "evaluation_interval": 10**6})
    trainer = Trainer(config, new_run_folder(config, "tiny"), ProgressLine(StringIO()), resume=False)
    before = {name: value.detach().clone() for name, value in trainer.algorithm.model.policy.named_parameters()}
    stop = StopAfter(2)
    stop.trainer = trainer
    trainer.run(stop)
    after = dict(trainer.algorithm.model.policy.named_parameters())
    assert before.keys() == after.keys()
    unchanged = [name for name in before if torch.equal(before[name], after[name])]
    assert not unchanged
    rows = metrics(tmp_path / "run")
    assert len(rows) == 3
    assert all(np.isfinite(row["train/loss"]) for row in rows[1:])


def test_a_stopped_and_resumed_run_of_cells_and_dense_rewards_equals_one_that_was_not(cells_run, tmp_path):
    train_tiny(tmp_path / "resumed", stop_after=1, **CELLS)
    assert metrics(tmp_path / "resumed") == metrics(cells_run)[:2]
    train_tiny(tmp_path / "resumed", resume=True, **CELLS)
    assert_equal_runs(cells_run, tmp_path / "resumed")


def test_a_saved_network_of_cells_plays_as_it_did(cells_run):
    trainer = Trainer(tiny(run=str(cells_run), **CELLS), RunFolder(cells_run), ProgressLine(StringIO()), resume=True)
    game = trainer.game
    saved = make_agent(f"ppo:{cells_run / 'last.zip'}", game, 1)
    kept = MaskablePPOAgent("kept", trainer.algorithm.model.policy, 1, deterministic=True)
    batch = GameBatch(game, 8, auto_reset=False)
    batch.reset(2)
    decided = 0
    while (running := np.flatnonzero(batch.states["status"] == 0)).size:
        decisions = DecisionBatch(game, batch.states.take(running))
        actions = saved.act(decisions)
        np.testing.assert_array_equal(actions, kept.act(decisions))
        # refuses what is not legal
        batch.step_subset(running, actions)
        decided += len(running)
    assert decided > 200


def test_an_agent_trained_on_another_form_of_observations_plays_all_the_same(flat_run):
    path = flat_run / "best.zip"
    options = QWIRKLE["options"]
    planes, flat = make_game("qwirkle", **options), make_game("qwirkle", encoding="flat", **options)
    states = some_positions(planes, 30, 64)
    assert planes.encoding != flat.encoding
    actions = [make_agent(f"ppo:{path}", game, 1).act(DecisionBatch(game, states)) for game in (planes, flat)]
    np.testing.assert_array_equal(*actions)
    assert len(set(actions[0].tolist())) > 3
    results = [evaluate(game, [f"ppo:{path}", "random"], 4, 1).agents for game in (planes, flat)]
    assert results[0] == results[1]
    env = gymnasium.make(gymnasium_name("qwirkle"), opponents=f"ppo:{path}", illegal="raise", **options)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        over = terminated or truncated
    assert len(info["scores"]) == 2


def test_an_agent_of_another_size_names_all_forms(flat_run):
    with pytest.raises(
        ValueError, match=r"was trained for observations of 1508 numbers and 749 actions, .* or \d+ and 2377"
    ):
        make_agent(f"ppo:{flat_run / 'best.zip'}", make_game("qwirkle"), 1)


@pytest.mark.parametrize("options", [{}, {"num_players": 2, "seats": "adjacent"}])
def test_manhattan_trains_and_plays(options, tmp_path):
    settings = {"game": "manhattan", "options": options, "dense": True, "decisions": 256, "evaluation_games": 3}
    trainer = train_tiny(tmp_path / "run", **settings)
    game = make_game("manhattan", **options)
    assert trainer.game == game
    assert trainer.decisions == 256
    agents = [f"ppo:{tmp_path / 'run' / 'best.zip'}", *["random"] * (game.num_players - 1)]
    assert evaluate(game, agents, 4, 1).agents[0].games == 4
    with pytest.raises(ValueError, match="was trained for observations"):
        make_agent(agents[0], make_game("manhattan", num_players=3), 1)
