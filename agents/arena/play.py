"""Playing what a schedule says: one meeting is one line-up on some deals, in all seatings, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...envs.game import Game
from ...envs.records import Record, make_record
from ..matches import Conduct, play_matches
from ..protocol import Agent
from ..registry import begun_anew
from .games import NOBODY, PlayedGames, played_games
from .schedule import LineUp, agent_seeds, deal_seeds, seatings


@dataclass(frozen=True)
class Meeting:
    """One line-up in one round."""

    round: int
    line_up: LineUp


@dataclass(frozen=True)
class Terms:
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
    trust: bool = False


class Player:
    """Plays meetings, and keeps agents that can begin anew with another seed from one meeting to the next."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._kept: dict[tuple[int, int], Agent] = {}

    def play(self, meeting: Meeting) -> tuple[PlayedGames, list[Record]]:
        """Return the games of a meeting and, if they are wanted, their records; both follow from the seed alone."""
        terms, line_up = self.terms, meeting.line_up
        ways = seatings(line_up)
        deals = deal_seeds(terms.seed, meeting.round, terms.deals)
        seeds, seats = np.repeat(deals, len(ways)), np.tile(ways, (len(deals), 1))
        agents = self._agents(meeting)
        # an agent that holds several seats of a game has a stream of its own for each
        places = np.array([_places(line_up, seating) for seating in ways])
        conduct = Conduct(len(seeds), len(line_up), terms.move_seconds)
        history: list[list[tuple[np.void, int]]] = [[] for _ in seeds]

        def keep(games: np.ndarray, states: np.ndarray, actions: np.ndarray) -> None:
            for index, game in enumerate(games.tolist()):
                history[game].append((states[index], int(actions[index])))

        watch = keep if terms.records else None
        batch = play_matches(terms.game, agents, seeds, np.tile(places, (len(deals), 1)), watch, conduct)
        games = played_games(meeting.round, batch, seats, conduct)
        recorded = range(len(games)) if terms.records else ()
        return games, [self._record(games, index, history[index], batch.states[index]) for index in recorded]

    def _agents(self, meeting: Meeting) -> list[Agent]:
        agents = []
        seeds = agent_seeds(self.terms.seed, meeting.round, meeting.line_up)
        for place, (entrant, seed) in enumerate(zip(meeting.line_up, seeds, strict=True)):
            key = entrant, meeting.line_up[:place].count(entrant)
            self._kept[key] = begun_anew(
                self._kept.get(key), self.terms.agents[entrant], self.terms.game, seed, trust=self.terms.trust
            )
            agents.append(self._kept[key])
        return agents

    def _record(self, games: PlayedGames, index: int, history: list[tuple[np.void, int]], final: np.void) -> Record:
        names = [self.terms.names[entrant] for entrant in games.seats[index]]
        seat = int(games.failed[index])
        forfeit = None if seat == NOBODY else (seat, str(games.reasons[index]))
        return make_record(self.terms.game, int(games.deals[index]), names, history, final, forfeit=forfeit)


def _places(line_up: LineUp, seating: Sequence[int]) -> list[int]:
    """Return which place of the line-up sits in each seat."""
    taken: list[int] = []
    for entrant in seating:
        first = line_up.index(entrant)
        taken.append(next(place for place in range(first, len(line_up)) if place not in taken))
    return taken
