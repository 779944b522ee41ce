"""Network files that others made: whatever they hold, it costs one sentence and no more memory than the file has."""

import json
import os
import re

import numpy as np
import pytest
from hostile_data import assert_one_sentence, nested

pytest.importorskip("torch")
pytest.importorskip("safetensors")

import torch

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.agents.arena.matches import act_or_forfeit
from meeplezoo.agents.networks import network_file
from meeplezoo.agents.networks.architecture import MAX_WEIGHTS, Architecture, build
from meeplezoo.agents.networks.network_agent import NetworkAgent, NetworkSettings, NotFiniteError
from meeplezoo.agents.networks.network_file import load_network, make_metadata, save_network
from meeplezoo.agents.protocol import AgentFailure
from meeplezoo.agents.search.batched_search import search_with_network
from meeplezoo.agents.search.gumbel_search import gumbel_search
from meeplezoo.cli.main import main
from meeplezoo.envs import GameBatch, make_game
from meeplezoo.envs.game import as_batch

AZUL = make_game("azul")
KEY = "meeplezoo_network"
SEARCHES = ["", ",sims=3", ",sims=3,considered=0", ",sims=2,chance=closed,plies=2"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def file(tmp_path):
    """Return a file of a small network for Azul."""
    path = tmp_path / "net.safetensors"
    torch.manual_seed(1)
    architecture = Architecture("mlp", (8,))
    save_network(path, build(AZUL, architecture), make_metadata(AZUL, architecture, "return", {}))
    return path


def take_apart(content):
    """Return header and numbers of a file."""
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def put_together(header, numbers):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers


def refusal(path, settings=""):
    """Return the one sentence that a file is refused with."""
    with pytest.raises(ValueError, match=re.escape(str(path))) as caught:
        make_agent(f"net:{path}{settings}", AZUL)
    assert_one_sentence(caught.value, 500)
    return str(caught.value)


@pytest.mark.parametrize("length", [0, 1, 7, 10**6, 2**20, 2**31, 100 * 2**20, 2**63 - 1, 2**63, 2**64 - 1])
def test_the_length_of_the_header_is_not_believed(length, file):
    content = file.read_bytes()
    file.write_bytes(length.to_bytes(8, "little") + content[8:])
    assert "the file is damaged, or no safetensors file" in refusal(file)


@pytest.mark.parametrize(
    "content", [b"", b"\x01", b"\0" * 8, b"\xff" * 100, b"{}" * 50, b"\2\0\0\0\0\0\0\0{}", b"\0" * 10**6]
)
def test_what_is_no_network_file_is_refused(content, file):
    file.write_bytes(content)
    assert re.search("no safetensors file|holds no network of meeplezoo", refusal(file))


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "the file holds no network of meeplezoo"),
        ({}, "the file holds no network of meeplezoo"),
        ([], "the file holds no network of meeplezoo"),
        ("x", "the file holds no network of meeplezoo"),
        ({KEY: None}, "the file holds no network of meeplezoo"),
        ({KEY: 3}, "the file holds no network of meeplezoo"),
        ({KEY: {}}, "the file holds no network of meeplezoo"),
        ({KEY: ""}, "description of its network is not JSON"),
        ({KEY: "null"}, "the file's format is not 2"),
        ({KEY: "[]"}, "the file's format is not 2"),
        ({KEY: '{"format": true}'}, "the file's format is not 2"),
        ({KEY: '{"format": 2.0}'}, "the file's format is not 2"),
        ({KEY: '{"format": 1, "format": 1}'}, "has the key 'format' twice"),
        ({KEY: '{"format": NaN}'}, "holds NaN"),
        ({KEY: "[" * 10**5}, "is nested too deeply"),
        ({KEY: '{"format": 2}'}, "lacks something, or has too much"),
        ({KEY: '{"format": 1' + "0" * 400 + "}"}, "holds the number"),
        ({KEY: '"\\ud800"'}, "half a surrogate pair"),
    ],
)
def test_metadata_of_every_kind(metadata, message, file):
    header, numbers = take_apart(file.read_bytes())
    file.write_bytes(put_together({**header, "__metadata__": metadata}, numbers))
    assert message in refusal(file)


HOSTILE = [
    None,
    True,
    -1,
    1.5,
    10**30,
    "",
    "\x1b[31m",
    "x" * 10**5,
    [],
    {},
    nested(300),
    {"name": 1},
    {"observation": "flat"},
]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
def test_heads_of_every_kind(value, file):
    content = file.read_bytes()
    header, numbers = take_apart(content)
    head = json.loads(header["__metadata__"][KEY])
    places = [*((key,) for key in head), *(("architecture", key) for key in head["architecture"]), ("more",)]
    places += [("options", key) for key in (*head["options"], "more")]
    places += [("training", key) for key in ("win_weight", "leaf_plies")]
    for *path, last in places:
        changed = json.loads(header["__metadata__"][KEY])
        (changed[path[0]] if path else changed)[last] = value
        file.write_bytes(put_together({**header, "__metadata__": {KEY: json.dumps(changed)}}, numbers))
        right = ("training", {}), ("training", {"name": 1}), ("training", {"observation": "flat"})
        # Python says that true is 1
        fine = (last, value) in right or (last in ("shared_trunk",) and value is True)
        fine = fine or (last == "win_weight" and value in (0, 1) and value is not True)
        if not fine:
            refusal(file)
        else:
            load_network(file)


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        ({"hidden_sizes": [65536, 65536]}, r"has 4,3\d\d,\d{3},\d{3} weights, more than the most, 33,554,432"),
        ({"hidden_sizes": [65536] * 64}, r"weights, more than the most"),
        ({"hidden_sizes": [1] * 65}, "hidden_sizes must be at most 64 integers, not 65"),
        ({"hidden_sizes": [1] * 10**5}, "hidden_sizes must be at most 64 integers, not 100,000"),
        ({"hidden_sizes": [65537]}, "hidden_sizes must be integers from 1 to 65536"),
        ({"hidden_sizes": [8.0]}, "hidden_sizes must be integers from 1 to 65536"),
        ({"hidden_sizes": [True]}, "hidden_sizes must be integers from 1 to 65536"),
        ({"hidden_sizes": {"8": 8}}, "hidden_sizes must be integers from 1 to 65536"),
        ({"kind": "conv"}, "needs an observation with a plane of cells"),
        ({"hidden_sizes": [16]}, r"must be \[180, 16\] 'F32', not \[180, 8\] 'F32'"),
        ({"shared_trunk": False}, "lacks the weights 'value_trunk"),
        ({"heuristic": True}, "lacks the weights|should not have the weights"),
    ],
)
def test_architectures_that_the_file_does_not_hold(architecture, message, file):
    header, numbers = take_apart(file.read_bytes())
    head = json.loads(header["__metadata__"][KEY])
    head["architecture"].update(architecture)
    file.write_bytes(put_together({**header, "__metadata__": {KEY: json.dumps(head)}}, numbers))
    assert re.search(message, refusal(file))


def test_the_largest_network_is_not_built():
    """The same bound holds for a new network, before any memory is taken."""
    with pytest.raises(ValueError, match=f"more than the most, {MAX_WEIGHTS:,}$"):
        build(AZUL, Architecture("mlp", (65536, 65536)))
    with pytest.raises(ValueError, match=f"more than the most, {MAX_WEIGHTS:,}$"):
        build(make_game("qwirkle"), Architecture("conv", (8,), channels=65536))


@pytest.mark.parametrize(
    ("name", "entry", "message"),
    [
        ("policy.bias", {"dtype": "F64"}, r"must be \[180\] 'F32', not \[180\] 'F64'"),
        ("policy.bias", {"dtype": "I32"}, r"must be \[180\] 'F32', not \[180\] 'I32'"),
        ("policy.bias", {"shape": [180.0]}, r"must be \[180\] 'F32', not \[180.0\] 'F32'"),
        ("policy.bias", {"shape": [2**63]}, r"must be \[180\] 'F32', not"),
        ("policy.bias", {"shape": [1, 180]}, r"must be \[180\] 'F32', not"),
        ("policy.bias", {"shape": None}, r"must be \[180\] 'F32', not None"),
        ("policy.bias", {"data_offsets": [0, 2**63]}, "is damaged, or no safetensors file"),
        ("policy.bias", {"data_offsets": [-4, 716]}, "is damaged, or no safetensors file"),
        ("policy.bias", {"data_offsets": [4, 724]}, "is damaged, or no safetensors file"),
        ("policy.bias", {"data_offsets": "x" * 10**5}, "is damaged, or no safetensors file"),
        ("more", {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}, "should not have the weights 'more'"),
        ("\x1b[31m", {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}, "should not have the weights"),
        ("policy.bias", None, "must be|is damaged"),
    ],
)
def test_tensors_that_are_not_what_they_should_be(name, entry, message, file):
    header, numbers = take_apart(file.read_bytes())
    header[name] = None if entry is None else {**header.get(name, {}), **entry}
    file.write_bytes(put_together(header, numbers))
    assert re.search(message, refusal(file))


def test_tensors_that_overlap_are_refused(file):
    header, numbers = take_apart(file.read_bytes())
    first, second = sorted(
        (name for name in header if name != "__metadata__"), key=lambda one: header[one]["data_offsets"]
    )[:2]
    start = header[first]["data_offsets"][0]
    length = header[second]["data_offsets"][1] - header[second]["data_offsets"][0]
    header[second]["data_offsets"] = [start, start + length]
    file.write_bytes(put_together(header, numbers))
    assert "is damaged, or no safetensors file" in refusal(file)


@pytest.mark.parametrize("number", [1e38, 3e38])
def test_weights_that_are_too_large_are_found_at_reading(number, file):
    header, numbers = take_apart(file.read_bytes())
    file.write_bytes(put_together(header, np.full(len(numbers) // 4, number, np.float32).tobytes()))
    assert "the weights are so large that the network's outputs are not finite numbers" in refusal(file)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_found_at_reading(number, file):
    header, numbers = take_apart(file.read_bytes())
    weights = np.frombuffer(numbers, np.float32).copy()
    weights[100] = number
    file.write_bytes(put_together(header, weights.tobytes()))
    assert "are not all finite" in refusal(file)


@pytest.mark.parametrize("number", [0.0, -0.0, 1e-45, 1e10])
@pytest.mark.parametrize("settings", SEARCHES)
def test_other_weights_play_legally(number, settings, file):
    header, numbers = take_apart(file.read_bytes())
    weights = np.frombuffer(numbers, np.float32).copy()
    weights[:-180] = number
    file.write_bytes(put_together(header, weights.tobytes()))
    actions, reasons = act_or_forfeit(make_agent(f"net:{file}{settings}", AZUL, 1), AZUL, as_batch(AZUL.new(3)).copy())
    assert reasons == {}
    assert AZUL.mask(AZUL.new(3))[actions[0]] == 1


class Saying(torch.nn.Module):
    """A network that answers well in the first position alone."""

    def __init__(self, logit, value):
        super().__init__()
        self.answer = torch.nn.Parameter(torch.tensor([logit, value], dtype=torch.float32))

    def forward(self, observation):
        number = len(observation)
        return self.answer[:1].expand(number, 180), self.answer[1:].expand(number, 2)


@pytest.mark.parametrize(("logit", "value"), [(np.nan, 0.0), (0.0, np.nan), (np.inf, 0.0), (0.0, -np.inf)])
@pytest.mark.parametrize("settings", [{}, {"sims": 4}, {"sims": 4, "considered": 0}])
def test_a_network_that_says_nothing_finite_fails_and_does_not_crash(logit, value, settings):
    head = make_metadata(AZUL, Architecture("mlp", (8,)), "reward", {})
    agent = NetworkAgent("net", Saying(logit, value), head, 1, NetworkSettings(**settings))
    batch = GameBatch(AZUL, 3, auto_reset=False)
    batch.reset(1)
    decisions = DecisionBatch(AZUL, batch.states)
    with pytest.raises(NotFiniteError, match="the network's outputs are not all finite numbers"):
        agent.evaluate(decisions)
    with pytest.raises(AgentFailure) as caught:
        agent.act(decisions)
    assert caught.value.actions.tolist() == [-1, -1, -1]
    assert set(caught.value.reasons) == {0, 1, 2}


def test_values_far_out_are_returns_of_0_and_1():
    head = make_metadata(AZUL, Architecture("mlp", (8,)), "return", {})
    for value, expected in ((-1e30, 0.0), (1e30, 1.0)):
        agent = NetworkAgent("net", Saying(0.0, value), head, 1)
        _, returns = agent.evaluate(DecisionBatch(AZUL, as_batch(AZUL.new(1)).copy()))
        assert returns.tolist() == [[expected, expected]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda priors, values: (priors * np.nan, values),
            "the priors of a network must be from -1,000,000 to 1,000,000",
        ),
        (lambda priors, values: (priors * np.inf, values), "the priors of a network must be from"),
        (lambda priors, values: (priors, values + np.inf), "the values of a network must be from"),
        (lambda priors, values: (priors, values * 3e38), "the values of a network must be from"),
        (lambda priors, values: (priors[:, :5], values), r"must have the shape \(2, 180\), not \(2, 5\)"),
        (lambda priors, values: (priors, values[:1]), r"must have the shape \(2, 2\), not \(1, 2\)"),
    ],
)
def test_a_search_checks_what_it_is_told(change, message):
    """Compiled code would follow a NaN to an action that is not legal."""

    def evaluate(decisions):
        priors = decisions.mask / decisions.mask.sum(axis=1, keepdims=True)
        return change(priors.astype(np.float32), np.full((len(decisions), 2), 0.5, np.float32))

    batch = GameBatch(AZUL, 2, auto_reset=False)
    batch.reset(1)
    with np.errstate(invalid="ignore"):
        with pytest.raises(ValueError, match=message):
            search_with_network(AZUL, batch.states, evaluate, 5, 1)
        with pytest.raises(ValueError, match=message):
            gumbel_search(AZUL, batch.states, DecisionBatch(AZUL, batch.states).mask, evaluate, 5, 1)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a device")
def test_names_of_every_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.safetensors")
    for name, message in [
        ("/dev/zero", "/dev/zero is not a regular file"),
        ("./pipe.safetensors", "pipe.safetensors is not a regular file"),
        (".", "is not a regular file|there is no network"),
        ("/", "is not a regular file"),
        ("", "there is no network ''"),
        ("none", "there is no network 'none'; the bundled networks are"),
        ("../../etc/passwd", "there is no file|no safetensors file"),
        ("/etc/passwd", "no safetensors file"),
        ("x" * 300 + ".safetensors", "cannot be read: File name too long"),
        ("none.safetensors", "there is no file 'none.safetensors'"),
    ]:
        with pytest.raises(ValueError, match=message) as caught:
            make_agent(f"net:{name}", AZUL)
        assert_one_sentence(caught.value, 900)


def test_a_file_that_is_too_large_is_not_read(file, monkeypatch):
    monkeypatch.setattr(network_file, "MAX_BYTES", 1000)
    assert "is larger than 1,000 bytes, the most that is read" in refusal(file)


def test_the_command_line_says_so(file, capsys):
    header, numbers = take_apart(file.read_bytes())
    file.write_bytes(put_together({**header, "__metadata__": None}, numbers))
    assert main(["evaluate", "azul", f"net:{file}", "random", "--games", "2"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("meeplezoo: error: agent 'net:")
    assert err.endswith("the file holds no network of meeplezoo\n")
