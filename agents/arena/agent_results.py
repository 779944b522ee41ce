"""How each agent did in played games: the same for an evaluation and for a tournament."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...envs.engine.standing import game_margins
from .games import NOBODY, GameResults
from .statistics import Interval, mean_interval, wilson_interval


@dataclass(frozen=True)
class AgentResult:
    """How one agent did: a win shared with others counts as a draw, and as 1 / (number of winners) in `points`.

    An agent in several seats of a game counts once for each. Scores and margins leave out games in which an agent
    failed; they are None if nothing is left, their intervals if it is too little.
    """

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    mean_score: float | None
    score_interval: Interval | None
    mean_margin: float | None
    """Mean of the own score minus the best other score."""
    margin_interval: Interval | None
    milliseconds_per_move: float | None
    failures: dict[str, int]
    """How many games each reason of the agent's own failures has cost."""

    @property
    def win_rate(self) -> float:
        """Return points per game, 0 without games."""
        return self.points / self.games if self.games else 0.0

    @property
    def interval(self) -> Interval:
        """Return the 95 % interval of the win rate."""
        return wilson_interval(self.points, self.games) if self.games else (0.0, 1.0)


def agent_results(games: GameResults, names: Sequence[str]) -> list[AgentResult]:
    """Return the result of every agent, in the order of their names."""
    margins = game_margins(games.scores)
    return [_agent_result(games, margins, agent, name) for agent, name in enumerate(names)]


def _agent_result(games: GameResults, margins: np.ndarray, agent: int, name: str) -> AgentResult:
    game, seat = np.nonzero(games.seats == agent)
    won = games.ranks[game, seat] == 0
    winners = (games.ranks == 0).sum(axis=1)[game]
    # how often the agent won together with k - 1 others: integers, so that points do not depend on the order
    losses, wins, *shared = np.bincount(np.where(won, winners, 0), minlength=games.seats.shape[1] + 1).tolist()
    whole = games.finished[game]
    scored, at = game[whole], seat[whole]
    mean_score, score_interval = mean_interval(games.scores[scored, at], games.deals[scored])
    mean_margin, margin_interval = mean_interval(margins[scored, at], games.deals[scored])
    moves = int(games.moves[game, seat].sum())
    failed = np.nonzero(games.failed != NOBODY)[0]
    own = [index for index in failed.tolist() if games.seats[index, games.failed[index]] == agent]
    return AgentResult(
        name=name,
        games=len(game),
        wins=wins,
        draws=sum(shared),
        losses=losses,
        points=wins + sum(count / number for number, count in enumerate(shared, start=2)),
        mean_score=mean_score,
        score_interval=score_interval,
        mean_margin=mean_margin,
        margin_interval=margin_interval,
        milliseconds_per_move=1000 * float(games.seconds[game, seat].sum()) / moves if moves else None,
        failures=dict(Counter(str(games.reasons[index]) for index in own).most_common()),
    )
