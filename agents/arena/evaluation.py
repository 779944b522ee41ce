"""Evaluation: one line-up of the arena, one agent per seat, played in all seatings and counted exactly."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from ...envs.game import Game
from ...envs.validation.arrays import check_integer
from ..external.private_memory import private_memory
from ..protocol import Agent
from .games import concatenate
from .match_runner import play_blocks
from .match_seeds import derive_seeds
from .matches import make_agents
from .schedule import list_seatings
from .statistics import AgentResult, agent_results, wilson_interval

__all__ = ["AgentResult", "Evaluation", "evaluate", "wilson_interval"]

_SIDE_BY_SIDE = 1024
MOST_GAMES = 1_000_000
"""Games of an evaluation, all of which are kept until its end: at most 200 bytes each, twice."""


@dataclass(frozen=True)
class Evaluation:
    """The results of an evaluation, agents in the order they were given in."""

    game: Game
    seed: int
    games: int
    seatings: int
    """In how many ways the agents can sit; game j has seating j % seatings, and deal j // seatings without a secret."""
    truncated: int
    """How many games were cut off by a limit."""
    seconds: float
    agents: tuple[AgentResult, ...]
    secret: bytes | None = None
    """What the games follow from beside the seed, if bots of the user's own took part."""

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


def evaluate(
    game: Game,
    agents: Sequence[str | Agent],
    num_games: int,
    seed: int,
    secret: bytes | None = None,
    *,
    trust: bool = False,
) -> Evaluation:
    """Play num_games games between the agents, one per player, and return the results.

    Every deal is played in all seatings, as far as num_games goes. The same seed gives the same results if the
    agents are given by name; agents given as objects go on with their own streams. The same name twice is two
    entries. `trust` is that of `make_agent`.

    If bots of the user's own take part, deals and agents follow from a `secret`, too, a new one without it, and every
    game has a deal of its own, all seatings equally often.

    Raises ValueError for unknown agents, not one agent per player, no game or more than MOST_GAMES, and IllegalMove
    that names an agent which plays illegally.
    """
    num_games = check_integer(num_games, "num_games", 1, MOST_GAMES)
    seeds = derive_seeds(agents, seed, secret)
    with private_memory() if seeds.secret else nullcontext():
        players_of_match = make_agents(game, agents, seeds, trust=trust)
        seatings = list_seatings(range(len(players_of_match)))
        block_size = max(1, _SIDE_BY_SIDE // len(seatings)) * len(seatings)
        began = time.perf_counter()
        blocks = play_blocks(game, players_of_match, seatings, seeds, num_games, block_size)
        games = concatenate([block.results for block in blocks])
        seconds = time.perf_counter() - began
    results = tuple(agent_results(games, [agent.name for agent in players_of_match]))
    truncated = int(games.truncated.sum())
    return Evaluation(game, seeds.seed, num_games, len(seatings), truncated, seconds, results, seeds.secret)
