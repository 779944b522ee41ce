"""Records of games between agents."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext

import numpy as np

from ...envs.engine.random_stream import checked_seed
from ...envs.game import Game
from ...envs.records.record import Record, make_record
from ...envs.validation.arrays import check_integer
from ...envs.validation.states import State
from ..external.private_memory import private_memory
from ..protocol import Agent
from .matches import make_agents, match_seeds, play_matches

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
    match = match_seeds(agents, checked_seed(seed), secret)
    with private_memory() if match.secret else nullcontext():
        seated = make_agents(game, agents, match.seed, match.secret)
        names = [agent.name for agent in seated]
        for start in range(0, num_games, _BLOCK):
            seeds = match.of_games(start, _BLOCK, 1).tolist()
            histories, finals = _play_block(game, seated, seeds, start)
            for own_seed, history, final in list(zip(seeds, histories, finals, strict=True))[: num_games - start]:
                yield make_record(game, own_seed, names, history, final, positions)


History = list[tuple[State, int]]


def _play_block(game: Game, agents: list[Agent], seeds: list[int], first: int) -> tuple[list[History], np.ndarray]:
    """Return the (state before, action) of every ply of every game, and the final records."""
    histories: list[History] = [[] for _ in seeds]

    def keep(games: np.ndarray, states: np.ndarray, actions: np.ndarray) -> None:
        for place, index in enumerate(games.tolist()):
            histories[index].append((states[place], int(actions[place])))

    seatings = np.tile(np.arange(len(agents)), (len(seeds), 1))
    batch = play_matches(game, agents, np.array(seeds, np.uint64), seatings, keep, first_index=first)
    return histories, batch.states
