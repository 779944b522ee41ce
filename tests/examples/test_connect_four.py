"""The rules of the example `connect_four`: counted, compared with a second version of them, and searched to the end."""

from itertools import count, product

import numpy as np
import pytest
from connect_four_by_hand import COLUMNS, EMPTY, LINES, ROWS, best_moves, board, drop, moves, to_move, value, winner

from meeplezoo.agents import DecisionBatch, make_agent
from meeplezoo.envs import GameBatch, IllegalMove, make_game
from meeplezoo.envs.engine.compilation import kernel
from meeplezoo.envs.engine.interface import apply, legal_mask

GAME = make_game("connect_four")
PERFT = [7, 49, 343, 2_401, 16_807, 117_649, 823_536, 5_673_234]
"""How many sequences of 1, 2, ... legal moves there are from the empty board."""


@kernel
def count_sequences(stack, masks, tried, depth):
    """Count the sequences of `depth` legal moves from stack[0]; the arrays, [depth], are buffers."""
    sequences, level = 0, 0
    tried[0] = 0
    legal_mask(stack[0], masks[0])
    while level >= 0:
        column = tried[level]
        if column == masks.shape[1]:
            level -= 1
            continue
        tried[level] += 1
        if not masks[level, column]:
            continue
        if level + 1 == depth:
            sequences += 1
            continue
        stack[level + 1] = stack[level]
        apply(stack[level + 1], column)
        level += 1
        tried[level] = 0
        legal_mask(stack[level], masks[level])
    return sequences


def test_sequences_of_legal_moves_are_as_many_as_everybody_counts():
    counted = []
    for depth in range(1, len(PERFT) + 1):
        stack = np.repeat(GAME.new(seed=1).reshape(1), depth)
        counted.append(count_sequences(stack, np.zeros((depth, COLUMNS), np.int8), np.zeros(depth, np.int64), depth))
    assert counted == PERFT


def position_of(columns):
    """Return the position of a running game in the notation."""
    return {
        "game": "connect_four",
        "options": {"num_players": 2},
        "phase": "play",
        "to_move": "xo".index(to_move(columns)),
        "board": board(columns),
        "winner": 0,
    }


def play(sequence):
    """Return the state and the columns of a second version after these moves."""
    state, columns = GAME.new(seed=1), EMPTY
    for column in sequence:
        GAME.play(state, {"column": column})
        columns = drop(columns, column)
    return state, columns


@pytest.mark.parametrize("seed", range(50))
def test_random_games_are_those_of_the_second_version(seed):
    random = np.random.default_rng(seed)
    state, columns = GAME.new(seed=seed), EMPTY
    while not GAME.is_over(state):
        assert winner(columns) == ""
        assert GAME.position(state) == position_of(columns)
        assert GAME.from_position(GAME.position(state))["board"].tolist() == board(columns)
        assert [move["column"] for move in GAME.legal_moves(state)] == moves(columns)
        column = int(random.choice(moves(columns)))
        GAME.play(state, {"column": column})
        columns = drop(columns, column)
    assert moves(columns) == []
    assert not GAME.mask(state).any()
    won = winner(columns)
    scores = [int(won == "x"), int(won == "o")]
    expected = {"scores": scores, "winners": [scores.index(1)] if won else [0, 1], "truncated": False}
    assert GAME.position(state)["result"] == expected
    assert GAME.position(state)["winner"] == " xo".index(won or " ")
    assert GAME.position(GAME.from_position(GAME.position(state))) == GAME.position(state)


ENDINGS = {
    "across": [0, 0, 1, 1, 2, 2, 3],
    "down": [0, 1, 0, 1, 0, 1, 0],
    "rising": [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3],
    "falling": [6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3],
    "across, in the middle": [0, 0, 1, 1, 3, 3, 2],
    "of the second player": [6, 0, 6, 1, 5, 2, 5, 3],
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_line_of_four_ends_the_game(name):
    state, columns = play(ENDINGS[name])
    before, _ = play(ENDINGS[name][:-1])
    assert not GAME.is_over(before)
    assert GAME.is_over(state)
    mover = (len(ENDINGS[name]) - 1) % 2
    assert GAME.result(state)["winners"] == ["xo".index(winner(columns))] == [mover]
    assert state["to_move"] == mover
    with pytest.raises(IllegalMove, match="the game is over"):
        GAME.play_action(state, 0)


def test_every_line_is_found_whichever_of_its_discs_comes_last():
    for (line, last), player in product(product(LINES, range(4)), (1, 2)):
        state = GAME.new(seed=1)
        column, height = line[last]
        if any(other == column and row > height for other, row in line):
            continue
        for other, row in line[:last] + line[last + 1 :]:
            state["board"][ROWS - 1 - row, other] = player
        # discs of nobody's line below the cell, so that the last one comes to lie there
        for row in range(height):
            if (column, row) not in line:
                state["board"][ROWS - 1 - row, column] = 3
        state["to_move"] = player - 1
        GAME.play_action(state, column)
        assert state["winner"] == player, (line, last)


FULL = [0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 2, 3, 2, 3, 3, 2, 3, 2, 2, 3, 2, 3, 4, 5, 4, 5, 5, 4, 5, 4, 4, 5, 4, 5]


def test_a_full_board_is_a_draw():
    state, columns = play([*FULL, *[6] * 5])
    assert not GAME.is_over(state)
    assert GAME.legal_moves(state) == [{"column": 6}]
    GAME.play(state, {"column": 6})
    assert GAME.result(state) == {"scores": [0, 0], "winners": [0, 1], "truncated": False}
    assert winner(drop(columns, 6)) == ""
    assert GAME.is_over(state)


def test_what_cannot_be_is_refused():
    state, _ = play([3] * 6)
    with pytest.raises(IllegalMove, match=r"connect_four: action 3, \{'column': 3\}, is illegal in this position"):
        GAME.play(state, {"column": 3})
    for move in ({"column": 7}, {"column": "3"}, {"column": True}, {}, {"row": 1}, 3):
        with pytest.raises(IllegalMove, match=r"column|move"):
            GAME.play(state, move)
    position = GAME.position(state)
    changes = [
        ({"board": position["board"][:-1]}, "board: must have 6 entries, not 5"),
        ({"board": [*position["board"][:-1], [0] * 6]}, r"board\[5\]: must have 7 entries, not 6"),
        ({"board": [*position["board"][:-1], [3] * 7]}, r"board\[5\]\[0\]: must be an integer from 0 to 2, not 3"),
        ({"winner": None}, "winner: must be an integer from 0 to 2, not None"),
        ({"loser": 0}, "unknown key 'loser'"),
        ({"board": [[1] * 7] * 6}, "position: nothing is legal in it, although it is not over"),
    ]
    for change, reason in changes:
        with pytest.raises(ValueError, match=reason):
            GAME.from_position({**position, **change})


def test_states_from_files_are_checked_as_far_as_ranges_go():
    states = GameBatch(GAME, 4).states.copy()
    states["board"][2, 0, 0] = 3
    with pytest.raises(ValueError, match="states: game 2: board must be from 0 to 2, not 3"):
        GAME.check_states(states)
    states["board"][2] = 1
    with pytest.raises(ValueError, match="game 2 cannot be: nothing is legal in it, although it is not over"):
        GAME.check_states(states)
    states["board"][2] = 0
    GAME.check_states(states)


@pytest.mark.parametrize("seat", [0, 1])
def test_the_observation_has_the_own_discs_first(seat):
    state, _ = play([3, 3, 2])
    seen = GAME.observe(state, seat).reshape(2, ROWS, COLUMNS)
    expected = [state["board"] == 1, state["board"] == 2]
    np.testing.assert_array_equal(seen, expected if seat == 0 else expected[::-1])


def late_positions(decisive, lost, most_empty=14):
    """Return positions of running games with few empty cells: some in which a wrong move costs something, some lost."""
    wanted = {True: decisive, False: lost}
    for seed in count():
        random = np.random.default_rng(seed)
        columns = EMPTY
        while moves(columns) and ROWS * COLUMNS - sum(map(len, columns)) > most_empty:
            columns = drop(columns, int(random.choice(moves(columns))))
        matters = bool(moves(columns)) and len(best_moves(columns)) < len(moves(columns))
        if wanted[matters] and moves(columns) and (matters or value(columns) == -1):
            wanted[matters] -= 1
            yield columns
        if not any(wanted.values()):
            return


LATE = list(late_positions(decisive=16, lost=4))


def late_states():
    return np.concatenate([GAME.from_position(position_of(columns)).reshape(1) for columns in LATE])


def test_the_late_positions_are_won_drawn_and_lost():
    assert {value(columns) for columns in LATE} == {-1, 0, 1}


@pytest.mark.parametrize("text", ["minimax:depth=14,width=0,plies=0,samples=1", "mcts:sims=20000,leaf=random"])
def test_searches_find_a_best_move(text):
    actions = make_agent(text, GAME, seed=1).act(DecisionBatch(GAME, late_states()))
    assert [int(action) in best_moves(columns) for columns, action in zip(LATE, actions, strict=True)] == [True] * 20


def test_minimax_plays_to_the_exact_value():
    agent = make_agent("minimax:depth=14,width=0,plies=0,samples=1", GAME, seed=1)
    for columns, state in zip(LATE, late_states(), strict=True):
        mover = int(state["to_move"])
        while not GAME.is_over(state):
            GAME.play_action(state, agent.act(DecisionBatch(GAME, np.array([state])))[0])
        scores = GAME.result(state)["scores"]
        assert scores[mover] - scores[1 - mover] == value(columns)
