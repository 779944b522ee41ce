"""A tournament: rounds of matches, played in one process or in several, until the ratings are known.

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
from .folder import TournamentFolder, matches_of
from .games import GameResults, concatenate, no_games
from .match_runner import Match, MatchRunner
from .match_seeds import Secrets, check_secrets
from .ratings import Ratings
from .schedule import LineUp, all_line_ups, swiss_line_ups
from .settings import SWISS, TournamentSettings
from .standings import ALL_PLAYED, INTERRUPTED, PRECISE, Standings, compute_standings, has_converged
from .statistics import win_shares

OnRound = Callable[[int, int], None]
PlayedMatch = tuple[GameResults, list[Record]]
PlayMatches = Callable[[Mapping[Match, bytes | None]], Iterator[PlayedMatch]]


class PlayersLost(RuntimeError):
    """A process that plays games has come to an unexpected end."""


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_tournament(
    settings: TournamentSettings,
    folder: TournamentFolder | None = None,
    processes: int = 1,
    on_round: OnRound | None = None,
    secrets: Secrets | None = None,
    *,
    trust: bool = False,
) -> Standings:
    """Play a tournament to its end, or on from where the games of its folder leave off, and return the standings.

    Arguments:
        settings: the tournament.
        folder: where its games are kept, whole matches at a time; None to keep nothing.
        processes: how many play side by side; 1 plays in this one.
        on_round: called after every round with the numbers of rounds and games so far.
        secrets: those of an earlier tournament with bots of the user's own, which is played again; None for new ones.
        trust: that of `make_agent`; never out of a file of settings, which others may have written.

    With such bots every match follows from a secret that nobody but this process and the one that plays it knows
    until it is over; then it is kept with the games.

    KeyboardInterrupt (Ctrl-C, or SIGTERM) ends it with the standings of the whole matches so far, or goes on to the
    caller if there are none. Raises ValueError for an agent that cannot be made, or secrets where there are no such
    bots, PlayersLost if a process dies.
    """
    if secrets is not None:
        check_secrets(secrets, settings.with_own_bots, settings.names)
    game = settings.make_game()
    kept = no_games(game.num_players) if folder is None else folder.read_games(settings)
    rounds: list[GameResults] = []
    stopped = ALL_PLAYED
    # in this process, so that the others find compiled what they need
    warm_up(game, [participant.agent for participant in settings.agents])
    try:
        with interrupt_on_terminate(), _close(settings.with_own_bots), _players(settings, processes, trust) as play:
            for number in range(settings.rounds):
                rounds.append(kept.select(kept.rounds == number))
                matches = _matches_left(settings, rounds, game.num_players)
                secret_of = {match: _secret(match, settings, secrets) for match in matches}
                for played, records in play(secret_of):
                    if folder is not None:
                        folder.add(played, records, settings, secret_of[matches_of(played)[0]])
                    rounds[-1] = concatenate([rounds[-1], played])
                if on_round is not None:
                    on_round(number + 1, sum(map(len, rounds)))
                if settings.precision is not None and has_converged(_ratings(settings, rounds), settings.precision):
                    stopped = PRECISE
                    break
    except KeyboardInterrupt:
        if not sum(map(len, rounds)):
            raise
        stopped = INTERRUPTED
    return compute_standings(settings, _sort_games(concatenate(rounds)), stopped)


def _secret(match: Match, settings: TournamentSettings, secrets: Secrets | None) -> bytes | None:
    if not settings.with_own_bots:
        return None
    return (secrets or Secrets()).of_match(match.round, match.names(settings.names))


def _matches_left(settings: TournamentSettings, rounds: list[GameResults], num_players: int) -> list[Match]:
    """Return the matches of the last round of which no games are there yet."""
    number = len(rounds) - 1
    matches = [Match(number, line_up) for line_up in _line_ups(settings, rounds[:-1], num_players)]
    done = set(matches_of(rounds[-1]))
    if done - set(matches):
        raise ValueError(f"round {number} has games between agents that do not meet in it")
    return [match for match in matches if match not in done]


def _ratings(settings: TournamentSettings, rounds: list[GameResults]) -> Ratings:
    return compute_standings(settings, concatenate(rounds)).ratings


def _sort_games(games: GameResults) -> GameResults:
    """Return the games by round and line-up, whichever process was first."""
    line_ups = np.sort(games.seats, axis=1)
    return games.select(np.lexsort([*line_ups.T[::-1], games.rounds]))


def _line_ups(settings: TournamentSettings, rounds: list[GameResults], num_players: int) -> list[LineUp]:
    """Return the line-ups of the next round, which follow from the rounds before it."""
    num_agents = len(settings.agents)
    if settings.pairing != SWISS:
        return all_line_ups(num_agents, num_players)
    before = concatenate([no_games(num_players), *rounds])
    points, seats = np.zeros(num_agents), np.zeros(num_agents)
    np.add.at(points, before.seats, win_shares(before.ranks))
    np.add.at(seats, before.seats, 1)
    met = np.zeros((num_agents, num_agents), np.int64)
    byes = np.full(num_agents, len(rounds))
    for match in set(matches_of(before)):
        for agent in match.line_up:
            byes[agent] -= 1
            met[agent, match.line_up] += 1
    random = np.random.default_rng([settings.seed, len(rounds)])
    # an agent that sat out has the points of an average one
    average = np.where(seats > 0, points / np.maximum(seats, 1), 1 / num_players)
    return swiss_line_ups(average.tolist(), met, byes.tolist(), num_players, random)


def _close(private: bool) -> AbstractContextManager[None]:
    return private_memory() if private else nullcontext()


@contextmanager
def _players(settings: TournamentSettings, processes: int, trust: bool) -> Iterator[PlayMatches]:
    """Yield a function that plays matches with their secrets, in this process or in others; they come as they end."""
    if processes == 1:
        runner = MatchRunner(settings, trust=trust)
        yield lambda matches: map(runner.play, matches.keys(), matches.values())
        return
    # fork would copy threads' locks as they happen to be
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _start_process, (settings, trust))

    def play(matches: Mapping[Match, bytes | None]) -> Iterator[PlayedMatch]:
        futures = [pool.submit(_play_in_process, match, secret) for match, secret in matches.items()]
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


_runner: MatchRunner | None = None


def _start_process(settings: TournamentSettings, trust: bool) -> None:
    global _runner
    if settings.with_own_bots:
        # to the end of the process
        close_memory()
    # Ctrl-C reaches all processes of a terminal; the first one ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    _runner = MatchRunner(settings, trust=trust)


def _play_in_process(match: Match, secret: bytes | None) -> PlayedMatch:
    assert _runner is not None
    return _runner.play(match, secret)


def _exit_on_signal(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
