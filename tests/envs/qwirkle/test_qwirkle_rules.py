"""Qwirkle's rules where whole games and single positions are not enough: invariants, a second opinion, refusals."""

import copy
import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from reference_data import golden_files, move_key, read_lines

from meeplezoo.envs import Game, GameBatch, IllegalMove, make_game
from meeplezoo.envs.engine.batch import determinize_games, write_projected_scores
from meeplezoo.envs.qwirkle import rules
from meeplezoo.envs.qwirkle.board import allowed_kinds
from meeplezoo.envs.qwirkle.state import COLOURS, END, FIRST_SLOT, KINDS, SHAPES

OPTIONS = [{"num_players": players, "opening": opening} for players in (2, 3, 4) for opening in ("strict", "free")]
Board = dict[tuple[int, int], str]


def option_id(options: dict[str, Any]) -> str:
    return f"{options['num_players']}p-{options['opening']}"


# ---------------------------------------------------------------- a second opinion, from the position alone


def is_line(run: list[str]) -> bool:
    colours = {tile.split()[0] for tile in run}
    shapes = {tile.split()[1] for tile in run}
    return len(set(run)) == len(run) and (len(colours) == 1 or len(shapes) == 1)


def run_through(board: Board, cell: tuple[int, int], right: int, down: int) -> list[str]:
    x, y = cell
    while (x - right, y - down) in board:
        x, y = x - right, y - down
    run = []
    while (x, y) in board:
        run.append(board[x, y])
        x, y = x + right, y + down
    return run


def may_lie(board: Board, cell: tuple[int, int], tile: str, placed: list[tuple[int, int]], limit: int) -> bool:
    if cell in board:
        return False
    x, y = cell
    if board and not any(beside in board for beside in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))):
        return False
    if not board and cell != (0, 0):
        return False
    after = {**board, cell: tile}
    for axis in (0, 1):
        places = [at[axis] for at in after]
        if max(places) - min(places) + 1 > limit - 1:
            return False
    if not all(is_line(run_through(after, cell, *way)) for way in ((1, 0), (0, 1))):
        return False
    if not placed:
        return True
    cells = [*placed, cell]
    for axis in (0, 1):
        if len({at[axis] for at in cells}) == 1:
            moving = sorted(at[1 - axis] for at in cells)
            between = range(moving[0], moving[-1] + 1)
            fixed = cell[axis]
            return all(((fixed, at) if axis == 0 else (at, fixed)) in after for at in between)
    return False


def cells_for(board: Board, tile: str, placed: list[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    beside = {(x + dx, y + dy) for x, y in board for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
    return [cell for cell in (beside if board else {(0, 0)}) if may_lie(board, cell, tile, placed, limit)]


def largest_set(tiles: set[str]) -> int:
    return max(len([tile for tile in tiles if word in tile.split()]) for word in (*COLOURS, *SHAPES))


def opening_sets(hand: list[str]) -> list[set[str]]:
    size = largest_set(set(hand))
    return [set(tiles) for tiles in combinations(sorted(set(hand)), size) if largest_set(set(tiles)) == size]


def plain_legal(position: dict[str, Any]) -> set[str]:
    """All legal moves of a position, straight from Q4 to Q15."""
    options, turn = position["options"], position["turn"]
    board = {tuple(entry["at"]): entry["tile"] for entry in position["board"]}
    placed = [tuple(cell) for cell in turn["placed"]]
    hand = position["hands"][position["to_move"]]
    opening = options["opening"] == "strict" and position["turn_number"] == 1
    limit = options["board_size"]

    def places(tile: str) -> list[tuple[int, int]]:
        if not opening:
            return cells_for(board, tile, placed, limit)
        laid = {board[cell] for cell in placed}
        whole = [*hand, *laid, *([turn["picked"]] if turn["picked"] else [])]
        fits = any(laid | {tile} <= tiles for tiles in opening_sets(whole)) and tile not in laid
        return [(len(placed), 0)] if fits else []

    if turn["picked"]:
        return {move_key({"place": list(cell)}) for cell in places(turn["picked"])}
    moves: list[dict[str, Any]] = []
    if not turn["returned"]:
        moves += [{"pick": tile} for tile in set(hand) if places(tile)]
    begun_with = len(hand) + len(placed) + len(turn["returned"])
    exchange = min(begun_with, sum(position["bag"].values()))
    if not placed and not opening and len(turn["returned"]) < exchange:
        moves += [{"return": tile} for tile in set(hand)]
    if turn["returned"] or (placed and not opening) or not moves:
        moves.append({"end": True})
    return {move_key(move) for move in moves}


def plain_points(board: Board, placed: list[tuple[int, int]]) -> int:
    if len(board) == 1:
        return 1
    runs = set()
    for cell in placed:
        for right, down in ((1, 0), (0, 1)):
            x, y = cell
            while (x - right, y - down) in board:
                x, y = x - right, y - down
            length = len(run_through(board, cell, right, down))
            if length > 1:
                runs.add((x, y, right, length))
    return sum(length + 6 * (length == 6) for *_, length in runs)


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_legal_moves_and_points_agree_with_a_second_opinion(options: dict[str, Any]) -> None:
    game = make_game("qwirkle", **options)
    rng = np.random.default_rng(options["num_players"])
    for seed in range(2):
        state = game.new(seed=seed)
        while not game.is_over(state):
            position = game.position(state)
            moves = game.legal_moves(state)
            assert {move_key(move) for move in moves} == plain_legal(position)
            # exchanging is possible all the time and says little: it is played less often
            sensible = [move for move in moves if "return" not in move or rng.random() < 0.1] or moves
            game.play(state, sensible[rng.integers(len(sensible))])
            after = game.position(state)
            placed = [tuple(cell) for cell in position["turn"]["placed"]]
            if after["turn_number"] > position["turn_number"]:
                board = {tuple(entry["at"]): entry["tile"] for entry in after["board"]}
                placed += [cell for cell in board if list(cell) not in [e["at"] for e in position["board"]]]
                mover = position["to_move"]
                gained = after["scores"][mover] - position["scores"][mover]
                assert gained == (plain_points(board, placed) if placed else 0)


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_a_thousand_random_games_keep_the_108_tiles(options: dict[str, Any]) -> None:
    batch = GameBatch(make_game("qwirkle", **options), 1000, auto_reset=False)
    batch.reset(21)
    while (batch.states["status"] == 0).any():
        batch.play_out(max_plies=37)
        states = batch.states
        picked = np.eye(37, dtype=int)[states["picked"]][:, 1:]
        counts = states["hands"].sum(axis=1, dtype=int) + states["bag"] + states["returned"] + picked
        for kind in range(36):
            counts[:, kind] += (states["board"] == 1 + kind).sum(axis=1)
        assert (counts == 3).all()
        assert (states["hands"].sum(axis=2) == states["hand_size"]).all()
        assert (states["bag"].sum(axis=1) == states["bag_size"]).all()
        assert (states["hand_size"] <= 6).all()
        assert ((states["board"] >= FIRST_SLOT).sum(axis=1) == states["frontier_count"]).all()
        tiles = (states["board"] > 0) & (states["board"] < FIRST_SLOT)
        assert (tiles.sum(axis=1) == states["tiles_on_table"]).all()
        bits = (states["hands"] > 0) @ (1 << np.arange(36, dtype=np.uint64))
        assert (bits == states["hand_kinds"]).all()
    by_rule = states["status"] == 1
    assert by_rule.mean() > 0.9
    assert (states["hand_size"][by_rule, : options["num_players"]].min(axis=1) == 0).mean() > 0.99
    assert (states["turn_number"][~by_rule] == 200).all()


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_kernels_for_legal_moves_agree_with_each_other(options: dict[str, Any]) -> None:
    game = make_game("qwirkle", board_size=25, **options)
    batch = GameBatch(game, 10)
    batch.reset(2)
    for _ in range(300):
        mask = batch.mask()
        for index in (0, 5):
            state = batch.states[index]
            legal = np.flatnonzero(mask[index]).tolist()
            assert rules.count_legal(state) == len(legal)
            assert sorted(rules.nth_legal(state, n) for n in range(len(legal))) == legal
            assert [a for a in range(-1, game.num_actions + 30) if rules.is_legal(state, np.int64(a))] == legal
        batch.step(batch.random_actions())


def test_frontier_holds_what_each_cell_admits() -> None:
    game = make_game("qwirkle")
    batch = GameBatch(game, 20)
    batch.reset(4)
    for _ in range(12):
        batch.play_out(max_plies=40)
        for state in batch.states:
            for slot in range(int(state["frontier_count"])):
                cell = np.int64(state["frontier_cell"][slot])
                assert state["board"][cell] == FIRST_SLOT + slot
                assert state["frontier_row"][slot] == allowed_kinds(state, cell, 1, 0)
                assert state["frontier_column"][slot] == allowed_kinds(state, cell, 0, 1)


@pytest.mark.parametrize("board_size", [7, 8, 12])
def test_small_boards_never_grow_beyond_their_size(board_size: int) -> None:
    game = make_game("qwirkle", board_size=board_size, opening="free", max_turns=120)
    batch = GameBatch(game, 200, auto_reset=False)
    batch.reset(3)
    largest = 0
    for _ in range(60):
        batch.play_out(max_plies=10)
        width = batch.states["right"].astype(int) - batch.states["left"] + 1
        height = batch.states["bottom"].astype(int) - batch.states["top"] + 1
        assert max(width.max(), height.max()) <= board_size - 1
        largest = max(largest, width.max(), height.max())
    assert largest == board_size - 1
    for state in batch.states[::40]:
        position = game.position(state)
        assert game.position(game.from_position(position)) == position


def test_actions_on_a_small_board_agree_with_a_second_opinion() -> None:
    game = make_game("qwirkle", board_size=7, opening="free", num_players=3)
    rng = np.random.default_rng(5)
    state = game.new(seed=8)
    for _ in range(400):
        if game.is_over(state):
            break
        moves = game.legal_moves(state)
        assert {move_key(move) for move in moves} == plain_legal(game.position(state))
        game.play(state, moves[rng.integers(len(moves))])


def test_a_pass_is_a_decision_and_ends_the_game_when_all_have_passed() -> None:
    game = make_game("qwirkle", opening="free")
    # bring a game to its last turns, then give both players a kind of which no copy fits: found by search
    found = 0
    batch = GameBatch(game, 4000, auto_reset=False)
    batch.reset(11)
    while (batch.states["status"] == 0).any() and not found:
        batch.step(batch.random_actions())
        passing = (
            (batch.mask()[:, 72] == 1) & (batch.states["placed_count"] == 0) & (batch.states["returned_count"] == 0)
        )
        for index in np.flatnonzero(passing):
            found += 1
            state = batch.states[index].copy()
            assert state["bag_size"] == 0
            assert game.legal_moves(state) == [{"end": True}]
            assert plain_legal(game.position(state)) == {move_key({"end": True})}
            scores = state["score"].copy()
            passes = int(state["passes"])
            game.play(state, {"end": True})
            assert state["passes"] == passes + 1
            assert (state["score"] == scores).all()
            assert game.is_over(state) == (passes + 1 == 2)
    assert found


def test_redealing_keeps_what_a_seat_knows_and_changes_the_rest() -> None:
    game = make_game("qwirkle", num_players=3)
    batch = GameBatch(game, 60)
    batch.reset(3)
    stream = np.array([9, 8, 7, 6], np.uint32)
    changed = 0
    for _ in range(40):
        batch.step(batch.random_actions())
        seats = batch.to_move.astype(np.int64)
        determinized = batch.states.copy()
        determinize_games(determinized, seats, stream)
        for before, after, seat in zip(batch.states, determinized, seats, strict=True):
            assert (before["hands"][seat] == after["hands"][seat]).all()
            assert (before["hand_size"] == after["hand_size"]).all()
            assert (before["board"] == after["board"]).all()
            hidden = before["bag"] + before["hands"].sum(axis=0) - before["hands"][seat]
            assert (hidden == after["bag"] + after["hands"].sum(axis=0) - after["hands"][seat]).all()
            changed += (before["hands"] != after["hands"]).any()
            position = game.position(after)
            assert game.position(game.from_position(position)) == position
    assert changed > 1500


def test_settled_scores_are_those_of_a_turn_that_ends_at_once() -> None:
    game = make_game("qwirkle", num_players=3)
    batch = GameBatch(game, 8, auto_reset=False)
    batch.reset(5)
    ended_turns = 0
    while not (batch.states["status"] > 0).all():
        scores = np.zeros((8, 3), np.int32)
        write_projected_scores(batch.states, scores, np.zeros_like(scores[0]))
        for state, settled in zip(batch.states.copy(), scores.tolist(), strict=True):
            player = state["to_move"]
            if state["placed_count"] > 0:
                if not game.mask(state)[END]:
                    continue
                game.play_action(state, END)
                ended_turns += 1
                # the bonus for the last tile is not yet won
                settled[player] += 6 if state["hand_size"][player] == 0 else 0
            assert settled == state["score"][:3].tolist()
        batch.step(batch.random_actions())
    assert ended_turns > 300


def test_other_seats_do_not_see_what_is_laid_aside() -> None:
    game = make_game("qwirkle", opening="free")
    state = game.new(seed=2)
    kinds = [move["return"] for move in game.legal_moves(state) if "return" in move]
    mover = int(state["to_move"])
    views = []
    for kind in kinds[:3]:
        again = state.copy()
        game.play(again, {"return": kind})
        views.append((game.observe(again, 1 - mover), game.observe(again, mover)))
    for other, own in views[1:]:
        assert (other == views[0][0]).all()
        assert (own != views[0][1]).any()


# ---------------------------------------------------------------- observation


def plain_observation(game: Game, position: dict[str, Any], seat: int, encoding: str) -> list[float]:
    """The observation as docs/qwirkle.md describes it, from the JSON position alone."""
    options, turn = position["options"], position["turn"]
    players, size = options["num_players"], options["board_size"]
    over = position["phase"] == "over"
    mine = not over and position["to_move"] == seat
    board = {tuple(entry["at"]): KINDS.index(entry["tile"]) for entry in position["board"]}
    left, right = (min((c[0] for c in board), default=0), max((c[0] for c in board), default=0))
    top, bottom = (min((c[1] for c in board), default=0), max((c[1] for c in board), default=0))
    shift = ((size - (right - left + 1)) // 2 - left, (size - (bottom - top + 1)) // 2 - top)
    cells = np.zeros((size, size) if encoding == "planes" else (size, size, 2))
    for (x, y), kind in board.items():
        at = (y + shift[1], x + shift[0])
        if encoding == "flat":
            cells[at] = ((1 + kind // 6) / 6, (1 + kind % 6) / 6)
        else:
            cells[at] = 1 + kind + (36 if [x, y] in turn["placed"] else 0)
    if encoding == "planes" and turn["picked"]:
        for move in plain_legal(position):
            x, y = json.loads(move)["place"]
            cells[y + shift[1], x + shift[0]] = 73

    def counts(tiles: list[str]) -> list[float]:
        return [tiles.count(kind) / 3 for kind in KINDS]

    unseen = [kind for kind, number in position["bag"].items() for _ in range(number)]
    unseen += [tile for player, hand in enumerate(position["hands"]) if player != seat for tile in hand]
    unseen += [] if mine else turn["returned"]
    turned = [(seat + distance) % players for distance in range(players)]
    opening = options["opening"] == "strict" and position["turn_number"] == 1 and not over
    laid = [entry["tile"] for entry in position["board"]] if opening else []
    whole = (
        [*position["hands"][position["to_move"]], *laid, *([turn["picked"]] if turn["picked"] else [])]
        if opening
        else []
    )
    return [
        *cells.ravel(),
        *counts(position["hands"][seat]),
        *counts(unseen),
        *[float(turn["picked"] == kind) for kind in KINDS],
        *(counts(turn["returned"]) if mine else [0.0] * 36),
        *[len(position["hands"][player]) / 6 for player in turned],
        *[position["scores"][player] / 100 for player in turned],
        *[float(not over and position["to_move"] == player) for player in turned],
        sum(position["bag"].values()) / 108,
        len(turn["placed"]) / 6,
        len(turn["returned"]) / 6,
        position["passes"] / players,
        position["turn_number"] / options["max_turns"],
        largest_set(set(whole)) / 6 if opening else 0.0,
    ]


@pytest.mark.parametrize("encoding", ["planes", "flat"])
@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_observation_is_what_the_position_says(options: dict[str, Any], encoding: str) -> None:
    game = make_game("qwirkle", encoding=encoding, board_size=26, **options)
    state = game.new(seed=4)
    rng = np.random.default_rng(1)
    ply = 0
    while not game.is_over(state):
        if ply % 3 == 0:
            position = game.position(state)
            for seat in range(game.num_players):
                observation = game.observe(state, seat)
                assert observation.shape == (game.observation_size,)
                assert observation == pytest.approx(plain_observation(game, position, seat, encoding), abs=1e-6)
        moves = game.legal_moves(state)
        sensible = [move for move in moves if "return" not in move or rng.random() < 0.1] or moves
        game.play(state, sensible[rng.integers(len(sensible))])
        ply += 1
    position = game.position(state)
    assert game.observe(state, 0)[game.observation_size - 6] == pytest.approx(0.0)


def test_unknown_observation_is_refused() -> None:
    with pytest.raises(ValueError, match="qwirkle has the encodings planes, flat, compact, not 'pixels'"):
        make_game("qwirkle", encoding="pixels")


# ---------------------------------------------------------------- notation


GOLDEN = [record for file in golden_files("qwirkle") for record in read_lines(file)]
GOLDEN_PLIES = [ply for record in GOLDEN for ply in record["plies"]]


REFUSED = [
    (("turn", "picked"), "red circle", "position: there are 3 tiles"),
    (("turn", "placed"), [[0, 0]], r"turn.placed"),
    (("turn", "placed"), [[80, 80]], r"turn.placed\[0\]: no tile lies at"),
    (("passes",), 1, "passes: nobody can have passed"),
    (("passes",), 2, "passes: must be an integer from 0 to 1"),
    (("turn_number",), 0, "turn_number: "),
    (("turn_number",), 1, "board: holds tiles of an earlier turn"),
    (("scores",), [1], "scores: must have 2 entries"),
    (("board",), [], "position: there are 3 tiles"),
    (("bag", "red triangle"), 1, "bag: must be one of red circle"),
    (("hands",), [[], []], "position: there are 3 tiles"),
]


@pytest.mark.parametrize(("path", "value", "message"), REFUSED)
def test_impossible_positions_are_refused(path: tuple[Any, ...], value: Any, message: str) -> None:
    plies = next(record for record in GOLDEN if record["options"]["num_players"] == 2)["plies"]
    ply = next(ply for ply in plies[60:] if ply["position"]["turn"] == {"placed": [], "returned": [], "picked": None})
    position = copy.deepcopy(ply["position"])
    game = make_game("qwirkle", **position["options"])
    game.from_position(copy.deepcopy(position))
    place: Any = position
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        game.from_position(position)


def test_moves_need_the_table_and_refuse_what_is_none() -> None:
    game = make_game("qwirkle")
    state = game.new(seed=2)
    assert game.action({"pick": "red circle"}) == 0
    assert game.action({"return": "purple clover"}) == 71
    assert game.action({"end": True}) == 72
    with pytest.raises(ValueError, match="the state is needed"):
        game.action({"place": [0, 0]})
    for wrong in (
        {"pick": "red"},
        {"end": False},
        {"pick": "red star", "end": True},
        {},
        {"place": [0]},
        {"place": "x"},
    ):
        with pytest.raises(IllegalMove):
            game.play(state, wrong)
    pick = game.legal_moves(state)[0]
    game.play(state, pick)
    for cell in ([1, 0], [40, 40], [-1, 0], [0, 1]):
        with pytest.raises(IllegalMove):
            game.play(state, {"place": cell})
    game.play(state, {"place": [0, 0]})


def test_an_action_means_the_same_cell_whatever_the_coordinates_are() -> None:
    """The window is centred on the table: agents see no absolute coordinates."""
    game = make_game("qwirkle")
    ply = next(p for p in GOLDEN_PLIES if p["position"]["turn"]["picked"] and len(p["position"]["board"]) > 40)
    state = game.from_position(ply["position"])
    action = game.action(ply["move"], state)
    assert game.move(action, state) == ply["move"]
    y, x = divmod(action - 73, 48)
    xs = [entry["at"][0] for entry in ply["position"]["board"]]
    width = max(xs) - min(xs) + 1
    assert x == ply["move"]["place"][0] - min(xs) + (48 - width) // 2
    ys = [entry["at"][1] for entry in ply["position"]["board"]]
    assert y == ply["move"]["place"][1] - min(ys) + (48 - max(ys) + min(ys) - 1) // 2
