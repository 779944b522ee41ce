"""A tournament: rounds of meetings, played in one process or in several, until the ratings are known.

The games follow from the settings alone, with bots of the user's own also from secrets: not from the number of
processes, and not from interruptions. A round is played to its end before the next one is drawn or the precision is
looked at.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType

import numpy as np

from ...envs.records.record import Record
from ...envs.system.signals import interrupt_on_terminate
from ..external.private_memory import close_memory, private_memory
from ..warm_up import warm_up
from .folder import TournamentFolder, meetings_of
from .games import GameResults, joined, no_games
from .match_seeds import Secrets, check_secrets
from .play import Match, MatchConfig, Player
from .ratings import Ratings
from .schedule import LineUp, all_line_ups, swiss_line_ups
from .settings import SWISS, TournamentSettings
from .standings import ALL_PLAYED, INTERRUPTED, PRECISE, Standings, settled, standings
from .statistics import shares_of_win

Tell = Callable[[int, int], None]
Played = tuple[GameResults, list[Record]]


class PlayersLost(RuntimeError):
    """A process that plays games has come to an unexpected end."""


def play_tournament(
    settings: TournamentSettings,
    folder: TournamentFolder | None = None,
    processes: int = 1,
    tell: Tell | None = None,
    secrets: Secrets | None = None,
    *,
    trust: bool = False,
) -> Standings:
    """Play a tournament to its end, or on from where the games of its folder leave off, and return the standings.

    Arguments:
        settings: the tournament.
        folder: where its games are kept, whole meetings at a time; None to keep nothing.
        processes: how many play side by side; 1 plays in this one.
        tell: called after every round with the numbers of rounds and games so far.
        secrets: those of an earlier tournament with bots of the user's own, which is played again; None for new ones.
        trust: that of `make_agent`; never out of a file of settings, which others may have written.

    With such bots every meeting follows from a secret that nobody but this process and the one that plays it knows
    until it is over; then it is kept with the games.

    KeyboardInterrupt (Ctrl-C, or SIGTERM) ends it with the standings of the whole meetings so far, or goes on to the
    caller if there are none. Raises ValueError for an agent that cannot be made, or secrets where there are no such
    bots, PlayersLost if a process dies.
    """
    if secrets is not None:
        check_secrets(secrets, settings.with_own_bots, settings.names)
    game = settings.make_game()
    kept = no_games(game.num_players) if folder is None else folder.read_games(settings)
    terms = MatchConfig(
        game=game,
        agents=tuple(entrant.agent for entrant in settings.agents),
        names=settings.names,
        seed=settings.seed,
        deals=settings.deals,
        move_seconds=settings.move_seconds,
        records=settings.records,
        start_seconds=settings.start_seconds,
        trust=trust,
    )
    private = settings.with_own_bots
    rounds: list[GameResults] = []
    stopped = ALL_PLAYED
    # in this process, so that the others find compiled what they need
    warm_up(game, terms.agents)
    try:
        with interrupt_on_terminate(), _closed(private), _players(terms, processes, private) as play:
            for number in range(settings.rounds):
                line_ups = _line_ups(settings, rounds, number, game.num_players)
                rounds.append(kept.chosen(kept.rounds == number))
                done = set(meetings_of(rounds[-1]))
                if done - {Match(number, one) for one in line_ups}:
                    raise ValueError(f"round {number} has games between agents that do not meet in it")
                meetings = [Match(number, one) for one in line_ups if Match(number, one) not in done]
                left = {one: _secret(one, settings, secrets) for one in meetings}
                for played, records in play(left):
                    if folder is not None:
                        folder.add(played, records, settings, left[meetings_of(played)[0]])
                    rounds[-1] = joined([rounds[-1], played])
                if tell is not None:
                    tell(number + 1, sum(map(len, rounds)))
                if settings.precision is not None and settled(_ratings(settings, rounds), settings.precision):
                    stopped = PRECISE
                    break
    except KeyboardInterrupt:
        if not sum(map(len, rounds)):
            raise
        stopped = INTERRUPTED
    return standings(settings, _in_order(joined(rounds)), stopped)


def _secret(meeting: Match, settings: TournamentSettings, secrets: Secrets | None) -> bytes | None:
    if not settings.with_own_bots:
        return None
    return (secrets or Secrets()).of_meeting(meeting.round, meeting.names(settings.names))


def _ratings(settings: TournamentSettings, rounds: list[GameResults]) -> Ratings:
    return standings(settings, joined(rounds)).ratings


def _in_order(games: GameResults) -> GameResults:
    """Return the games by round and line-up, whichever process was first."""
    line_ups = np.sort(games.seats, axis=1)
    return games.chosen(np.lexsort([*line_ups.T[::-1], games.rounds]))


def _line_ups(settings: TournamentSettings, rounds: list[GameResults], number: int, num_players: int) -> list[LineUp]:
    """Return the line-ups of a round, which follow from the rounds before it."""
    num_agents = len(settings.agents)
    if settings.pairing != SWISS:
        return all_line_ups(num_agents, num_players)
    before = joined([no_games(num_players), *rounds])
    points, seats = np.zeros(num_agents), np.zeros(num_agents)
    np.add.at(points, before.seats, shares_of_win(before))
    np.add.at(seats, before.seats, 1)
    met = np.zeros((num_agents, num_agents), np.int64)
    byes = np.full(num_agents, number)
    for meeting in set(meetings_of(before)):
        for agent in meeting.line_up:
            byes[agent] -= 1
            met[agent, meeting.line_up] += 1
    random = np.random.default_rng([settings.seed, number])
    # an agent that sat out has the points of an average one
    average = np.where(seats > 0, points / np.maximum(seats, 1), 1 / num_players)
    return swiss_line_ups(average.tolist(), met, byes.tolist(), num_players, random)


Play = Callable[[Mapping[Match, bytes | None]], Iterator[Played]]


def _closed(private: bool) -> AbstractContextManager[None]:
    return private_memory() if private else nullcontext()


@contextmanager
def _players(terms: MatchConfig, processes: int, private: bool) -> Iterator[Play]:
    """Yield a function that plays meetings with their secrets, in this process or in others; they come as they end."""
    if processes == 1:
        player = Player(terms)
        yield lambda meetings: map(player.play, meetings.keys(), meetings.values())
        return
    # fork would copy threads' locks as they happen to be
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin_process, (terms, private))

    def play(meetings: Mapping[Match, bytes | None]) -> Iterator[Played]:
        futures = [pool.submit(_play_in_process, one, secret) for one, secret in meetings.items()]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise PlayersLost("a process that plays the games has come to an unexpected end") from None

    others = set(multiprocessing.active_children())
    try:
        yield play
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    pool.shutdown()


_player: Player | None = None


def _begin_process(terms: MatchConfig, private: bool) -> None:
    global _player
    if private:
        # to the end of the process
        close_memory()
    # Ctrl-C reaches all processes of a terminal; the first one ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _player = Player(terms)


def _play_in_process(meeting: Match, secret: bytes | None) -> tuple[GameResults, list[Record]]:
    assert _player is not None
    return _player.play(meeting, secret)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
