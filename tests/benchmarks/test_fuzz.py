"""The fuzzer finds faults that were planted, and none in some hundred inputs of the formats that are quick to read."""

import random
from pathlib import Path

import numpy as np
import pytest
from planted_faults import FATAL, FORMAT, KINDS, LIMIT_MIB, LIMIT_SECONDS, Planted

from meeplezoo.benchmarks import fuzz
from meeplezoo.benchmarks.fuzzing.cases import make_case, read_case
from meeplezoo.benchmarks.fuzzing.containers import change_file, join_safetensors, npy, read_zip, write_zip
from meeplezoo.benchmarks.fuzzing.formats import FORMATS
from meeplezoo.benchmarks.fuzzing.hostile import JSON, PYTHON, YAML, Raw, python_value, to_json, to_yaml
from meeplezoo.benchmarks.fuzzing.mutations import change_tree
from meeplezoo.benchmarks.fuzzing.pool import Limits, WatchedProcess
from meeplezoo.benchmarks.fuzzing.verdicts import FAULT
from meeplezoo.benchmarks.fuzzing.worker import Worker

SEED = 3
LIMITS = Limits(LIMIT_SECONDS, LIMIT_MIB)
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[1])}
HERE = {"moves": 80, "positions": 80, "options": 60, "records": 60, "typed": 30}
APART = {"batches": 80, "arguments": 120}
"""Numbers of inputs: of formats that may crash in processes of their own."""


def planted(index):
    try:
        return make_case(Planted(None), FORMAT.name, SEED, index).words
    except KeyError:
        return "cannot_be_made"


def test_planted_faults_are_found(tmp_path):
    first = {}
    for index in range(1000):
        first.setdefault(planted(index), index)
    process = WatchedProcess(tmp_path, SEED, LIMITS, ENVIRONMENT)
    try:
        outcomes = list(process.run(FORMAT, [first[kind.__name__] for kind in KINDS]))
        process.keep(FORMAT, first["raises"], tmp_path / "kept.json", {})
        replayed = process.replay(FORMAT, tmp_path / "kept.json")
    finally:
        process.end()
    found = {planted(outcome.index): outcome.verdict for outcome in outcomes}
    assert [outcome.note for outcome in outcomes] == [
        f"it {name}" if name != "cannot_be_made" else "" for name in found
    ]
    assert {name: verdict.reason for name, verdict in found.items() if verdict.kind == FAULT} == {
        kind.__name__: reason for kind, reason in KINDS.items() if reason
    }
    assert read_case(tmp_path / "kept.json")[1].words == "raises"
    assert (replayed.verdict.kind, replayed.verdict.reason) == (FAULT, "KeyError")


def test_faults_are_counted_and_kept(tmp_path):
    number = next(index for index in range(1000) if planted(index) in FATAL)
    told = []
    summary = fuzz.fuzz([(FORMAT, number)], SEED, 1, LIMITS, keep=tmp_path, environment=ENVIRONMENT, tell=told.append)
    reasons = {kind.__name__: reason for kind, reason in KINDS.items()}
    expected = [reasons[planted(index)] for index in range(number)]
    assert sum(summary.counts.values()) == number
    assert summary.number_of_faults == sum(map(bool, expected)) > 0
    assert {outcome.verdict.reason for outcome in told} == set(expected) - {""}
    assert 0 < len(list(tmp_path.iterdir())) <= summary.number_of_faults
    text = fuzz.table(summary)
    assert text.splitlines()[1].split()[:2] == [FORMAT.name, str(number)]
    assert all(reason in text for _, reason, _ in summary.faults)


@pytest.mark.parametrize("name", HERE)
def test_no_faults_in_some_inputs(name, tmp_path, monkeypatch):
    (one,) = (one for one in FORMATS if one.name == name)
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    answers = []
    form = {"name": one.name, "target": one.target, "weight": one.weight}
    worker = Worker(tmp_path / "kept", SEED, place, answers.append)
    worker.answer({"do": "run", "format": form, "indices": list(range(HERE[name]))})
    verdicts = [(answer["verdict"], answer["note"]) for answer in answers if "verdict" in answer]
    assert len(verdicts) == HERE[name]
    assert [verdict for verdict in verdicts if verdict[0]["kind"] == FAULT] == []


def test_no_faults_in_inputs_that_reach_kernels():
    summary = fuzz.fuzz([(one, APART[one.name]) for one in FORMATS if one.name in APART], SEED)
    assert sum(summary.counts.values()) == sum(APART.values())
    assert not summary.faults, fuzz.table(summary)


def test_shares_add_up():
    counts = {one.name: number for one, number in fuzz.split_inputs(FORMATS, 20_000)}
    assert len(counts) == len(FORMATS)
    assert abs(sum(counts.values()) - 20_000) < len(FORMATS)
    assert min(fuzz.split_inputs(FORMATS, 1), key=lambda item: item[1])[1] == 1


def test_inputs_follow_from_seed_and_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (one,) = (one for one in FORMATS if one.name == "records")
    target = one.open(tmp_path)
    first = [make_case(target, one.name, 1, index) for index in range(20)]
    assert first == [make_case(target, one.name, 1, index) for index in range(20)]
    assert first != [make_case(target, one.name, 2, index) for index in range(20)]


def test_files_stay_whole_around_what_is_changed():
    """Damaged parts lie in zips, arrays and safetensors that can still be opened, mostly."""
    members = [("head.json", b'{"a": [1, 2]}', 0), ("numbers.npy", npy(np.arange(6)), 0)]
    zipped = write_zip(members)
    tensors = join_safetensors('{"__metadata__": {"k": "{}"}, "w": {"dtype": "F32"}}', bytes(16))
    opened = changed = 0
    for number in range(300):
        draw = random.Random(number)
        content, note = change_file("x.zip", zipped, draw)
        assert note.startswith("x.zip: ")
        changed += content != zipped
        try:
            opened += read_zip(content) != members
        except Exception:
            continue
    assert changed > 280
    assert opened > 150
    assert len({change_file("x", tensors, random.Random(number))[0] for number in range(100)}) > 60


@pytest.mark.parametrize("hostile", [JSON, YAML, PYTHON], ids=["json", "yaml", "python"])
def test_trees_are_changed_and_written(hostile):
    tree = {"game": "x", "numbers": [1, 2.5], "players": [{"score": 0, "wall": [None, True]}], "inner": '{"a": 1}'}
    whole = to_json(tree)
    texts = set()
    for number in range(500):
        changed, note = change_tree(tree, random.Random(number), hostile)
        assert note
        texts.add(to_yaml(changed) if hostile is YAML else to_json(changed))
        if hostile is PYTHON:
            python_value(changed)
    assert to_json(tree) == whole
    assert len(texts) > 250


def test_raw_text_stands_in_files_as_it_is():
    tree = {"a": [Raw("NaN"), 1], "b": Raw("!!int ''")}
    assert to_json(tree) == '{"a": [NaN, 1], "b": !!int \'\'}'
    assert to_yaml(tree).split() == ["a:", "[NaN,", "1]", "b:", "!!int", "''"]
    assert python_value({"a": [{"$": "np.int64(3)"}], "$": 1}) == {"a": [np.int64(3)], "$": 1}
