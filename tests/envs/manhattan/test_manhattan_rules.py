"""Manhattan's rules where whole games and single positions are not enough: invariants, a second opinion, refusals."""

import copy
from itertools import product
from typing import Any

import numpy as np
import pytest
from reference_data import golden_files, move_key, read_lines

from meeplezoo.envs import Game, GameBatch, IllegalMove, make_game
from meeplezoo.envs.engine.batch import determinize_games, write_projected_scores
from meeplezoo.envs.manhattan import rules
from meeplezoo.envs.manhattan.state import CITIES, COLOURS

OPTIONS = [
    {"num_players": 2, "seats": "opposite"},
    {"num_players": 2, "seats": "adjacent"},
    {"num_players": 3},
    {"num_players": 4, "tiebreak": "none"},
    {"num_players": 4},
]
PARTS = {"1": 11, "2": 6, "3": 4, "4": 3}
LOTS = {
    "south": [0, 1, 2, 3, 4, 5, 6, 7, 8],
    "west": [2, 5, 8, 1, 4, 7, 0, 3, 6],
    "north": [8, 7, 6, 5, 4, 3, 2, 1, 0],
    "east": [6, 3, 0, 7, 4, 1, 8, 5, 2],
}


def option_id(options: dict[str, Any]) -> str:
    return "-".join(str(value) for value in options.values())


# ---------------------------------------------------------------- a second opinion, from the position alone


def lots_of(options: dict[str, Any], player: int) -> list[int]:
    if options["num_players"] == 2 and options["seats"] == "opposite":
        return LOTS[("south", "north")[player]]
    return LOTS[("south", "west", "north", "east")[player]]


def colours_of(options: dict[str, Any], player: int) -> list[str]:
    return [COLOURS[player], COLOURS[player + 2]] if options["num_players"] == 2 else [COLOURS[player]]


def plain_legal(position: dict[str, Any]) -> set[str]:
    """All legal moves of a position, straight from M8 to M14."""
    options, player = position["options"], position["to_move"]
    if position["phase"] == "draft":
        colour = position.get("colour", COLOURS[player])
        number = 6 if options["num_players"] == 4 else 4
        reserve = position["reserve"][colour]
        drafts = product(*(range(min(reserve[size], number) + 1) for size in "1234"))
        return {
            move_key({"draft": dict(zip("1234", parts, strict=True)), "colour": colour})
            for parts in drafts
            if sum(parts) == number
        }
    moves = []
    for card, city, colour, storeys in product(
        set(position["hands"][player]), CITIES, colours_of(options, player), (1, 2, 3, 4)
    ):
        if position["drafted"][colour][str(storeys)] == 0:
            continue
        tower = position["cities"][city][lots_of(options, player)[card]]
        if tower is not None and tower["owner"] != colour:
            there = tower["storeys"].get(colour, 0) + storeys
            if there < tower["storeys"][tower["owner"]]:
                continue
        moves.append({"card": card, "storeys": storeys, "city": city, "colour": colour})
    if not moves:
        moves = [{"discard": card} for card in set(position["hands"][player])]
    return {move_key(move) for move in moves}


def plain_points(position: dict[str, Any]) -> list[int]:
    """What a scoring brings each player, straight from M16 to M19."""
    options = position["options"]
    players = options["num_players"]
    owner_of = {colour: player for player in range(players) for colour in colours_of(options, player)}
    points = [0] * players
    towers = [tower for city in CITIES for tower in position["cities"][city] if tower]
    heights = sorted(sum(tower["storeys"].values()) for tower in towers)
    for tower in towers:
        points[owner_of[tower["owner"]]] += 1
        if sum(tower["storeys"].values()) == heights[-1] and heights.count(heights[-1]) == 1:
            points[owner_of[tower["owner"]]] += 3
    for city in CITIES:
        owners = [tower["owner"] for tower in position["cities"][city] if tower]
        counts = sorted((owners.count(colour), colour) for colour in set(owners))
        if counts and (len(counts) == 1 or counts[-1][0] > counts[-2][0]):
            points[owner_of[counts[-1][1]]] += 2
    return points


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_legal_moves_and_points_agree_with_a_second_opinion(options: dict[str, Any]) -> None:
    game = make_game("manhattan", **options)
    rng = np.random.default_rng(1)
    for seed in range(4):
        state = game.new(seed=seed)
        while not game.is_over(state):
            position = game.position(state)
            moves = game.legal_moves(state)
            assert {move_key(move) for move in moves} == plain_legal(position)
            big = [move for move in moves if move.get("storeys", 0) >= 3 or "storeys" not in move]
            chosen = big if seed % 2 and big else moves
            game.play(state, chosen[rng.integers(len(chosen))])
            after = game.position(state)
            gained = [b - a for a, b in zip(position["scores"], after["scores"], strict=True)]
            ended = after["phase"] == "over" or after["round"] > position["round"]
            assert gained == (plain_points(after) if ended else [0] * game.num_players)


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_settled_scores_are_those_of_a_scoring_at_once(options: dict[str, Any]) -> None:
    game = make_game("manhattan", **options)
    batch = GameBatch(game, 6, auto_reset=False)
    batch.reset(3)
    while not (batch.states["status"] > 0).all():
        scores = np.zeros((6, game.num_players), np.int32)
        write_projected_scores(batch.states, scores, np.zeros_like(scores[0]))
        for state, settled in zip(batch.states, scores.tolist(), strict=True):
            position = game.position(state)
            gained = [0] * game.num_players if game.is_over(state) else plain_points(position)
            assert settled == [has + gain for has, gain in zip(position["scores"], gained, strict=True)]
        batch.step(batch.random_actions())


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_a_thousand_random_games_keep_cards_parts_and_owners(options: dict[str, Any]) -> None:
    game = make_game("manhattan", **options)
    batch = GameBatch(game, 1000, auto_reset=False)
    batch.reset(21)
    players, colours = game.num_players, 3 if game.num_players == 3 else 4
    sizes = np.arange(1, 5)
    while (batch.states["status"] == 0).any():
        batch.play_out(max_plies=3)
        states = batch.states
        cards = states["hands"].sum(axis=1, dtype=int) + states["deck"] + states["discards"]
        assert (cards == 5).all()
        assert (states["hands"][:, :players].sum(axis=2) == 4).all()
        assert (states["deck"].sum(axis=1) == states["deck_size"]).all()
        assert (states["deck_size"] > 0).all()
        in_stock = states["reserve"].astype(int) + states["drafted"]
        used = np.array([11, 6, 4, 3]) - in_stock[:, :colours]
        assert (used >= 0).all()
        on_table = states["storeys"].sum(axis=(1, 2), dtype=int)[:, :colours]
        left_the_game = (used * sizes).sum(axis=2) - on_table
        assert (left_the_game >= 0).all()
        assert (states["storeys"].sum(axis=3) == states["height"]).all()
        assert ((states["owner"] > 0) == (states["height"] > 0)).all()
        owners = np.maximum(states["owner"].astype(int) - 1, 0)
        most = np.take_along_axis(states["storeys"], owners[..., None], axis=3)[..., 0]
        assert (most == states["storeys"].max(axis=3)).all()
        assert (states["parts_left"] == states["drafted"].sum(axis=(1, 2))).all()
    assert (states["status"] == 1).all()
    assert not states["reserve"].any()
    lengths = {2: 120, 3: 90, 4: 112}
    assert (states["ply"] == lengths[players]).all()


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_kernels_for_legal_moves_agree_with_each_other(options: dict[str, Any]) -> None:
    game = make_game("manhattan", **options)
    batch = GameBatch(game, 10)
    batch.reset(2)
    for _ in range(150):
        mask = batch.mask()
        for index in (0, 5):
            state = batch.states[index]
            legal = np.flatnonzero(mask[index]).tolist()
            assert rules.count_legal(state) == len(legal)
            assert [rules.nth_legal(state, n) for n in range(len(legal))] == legal
            assert [a for a in range(-1, game.num_actions + 30) if rules.is_legal(state, np.int64(a))] == legal
        batch.step(batch.random_actions())


def test_a_stuck_player_loses_the_smallest_part_of_both_colours() -> None:
    game = make_game("manhattan", num_players=2)
    state = game.new(seed=1)
    while game.position(state)["phase"] == "draft":
        colour = game.position(state)["colour"]
        # player 0 drafts two threes and two fours for blue and four twos for red
        parts = {"blue": [0, 0, 2, 2], "red": [0, 4, 0, 0]}.get(colour, [4, 0, 0, 0])
        game.play(state, {"draft": dict(zip("1234", parts, strict=True)), "colour": colour})
    position = game.position(state)
    assert position["to_move"] == 0
    tower = {"owner": "green", "storeys": {"green": 8}}
    # too many storeys for one colour: such a table cannot be, and is refused
    position["cities"] = {city: [copy.deepcopy(tower) for _ in range(9)] for city in CITIES}
    with pytest.raises(ValueError, match="cities: green has 432 storeys, but only 0 have been in play"):
        game.from_position(position)
    # the kernels do not ask where a table came from
    state["owner"] = 4
    state["storeys"][:, :, 3] = 8
    state["height"] = 8
    discards = game.legal_moves(state)
    assert all(list(move) == ["discard"] for move in discards)
    assert {move["discard"] for move in discards} == set(position["hands"][0])
    game.play(state, discards[0])
    after = game.position(state)
    assert after["drafted"]["red"] == {"1": 0, "2": 3, "3": 0, "4": 0}
    assert after["drafted"]["blue"] == {"1": 0, "2": 0, "3": 2, "4": 2}
    assert after["to_move"] == 1
    assert sum(after["discards"].values()) == 1


@pytest.mark.parametrize(
    ("scores", "tallest", "tiebreak", "winners"),
    [
        ([10, 20, 5, 20], "green", "towers", [3]),
        ([10, 20, 5, 20], "red", "towers", [1]),
        ([10, 20, 5, 20], "red", "none", [1, 3]),
        ([20, 20, 20, 20], None, "towers", [1]),
        ([9, 8, 7, 6], "green", "towers", [0]),
    ],
)
def test_ties(scores: list[int], tallest: str | None, tiebreak: str, winners: list[int]) -> None:
    game = make_game("manhattan", tiebreak=tiebreak)
    state = game.new(seed=1)
    state["score"] = scores

    def tower(city: int, lot: int, colour: int, storeys: int) -> None:
        state["owner"][city, lot] = 1 + colour
        state["storeys"][city, lot, colour] = storeys
        state["height"][city, lot] = storeys

    tower(0, 0, 0, 2)  # black has the majority in two cities, each other colour in at most one
    for city in (1, 2):
        tower(city, 0, 1, 2)
    tower(3, 0, 3, 2)
    tower(4, 0, 2, 2)
    if tallest is not None:
        tower(5, 0, COLOURS.index(tallest), 9)
        tower(5, 1, COLOURS.index("blue"), 1)
    assert game.result(state)["winners"] == winners


def plain_observation(game: Game, position: dict[str, Any], seat: int) -> list[float]:
    """The observation as docs/manhattan.md describes it, from the JSON position alone."""
    options = position["options"]
    players = options["num_players"]
    over = position["phase"] == "over"
    turned = [(seat + distance) % players for distance in range(players)]
    colours = [colour for player in turned for colour in colours_of(options, player)]
    lots = lots_of(options, seat)
    towers = [position["cities"][city][lot] for city in CITIES for lot in lots]
    storeys = [(tower["storeys"].get(colour, 0) if tower else 0) / 10 for tower in towers for colour in colours]
    owners = [float(bool(tower) and tower["owner"] == colour) for tower in towers for colour in colours]
    hand, discards = position["hands"][seat], position["discards"]
    unseen = dict(position["deck"])
    for player, cards in enumerate(position["hands"]):
        if player != seat:
            for card in cards:
                unseen[str(card)] = unseen.get(str(card), 0) + 1
    drafting = not over and position["phase"] == "draft"
    second = position.get("colour") in ("red", "green")
    return [
        *storeys,
        *owners,
        *[position["reserve"][colour][size] / PARTS[size] for colour in colours for size in "1234"],
        *[position["drafted"][colour][size] / 6 for colour in colours for size in "1234"],
        *[hand.count(card) / 4 for card in range(9)],
        *[discards.get(str(card), 0) / 5 for card in range(9)],
        *[unseen.get(str(card), 0) / 5 for card in range(9)],
        sum(position["deck"].values()) / 45,
        *[position["scores"][player] / 100 for player in turned],
        position["round"] / (4 if players == 4 else 6),
        float(drafting and not second),
        float(drafting and second),
        *[float(position["start"] == player) for player in turned],
        *[float(not over and position["to_move"] == player) for player in turned],
    ]


@pytest.mark.parametrize("options", OPTIONS, ids=option_id)
def test_observation_is_what_the_position_says(options: dict[str, Any]) -> None:
    game = make_game("manhattan", **options)
    state = game.new(seed=4)
    rng = np.random.default_rng(1)
    while True:
        position = game.position(state)
        for seat in range(game.num_players):
            observation = game.observe(state, seat)
            assert observation.shape == (game.observation_size,)
            assert observation == pytest.approx(plain_observation(game, position, seat), abs=1e-6)
        if game.is_over(state):
            break
        moves = game.legal_moves(state)
        game.play(state, moves[rng.integers(len(moves))])


def test_redealing_keeps_what_a_seat_knows_and_changes_the_rest() -> None:
    game = make_game("manhattan")
    batch = GameBatch(game, 100)
    batch.reset(3)
    stream = np.array([9, 8, 7, 6], np.uint32)
    changed = 0
    for _ in range(30):
        batch.play_out(3)
        seats = batch.to_move.astype(np.int64)
        determinized = batch.states.copy()
        determinize_games(determinized, seats, stream)
        for before, after, seat in zip(batch.states, determinized, seats, strict=True):
            assert (before["hands"][seat] == after["hands"][seat]).all()
            assert (before["discards"] == after["discards"]).all()
            assert before["deck_size"] == after["deck_size"]
            assert (after["hands"].sum(axis=1) == 4).all()
            assert (after["hands"].sum(axis=0) + after["deck"] + after["discards"] == 5).all()
            changed += (before["hands"] != after["hands"]).any()
    assert changed > 2500


def test_the_board_looks_the_same_from_every_seat_after_a_turn_of_the_table() -> None:
    """A tower on the lot of card c and a hand look the same to each player."""
    game = make_game("manhattan")
    views = []
    for player, side in enumerate(("south", "west", "north", "east")):
        state = game.new(seed=1)
        state["hands"] = 0
        state["hands"][player, [1, 5]] = 2
        state["start"] = state["to_move"] = player
        lot = LOTS[side][7]
        state["owner"][2, lot] = 1 + player
        state["storeys"][2, lot, player] = 3
        views.append(game.observe(state, player))
    assert all((view == views[0]).all() for view in views[1:])


GOLDEN_PLIES = [ply for file in golden_files("manhattan") for record in read_lines(file) for ply in record["plies"]]


def changed(position: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    place: Any = position
    for key in path[:-1]:
        place = place[key]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return position


REFUSED = [
    ("draft", ("start",), 3, "start: round 1 is begun by player 0"),
    ("draft", ("round",), 5, "round: must be an integer from 1 to 4"),
    ("draft", ("to_move",), 2, "reserve.blue: must hold 18 parts"),
    ("draft", ("colour",), "blue", "unknown key 'colour'"),
    ("draft", ("hands", 0), [0, 1, 2], r"hands\[0\]: must have 4 entries"),
    ("draft", ("deck", "9"), 1, "deck: unknown key '9'"),
    ("draft", ("deck", "0"), 0, "deck.0: must be an integer from 1 to 5"),
    ("draft", ("reserve", "blue", "1"), 12, "reserve.blue.1: "),
    ("draft", ("drafted", "blue", "1"), 1, "drafted.blue: reserve must hold 24 and this 0 parts"),
    ("draft", ("cities", "cairo"), [None] * 8, "cities.cairo: must have 9 entries"),
    ("draft", ("cities", "cairo", 0), {"owner": "pink", "storeys": {}}, r"cities.cairo\[0\].owner"),
    ("draft", ("cities", "cairo", 0), {"owner": "red", "storeys": {"red": 0}}, r"cities.cairo\[0\].storeys.red"),
    ("draft", ("cities", "cairo", 0), {"owner": "red", "storeys": {"blue": 1}}, "red is on top, but has no storey"),
    ("draft", ("cities", "cairo", 0), {"owner": "red", "storeys": {"red": 1}}, "cities: red has 1 storeys, but only 0"),
    ("build", ("phase",), "draft", "drafted|reserve"),
    ("build", ("to_move",), KeyError, "to_move"),
]


@pytest.mark.parametrize(("phase", "path", "value", "message"), REFUSED)
def test_impossible_positions_are_refused(phase: str, path: tuple[Any, ...], value: Any, message: str) -> None:
    found = (p["position"] for p in GOLDEN_PLIES if p["position"]["phase"] == phase)
    position = copy.deepcopy(next(p for p in found if p["options"]["num_players"] == 4))
    game = make_game("manhattan", **position["options"])
    game.from_position(copy.deepcopy(position))
    with pytest.raises(ValueError, match=message):
        game.from_position(changed(position, path, value))


def test_moves_of_other_colours_are_refused() -> None:
    game = make_game("manhattan", num_players=2)
    state = game.new(seed=2)
    draft = {"1": 4, "2": 0, "3": 0, "4": 0}
    wrong: list[Any] = [
        {"draft": draft, "colour": "red"},
        {"draft": draft, "colour": "black"},
        {"draft": draft},
        {"draft": {**draft, "1": 5}, "colour": "blue"},
        {"draft": {"1": 4}, "colour": "blue"},
        {"discard": 0},
        {"card": 0, "storeys": 1, "city": "cairo", "colour": "blue"},
        "blue",
    ]
    for move in wrong:
        with pytest.raises(IllegalMove):
            game.play(state, move)
    for colour in ("blue", "red", "black", "green"):
        game.play(state, {"draft": draft, "colour": colour})
    card = game.position(state)["hands"][0][0]
    for colour in ("black", "green", "pink"):
        with pytest.raises(IllegalMove):
            game.play(state, {"card": card, "storeys": 1, "city": "cairo", "colour": colour})
    game.play(state, {"card": card, "storeys": 1, "city": "cairo", "colour": "red"})
