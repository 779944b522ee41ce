"""Connect Four: two players drop discs into seven columns; four in a row win, a full board is a draw.

An action is a column, 0 to 6. Row 0 of the board is the top, the first to be full.
"""

import numpy as np

from meeplezoo.envs.engine.compilation import kernel
from meeplezoo.envs.engine.standing import write_ranks
from meeplezoo.envs.engine.state import ENDED, RUNNING
from meeplezoo.envs.spec import Field, GameKernels, GameSpec, Number, ObservationField, plain_notation

ROWS, COLUMNS, LINE = 6, 7, 4
FIELDS = (
    Field("board", "u1", 2, (ROWS, COLUMNS)),  # 0 empty, 1 a disc of player 0, 2 of player 1
    Field("winner", "u1", 2),  # 0 nobody yet, 1 player 0, 2 player 1
)


@kernel
def reset(state: np.void) -> None:
    """Set up nothing: an empty board is a record of zeros, and player 0 begins."""


@kernel
def legal_mask(state: np.void, mask: np.ndarray) -> None:
    """Allow every column that is not full, and none when the game is over."""
    for column in range(COLUMNS):
        mask[column] = state["status"] == RUNNING and state["board"][0, column] == 0


@kernel
def apply(state: np.void, column: int) -> None:
    """Drop a disc into a column; it comes to lie on the highest one there."""
    board = state["board"]
    row = ROWS - 1
    while row > 0 and board[row, column] != 0:
        row -= 1
    board[row, column] = 1 + state["to_move"]
    if has_line(board, row, column):
        state["winner"] = 1 + state["to_move"]
        state["status"] = ENDED
    elif board[0].all():
        state["status"] = ENDED
    else:
        state["to_move"] = 1 - state["to_move"]


@kernel
def has_line(board: np.ndarray, row: int, column: int) -> bool:
    """Tell whether the disc at a cell stands in a line of four: across, down or on a diagonal."""
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        if count_discs(board, row, column, down, right) + count_discs(board, row, column, -down, -right) > LINE:
            return True
    return False


@kernel
def count_discs(board: np.ndarray, row: int, column: int, down: int, right: int) -> int:
    """Count the discs of one player from a cell on without a gap, in one direction."""
    disc, count = board[row, column], 0
    while 0 <= row < ROWS and 0 <= column < COLUMNS and board[row, column] == disc:
        count, row, column = count + 1, row + down, column + right
    return count


@kernel
def observe(state: np.void, seat: int, layout: int, numbers: np.ndarray) -> None:
    """Write two planes: the discs of the seat, then those of the other player."""
    for cell in range(ROWS * COLUMNS):
        disc = state["board"][cell // COLUMNS, cell % COLUMNS]
        numbers[cell] = disc == 1 + seat
        numbers[ROWS * COLUMNS + cell] = disc == 2 - seat


@kernel
def scores_and_ranks(state: np.void, scores: np.ndarray, ranks: np.ndarray) -> None:
    """Give the winner a point."""
    for player in range(2):
        scores[player] = state["winner"] == 1 + player
    write_ranks(scores, ranks, 2)


GAME = GameSpec(
    name="connect_four",
    title="Connect Four",
    version=0,
    summary="Drop discs into columns; four in a row win.",
    options=(Number("num_players", 2, 2, 2, "players at the board", original=True),),
    state_fields=FIELDS,
    num_actions=lambda options: COLUMNS,
    observation_fields=lambda options, layout: (
        ObservationField("own discs", (ROWS, COLUMNS), "1 where the seat has a disc"),
        ObservationField("other discs", (ROWS, COLUMNS), "1 where the other player has one"),
    ),
    kernels=lambda: GameKernels(reset, legal_mask, apply, observe, scores_and_ranks),
    notation=lambda: plain_notation(FIELDS, COLUMNS, move_key="column"),
)
