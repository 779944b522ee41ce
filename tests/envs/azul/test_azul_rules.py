"""Azul's rules where whole games and single positions are not enough: invariants, observation, refusals."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_data import golden_files, move_key, read_lines

from meeplezoo.envs import Game, GameBatch, IllegalMove, make_game
from meeplezoo.envs.azul import rules
from meeplezoo.envs.azul import scoring as scoring
from meeplezoo.envs.azul.placement import update_derived_fields
from meeplezoo.envs.azul.scoring import run_length, tile_points
from meeplezoo.envs.azul.state import COLOURS, TILING
from meeplezoo.envs.engine.batch import write_projected_scores
from meeplezoo.envs.game import as_batch

OPTIONS = [{"num_players": players, "wall": wall} for players in (2, 3, 4) for wall in ("coloured", "grey")]
DERIVED = ("present", "targets", "row_colours", "column_colours", "row_cells", "column_cells")


def option_id(options: dict[str, Any]) -> str:
    return f"{options['num_players']}p-{options['wall']}"


def count_tiles(states: np.ndarray) -> np.ndarray:
    """Tiles of each colour wherever they lie, [n, 5]."""
    counts = states["sources"].sum(axis=1, dtype=int) + states["bag"] + states["lid"]
    counts += states["floor"].sum(axis=1, dtype=int)
    for colour in range(5):
        counts[:, colour] += (states["wall"] == 1 + colour).sum(axis=(1, 2, 3))
        on_lines = states["line_count"] * (states["line_colour"] == 1 + colour)
        counts[:, colour] += on_lines.sum(axis=(1, 2), dtype=int)
    return counts


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_a_thousand_random_games_keep_the_100_tiles(options: dict[str, Any]) -> None:
    batch = GameBatch(make_game("azul", **options), 1000, auto_reset=False)
    batch.reset(21)
    players = options["num_players"]
    while (batch.states["status"] == 0).any():
        batch.step(batch.random_actions())
        states = batch.states
        assert (count_tiles(states) == 20).all()
        assert (states["tiles_left"] == states["sources"].sum(axis=(1, 2))).all()
        assert (states["floor_count"] == states["floor"].sum(axis=2) + states["floor_marker"]).all()
        assert (states["floor_count"] <= 7).all()
        assert (states["score"] >= 0).all()
        assert (states["line_count"] <= np.arange(1, 6)).all()
        assert ((states["line_count"] > 0) == (states["line_colour"] > 0)).all()
        assert (states["to_move"] < players).all()
    assert (states["round"] >= 5).all()
    ended_by_rule = states["status"] == 1
    complete = (states["row_cells"] == 31).any(axis=(1, 2))
    empty = (states["bag"].sum(axis=1) == 0) & (states["lid"].sum(axis=1) == 0)
    assert (ended_by_rule == (complete | empty)).all()
    assert ended_by_rule.mean() > 0.95


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_derived_fields_and_legal_moves_agree_all_along(options: dict[str, Any]) -> None:
    game = make_game("azul", **options)
    batch = GameBatch(game, 30)
    batch.reset(2)
    for _ in range(250):
        mask = batch.mask()
        for index in range(0, 30, 7):
            state = batch.states[index]
            again = state.copy()
            for name in DERIVED:
                again[name] = 0
            update_derived_fields(again)
            assert all((again[name] == state[name]).all() for name in DERIVED)
            legal = np.flatnonzero(mask[index])
            assert rules.count_legal(state) == len(legal)
            assert [rules.nth_legal(state, n) for n in range(len(legal))] == legal.tolist()
            assert [a for a in range(-2, game.num_actions + 40) if rules.is_legal(state, a)] == legal.tolist()
        batch.step(batch.random_actions())


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_settled_scores_are_those_of_tiling_at_once(options: dict[str, Any]) -> None:
    game = make_game("azul", **options)
    batch = GameBatch(game, 40)
    batch.reset(4)
    compared = paid = 0
    for _ in range(130):
        scores = np.zeros((40, game.num_players), np.int32)
        write_projected_scores(batch.states, scores, np.zeros_like(scores[0]))
        for state, settled in zip(batch.states.copy(), scores.tolist(), strict=True):
            open_choice = (state["line_count"] == np.arange(1, 6)).any() or state["phase"] == TILING
            if options["wall"] == "grey" and open_choice:
                continue
            before = state["score"].tolist()
            scoring.tile_from(state, np.int64(state["start"]), np.int64(0))
            bonuses = [0 if state["status"] else scoring.bonus(state, player) for player in range(game.num_players)]
            assert settled == [int(state["score"][player]) + bonuses[player] for player in range(game.num_players)]
            compared += 1
            paid += settled != before[: game.num_players]
        batch.step(batch.random_actions())
    assert compared > 800
    assert paid > 50


def test_settled_scores_of_the_grey_wall_take_the_best_open_columns() -> None:
    game = make_game("azul", wall="grey")
    state = game.new(1)
    blue, yellow, red = (1 + COLOURS.index(colour) for colour in ("blue", "yellow", "red"))
    state["wall"][0, 1, :2] = red, blue
    state["wall"][0, 2, 2] = yellow
    state["line_colour"][0, 1:3] = yellow, red
    state["line_count"][0, 1:3] = 2, 2
    state["score"][0] = 4
    update_derived_fields(state[()])
    scores = np.zeros((1, 2), np.int32)
    # the best open column has three in a row (the third, with two in the column more, has a yellow tile already); the
    # line below lacks a tile
    write_projected_scores(as_batch(state), scores, np.zeros_like(scores[0]))
    assert scores.tolist() == [[5, 0]]
    state["wall"][0, 2, 2] = blue
    update_derived_fields(state[()])
    write_projected_scores(as_batch(state), scores, np.zeros_like(scores[0]))
    assert scores.tolist() == [[9, 0]]


def plain_observation(position: dict[str, Any], seat: int) -> list[float]:
    """The observation as docs/azul.md describes it, from the JSON position alone."""
    options = position["options"]
    players = options["num_players"]
    over = position["phase"] == "over"

    def counts(tiles: list[str], scale: float) -> list[float]:
        return [tiles.count(colour) / scale for colour in COLOURS]

    values = counts(position["centre"], 4)
    for factory in position["factories"]:
        values += counts(factory, 4)
    values.append(float(position["marker"] == "centre"))
    values += [position["bag"][colour] / 20 for colour in COLOURS]
    values += [position["lid"][colour] / 20 for colour in COLOURS]
    values.append(position["round"] / options["max_rounds"])
    values += [float(position.get("row") == row) for row in range(5)]
    turned = [(seat + distance) % players for distance in range(players)]
    values += [float(not over and position["to_move"] == player) for player in turned]
    for player in turned:
        board = position["players"][player]
        for line, content in enumerate(board["lines"]):
            for colour in COLOURS:
                mine = content is not None and content["colour"] == colour
                values.append(content["count"] / (line + 1) if mine else 0.0)
        for row in board["wall"]:
            for cell in row:
                if options["wall"] == "coloured":
                    values.append(float(cell is not None))
                else:
                    values += [float(cell == colour) for colour in COLOURS]
        pieces = len(board["floor"]) + board["marker"]
        values += [float(space < pieces) for space in range(7)]
        values += counts(board["floor"], 7)
        values.append(float(board["marker"]))
        values.append(float(position["marker"] == player))
        values.append(float(position["start"] == player))
        values.append(board["score"] / 100)
    return values


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_observation_is_what_the_position_says(options: dict[str, Any]) -> None:
    game = make_game("azul", **options)
    state = game.new(seed=4)
    rng = np.random.default_rng(1)
    while True:
        position = game.position(state)
        for seat in range(game.num_players):
            observation = game.observe(state, seat)
            assert observation.dtype == np.float32
            assert observation == pytest.approx(plain_observation(position, seat), abs=1e-6)
        if game.is_over(state):
            break
        moves = game.legal_moves(state)
        game.play(state, moves[rng.integers(len(moves))])


def test_observation_stays_within_its_bounds() -> None:
    for options in OPTIONS:
        game = make_game("azul", **options)
        high = np.concatenate([np.full(field.size, field.high) for field in game.observation_fields])
        batch = GameBatch(game, 100)
        batch.reset(1)
        for _ in range(200):
            observation = batch.observe()
            assert (observation >= 0).all()
            assert (observation <= high).all()
            batch.step(batch.random_actions())


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_moves_are_in_the_order_of_their_actions(options: dict[str, Any]) -> None:
    game = make_game("azul", **options)
    state = game.new(seed=4)
    while not game.is_over(state):
        moves = game.legal_moves(state)
        assert [game.action(move, state) for move in moves] == np.flatnonzero(game.mask(state)).tolist()
        game.play(state, moves[len(moves) // 2])


def test_colours_may_all_be_thrown_on_the_floor_until_the_limit() -> None:
    game = make_game("azul", max_rounds=7)
    state = game.new(seed=1)
    while not game.is_over(state):
        floor = [move for move in game.legal_moves(state) if move["line"] == "floor"]
        game.play(state, floor[0])
    assert game.result(state) == {"scores": [0, 0], "winners": [0, 1], "truncated": True}
    assert game.position(state)["round"] == 7


@pytest.mark.parametrize(
    ("cells", "at", "length"),
    [(0b00001, 0, 1), (0b11111, 2, 5), (0b10110, 1, 2), (0b11011, 3, 2), (0b10101, 2, 1)],
)
def test_run_length(cells: int, at: int, length: int) -> None:
    assert run_length(cells, at) == length


@pytest.mark.parametrize(("across", "down", "points"), [(1, 1, 1), (3, 1, 3), (1, 3, 3), (4, 3, 7), (5, 5, 10)])
def test_tile_points(across: int, down: int, points: int) -> None:
    assert tile_points(across, down) == points


def test_illegal_moves_are_refused_and_change_nothing() -> None:
    game = make_game("azul")
    state = game.new(seed=2)
    before = state.tobytes()
    colours = set(game.position(state)["factories"][0])
    missing = next(colour for colour in COLOURS if colour not in colours)
    wrong: list[Any] = [
        {"source": 0, "colour": missing, "line": 2},
        {"source": "centre", "colour": "blue", "line": 2},
        {"source": 5, "colour": "blue", "line": 2},
        {"source": 0, "colour": "green", "line": 2},
        {"source": 0, "colour": "blue", "line": 5},
        {"source": 0, "colour": "blue"},
        {"source": 0, "colour": "blue", "line": 1, "row": 2},
        {"row": 2, "column": 4},
        "blue to line 2",
        None,
    ]
    for move in wrong:
        with pytest.raises(IllegalMove):
            game.play(state, move)
        assert state.tobytes() == before


def test_move_after_the_end_is_refused() -> None:
    game = make_game("azul", max_rounds=1)
    state = game.new(seed=2)
    while not game.is_over(state):
        game.play(state, game.legal_moves(state)[0])
    with pytest.raises(IllegalMove, match="the game is over"):
        game.play(state, {"source": 0, "colour": "blue", "line": 0})


def test_column_of_another_row_is_refused() -> None:
    game = make_game("azul", wall="grey")
    record = read_lines("golden/azul-grey-2p.jsonl.xz")[0]
    ply = next(ply for ply in record["plies"] if ply["position"]["phase"] == "tiling")
    state = game.from_position(ply["position"])
    move = dict(ply["move"])
    with pytest.raises(IllegalMove, match=f"row {move['row']} is to be tiled"):
        game.play(state, {**move, "row": (move["row"] + 1) % 5})
    game.play(state, move)


GOLDEN_PLIES = [ply for file in golden_files("azul") for record in read_lines(file) for ply in record["plies"]]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(GOLDEN_PLIES), st.integers(0, 2**53 - 1))
def test_a_position_goes_on_the_same_from_the_same_seed(ply: dict[str, Any], seed: int) -> None:
    game = make_game("azul", **ply["position"]["options"])
    ends = []
    for _ in range(2):
        state = game.from_position(ply["position"], seed=seed)
        turn = 0
        while not game.is_over(state):
            moves = game.legal_moves(state)
            game.play(state, moves[turn * 7 % len(moves)])
            turn += 1
        ends.append(game.position(state))
    assert ends[0] == ends[1]


def positions_of(key: str) -> dict[str, Any]:
    for ply in GOLDEN_PLIES:
        position = ply["position"]
        if key == "tiling" and position["phase"] == "tiling":
            return copy.deepcopy(position)
        if key == "marker" and position["phase"] == "offer" and position["marker"] != "centre":
            return copy.deepcopy(position)
        if key == "start" and position["phase"] == "offer" and all(position["factories"]):
            return copy.deepcopy(position)
    raise AssertionError(key)


def over_position() -> dict[str, Any]:
    return copy.deepcopy(read_lines("golden/azul-coloured-2p.jsonl.xz")[0]["final"])


def change(position: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    place: Any = position
    for step in path[:-1]:
        place = place[step]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return position


REFUSED = [
    ("start", ("game",), "chess", "game: "),
    ("start", ("options", "wall"), "grey", "options: wall"),
    ("start", ("options", "max_rounds"), KeyError, "options: .*max_rounds"),
    ("start", ("options", "num_players"), True, "options: num_players"),
    ("start", ("phase",), "draft", "phase: "),
    ("start", ("phase",), "tiling", "row"),
    ("start", ("phase",), "over", "result"),
    ("start", ("to_move",), KeyError, "to_move"),
    ("start", ("to_move",), True, "to_move: "),
    ("start", ("round",), 0, "round: "),
    ("start", ("round",), 31, "round: .* 1 to 30"),
    ("start", ("round",), 1.0, "round: "),
    ("start", ("start",), -1, "start: "),
    ("start", ("marker",), "lid", "marker: "),
    ("start", ("marker",), 0, "marker: "),
    ("start", ("bag", "green"), 0, "bag: unknown key 'green'"),
    ("start", ("bag", "blue"), KeyError, "bag: the key 'blue'"),
    ("start", ("bag", "blue"), -1, "bag.blue: "),
    ("start", ("factories", 0), "blue", r"factories\[0\]: must be a list"),
    ("start", ("factories", 0), ["blue"] * 5, r"factories\[0\]: must have at most 4"),
    ("start", ("centre",), None, "centre: "),
    ("start", ("players", 0), None, r"players\[0\]: must be an object"),
    ("start", ("players", 0, "score"), "3", r"players\[0\].score"),
    ("start", ("players", 1, "marker"), 1, r"players\[1\].marker: must be true or false"),
    ("start", ("players", 1, "marker"), True, r"players\[1\].marker"),
    ("start", ("players", 1, "floor"), ["blue"] * 8, r"players\[1\].floor"),
    ("start", ("players", 1, "lines"), [None] * 4, r"players\[1\].lines"),
    ("start", ("players", 1, "lines", 0), {"colour": "blue", "count": 0}, r"lines\[0\].count"),
    ("start", ("players", 1, "wall"), [], r"players\[1\].wall"),
    ("start", ("result",), {}, "unknown key 'result'"),
    ("start", ("row",), 2, "unknown key 'row'"),
    ("tiling", ("row",), 5, "row: "),
    ("tiling", ("row",), KeyError, "row"),
    ("tiling", ("factories", 0), ["blue"], "position: there are 20 blue"),
    ("over", ("result", "scores"), [1, 2], "result.scores: must be"),
    ("over", ("result", "winners"), [], "result.winners: must be"),
    ("over", ("result", "truncated"), True, "result: truncated"),
    ("over", ("result", "truncated"), 0, "result.truncated: "),
    ("over", ("result",), KeyError, "result"),
    ("over", ("to_move",), 0, "to_move"),
]


@pytest.mark.parametrize(("source", "path", "value", "message"), REFUSED)
def test_impossible_positions_are_refused(source: str, path: tuple[Any, ...], value: Any, message: str) -> None:
    position = over_position() if source == "over" else positions_of(source)
    game = make_game("azul", **position["options"])
    game.from_position(copy.deepcopy(position))
    with pytest.raises(ValueError, match=message):
        game.from_position(change(position, path, value))


def moved(position: dict[str, Any], colour: str, source: list[str], target: list[str]) -> None:
    source.remove(colour)
    target.append(colour)


def test_positions_against_the_rules_are_refused() -> None:
    game = make_game("azul")
    position = positions_of("start")
    tile = position["factories"][0][0]
    moved(position, tile, position["factories"][0], position["centre"])
    with pytest.raises(ValueError, match=r"factories\[0\]: one to three tiles"):
        game.from_position(position)
    position = positions_of("start")
    colour = next(colour for colour in COLOURS if position["bag"][colour] > 0)
    position["bag"][colour] -= 1
    position["centre"].append(colour)
    with pytest.raises(ValueError, match="centre: holds more tiles"):
        game.from_position(position)
    position = positions_of("marker")
    position["players"][position["marker"]]["marker"] = False
    with pytest.raises(ValueError, match=r"players\[\d\].marker: must be true"):
        make_game("azul", **position["options"]).from_position(position)
    position = over_position()
    position["result"]["truncated"] = False
    position["options"]["max_rounds"] = position["round"]
    game = make_game("azul", **position["options"])
    game.from_position(position)  # a row is complete in the last round: ended by the rule


def test_lists_of_tiles_are_read_in_any_order() -> None:
    for ply in GOLDEN_PLIES[::97]:
        position = copy.deepcopy(ply["position"])
        for tiles in [*position["factories"], position["centre"], *(p["floor"] for p in position["players"])]:
            tiles.reverse()
        game = make_game("azul", **position["options"])
        assert game.position(game.from_position(position)) == ply["position"]


def test_new_games_deal_in_every_order() -> None:
    game: Game = make_game("azul")
    batch = GameBatch(game, 4000)
    batch.reset(5)
    first = batch.states["sources"][:, 1:6].sum(axis=0, dtype=int)  # [factory, colour]
    assert first.sum() == 80_000
    # every factory and colour: 3,200 expected of 16,000 draws; five standard deviations are about 250
    assert (abs(first - 3200) < 250).all()
    assert len({move_key(game.position(state)) for state in batch.states}) == 4000
