"""Margins, win fractions, ranks and returns from the scores of a game, and the turn order."""

import numpy as np

from .compilation import Integer, kernel


@kernel
def margin_of(scores: np.ndarray, player: Integer, num_players: Integer) -> Integer:
    """Return a player's score minus the best other score; the score itself for a single player."""
    if num_players == 1:
        return np.int64(scores[player])
    best_other = np.int64(-(2**40))
    for other in range(num_players):
        if other != player:
            best_other = max(best_other, np.int64(scores[other]))
    return np.int64(scores[player]) - best_other


@kernel
def win_fraction(ranks: np.ndarray, player: Integer, num_players: Integer) -> float:
    """Return a player's fraction of the win: 1 for the only winner, 1 / k with k winners, else 0."""
    if ranks[player] != 0:
        return 0.0
    winners = 0
    for other in range(num_players):
        if ranks[other] == 0:
            winners += 1
    return 1.0 / winners


@kernel
def write_returns_of(
    scores: np.ndarray,
    ranks: np.ndarray,
    num_players: Integer,
    win_weight: float,
    margin_scale: float,
    returns: np.ndarray,
) -> None:
    """Write each player's return, 0 to 1: win fraction and squashed margin, mixed by `win_weight`."""
    for player in range(num_players):
        margin = margin_of(scores, player, num_players) / margin_scale
        won = win_fraction(ranks, player, num_players)
        returns[player] = win_weight * won + (1.0 - win_weight) * (0.5 + 0.5 * np.tanh(margin))


@kernel
def _write_returns_of_games(
    scores: np.ndarray, ranks: np.ndarray, win_weight: float, margin_scale: float, returns: np.ndarray
) -> None:
    for game in range(len(scores)):
        write_returns_of(scores[game], ranks[game], scores.shape[1], win_weight, margin_scale, returns[game])


@kernel
def _write_margins_of_games(scores: np.ndarray, margins: np.ndarray) -> None:
    for game in range(len(scores)):
        for player in range(scores.shape[1]):
            margins[game, player] = margin_of(scores[game], player, scores.shape[1])


def game_margins(scores: np.ndarray) -> np.ndarray:
    """Return each score less the best other score of n games, int64 [n, players]; alone it is the score itself."""
    scores = np.ascontiguousarray(scores, np.int32)
    margins = np.zeros(scores.shape, np.int64)
    _write_margins_of_games(scores, margins)
    return margins


def game_returns(scores: np.ndarray, ranks: np.ndarray, win_weight: float, margin_scale: float) -> np.ndarray:
    """Return each player's return of n finished games as a search defines it, 0 to 1, float64 [n, num_players].

    scores, ranks: integers [n, num_players]. The win fraction has weight `win_weight`, the squashed margin the rest.
    """
    scores, ranks = np.ascontiguousarray(scores, np.int32), np.ascontiguousarray(ranks, np.int32)
    returns = np.zeros(scores.shape)
    _write_returns_of_games(scores, ranks, float(win_weight), float(margin_scale), returns)
    return returns


@kernel
def write_ranks(scores: np.ndarray, ranks: np.ndarray, num_players: Integer) -> None:
    """Write ranks by descending score, int32 [num_players]: 0 for winners; tied players share the better rank."""
    for player in range(num_players):
        ranks[player] = 0
        for other in range(num_players):
            ranks[player] += scores[other] > scores[player]


@kernel
def next_player(player: Integer, num_players: Integer) -> Integer:
    """Return the next player in turn order."""
    return 0 if player + 1 == num_players else player + 1
