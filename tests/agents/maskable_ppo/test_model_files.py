"""Agents `ppo:FILE`: files of Stable-Baselines3 are read without running code that they hold."""

import base64
import io
import json
import os
import pickle
import re
import zipfile

import numpy as np
import pytest
from every_game import NAMES, quick

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from tiny_training import tiny

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.cli.main import main
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.interfaces.sb3_vec_env import SelfPlayVecEnv
from meeplezoo.training.maskable_ppo import MaskablePPOAlgorithm

SIZES = {"n_steps": 8, "batch_size": 8, "n_epochs": 1}
AZUL = make_game("azul")


class OwnPolicy(MaskableActorCriticPolicy):
    """A class of the user's own, with the layers of the usual one."""


def model_of(game, policy="MlpPolicy", **settings):
    """Return a model of the library, as somebody might make it with our environment."""
    env = SelfPlayVecEnv(game, 2, [make_agent("random", game, 1)], seed=1)
    return MaskablePPO(policy, env, seed=3, **SIZES, **settings)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of models by what they are."""
    folder = tmp_path_factory.mktemp("models")
    made = {
        "usual": {},
        "sizes": {"policy_kwargs": {"net_arch": {"pi": [24, 16], "vf": []}}},
        "linear": {"policy_kwargs": {"net_arch": []}},
        "activation": {"policy_kwargs": {"net_arch": [16], "activation_fn": torch.nn.ELU}},
        "own-policy": {"policy": OwnPolicy},
        "own-activation": {"policy_kwargs": {"activation_fn": type("Own", (torch.nn.ReLU,), {})}},
    }
    for name, settings in made.items():
        model_of(AZUL, **settings).save(folder / f"{name}.zip")
    learned = model_of(AZUL)
    learned.learn(16)
    learned.save(folder / "learned.zip")
    return folder


def decisions_of(game):
    batch = GameBatch(game, 16)
    batch.reset(3)
    for _ in range(10):
        batch.step(batch.random_actions())
    return DecisionBatch(game, batch.states)


def logits_of(policy, decisions):
    with torch.no_grad():
        return policy.get_distribution(torch.as_tensor(decisions.observation)).distribution.logits


@pytest.mark.parametrize("name", ["usual", "sizes", "linear", "activation", "learned"])
def test_models_of_known_classes_play_without_trust(files, name, monkeypatch):
    path = files / f"{name}.zip"
    decisions = decisions_of(AZUL)
    expected = logits_of(MaskablePPO.load(path, device="cpu").policy, decisions)
    before = torch.get_rng_state()
    with monkeypatch.context() as patch:
        patch.setattr("cloudpickle.loads", refuse)
        patch.setattr("pickle.loads", refuse)
        agent = make_agent(f"ppo:{path}", AZUL, 1)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(logits_of(agent.policy, decisions), expected)
    actions = agent.act(decisions)
    assert (decisions.mask[np.arange(16), actions] == 1).all()


def refuse(*arguments, **named):
    raise AssertionError("something was unpickled")


@pytest.mark.parametrize("name", NAMES)
def test_our_own_models_play_as_they_learned(name, tmp_path):
    game = make_game(name, **quick(name))
    networks = ["mlp", "cells"] if game.spec.first_cell_action is not None else ["mlp"]
    for network in networks:
        config = tiny(
            game=name,
            options=game.options,
            games=2,
            rollout=4,
            minibatch=8,
            network=network,
            activation="tanh",
            channels=4,
        )
        learner = MaskablePPOAlgorithm(config, game)
        path = tmp_path / f"{network}.zip"
        with path.open("wb") as file:
            learner.write_agent(file, 1.0)
        decisions = decisions_of(game)
        agent = make_agent(f"ppo:{path}", game, 1)
        assert torch.equal(logits_of(agent.policy, decisions), logits_of(learner.model.policy, decisions))
        # in any form of observations
        for encoding in game.spec.layouts:
            other = game.with_encoding(encoding)
            np.testing.assert_array_equal(agent.act(DecisionBatch(other, decisions._states)), agent.act(decisions))


@pytest.mark.parametrize("name", ["own-policy", "own-activation"])
def test_models_of_other_classes_need_trust(files, name, capsys):
    path = files / f"{name}.zip"
    with pytest.raises(
        ValueError, match=r"only by running code that it holds, as its .*--trust \(in Python trust=True\)"
    ):
        make_agent(f"ppo:{path}", AZUL)
    agent = make_agent(f"ppo:{path}", AZUL, trust=True)
    decisions = decisions_of(AZUL)
    expected = logits_of(MaskablePPO.load(path, device="cpu").policy, decisions)
    assert torch.equal(logits_of(agent.policy, decisions), expected)
    words = ["evaluate", "azul", f"ppo:{path}", "random", "--games", "2"]
    assert main(words) == 2
    assert "say so with --trust" in capsys.readouterr().err
    assert main([*words, "--trust"]) == 0


@pytest.mark.parametrize("command", ["evaluate", "record", "play", "tournament", "train"])
def test_every_command_that_names_agents_takes_trust(files, command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    agent = f"ppo:{files / 'own-policy.zip'}"
    run = [f"run={tmp_path / 'run'}", "games=2", "rollout=4", "minibatch=8", "decisions=8", "evaluation_games=2"]
    words = {
        "evaluate": ["azul", agent, "random", "--games", "2"],
        "record": ["azul", "--agents", f"{agent},random", "--out", "games.jsonl"],
        "play": ["azul", agent, "random"],
        "tournament": ["azul", agent, "random", "--rounds", "1", "--deals", "1", "--processes", "1", "--out", "cup"],
        "train": ["azul/demo", f"baselines=[{agent!r}]", "share_baselines=1", "hidden=[8]", *run],
    }[command]
    assert main([command, *words]) == 2
    assert "--trust" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert main([command, *words, "--trust"]) == 0


# --- files that are damaged, or made to do harm


def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zip_of(parts, packing=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def saved_by_torch(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def refusal(path):
    """Return the sentence that a file is refused with; "" if it is taken."""
    try:
        make_agent(f"ppo:{path}", AZUL)
    except ValueError as error:
        return str(error)
    return ""


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch '{self.mark}'",)


def test_nothing_is_unpickled(files, tmp_path):
    mark, path = tmp_path / "mark", tmp_path / "model.zip"
    parts = parts_of(files / "usual.zip")
    bomb = pickle.dumps(Bomb(mark))
    packed = {":type:": "<class 'dict'>", ":serialized:": base64.b64encode(bomb).decode()}
    data = json.loads(parts["data"])
    tampered = [
        {**parts, "data": json.dumps({**data, **{name: {**packed, **as_mapping(data[name])} for name in names}})}
        for names in (["policy_kwargs"], ["policy_class"], ["observation_space"], ["verbose"], list(data))
    ]
    tampered.append({**parts, "policy.pth": saved_by_torch({"weights": Bomb(mark)})})
    tampered.append({**parts, "policy.pth": bomb})
    tampered.append({**parts, "pytorch_variables.pth": bomb, "policy.optimizer.pth": saved_by_torch(Bomb(mark))})
    contents = [*map(zip_of, tampered), bomb, saved_by_torch(Bomb(mark)), zip_of({"data": bomb, "policy.pth": bomb})]
    for content in contents:
        path.write_bytes(content)
        assert re.fullmatch(".{,400}", refusal(path))
    assert not mark.exists()
    pickle.loads(bomb)
    assert mark.exists()


def as_mapping(value):
    return {name: one for name, one in value.items() if name != ":serialized:"} if isinstance(value, dict) else {}


def with_weights(parts, change):
    weights = torch.load(io.BytesIO(parts["policy.pth"]), weights_only=True)
    change(weights)
    return {**parts, "policy.pth": saved_by_torch(weights)}


def with_data(parts, **changes):
    return {**parts, "data": json.dumps({**json.loads(parts["data"]), **changes})}


def without(parts, name):
    return {other: content for other, content in parts.items() if other != name}


DAMAGES = {
    "no part data": lambda parts: without(parts, "data"),
    "no part policy.pth": lambda parts: without(parts, "policy.pth"),
    "its part data is not JSON": lambda parts: {**parts, "data": b"{"},
    "its part data is nested too deeply": lambda parts: {**parts, "data": b"[" * 10**6},
    "its part data is no JSON object": lambda parts: {**parts, "data": b"[]"},
    "its part data says nothing of the policy_class": lambda parts: with_data(parts, policy_class="MlpPolicy"),
    "its part data says nothing of the observation_space": lambda parts: with_data(parts, observation_space=None),
    "its weights cannot be read": lambda parts: {**parts, "policy.pth": saved_by_torch([1, 2])},
    "its weights are not tensors by name": lambda parts: {**parts, "policy.pth": saved_by_torch({"a": 1})},
    "it is no zip, or damaged": lambda parts: {**parts, "policy.pth": b"PK\x03\x04"},
    "not all finite": lambda parts: with_weights(parts, lambda one: one["value_net.bias"].fill_(torch.nan)),
    "not all of the type float32": lambda parts: with_weights(
        parts, lambda one: one.update({"value_net.bias": torch.zeros(1, dtype=torch.float64)})
    ),
    "must be (1, 64), not (2, 64)": lambda parts: with_weights(
        parts, lambda one: one.update({"value_net.weight": torch.zeros(2, 64)})
    ),
    "larger than the file": lambda parts: with_weights(
        parts, lambda one: one.update({"value_net.weight": torch.zeros(1).expand(10**9)})
    ),
    "was trained for observations of 5 numbers and 180 actions": lambda parts: with_weights(
        parts, lambda one: one.update({"mlp_extractor.policy_net.0.weight": torch.zeros(64, 5)})
    ),
    "its layers are not those": lambda parts: with_weights(parts, lambda one: one.update({"more": torch.zeros(1)})),
    "its observations are of a kind that is not known": lambda parts: with_data(
        parts, observation_space={":type:": "<class 'gymnasium.spaces.dict.Dict'>"}
    ),
    "its features come from a class": lambda parts: with_data(
        parts, policy_kwargs={"features_extractor_class": "<class 'mine.Extractor'>"}
    ),
    "its activation, '<class 'os.system'>', is not known": lambda parts: with_data(
        parts, policy_kwargs={"activation_fn": "<class 'os.system'>"}
    ),
}


@pytest.mark.parametrize("message", DAMAGES)
def test_damaged_files_are_refused_in_one_sentence(files, tmp_path, message):
    path = tmp_path / "model.zip"
    path.write_bytes(zip_of(DAMAGES[message](parts_of(files / "usual.zip"))))
    with pytest.raises(ValueError, match=r"^agent ") as caught:
        make_agent(f"ppo:{path}", AZUL)
    text = str(caught.value).replace('"', "'").replace("''", "'")
    assert message.replace("''", "'") in text
    assert str(path) in text
    assert "\n" not in text


def test_cut_and_changed_files_end_in_one_sentence_or_play(files, tmp_path):
    content = (files / "usual.zip").read_bytes()
    path = tmp_path / "model.zip"
    random = np.random.default_rng(1)
    damaged = [content[:size] for size in random.integers(0, len(content), 12)]
    for place in random.integers(0, len(content), 25).tolist():
        damaged.append(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
    for one in damaged:
        path.write_bytes(one)
        assert re.fullmatch(".{,400}", refusal(path))


def test_zips_that_unfold_to_any_size_are_refused(files, tmp_path):
    path = tmp_path / "model.zip"
    parts = parts_of(files / "usual.zip")
    zeros = bytes(70_000_000)
    path.write_bytes(zip_of({**parts, "data": zeros}, zipfile.ZIP_DEFLATED))
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ValueError, match="its part data is larger than 67,108,864 bytes"):
        make_agent(f"ppo:{path}", AZUL)
    inner = zip_of({"archive/data.pkl": zeros, "archive/version": b"3"}, zipfile.ZIP_DEFLATED)
    path.write_bytes(zip_of({**parts, "policy.pth": inner}))
    with pytest.raises(ValueError, match="its weights are packed"):
        make_agent(f"ppo:{path}", AZUL)
    path.write_bytes(zip_of({f"part {number}": b"" for number in range(11_000)}))
    with pytest.raises(ValueError, match="it has too many parts"):
        make_agent(f"ppo:{path}", AZUL)
    path.write_bytes(zip_of(parts, zipfile.ZIP_LZMA))
    with pytest.raises(ValueError, match="packed in an unusual way"):
        make_agent(f"ppo:{path}", AZUL)


@pytest.mark.parametrize("name", ["", "none.zip", ".", "/dev/zero", "x" * 5000, "a\0b"])
def test_what_is_no_file_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ValueError, match=r"there is no file|is not a regular file|the text of an agent|its text"
    ) as caught:
        make_agent(f"ppo:{name}", AZUL)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_other_sizes_are_refused(files):
    for trust in (False, True):
        for name in ("usual", "own-policy"):
            if name == "own-policy" and not trust:
                continue
            with pytest.raises(ValueError, match="trained for observations of 181 numbers and 180 actions, but azul"):
                make_agent(f"ppo:{files / f'{name}.zip'}", make_game("azul", num_players=3), trust=trust)
