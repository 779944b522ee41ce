"""Connect Four written a second time, for comparison: columns of discs as texts, lists of lines, brute force."""

from functools import cache

ROWS, COLUMNS = 6, 7
Columns = tuple[str, ...]
"""For each column its discs from the bottom, "x" of who began and "o" of the other."""
EMPTY: Columns = ("",) * COLUMNS

LINES = [
    [(column + step * right, row + step * up) for step in range(4)]
    for column in range(COLUMNS)
    for row in range(ROWS)
    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1))
    if 0 <= column + 3 * right < COLUMNS and 0 <= row + 3 * up < ROWS
]
"""The 69 lines of four cells, (column, height)."""


def to_move(columns: Columns) -> str:
    return "xo"[sum(map(len, columns)) % 2]


def drop(columns: Columns, column: int) -> Columns:
    return (*columns[:column], columns[column] + to_move(columns), *columns[column + 1 :])


def winner(columns: Columns) -> str:
    """Return whose line there is, "" for nobody's."""
    for line in LINES:
        discs = {columns[column][row : row + 1] for column, row in line}
        if len(discs) == 1 and discs != {""}:
            return discs.pop()
    return ""


def moves(columns: Columns) -> list[int]:
    over = winner(columns)
    return [] if over else [column for column in range(COLUMNS) if len(columns[column]) < ROWS]


@cache
def value(columns: Columns) -> int:
    """Return what a position is worth to the player to move: 1 a win, 0 a draw, -1 a loss."""
    if winner(columns):
        return -1
    best = -2
    for column in moves(columns):
        best = max(best, -value(drop(columns, column)))
        if best == 1:
            break
    return 0 if best == -2 else best


def best_moves(columns: Columns) -> set[int]:
    values = {column: -value(drop(columns, column)) for column in moves(columns)}
    return {column for column, worth in values.items() if worth == max(values.values())}


def board(columns: Columns) -> list[list[int]]:
    """Return the board as the notation of the game has it: rows from the top, 0 empty, 1 and 2 the players."""
    return [
        [1 + "xo".index(columns[column][row]) if row < len(columns[column]) else 0 for column in range(COLUMNS)]
        for row in reversed(range(ROWS))
    ]
