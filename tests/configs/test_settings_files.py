"""Settings out of files and off the command line: strict YAML, limits of sizes, devices that are there."""

import os
import time
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

from meeplezoo.cli.main import main
from meeplezoo.configs.yaml_settings import MOST_BYTES, parse_overrides, parse_settings, read_settings, write_settings

# --- YAML


def laughs(levels=9):
    """Return the billion laughs: every line holds the one before nine times."""
    lines = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    for before, name in pairwise("abcdefghijk"[: levels + 1]):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (laughs(), "holds an anchor or alias, 'a', which is not read here"),
        ("a: *x", "holds an anchor or alias, 'x'"),
        ("a: &x 1\n<<: *x", "holds an anchor or alias, 'x'"),
        ("a: " + 1000 * "[" + 1000 * "]", "is nested more than 20 levels deep"),
        (1000 * "{a: ", "is nested more than 20 levels deep"),
        (1000 * "- ", "is nested more than 20 levels deep"),
        (1000 * "? ", "is nested more than 20 levels deep"),
        ("a: !!int ''", "holds a tag, 'tag:yaml.org,2002:int'"),
        ("a: !!timestamp x", "holds a tag, 'tag:yaml.org,2002:timestamp'"),
        ("a: !!binary x", "holds a tag"),
        ("a: !!set {x}", "holds a tag"),
        ("!!map {a: 1}", "holds a tag"),
        ("a: !!python/object/apply:os.system [ls]", "holds a tag"),
        ("a: !mine x", "holds a tag, '!mine'"),
        ("!!str a: 1", "holds a tag"),
        ("a: 1\nb: 2\na: 3", r"holds the key 'a' twice in one mapping \(line 3, column 1\)"),
        ("a: {b: 1, b: 2}", "holds the key 'b' twice"),
        ("1: 2", "holds the key 1, which is no text"),
        ("true: 2", "holds the key True, which is no text"),
        ("~: 2", "holds the key None, which is no text"),
        ("? [a]\n: 2", r"holds the key \['a'\], which is no text"),
        ("a: .nan", r"holds .nan, which is not a finite number \(line 1, column 4\)"),
        ("a: [-.inf]", "holds -.inf, which is not a finite number"),
        ("a: 1e400", "holds the number '1e400', which is too large"),
        ("a: 1" + 5000 * "0", "holds the number '10*...0*', which is too large"),
        ("a: 1\n---\nb: 2", "holds more than one document"),
        ("", "must be a mapping of settings to values"),
        ("# nothing\n", "must be a mapping of settings to values"),
        ("- a", "must be a mapping of settings to values"),
        ("a: [1, 2", r"is no valid YAML \(.*line 1, column 9\)"),
        ("a: b: c", "is no valid YAML"),
        ("a: \x07", "is no valid YAML"),
        ("a: \x1b[2J", "is no valid YAML"),
        ('a: "\\U00110000"', "is no valid YAML"),
        ('a: "\\ud800"', "holds half a character"),
        ("%YAML 9" + 5000 * "9" + ".1\n---\na: 1", "is no valid YAML"),
        ("%YAML 2.0\n---\na: 1", "is no valid YAML"),
        (MOST_BYTES * "x" + "y", "is longer than 262,144 bytes"),
        (b"\xff\xfea\x00", "is no text file: it is not UTF-8"),
        ("a: 1".encode("utf-16"), "is no text file"),
        (b"a: \x80", "is no text file"),
    ],
)
def test_what_settings_do_not_need_is_refused_in_one_sentence(text, reason):
    began = time.process_time()
    with pytest.raises(ValueError, match=f"^config mine.yaml {reason}") as caught:
        parse_settings(text, "mine.yaml")
    # not the speed is tested, but that it ends
    assert time.process_time() - began < 60
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_words_are_what_yaml_1_2_makes_of_them():
    text = """
    numbers: [1_000_000, -3, +4, 0, 3e-4, 1.5, .5, 2., -1.5E3, 1_0.5]
    texts: [yes, No, on, OFF, "1", 010, 0x1F, 0o17, 0b1, 1:30, 2020-01-01, 1__0, 1_, =, <<, e5, "null", 'true']
    others: [null, ~, true, False]
    empty:
    """
    found = parse_settings(text, "x")
    assert found["numbers"] == [1_000_000, -3, 4, 0, 3e-4, 1.5, 0.5, 2.0, -1500.0, 10.5]
    assert [type(number) for number in found["numbers"]] == 4 * [int] + 6 * [float]
    words = "yes No on OFF 1 010 0x1F 0o17 0b1 1:30 2020-01-01 1__0 1_ = << e5 null true"
    assert found["texts"] == words.split()
    assert found["others"] == [None, None, True, False]
    assert found["empty"] is None
    assert parse_settings(b"\xef\xbb\xbfa: 1", "x") == {"a": 1}


def test_settings_are_read_as_they_were_written():
    texts = ["1e5", "1.5e3", "1:30", "yes", "010", "2020-01-01", ".5", "1_000", "~", "null", "", "a: b", "- x", "*x"]
    texts += ["&x", "!x", "1_0.5", "1.", "0x1F", ".nan", "=", "<<", "\x07", "\x1b[2J", "é", "a\nb", "true", " x ", "#"]
    same = [1, 2]
    settings = {"texts": texts, "numbers": [1, 1.0, 1e-5, 1e22, -3, True, None], "a": same, "b": same, "c": {"d": []}}
    settings |= {text: text for text in texts}
    assert parse_settings(write_settings(settings), "x") == settings


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("games=!!int ''", "holds a tag"),
        ("games=*x", "holds an anchor or alias"),
        ("games=.inf", "holds .inf, which is not a finite number"),
        ("games=" + 1000 * "[", "is nested more than 20 levels deep"),
        ("games={a: 1, a: 2}", "holds the key 'a' twice"),
        ("games=1\n---\n2", "holds more than one document"),
        ("=1", "must have the form key=value"),
        (3000 * "x", "must have the form key=value"),
    ],
)
def test_overrides_are_as_strict(text, reason):
    with pytest.raises(ValueError, match=f"^override .*{reason}") as caught:
        parse_overrides([text])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_files_that_are_none_are_refused(tmp_path):
    large = tmp_path / "large.yaml"
    large.write_text(f"a: {MOST_BYTES * 'x'}")
    with pytest.raises(ValueError, match=r"large.yaml is larger than 262,144 bytes"):
        read_settings(large)
    with pytest.raises(ValueError, match="is not a regular file"):
        read_settings(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_settings(tmp_path / "none.yaml")
    if Path("/dev/zero").exists():
        with pytest.raises(ValueError, match="is not a regular file"):
            read_settings(Path("/dev/zero"))


# --- the settings of training


def test_configs_that_are_none_are_refused(tmp_path, monkeypatch):
    from meeplezoo.training.config_files import read_config

    monkeypatch.chdir(tmp_path)
    (tmp_path / "azul" / "ppo").mkdir(parents=True)
    assert read_config("azul/ppo").game == "azul"
    for source, reason in (
        ("azul", "is not a regular file"),
        ("none.yaml", "there is no config 'none.yaml'"),
        ("x" * 5000, "there is no config 'xxx"),
        ("a\0b", "there is no config"),
        ("", "there is no config ''"),
    ):
        with pytest.raises(ValueError, match=reason) as caught:
            read_config(source)
        assert len(str(caught.value)) < 600
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ValueError, match="is not a regular file"):
            read_config("pipe")


SIZES = {
    "games=1_000_000_000_000": "setting games must be at most 1,000,000, not 1000000000000",
    "hidden=[65_537]": "setting hidden must be at most 65,536, not 65537",
    "hidden=[" + 100 * "8, " + "8]": "setting hidden must have at most 64 members, not 101",
    "threads=100_000_000": "setting threads must be at most 256, not 100000000",
    "rollout=1_000_000": "setting rollout must be at most 100,000, not 1000000",
    "learning_rate=1e30": "setting learning_rate must be at most 10.0, not 1e\\+30",
    "learning_rate=1" + 29 * "0": "setting learning_rate must be at most 10.0, not 1e\\+29",
    "decisions=-1": "setting decisions must be at least 1, not -1",
    "decisions=1" + 29 * "0": "setting decisions must be at most 1,000,000,000,000, not 1000",
    "minutes=1e20": "setting minutes must be at most 10,000,000.0, not 1e\\+20",
    "baselines=[" + 100 * "random, " + "greedy]": "setting baselines must have at most 64 members, not 101",
    "run=''": "run must name a folder, or be null",
    'run="a\\0b"': "setting run must be at most 4,096 characters, none of them NUL",
    "run=" + 5000 * "x": "setting run must be at most 4,096 characters",
    "options={name: azul}": "azul has no option 'name'",
    "options={observation: flat}": "azul has no option 'observation'",
    "options={num_players: 1e3}": "option num_players must be",
    "algorithm=[]": r"setting algorithm must be one of .*, not \[\]",
    "game=[" + 90 * "x, " + "x]": "setting game must be a text, not ",
}


@pytest.mark.parametrize("override", SIZES)
def test_sizes_have_limits(override):
    from meeplezoo.training.config_files import read_config

    with pytest.raises(ValueError, match=f"^config azul/ppo: {SIZES[override]}") as caught:
        read_config("azul/ppo", [override])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_every_number_has_limits():
    from meeplezoo.training.config import TrainingConfig

    for one in fields(TrainingConfig):
        if "int" in str(one.type) or "float" in str(one.type):
            low, high = one.metadata["low"], one.metadata["high"]
            assert 0 <= low < high < 2**60, one.name


@pytest.mark.parametrize("name", ["azul/ppo", "azul/own-ppo", "azul/alphazero", "qwirkle/ppo"])
def test_networks_that_are_too_large_are_refused_before_a_run_begins(name, tmp_path, capsys):
    pytest.importorskip("sb3_contrib")
    from meeplezoo.training.command import train_command

    assert train_command(name, ["hidden=[65_536, 65_536]", f"run={tmp_path / 'run'}"], None) == 2
    assert " weights, more than the most, 33,554,432" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["azul/ppo", "azul/own-ppo", "azul/alphazero", "qwirkle/ppo"])
@pytest.mark.parametrize("overrides", [["games=1_000_000", "rollout=100_000"], ["games=1_000_000", "window=1"]])
def test_runs_that_would_take_too_much_memory_are_refused_before_they_begin(
    name, overrides, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("sb3_contrib")
    from meeplezoo.training import memory
    from meeplezoo.training.command import train_command

    monkeypatch.setattr(memory, "machine_memory", lambda: 16 * 2**30)
    known = [one for one in overrides if "window" not in one or "zero" in name]
    assert train_command(name, [*known, f"run={tmp_path / 'run'}"], None) == 2
    error = capsys.readouterr().err
    assert "meeplezoo: error: this run would take about " in error
    assert " GiB of memory, " in error
    assert error.endswith("and this machine has 16.0 GiB\n")
    assert not (tmp_path / "run").exists()


def test_estimates_count_what_is_made():
    """The large arrays of a run, by the bytes that they have."""
    pytest.importorskip("sb3_contrib")
    from meeplezoo.training.algorithm import make_algorithm
    from meeplezoo.training.config_reading import make_config
    from meeplezoo.training.memory import estimate_memory, machine_memory

    common = {"game": "azul", "decisions": 10, "games": 64, "rollout": 16, "minibatch": 64}
    for algorithm in ("maskable_ppo", "ppo", "alphazero"):
        own = {"window": 3000} if algorithm == "alphazero" else {}
        config = make_config({**common, **own, "algorithm": algorithm})
        game = config.make_game()
        estimate = estimate_memory(config, game)
        learner = make_algorithm(config, game)
        if algorithm == "alphazero":
            made = sum(getattr(learner.replay_buffer, name).nbytes for name in learner.replay_buffer.NAMES)
            assert made <= estimate["the replay buffer (window)"] < 1.2 * made
        elif algorithm == "ppo":
            rollout = vars(learner.collector.rollout).values()
            made = sum(one.nbytes for one in rollout)
            assert made <= estimate["rollouts (games x rollout)"] < 2.5 * made
        else:
            buffer = learner.model.rollout_buffer
            buffer.reset()
            made = sum(one.nbytes for one in vars(buffer).values() if hasattr(one, "nbytes"))
            assert 2 * made <= estimate["rollouts (games x rollout)"] < 4 * made
    assert machine_memory() is None or machine_memory() > 2**28


DEVICES = ["cuda", "cuda:7", "cuda:-1", "cuda:99999999999999999999", "mps", "meta", "xla", "mkldnn", "abacus", "", "0"]


@pytest.mark.parametrize("device", DEVICES)
def test_devices_that_are_not_there_are_refused_before_a_run_begins(device, tmp_path, monkeypatch, capsys):
    torch = pytest.importorskip("torch")
    from meeplezoo.training.command import train_command

    if torch.cuda.is_available() or torch.backends.mps.is_available():
        pytest.skip("this machine has such a device")
    assert train_command("azul/own-ppo", [f"device={device!r}", f"run={tmp_path / 'run'}"], None) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        f"meeplezoo: error: setting device must be a device of torch that works here, not {device!r}"
    )
    assert error.count("\n") == 1
    assert len(error) < 300
    assert list(tmp_path.iterdir()) == []


def test_agents_of_the_config_are_made_before_a_run_begins(tmp_path, capsys):
    pytest.importorskip("sb3_contrib")
    from meeplezoo.training.command import train_command

    run = f"run={tmp_path / 'run'}"
    for name, override in (
        ("azul/alphazero", "warm_agent=clever"),
        ("azul/own-ppo", "baselines=[clever]"),
        ("azul/ppo", "evaluation_opponents=[clever]"),
    ):
        assert train_command(name, [override, run], None) == 2
        assert "there is no agent 'clever'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# --- tournaments read and write settings by the same door


def test_configs_of_tournaments_are_as_strict(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("cup.yaml").write_text("game: azul\nagents: &a [random, greedy]\nanchor: *a\n")
    assert main(["tournament", "cup.yaml"]) == 2
    error = capsys.readouterr().err
    assert "holds an anchor or alias, 'a'" in error
    assert error.count("\n") == 1


def test_a_config_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    from meeplezoo.training import config_files

    path = tmp_path / "mine.yaml"
    path.write_text("game: azul\n")

    def refuse(*arguments):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(config_files, "read_file", refuse)
    with pytest.raises(ValueError, match=r"config .*mine.yaml cannot be read: Permission denied"):
        config_files.read_config(str(path))
