"""Evaluation: many games between agents, all seatings equally often, counted exactly."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import sqrt
from typing import Any

import numpy as np

from ..envs.batch import GameBatch
from ..envs.engine.random_stream import checked_seed, game_seeds
from ..envs.engine.state import CUT_OFF
from ..envs.game import Game
from .matches import play_matches, seat_agents
from .protocol import Agent

_SIDE_BY_SIDE = 1024
_NORMAL_QUANTILE = 1.959963984540054  # 97.5 % of a normal distribution lies below


@dataclass(frozen=True)
class AgentResult:
    """How one agent did: a win shared with others counts as a draw, and as 1 / (number of winners) in `points`."""

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    mean_score: float
    mean_margin: float
    """Mean of the own score minus the best other score."""

    @property
    def win_rate(self) -> float:
        """Return points per game."""
        return self.points / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the win rate."""
        return wilson_interval(self.points, self.games)


@dataclass(frozen=True)
class Evaluation:
    """The results of an evaluation, agents in the order they were given in."""

    game: Game
    seed: int
    games: int
    seatings: int
    """In how many ways the agents can sit; game j is deal j // seatings in seating j % seatings."""
    truncated: int
    """How many games were cut off by a limit."""
    seconds: float
    agents: tuple[AgentResult, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON data; the same seed gives the same but for `games_per_second`."""
        return {
            "game": self.game.name,
            "options": dict(self.game.options),
            "seed": self.seed,
            "games": self.games,
            "games_per_second": self.games / self.seconds,
            "agents": [
                {
                    "name": agent.name,
                    "games": agent.games,
                    "wins": agent.wins,
                    "draws": agent.draws,
                    "losses": agent.losses,
                    "win_rate": agent.win_rate,
                    "interval": list(agent.interval),
                    "mean_score": agent.mean_score,
                    "mean_margin": agent.mean_margin,
                }
                for agent in self.agents
            ],
        }


def evaluate(game: Game, agents: Sequence[str | Agent], num_games: int, seed: int) -> Evaluation:
    """Play num_games games between the agents, one per player, and return the results.

    Every deal is played in all seatings, as far as num_games goes. The same seed gives the same results if the
    agents are given by name; agents given as objects go on with their own streams. The same name twice is two
    entries.

    Raises ValueError for unknown agents, not one agent per player or fewer than one game, and IllegalMove that
    names an agent which plays illegally.
    """
    if num_games < 1:
        raise ValueError(f"an evaluation needs at least 1 game, not {num_games}")
    seed = checked_seed(seed)
    seated = seat_agents(game, agents, seed)
    seatings = np.array(list(permutations(range(len(seated)))))
    deals_at_once = max(1, _SIDE_BY_SIDE // len(seatings))
    counts = _Counts(len(seated))
    began = time.perf_counter()
    first = seed
    while counts.games < num_games:
        *deals, first = game_seeds(first, deals_at_once + 1).tolist()
        left = num_games - counts.games
        seeds = np.repeat(np.array(deals, np.uint64), len(seatings))[:left]
        who = np.tile(seatings, (deals_at_once, 1))[:left]
        counts.add(play_matches(game, seated, seeds, who), who)
    seconds = time.perf_counter() - began
    results = tuple(counts.result(index, agent.name) for index, agent in enumerate(seated))
    return Evaluation(game, seed, num_games, len(seatings), counts.truncated, seconds, results)


def wilson_interval(points: float, games: int) -> tuple[float, float]:
    """Return the 95 % score interval of a rate points / games (Wilson 1927); 0 and 1 are reached, not passed."""
    rate = points / games
    square = _NORMAL_QUANTILE**2 / games
    centre = (rate + square / 2) / (1 + square)
    half = sqrt(rate * (1 - rate) * square + square**2 / 4) / (1 + square)
    low = 0.0 if rate == 0 else max(0.0, centre - half)
    high = 1.0 if rate == 1 else min(1.0, centre + half)
    return low, high


class _Counts:
    """Sums over finished games, per agent; all whole numbers."""

    def __init__(self, num_agents: int) -> None:
        self.games = 0
        self.truncated = 0
        # [agent, k]: games that the agent won together with k - 1 others; k = 0: games lost
        self.won_by = np.zeros((num_agents, num_agents + 1), np.int64)
        self.score = np.zeros(num_agents, np.int64)
        self.margin = np.zeros(num_agents, np.int64)

    def add(self, batch: GameBatch, seatings: np.ndarray) -> None:
        """Count finished games; seatings [n, num_players] says which agent sat in which seat."""
        scores, places = batch.results()
        won = places == 0
        winners = won.sum(axis=1, keepdims=True)
        num_seats = scores.shape[1]
        for seat in range(num_seats):
            others = np.delete(scores, seat, axis=1).max(axis=1)
            agents = seatings[:, seat]
            np.add.at(self.won_by, (agents, np.where(won[:, seat], winners[:, 0], 0)), 1)
            np.add.at(self.score, agents, scores[:, seat])
            np.add.at(self.margin, agents, scores[:, seat] - others)
        self.games += len(scores)
        self.truncated += int((batch.states["over"] == CUT_OFF).sum())

    def result(self, agent: int, name: str) -> AgentResult:
        """Return the result of one agent."""
        losses, wins, *shared = self.won_by[agent].tolist()
        points = wins + sum(count / number for number, count in enumerate(shared, start=2))
        return AgentResult(
            name=name,
            games=self.games,
            wins=wins,
            draws=sum(shared),
            losses=losses,
            points=points,
            mean_score=int(self.score[agent]) / self.games,
            mean_margin=int(self.margin[agent]) / self.games,
        )
