"""Matches: a line-up on its deals, in all its seatings.

Evaluations, records and tournaments play all their games here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...envs.game import Game
from ...envs.records.record import Record, make_record
from ...envs.validation.states import State
from ..protocol import Agent
from .games import NOBODY, GameResults, collect_results
from .match_seeds import MatchSeeds
from .matches import MatchLog, make_agents, play_games
from .schedule import LineUp, list_seatings
from .settings import TournamentSettings


@dataclass(frozen=True)
class GameBlock:
    """n games that were played side by side.

    Attributes:
        results: of all games; `seats` holds the index into the agents of who sat in each seat.
        actions: the actions of every game in order; empty lists if they were not wanted.
        states: record [n], the last states.
    """

    results: GameResults
    actions: list[list[int]]
    states: np.ndarray


def play_block(
    game: Game,
    agents: Sequence[Agent],
    seatings: np.ndarray,
    seeds: np.ndarray,
    log: MatchLog | None = None,
    *,
    keep_actions: bool = False,
    first_index: int = 0,
) -> GameBlock:
    """Play one game per seed side by side; game j has seating (first_index + j) % seatings.

    Arguments:
        game: the game with its options.
        agents: any number of agents.
        seatings: integers [seatings, players], the index into `agents` of who sits in each seat.
        seeds: uint64 [n].
        log: as in `play_games`.
        keep_actions: whether to keep the actions of all games.
        first_index: what agents are told as the index of the first game; a multiple of the number of seatings.
    """
    seats = np.resize(seatings, (len(seeds), game.num_players))
    # a record is made of the actions alone: the states of all plies of all games would fill the memory
    actions: list[list[int]] = [[] for _ in seeds]

    def keep(games: np.ndarray, states: np.ndarray, chosen: np.ndarray) -> None:
        for index, action in zip(games.tolist(), chosen.tolist(), strict=True):
            actions[index].append(action)

    batch = play_games(game, agents, seeds, seats, keep if keep_actions else None, log, first_index)
    return GameBlock(collect_results(batch, seats, log), actions, batch.states)


def play_blocks(
    game: Game,
    agents: Sequence[Agent],
    seatings: np.ndarray,
    seeds: MatchSeeds,
    num_games: int,
    block_size: int,
    *,
    keep_actions: bool = False,
) -> Iterator[GameBlock]:
    """Play games 0 to num_games - 1 of a match, at most block_size, a multiple of the seatings, side by side."""
    for first in range(0, num_games, block_size):
        of_block = seeds.of_games(first, min(block_size, num_games - first), len(seatings))
        yield play_block(game, agents, seatings, of_block, keep_actions=keep_actions, first_index=first)


def make_records(game: Game, block: GameBlock, names: Sequence[str], positions: bool = False) -> Iterator[Record]:
    """Yield the record of every game of a block whose actions were kept; `names` are those of the agents."""
    results = block.results
    for index, actions in enumerate(block.actions):
        deal, seat = int(results.deals[index]), int(results.failed[index])
        forfeit = None if seat == NOBODY else (seat, str(results.reasons[index]))
        agents = [names[agent] for agent in results.seats[index]]
        plies = replay_actions(game, deal, actions)
        yield make_record(game, deal, agents, plies, block.states[index], positions, forfeit)


def replay_actions(game: Game, deal: int, actions: Sequence[int]) -> Iterator[tuple[State, int]]:
    """Yield (state before, action) of every ply of a game; the state is the same record, played on."""
    state = game.new(deal)
    for action in actions:
        yield state, action
        game.play_action(state, action)


@dataclass(frozen=True)
class Match:
    """One line-up in one round of a tournament."""

    round: int
    line_up: LineUp

    def names(self, names: Sequence[str]) -> list[str]:
        """Return the names of the line-up; `names` are those of all participants."""
        return [names[participant] for participant in self.line_up]

    def seeds(self, settings: TournamentSettings, secret: bytes | None = None) -> MatchSeeds:
        """Return the seeds of the match; all matches of a round have the same deals unless there is a secret."""
        return MatchSeeds(settings.seed, secret, self.round, self.line_up, first_deal=self.round * settings.deals)


class MatchRunner:
    """Plays matches of a tournament; agents that can be reset are kept from one match to the next."""

    def __init__(self, settings: TournamentSettings, *, trust: bool = False) -> None:
        self.game = settings.make_game()
        self._settings = settings
        self._trust = trust
        self._kept: dict[tuple[int, int], Agent] = {}

    def play(self, match: Match, secret: bytes | None = None) -> tuple[GameResults, list[Record]]:
        """Return the games of a match and, if they are wanted, their records.

        Both follow from the seed alone, or from it and the secret of the match.
        """
        settings, line_up = self._settings, match.line_up
        # an agent that holds several seats of a game has a stream of its own for each
        seatings = np.array([_seat_copies(line_up, seating) for seating in list_seatings(line_up).tolist()])
        num_games = settings.deals * len(seatings)
        seeds = match.seeds(settings, secret)
        log = MatchLog(num_games, len(line_up), settings.move_seconds)
        of_games = seeds.of_games(0, num_games, len(seatings))
        agents = self._agents(line_up, seeds)
        block = play_block(self.game, agents, seatings, of_games, log, keep_actions=settings.records)
        records = make_records(self.game, block, match.names(settings.names)) if settings.records else ()
        participants = np.array(line_up)[block.results.seats]
        return replace(block.results, rounds=np.full(num_games, match.round), seats=participants), list(records)

    def _agents(self, line_up: LineUp, seeds: MatchSeeds) -> list[Agent]:
        settings = self._settings
        copies = [(participant, line_up[:index].count(participant)) for index, participant in enumerate(line_up)]
        texts = [settings.agents[participant].agent for participant in line_up]
        kept = [self._kept.get(copy) for copy in copies]
        agents = make_agents(self.game, texts, seeds, settings.start_seconds, trust=self._trust, kept=kept)
        self._kept.update(zip(copies, agents, strict=True))
        return agents


def _seat_copies(line_up: LineUp, seating: Sequence[int]) -> list[int]:
    """Return the index into the line-up of who sits in each seat; copies of one agent sit in their order."""
    taken: list[int] = []
    for participant in seating:
        first = line_up.index(participant)
        taken.append(next(index for index in range(first, len(line_up)) if index not in taken))
    return taken
