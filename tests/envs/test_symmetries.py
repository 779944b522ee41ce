"""Symmetries: against positions that are turned here, in the JSON notation, and read again by the rules."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest

from meeplezoo.envs import Game, GameBatch, make_game
from meeplezoo.envs.azul.state import COLOURS as AZUL_COLOURS
from meeplezoo.envs.manhattan.state import CITIES, LOT_OF_CARD
from meeplezoo.envs.qwirkle.state import COLOURS, SHAPES
from meeplezoo.envs.registry import BUILT_IN

GAMES = [
    *(make_game("azul", num_players=players, wall=wall) for players in (2, 3, 4) for wall in ("coloured", "grey")),
    *(make_game("manhattan", num_players=players) for players in (2, 3, 4)),
    make_game("manhattan", num_players=2, seats="adjacent"),
    make_game("qwirkle", num_players=2),
    make_game("qwirkle", num_players=3, encoding="flat", opening="free", board_size=27),
    make_game("qwirkle", num_players=4, encoding="flat"),
    make_game("qwirkle", num_players=2, opening="free", board_size=11),
]
POSITIONS = 48


def game_id(game: Game) -> str:
    return "-".join([game.name, *map(str, game.options.values()), game.layout])


def symmetry(game: Game):
    return game.spec.symmetry()


def draw(game: Game, n: int, seed: int = 3):
    return symmetry(game).draw(game.options, n, np.random.default_rng(seed))


def apply(game: Game, drawn, observation: np.ndarray, *policies: np.ndarray):
    return symmetry(game).apply(game.options, game.layout, drawn, observation, policies)


def one(drawn, row: int):
    """The symmetry of one row, its arrays without the first axis."""
    return type(drawn)(*(array[row] for array in drawn))


def positions(game: Game, seed: int = 11) -> list[np.void]:
    """Return one position each of many games: half of them early, half of them from all stages."""
    batch = GameBatch(game, POSITIONS)
    batch.reset(seed)
    states = []
    plies = {"azul": 66, "manhattan": 118, "qwirkle": 260}[game.name]
    wanted = [*range(POSITIONS // 2), *np.linspace(POSITIONS // 2, plies, POSITIONS // 2).astype(int)]
    for ply in range(plies + 1):
        for _ in range(wanted.count(ply)):
            states.append(batch.states[len(states)].copy())
        batch.step(batch.random_actions())
    return states


def observations_and_masks(game: Game, states: list[np.void]) -> tuple[np.ndarray, np.ndarray]:
    observation = np.stack([game.observe(state, int(state["to_move"])) for state in states])
    return observation, np.stack([game.mask(state) for state in states])


# what a symmetry does to a position and to a move, written a second time, on names and coordinates


def renamed(names, source, name):
    """The name that takes the place of another: the k-th is taken by the one whose source it is."""
    return names[list(source).index(names.index(name))]


def turned_azul_position(position: dict, g) -> dict:
    players = len(position["players"])

    def colour(name):
        return renamed(AZUL_COLOURS, g.colours, name)

    def board(player):
        old = position["players"][player]
        reverse = g.mirrored[(player - position["to_move"]) % players]
        wall = [[cell and colour(cell) for cell in (row[::-1] if reverse else row)] for row in old["wall"]]
        lines = [line and {"colour": colour(line["colour"]), "count": line["count"]} for line in old["lines"]]
        return {**old, "wall": wall, "lines": lines, "floor": [colour(tile) for tile in old["floor"]]}

    return {
        **position,
        "factories": [[colour(tile) for tile in position["factories"][source]] for source in g.factories],
        "centre": [colour(tile) for tile in position["centre"]],
        "bag": {colour(name): tiles for name, tiles in position["bag"].items()},
        "lid": {colour(name): tiles for name, tiles in position["lid"].items()},
        "players": [board(player) for player in range(players)],
    }


def turned_azul_move(move: dict, g, position: dict) -> dict:
    if "column" in move:
        return {**move, "column": 4 - move["column"] if g.mirrored[0] else move["column"]}
    factory = "centre" if move["source"] == "centre" else list(g.factories).index(move["source"])
    return {**move, "source": factory, "colour": renamed(AZUL_COLOURS, g.colours, move["colour"])}


def turned_manhattan_position(position: dict, g) -> dict:
    def card(old):
        return list(g.cards).index(int(old))

    cities = [position["cities"][CITIES[source]] for source in g.cities]
    return {
        **position,
        # lots are those of the south seat, whatever the seat of the mover: all must see the same exchange
        "cities": {city: [lots[lot] for lot in g.cards] for city, lots in zip(CITIES, cities, strict=True)},
        "hands": [[card(old) for old in hand] for hand in position["hands"]],
        "deck": {str(card(old)): number for old, number in position["deck"].items()},
        "discards": {str(card(old)): number for old, number in position["discards"].items()},
    }


def turned_manhattan_move(move: dict, g, position: dict) -> dict:
    if "draft" in move:
        return move
    if "discard" in move:
        return {"discard": list(g.cards).index(move["discard"])}
    return {**move, "card": list(g.cards).index(move["card"]), "city": renamed(CITIES, g.cities, move["city"])}


def turned_tile(tile: str, g) -> str:
    colour, shape = tile.split()
    colour, shape = g.colours[COLOURS.index(colour)], g.shapes[SHAPES.index(shape)]
    return f"{COLOURS[shape]} {SHAPES[colour]}" if g.exchanged else f"{COLOURS[colour]} {SHAPES[shape]}"


def is_strict_opening(position: dict) -> bool:
    return position["options"]["opening"] == "strict" and position["turn_number"] == 1


def turned_cell(cell: list[int], g, position: dict) -> list[int]:
    if is_strict_opening(position):
        return cell
    x, y = reversed(cell) if g.transposed else cell
    return [-x if g.mirrored[0] else x, -y if g.mirrored[1] else y]


def turned_qwirkle_position(position: dict, g) -> dict:
    turn = position["turn"]
    return {
        **position,
        "board": [
            {"at": turned_cell(tile["at"], g, position), "tile": turned_tile(tile["tile"], g)}
            for tile in position["board"]
        ],
        "hands": [[turned_tile(tile, g) for tile in hand] for hand in position["hands"]],
        "bag": {turned_tile(tile, g): number for tile, number in position["bag"].items()},
        "turn": {
            "placed": [turned_cell(cell, g, position) for cell in turn["placed"]],
            "returned": [turned_tile(tile, g) for tile in turn["returned"]],
            "picked": turn["picked"] and turned_tile(turn["picked"], g),
        },
    }


def turned_qwirkle_move(move: dict, g, position: dict) -> dict:
    if "end" in move:
        return move
    if "place" in move:
        return {"place": turned_cell(move["place"], g, position)}
    return {key: turned_tile(tile, g) for key, tile in move.items()}


TURNED = {
    "azul": (turned_azul_position, turned_azul_move),
    "manhattan": (turned_manhattan_position, turned_manhattan_move),
    "qwirkle": (turned_qwirkle_position, turned_qwirkle_move),
}


def turned_state(game: Game, state: np.void, g) -> np.void:
    return game.from_position(TURNED[game.name][0](game.position(state), g), seed=5)


def turned_action(game: Game, action: int, g, state: np.void, other: np.void) -> int:
    move = TURNED[game.name][1](game.move(action, state), g, game.position(state))
    return game.action(move, other)


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_rows_are_those_of_the_turned_positions(game: Game) -> None:
    states = positions(game)
    observation, mask = observations_and_masks(game, states)
    policy = np.where(mask > 0, np.random.default_rng(2).random(mask.shape), 0)
    drawn = draw(game, len(states))
    given = observation.copy(), mask.copy(), policy.copy()
    seen, (legal, target) = apply(game, drawn, observation, mask, policy)
    assert all((now == before).all() for now, before in zip((observation, mask, policy), given, strict=True))
    assert (seen.dtype, legal.dtype, target.dtype) == (np.float32, mask.dtype, policy.dtype)
    for row, state in enumerate(states):
        g = one(drawn, row)
        other = turned_state(game, state, g)
        np.testing.assert_array_equal(seen[row], game.observe(other, int(other["to_move"])))
        np.testing.assert_array_equal(legal[row], game.mask(other))
        for action in np.flatnonzero(mask[row]):
            assert target[row, turned_action(game, action, g, state, other)] == policy[row, action]


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_playing_and_turning_commute(game: Game) -> None:
    random = np.random.default_rng(4)
    befores, afters, others = [], [], []
    drawn = draw(game, POSITIONS, seed=8)
    for row, state in enumerate(positions(game, seed=12)):
        g = one(drawn, row)
        other = turned_state(game, state, g)
        action = random.choice(np.flatnonzero(game.mask(state)))
        mapped = turned_action(game, action, g, state, other)
        after = state.copy()
        game.play_action(after, action)
        game.play_action(other, mapped)
        befores.append(state)
        afters.append(after)
        others.append(other)
    # a seat that sees nothing of what chance deals; in Azul, where everything is seen, rounds that are not dealt anew
    seats = [int(state["to_move"]) for state in befores]
    rows = list(range(POSITIONS))
    if game.name == "azul":
        rows = [row for row in rows if befores[row]["round"] == afters[row]["round"]]
    else:
        seats = [(seat + 1) % game.num_players for seat in seats]
    if game.name == "qwirkle":
        # the table stays as it is until the end of a strict opening, and is turned from then on
        openings = [is_strict_opening(game.position(state)) for state in befores]
        rows = [row for row in rows if not openings[row] or is_strict_opening(game.position(afters[row]))]
    assert len(rows) > POSITIONS // 2
    observation = np.stack([game.observe(afters[row], seats[row]) for row in rows])
    chosen = type(drawn)(*(array[rows] for array in drawn))
    seen, _ = apply(game, chosen, observation)
    np.testing.assert_array_equal(seen, np.stack([game.observe(others[row], seats[row]) for row in rows]))
    for row in rows:
        assert game.result(afters[row]) == game.result(others[row])


@pytest.mark.parametrize("game", GAMES[:10], ids=game_id)
def test_every_action_goes_where_its_move_goes(game: Game) -> None:
    drawn = draw(game, 4)
    numbers = np.tile(np.arange(game.num_actions), (4, 1))
    _, (turned,) = apply(game, drawn, np.zeros((4, game.observation_size), np.float32), numbers)
    for row in range(4):
        for action in range(game.num_actions):
            move = TURNED[game.name][1](game.move(action), one(drawn, row), {})
            assert turned[row, game.action(move)] == action


def identity(drawn):
    arrays = {name: np.zeros_like(array) for name, array in drawn._asdict().items()}
    for name, array in arrays.items():
        if name in ("factories", "colours", "cities", "cards", "shapes"):
            arrays[name] = np.tile(np.arange(array.shape[1]), (len(array), 1))
    return type(drawn)(**arrays)


def inverse(drawn):
    arrays = drawn._asdict()
    for name, array in arrays.items():
        if name in ("factories", "colours", "cities", "cards", "shapes"):
            arrays[name] = np.argsort(array, axis=1)
    if "exchanged" in arrays:
        exchanged = arrays["exchanged"][:, None]
        colours, shapes = arrays["colours"], arrays["shapes"]
        arrays["colours"], arrays["shapes"] = (
            np.where(exchanged, shapes, colours),
            np.where(exchanged, colours, shapes),
        )
        transposed = arrays["transposed"][:, None]
        arrays["mirrored"] = np.where(transposed, arrays["mirrored"][:, ::-1], arrays["mirrored"])
    return type(drawn)(**arrays)


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_identity_and_inverse(game: Game) -> None:
    observation, mask = observations_and_masks(game, positions(game, seed=13))
    dense = np.tile(np.arange(1, game.num_actions + 1), (len(mask), 1))
    drawn = draw(game, len(mask))
    seen, (legal, numbers) = apply(game, identity(drawn), observation, mask, dense)
    assert (seen == observation).all()
    assert (legal == mask).all()
    assert (numbers == dense).all()
    seen, (legal, numbers) = apply(game, drawn, observation, mask, dense)
    assert (np.sort(numbers, axis=1) == dense).all()
    changed = (seen != observation).any(axis=1) | (legal != mask).any(axis=1)
    assert changed.mean() > 0.5
    seen, (legal, numbers) = apply(game, inverse(drawn), seen, legal, numbers)
    assert (seen == observation).all()
    assert (legal == mask).all()
    assert (numbers == dense).all()


@pytest.mark.parametrize("game", GAMES, ids=game_id)
def test_transform_is_a_draw_applied(game: Game) -> None:
    observation, mask = observations_and_masks(game, positions(game)[:8])
    drawn = draw(game, 8, seed=6)
    expected, (legal,) = apply(game, drawn, observation, mask)
    generator = np.random.default_rng(6)
    seen, policies = symmetry(game).transform(game.options, game.layout, observation, (mask,), generator)
    assert (seen == expected).all()
    assert (policies[0] == legal).all()
    seen, policies = symmetry(game).transform(
        game.options, game.layout, observation[:0], (mask[:0], mask[:0]), generator
    )
    assert seen.shape == (0, game.observation_size)
    assert [policy.shape for policy in policies] == [(0, game.num_actions)] * 2


def assert_uniform(elements: np.ndarray, order: int) -> None:
    """All elements of a group are drawn, each about equally often: within six standard deviations."""
    _, counts = np.unique(elements.reshape(len(elements), -1), axis=0, return_counts=True)
    mean = len(elements) / order
    assert len(counts) == order
    assert np.abs(counts - mean).max() < 6 * mean**0.5


@pytest.mark.parametrize(("players", "factories"), [(2, 5), (3, 7), (4, 9)])
def test_draws_of_azul_are_uniform(players: int, factories: int) -> None:
    game = make_game("azul", num_players=players, wall="grey")
    drawn = draw(game, 12_000)
    assert symmetry(game).order(game.options) == factorial(factories) * 120 * 2**players
    assert symmetry(game).order({**game.options, "wall": "coloured"}) == factorial(factories)
    assert_uniform(drawn.colours, 120)
    assert_uniform(drawn.mirrored, 2**players)
    assert_uniform(drawn.factories[:, :3], factories * (factories - 1) * (factories - 2))
    assert_uniform(drawn.factories[:, -2:], factories * (factories - 1))
    coloured = draw(make_game("azul", num_players=players), 100)
    assert (coloured.colours == np.arange(5)).all()
    assert not coloured.mirrored.any()


@pytest.mark.parametrize(
    ("options", "sides", "cards"),
    [
        ({"num_players": 2}, [0, 2], 384),
        ({"num_players": 2, "seats": "adjacent"}, [0, 1], 32),
        ({"num_players": 3}, [0, 1, 2], 32),
        ({"num_players": 4}, [0, 1, 2, 3], 32),
    ],
)
def test_manhattans_cards_are_exchanged_in_every_way_that_means_the_same_to_all(options, sides, cards) -> None:
    game = make_game("manhattan", **options)
    everything = np.array(list(permutations(range(9))))
    alike = np.ones(len(everything), bool)
    for side in sides:
        lot_of_card = LOT_OF_CARD[side].astype(int)
        # what an exchange of the cards does to the lots, as this side reads them
        lots = np.empty_like(everything)
        lots[:, lot_of_card] = lot_of_card[everything]
        alike &= (lots == everything).all(axis=1)
    drawn = draw(game, 40_000)
    assert alike.sum() == cards
    assert symmetry(game).order(game.options) == 720 * cards
    assert {tuple(row) for row in np.unique(drawn.cards, axis=0)} == {tuple(row) for row in everything[alike]}
    assert_uniform(drawn.cards, cards)
    assert_uniform(drawn.cities, 720)


def test_draws_of_qwirkle_are_uniform() -> None:
    game = make_game("qwirkle")
    drawn = draw(game, 40_000)
    assert symmetry(game).order(game.options) == 720 * 720 * 2 * 8
    assert_uniform(drawn.colours, 720)
    assert_uniform(drawn.shapes, 720)
    turns = [drawn.exchanged, drawn.transposed, drawn.mirrored[:, 0], drawn.mirrored[:, 1]]
    assert_uniform(np.column_stack(turns), 16)


def test_every_game_of_the_suite_has_symmetries() -> None:
    for name in BUILT_IN:
        game = make_game(name)
        assert symmetry(game).order(game.options) > 1


def test_qwirkles_strict_opening_goes_to_the_right() -> None:
    game = make_game("qwirkle")
    state = game.new(seed=1)
    for _ in range(3):
        game.play_action(state, np.flatnonzero(game.mask(state))[0])
    assert state["placed_count"] == 1
    assert state["picked"] > 0
    mask = game.mask(state)[None]
    drawn = draw(game, 1)._replace(transposed=np.array([True]), mirrored=np.array([[True, True]]))
    seen, (legal,) = apply(game, drawn, game.observe(state, int(state["to_move"]))[None], mask)
    assert (legal == mask).all()
    # 73 + 48 * 23 + 24: right of the first tile, which lies alone at 23, 23 of the window
    assert np.flatnonzero(legal[0]).tolist() == [73 + 48 * 23 + 24]
    assert seen[0, 48 * 23 + 24] == 73


def test_a_mirrored_table_of_qwirkle_is_centred_again() -> None:
    game = make_game("qwirkle", num_players=2, opening="free")
    state = game.new(seed=1)
    first = int(np.flatnonzero(game.mask(state))[0])
    game.play_action(state, first)
    mask = game.mask(state)[None]
    observation = game.observe(state, int(state["to_move"]))[None]
    drawn = identity(draw(game, 1))._replace(mirrored=np.array([[True, False]]))
    # an empty table counts as one cell, which lies at (48 - 1) // 2 however it is mirrored
    assert np.flatnonzero(mask[0]).tolist() == [73 + 48 * 23 + 23]
    seen, (legal,) = apply(game, drawn, observation, mask)
    assert (legal == mask).all()
    assert (seen == observation).all()
