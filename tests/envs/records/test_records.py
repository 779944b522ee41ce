"""Records: made the same everywhere, read back, checked, and damaged ones refused by name and place."""

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest
from reference_data import golden_files, read_lines

from meeplezoo.agents.arena.recording import record_games
from meeplezoo.envs import make_game
from meeplezoo.envs.engine.random_stream import game_seeds
from meeplezoo.envs.records.record import RecordError, read_records, replay, write_records
from meeplezoo.envs.records.record_validation import check_record, first_difference

GAMES = [
    ({"num_players": 2}, ["random", "greedy"]),
    ({"num_players": 3, "wall": "grey"}, ["greedy", "random", "random"]),
    ({"num_players": 4, "wall": "grey", "max_rounds": 4}, ["random"] * 4),
]


def made(num_games, seed=7, positions=False, which=0):
    options, agents = GAMES[which]
    return list(record_games(make_game("azul", **options), agents, num_games, seed, positions))


def written(path, records):
    write_records(path, records)
    return path.read_bytes()


def check_lines(path, lines):
    """Check a file of the lines; return how many games have the chance of their seeds."""
    path.write_bytes(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
    return sum(check_record(stored) for stored in read_records(path))


@pytest.mark.parametrize("which", range(len(GAMES)))
def test_seed_options_and_moves_give_the_game_again(which):
    options, agents = GAMES[which]
    seeds = game_seeds(7, 3).tolist()
    for index, record in enumerate(made(3, positions=True, which=which)):
        assert record["seed"] == seeds[index]
        assert record["agents"] == agents
        game = make_game(record["game"], **record["options"])
        assert game.options == make_game("azul", **options).options
        state = game.new(record["seed"])
        for ply in record["plies"]:
            assert ply["position"] == game.position(state)
            assert ply["legal"] == game.legal_moves(state)
            assert ply["player"] == state["to_move"]
            game.play(state, ply["move"])
        assert game.is_over(state)
        assert record["final"] == game.position(state)


def test_a_line_has_the_documented_keys_in_order_and_no_blanks(tmp_path):
    for positions, keys in ((False, ["player", "move"]), (True, ["player", "move", "position", "legal"])):
        text = written(tmp_path / "games.jsonl", made(2, positions=positions)).decode()
        assert text.count("\n") == 2
        assert text.endswith("\n")
        assert " " not in text
        record = json.loads(text.splitlines()[0])
        assert list(record) == ["format", "game", "options", "seed", "agents", "plies", "final"]
        assert record["format"] == "meeplezoo-record/1"
        assert all(list(ply) == keys for ply in record["plies"])
        assert record["final"]["phase"] == "over"


def test_records_do_not_depend_on_how_many_are_made(tmp_path):
    few = written(tmp_path / "few.jsonl", made(3))
    many = written(tmp_path / "many.jsonl", made(70))
    assert many.startswith(few)
    assert written(tmp_path / "again.jsonl", made(70)) == many
    assert written(tmp_path / "other.jsonl", made(70, seed=8)) != many
    # agents' random streams differ between games and between agents of one kind
    first, second = (json.loads(line)["plies"] for line in few.splitlines()[:2])
    assert [ply["move"] for ply in first] != [ply["move"] for ply in second]


def test_positions_change_nothing_else():
    plain, full = made(5), made(5, positions=True)
    for record in full:
        for ply in record["plies"]:
            del ply["position"], ply["legal"]
    assert plain == full


@pytest.mark.parametrize("positions", [False, True])
@pytest.mark.parametrize("which", range(len(GAMES)))
def test_own_records_agree(tmp_path, positions, which):
    assert check_lines(tmp_path / "games.jsonl", made(4, positions=positions, which=which)) == 4


@pytest.mark.parametrize("name", golden_files("azul"))
def test_records_of_another_program_agree_but_for_chance(tmp_path, name):
    assert check_lines(tmp_path / "games.jsonl", read_lines(name)) == 0


@pytest.mark.parametrize("positions", [False, True])
def test_replay_shows_every_position(tmp_path, positions):
    full = made(2, positions=True, which=1)
    write_records(tmp_path / "games.jsonl", full if positions else made(2, which=1))
    for stored, record in zip(read_records(tmp_path / "games.jsonl"), full, strict=True):
        shown = list(replay(stored))
        assert [position for position, _ in shown] == [ply["position"] for ply in record["plies"]] + [record["final"]]
        assert shown[0][1] is None
        assert [(move.player, move.move) for _, move in shown[1:]] == [
            (ply["player"], ply["move"]) for ply in record["plies"]
        ]


def test_lists_without_order_may_come_in_any_order(tmp_path):
    for records in (made(1, positions=True), read_lines("golden/azul-grey-4p.jsonl.xz")[:1]):
        agreeing = check_lines(tmp_path / "games.jsonl", records)
        for ply in records[0]["plies"]:
            ply["legal"].reverse()
            for tiles in [*ply["position"]["factories"], ply["position"]["centre"]]:
                tiles.reverse()
        records[0]["final"]["options"] = dict(reversed(records[0]["final"]["options"].items()))
        assert check_lines(tmp_path / "games.jsonl", records) == agreeing


def change_move(record):
    legal = record["plies"][20]["legal"]
    record["plies"][20]["move"] = next(move for move in legal if move != record["plies"][20]["move"])


def from_an_empty_factory(ply):
    return {"source": ply["position"]["factories"].index([]), "colour": "blue", "line": 0}


def illegal_move(record):
    record["plies"][3]["move"] = from_an_empty_factory(record["plies"][3])


def change_player(record):
    record["plies"][3]["player"] = 1 - record["plies"][3]["player"]


def true_for_player_1(record):
    index = next(index for index, ply in enumerate(record["plies"]) if ply["player"] == 1)
    record["plies"][index]["player"] = True


def change_bag(record):
    record["plies"][7]["position"]["bag"]["blue"] += 1


def change_score(record):
    record["plies"][-1]["position"]["players"][1]["score"] += 1


def drop_key_of_position(record):
    del record["plies"][9]["position"]["lid"]


def add_key_to_position(record):
    record["plies"][9]["position"]["weather"] = "fine"


def drop_legal_move(record):
    del record["plies"][2]["legal"][3]


def add_illegal_move_to_legal(record):
    record["plies"][2]["legal"].append(from_an_empty_factory(record["plies"][2]))


def double_legal_move(record):
    record["plies"][2]["legal"].append(record["plies"][2]["legal"][0])


def no_move_in_legal(record):
    record["plies"][2]["legal"][0] = {"source": 0}


def change_final_score(record):
    record["final"]["result"]["scores"][0] += 1


def change_winner(record):
    record["final"]["result"]["winners"] = [0, 1]


def cut_last_ply(record):
    del record["plies"][-1]


def double_last_ply(record):
    record["plies"].append(record["plies"][-1])


def no_plies(record):
    record["plies"] = []


DIFFERENCES = [
    (change_move, r"line 2, ply 21: position\.\S+: is .*, but must be "),
    (illegal_move, r"line 2, ply 3: move: azul: action \d+, .* is illegal in this position"),
    (change_player, r"line 2, ply 3: player: is \d, but player \d is to move"),
    (true_for_player_1, r"line 2, ply \d: player: is True, but player 1 is to move"),
    (change_bag, r"line 2, ply 7: position\.bag\.blue: is \d+, but must be \d+"),
    (change_score, r"line 2, ply \d+: position\.players\[1\]\.score: is \d+, but must be \d+"),
    (drop_key_of_position, r"line 2, ply 9: position\.lid: is missing"),
    (add_key_to_position, r"line 2, ply 9: position\.weather: does not belong there"),
    (drop_legal_move, r"line 2, ply 2: legal: \{.*\} is missing"),
    (add_illegal_move_to_legal, r"line 2, ply 2: legal: \{.*\} stands there, but is not legal"),
    (double_legal_move, r"line 2, ply 2: legal: \{.*\} stands there twice"),
    (no_move_in_legal, r"line 2, ply 2: legal: \{'source': 0\} is no move \(.*'colour' is missing\)"),
    (change_final_score, r"line 2: final\.result\.scores\[0\]: is \d+, but must be \d+"),
    (change_winner, r"line 2: final\.result\.winners: is \[0, 1\], but must be \[\d\]"),
    (cut_last_ply, r"line 2: the game is not over after its \d+ plies"),
    (double_last_ply, r"line 2, ply \d+: (position\.phase: is 'offer'|the game is over before this ply)"),
    (no_plies, r"line 2: the game is not over after its 0 plies"),
]


@pytest.mark.parametrize(("change", "message"), DIFFERENCES, ids=[change.__name__ for change, _ in DIFFERENCES])
def test_every_difference_is_found_and_named(tmp_path, change, message):
    records = made(3, positions=True)
    change(records[1])
    with pytest.raises(RecordError, match=f"^{message}"):
        check_lines(tmp_path / "games.jsonl", records)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_move, r"line 2, ply 21: position\.\S+: is .*, but must be "),
        (change_player, r"line 2, ply 3: player: is \d, but player \d is to move"),
        (change_bag, r"line 2, ply 7: position: there are 20 blue tiles, but 21 are counted"),
        (change_score, r"line 2, ply \d+: position\.players\[1\]\.score: is \d+, but must be \d+"),
        (drop_key_of_position, r"line 2, ply 9: position: the key 'lid' is missing"),
        (drop_legal_move, r"line 2, ply 2: legal: \{.*\} is missing"),
        (double_legal_move, r"line 2, ply 2: legal: \{.*\} stands there twice"),
        (change_final_score, r"line 2: final: result\.scores: must be .*"),
        (cut_last_ply, r"line 2: the game is not over after its \d+ plies"),
    ],
)
def test_every_difference_is_found_in_games_of_another_program(tmp_path, change, message):
    records = read_lines("golden/azul-coloured-2p.jsonl.xz")
    change(records[1])
    with pytest.raises(RecordError, match=f"^{message}.* \\(the first position is not what the seed deals, .*\\)$"):
        check_lines(tmp_path / "games.jsonl", records)


def test_what_chance_brings_is_checked_as_far_as_the_rules_go(tmp_path):
    """Tiles may be swapped between factory and bag where a round begins, and nowhere else."""
    original = read_lines("golden/azul-grey-2p.jsonl.xz")[0]
    rounds = [ply["position"]["round"] for ply in original["plies"]]
    begins = rounds.index(2)
    for index in (begins, begins + 1):
        record = copy.deepcopy(original)
        del record["plies"][index + 1 :]
        position = record["plies"][index]["position"]
        factory = next(tiles for tiles in position["factories"] if tiles)
        drawn = next(colour for colour, count in position["bag"].items() if count and colour != factory[0])
        position["bag"][factory[0]] += 1
        position["bag"][drawn] -= 1
        factory[0] = drawn
        record["plies"][index].pop("legal")
        record["plies"][index]["move"] = {"source": 4, "colour": "none", "line": 0}
        expected = "move: colour: must be" if index == begins else r"position\.factories\[\d\]"
        with pytest.raises(RecordError, match=f"^line 1, ply {index}: {expected}"):
            check_lines(tmp_path / "games.jsonl", [record])
    # the sizes follow from the rules even there: two tiles back in the bag are too many
    record = copy.deepcopy(original)
    position = record["plies"][begins]["position"]
    for colour in position["factories"][4]:
        position["bag"][colour] += 1
    position["factories"][4] = []
    with pytest.raises(RecordError, match=rf"^line 1, ply {begins}: position\.factories\[4\]: is 0, but must be 4"):
        check_lines(tmp_path / "games.jsonl", [record])


def test_without_positions_a_strange_seed_is_a_difference(tmp_path):
    record = made(1)[0]
    record["seed"] += 1
    with pytest.raises(RecordError, match=r"^line 1(, ply \d+)?: (move|player|final)"):
        check_lines(tmp_path / "games.jsonl", [record])
    record = read_lines("golden/azul-grey-2p.jsonl.xz")[0]
    del record["plies"][4]["position"]
    with pytest.raises(RecordError, match=r"^line 1, ply 4: position: is missing \(the first position"):
        check_lines(tmp_path / "games.jsonl", [record])


def _without(key):
    return lambda record: record.pop(key)


def _with(key, value):
    return lambda record: record.update({key: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *((_without(key), f"line 2: record: the key '{key}' is missing") for key in ("game", "seed", "plies", "final")),
        (_with("colour", 1), "line 2: record: unknown key 'colour'; the keys are format, game, "),
        (_with("format", "meeplezoo-record/2"), "line 2: format: must be 'meeplezoo-record/1', not 'meeplezoo-record/"),
        (_with("game", "chess"), "line 2: there is no game 'chess'; the games are azul"),
        (_with("game", ["azul"]), r"line 2: game: must be a name, not \['azul'\]"),
        (_with("options", {"wall": "grey"}), "line 2: options: the key 'num_players' is missing"),
        (_with("options", {"num_players": 9, "wall": "grey", "max_rounds": 30}), "line 2: option num_players must be"),
        (_with("seed", -1), "line 2: seed must be an integer from 0 to"),
        (_with("seed", None), "line 2: seed: must be an integer, not null"),
        (_with("agents", ["random"]), "line 2: agents: must have 2 entries, not 1"),
        (_with("agents", [1, 2]), "line 2: agents: must be texts, not 1"),
        (_with("plies", {}), "line 2: plies: must be a list, not {}"),
        (lambda record: record["plies"][3].pop("move"), "line 2, ply 3: the key 'move' is missing"),
        (lambda record: record["plies"][3].update(time=1), "line 2, ply 3: unknown key 'time'; the keys are player"),
        (lambda record: record["plies"][3].update(position=[]), "line 2, ply 3: position: is .*"),
        (lambda record: record["plies"][3].update(legal=7), "line 2, ply 3: legal: must be a list, not 7"),
        (lambda record: record["plies"][3].update(move=[]), r"line 2, ply 3: move: move: must be an object, not \[\]"),
        (_with("final", None), "line 2: final: is None, but must be {"),
    ],
)
def test_records_of_the_wrong_form_are_refused(tmp_path, change, message):
    records = made(3)
    change(records[1])
    with pytest.raises(RecordError, match=f"^{message}"):
        check_lines(tmp_path / "games.jsonl", records)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "games.jsonl"
    whole = written(path, made(2)).splitlines(keepends=True)
    for lines, message in [
        ([], "the file is empty"),
        ([whole[0], whole[1][:-40]], "line 2: the record is cut off in the middle"),
        ([whole[0], b"\n"], "line 2: is empty, where a record should be"),
        ([whole[0][:-40] + b"\n", whole[1]], r"line 1: is not JSON \(.*, column \d+\)$"),
        ([whole[0], b"\xff\xfe\n"], "line 2: is not UTF-8 text"),
        ([b"[" * 100_000 + b"\n"], "line 1: is nested too deeply"),
        ([b"[1, 2]\n"], r"line 1: record: must be an object, not \[1, 2\]"),
        ([b"1" * 5000 + b"\n"], "line 1: holds the number '1+\\.\\.\\.1+', which is too large"),
    ]:
        with pytest.raises(RecordError, match=f"^{message}"):
            check_lines(path, lines)
    assert check_lines(path, [whole[0], whole[1].rstrip(b"\n")]) == 2


def test_replay_refuses_what_cannot_be(tmp_path):
    def shown(record):
        (tmp_path / "games.jsonl").write_text(json.dumps(record) + "\n")
        return [list(replay(stored)) for stored in read_records(tmp_path / "games.jsonl")]

    record = made(1, positions=True)[0]
    assert len(shown(record)[0]) == len(record["plies"]) + 1
    for change, message in [
        (change_bag, "line 1, ply 7: position: there are 20 blue tiles, but 21"),
        (change_player, "line 1, ply 3: player: is"),
        (lambda record: record["plies"][1].update(move={"source": 9}), "line 1, ply 1: move: move: the key 'colour'"),
        (change_final_score, "line 1: final: result.scores"),
        (lambda record: record.update(final=record["plies"][0]["position"]), "line 1: final: phase: must be 'over'"),
    ]:
        changed = copy.deepcopy(record)
        change(changed)
        with pytest.raises(RecordError, match=re.escape(message)):
            shown(changed)


def test_writing_leaves_a_whole_file_or_none(tmp_path):
    def broken():
        yield made(1)[0]
        raise RuntimeError("stop")

    path = tmp_path / "games.jsonl"
    with pytest.raises(RuntimeError):
        write_records(path, broken())
    assert list(tmp_path.iterdir()) == []
    before = written(path, made(1))
    with pytest.raises(RuntimeError):
        write_records(path, broken())
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]


def test_first_difference_names_the_place():
    here = {"a": [1, {"b": True}], "c": None}
    assert first_difference(here, copy.deepcopy(here)) is None
    assert first_difference(here, {"a": [1, {"b": 1}], "c": None}) == (".a[1].b", "is 1, but must be True")
    assert first_difference(here, {"a": [1], "c": None})[0] == ".a"
    assert first_difference(here, {"a": [1, {"b": True}]}) == (".c", "is missing")
    assert first_difference(here, here | {"d": 1}) == (".d", "does not belong there")
    assert first_difference([1], [1.0]) == ("[0]", "is 1.0, but must be 1")
    assert len(first_difference("a", "b" * 1000)[1]) < 200


def test_seeds_of_later_blocks_go_on():
    records = made(40)
    np.testing.assert_array_equal([record["seed"] for record in records], game_seeds(7, 40))


def test_a_missing_file_is_an_os_error():
    with pytest.raises(FileNotFoundError):
        next(read_records(Path("no such file.jsonl")))
