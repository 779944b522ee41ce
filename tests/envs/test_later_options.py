"""An option that comes to a game later: files that are older than it are read with its default, as they were meant."""

import json

import pytest

from meeplezoo.agents import make_agent
from meeplezoo.agents.arena.recording import record_games
from meeplezoo.agents.arena.settings import make_settings
from meeplezoo.agents.networks.architecture import Architecture, build
from meeplezoo.agents.networks.network_file import check_fits, load_network, make_metadata, save_network
from meeplezoo.cli.main import main
from meeplezoo.envs import game_names, make_game
from meeplezoo.envs.options import Choice, Number, with_later_ones
from meeplezoo.envs.records.record import RecordError, read_records, write_records
from meeplezoo.envs.records.record_validation import check_record
from meeplezoo.envs.registry import describe

pytestmark = pytest.mark.usefixtures("other_games")


def made_later(data):
    """Return JSON data of `stones` as data of the same game in a later version."""
    return json.loads(json.dumps(data).replace('"stones"', '"pebble"'))


def old_position():
    game = make_game("stones")
    return made_later(game.position(game.new(7)))


def test_positions_are_read_with_the_default():
    game = make_game("pebble")
    state = game.from_position(old_position(), seed=7)
    assert game.position(state) == game.position(game.new(7))
    assert game.position(state)["options"] == {"num_players": 3, "pile": 15, "ending": "usual"}


def test_a_position_does_not_fit_a_game_with_another_value():
    with pytest.raises(ValueError, match="options: ending is 'usual', but this game was made with 'other'"):
        make_game("pebble", ending="other").from_position(old_position())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda options: options.pop("pile"), "options: the key 'pile' is missing"),
        (lambda options: options.pop("num_players"), "options: the key 'num_players' is missing"),
        (lambda options: options.update(colour="red"), "options: unknown key 'colour'"),
        (lambda options: options.update(ending=None), "options: ending is None, but this game was made with 'usual'"),
    ],
)
def test_all_else_is_refused_as_ever(change, message):
    position = old_position()
    change(position["options"])
    with pytest.raises(ValueError, match=message):
        make_game("pebble").from_position(position)


def test_records_are_read_with_the_default(tmp_path, capsys):
    game = make_game("stones")
    agents = [make_agent("random", game, seed) for seed in range(3)]
    records = [made_later(record) for record in record_games(game, agents, 2, 1, positions=True)]
    write_records(tmp_path / "old.jsonl", records)
    for stored in read_records(tmp_path / "old.jsonl"):
        assert stored.game == make_game("pebble")
        assert check_record(stored)
    assert main(["replay", str(tmp_path / "old.jsonl"), "--check"]) == 0
    assert main(["replay", str(tmp_path / "old.jsonl")]) == 0
    assert "all agree" in capsys.readouterr().out
    for name, message in (("pile", "the key 'pile' is missing"), (None, "options: must be an object, not None")):
        records[1]["options"] = {"num_players": 3} if name else None
        write_records(tmp_path / "damaged.jsonl", records)
        with pytest.raises(RecordError, match=message):
            list(read_records(tmp_path / "damaged.jsonl"))


def test_networks_are_read_with_the_default(tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    game = make_game("stones")
    architecture = Architecture(kind="mlp", hidden_sizes=(8,))
    save_network(
        tmp_path / "old.safetensors", build(game, architecture), make_metadata(game, architecture, "return", {})
    )
    content = (tmp_path / "old.safetensors").read_bytes().replace(b"stones", b"pebble")
    (tmp_path / "old.safetensors").write_bytes(content)
    _, metadata = load_network(tmp_path / "old.safetensors")
    assert metadata.options == make_game("pebble").options
    agent = make_agent(f"net:{tmp_path / 'old.safetensors'},sims=2", make_game("pebble"), 1)
    check_fits(agent.metadata, make_game("pebble"))
    with pytest.raises(ValueError, match="with ending=usual, not with ending=other"):
        make_agent(f"net:{tmp_path / 'old.safetensors'}", make_game("pebble", ending="other"))


def test_settings_of_tournaments_have_the_default():
    old = make_settings({"game": "stones", "agents": ["random", "greedy"]}).to_mapping()
    assert make_settings(made_later(old)).to_mapping()["options"]["ending"] == "usual"


def test_only_later_options_are_filled_in():
    options = (
        Number("num_players", 2, 4, 2, "players"),
        Choice("opening", ("strict", "free"), "strict", "the opening", original=True),
        Choice("wall", ("plain", "grey"), "plain", "the wall"),
        Number("limit", 1, 9, 5, "a limit"),
    )
    assert with_later_ones(options, {}) == {"wall": "plain", "limit": 5}
    given = {"num_players": 3, "limit": None, "unknown": 1}
    assert with_later_ones(options, given) == {"num_players": 3, "wall": "plain", "limit": None, "unknown": 1}
    for name in set(game_names()) - {"pebble"}:
        # in the notation of the suite's games every option is spelled out
        assert with_later_ones(describe(name).options, {}) == {}
