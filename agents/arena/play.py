"""Playing what a schedule says: one meeting is one line-up on some deals, in all seatings, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...envs.game import Game
from ...envs.records.record import Record, make_record
from ...envs.validation.states import State
from ..protocol import Agent
from ..registry import reset_agent
from .games import NOBODY, GameResults, played_games
from .matches import MatchLog, play_matches
from .schedule import LineUp, meeting_seeds, seatings


@dataclass(frozen=True)
class Match:
    """One line-up in one round."""

    round: int
    line_up: LineUp

    def names(self, names: Sequence[str]) -> list[str]:
        """Return the names of the line-up; `names` are those of all entrants."""
        return [names[entrant] for entrant in self.line_up]


@dataclass(frozen=True)
class MatchConfig:
    """What all meetings of a tournament have in common; sent once to every process that plays."""

    game: Game
    agents: tuple[str, ...]
    """The texts of the agents."""
    names: tuple[str, ...]
    seed: int
    deals: int
    """Deals of a meeting."""
    move_seconds: float | None
    records: bool
    start_seconds: float | None = None
    trust: bool = False


class Player:
    """Plays meetings, and keeps agents that can begin anew with another seed from one meeting to the next."""

    def __init__(self, terms: MatchConfig) -> None:
        self.terms = terms
        self._kept: dict[tuple[int, int], Agent] = {}

    def play(self, meeting: Match, secret: bytes | None = None) -> tuple[GameResults, list[Record]]:
        """Return the games of a meeting and, if they are wanted, their records.

        Both follow from the seed alone, or from it and the secret of the meeting.
        """
        terms, line_up = self.terms, meeting.line_up
        ways = seatings(line_up)
        seats = np.tile(ways, (terms.deals, 1))
        seeds, own_seeds = meeting_seeds(terms.seed, meeting.round, line_up, terms.deals, secret)
        agents = self._agents(line_up, own_seeds)
        # an agent that holds several seats of a game has a stream of its own for each
        ranks = np.array([_places(line_up, seating) for seating in ways])
        conduct = MatchLog(len(seeds), len(line_up), terms.move_seconds)
        # a record is made of the actions alone: the states of all plies of all games would fill the memory
        history: list[list[int]] = [[] for _ in seeds]

        def keep(games: np.ndarray, states: np.ndarray, actions: np.ndarray) -> None:
            for game, action in zip(games.tolist(), actions.tolist(), strict=True):
                history[game].append(action)

        watch = keep if terms.records else None
        batch = play_matches(terms.game, agents, seeds, np.tile(ranks, (terms.deals, 1)), watch, conduct)
        games = played_games(meeting.round, batch, seats, conduct)
        recorded = range(len(games)) if terms.records else ()
        return games, [self._record(games, index, history[index], batch.states[index]) for index in recorded]

    def _agents(self, line_up: LineUp, seeds: list[int]) -> list[Agent]:
        terms, agents = self.terms, []
        for place, (entrant, seed) in enumerate(zip(line_up, seeds, strict=True)):
            key = entrant, line_up[:place].count(entrant)
            kept, text = self._kept.get(key), terms.agents[entrant]
            self._kept[key] = reset_agent(kept, text, terms.game, seed, terms.start_seconds, trust=terms.trust)
            agents.append(self._kept[key])
        return agents

    def _record(self, games: GameResults, index: int, actions: list[int], final: State) -> Record:
        names = [self.terms.names[entrant] for entrant in games.seats[index]]
        seat = int(games.failed[index])
        forfeit = None if seat == NOBODY else (seat, str(games.reasons[index]))
        deal = int(games.deals[index])
        return make_record(
            self.terms.game, deal, names, _played_again(self.terms.game, deal, actions), final, forfeit=forfeit
        )


def _played_again(game: Game, deal: int, actions: list[int]) -> Iterator[tuple[State, int]]:
    """Yield (state before, action) of every ply of a game; the state is the same record, played on."""
    state = game.new(deal)
    for action in actions:
        yield state, action
        game.play_action(state, action)


def _places(line_up: LineUp, seating: Sequence[int]) -> list[int]:
    """Return which place of the line-up sits in each seat."""
    taken: list[int] = []
    for entrant in seating:
        first = line_up.index(entrant)
        taken.append(next(place for place in range(first, len(line_up)) if place not in taken))
    return taken
