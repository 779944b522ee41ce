"""Records of games between agents."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from math import ceil

import numpy as np

from ...envs.game import Game
from ...envs.records.record import Record
from ...envs.validation.arrays import check_integer
from ..external.private_memory import private_memory
from ..protocol import Agent
from .match_runner import make_records, play_blocks
from .match_seeds import derive_seeds
from .matches import make_agents

MOST_GAMES = 1_000_000_000
"""Games of a file of records, which is written game by game."""
_BLOCK = 32
"""Games played side by side. Always this many, even if fewer are wanted: agents share one stream among all games
of a block, and so record i is the same however many records are made."""


def record_games(
    game: Game,
    agents: Sequence[str | Agent],
    num_games: int,
    seed: int,
    positions: bool = False,
    secret: bytes | None = None,
) -> Iterator[Record]:
    """Yield the records of games 0 to num_games - 1 of the seed; agent i sits in seat i.

    Record i's own seed is that of game i of a batch of this seed; if bots of the user's own take part, it follows from
    a `secret`, too, a new one without it. `positions` adds position and legal moves to every ply. Raises ValueError
    for unknown agents or more than MOST_GAMES games, IllegalMove that names an agent which plays illegally.
    """
    num_games = check_integer(num_games, "num_games", 0, MOST_GAMES)
    seeds = derive_seeds(agents, seed, secret)
    with private_memory() if seeds.secret else nullcontext():
        players_of_match = make_agents(game, agents, seeds)
        names = [agent.name for agent in players_of_match]
        in_order = np.arange(len(players_of_match))[None]
        num_played = ceil(num_games / _BLOCK) * _BLOCK
        blocks = play_blocks(game, players_of_match, in_order, seeds, num_played, _BLOCK, keep_actions=True)
        records = (record for block in blocks for record in make_records(game, block, names, positions))
        yield from islice(records, num_games)
