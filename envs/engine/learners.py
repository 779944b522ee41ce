"""Games in which a learner holds one seat: from its turn to its next one in a single call.

Opponents with a policy of `policies` play inside the kernel. Where an agent outside of it has to decide, a game waits.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from .batch import Games, find_illegal, step_game
from .choice import NO_ACTION
from .compilation import JIT_DISABLED, Integer, kernel
from .interface import legal_mask
from .observation import write_observation
from .policies import OUTSIDE, choose_by_policy
from .random_stream import draw, seed_stream
from .state import RUNNING

PURPOSE, COMPILATION_SECONDS = "learners", 15

OPPONENT_STREAM = 4
"""The purpose of the streams from which opponents are drawn and choose, see `random_stream`."""
LEARNER = -1
"""Stands for the learner among the opponents of a game."""
RANDOM_SEAT, ROTATING_SEAT = -1, -2

TURN, WAITING, PAUSED = 0, 1, 2
"""It is the learner's turn, or the game is over; an agent outside has to decide; opponents' plies are left to play."""

NOTHING_ELSE, MORE = -1, -2

_RESOLUTION = 1 << 30


@cache
def learner_dtype(num_players: int) -> np.dtype:
    """Return the dtype of what is known of a learner's game, and of the game that ended in this step."""
    return np.dtype(
        [
            ("seat", np.int64),
            ("opponent_of", np.int64, (num_players,)),
            ("status", np.int64),
            ("action", np.int64),
            ("reward", np.float32),
            ("done", np.bool_),
            ("truncated", np.bool_),
            ("last_seat", np.int64),
            ("last_opponent_of", np.int64, (num_players,)),
        ],
        align=True,
    )


class LearningGames(NamedTuple):
    """What n games of a learner have beside `Games`."""

    table: np.ndarray
    """`learner_dtype` [n]"""
    lasts: np.ndarray
    """record [n], the game that ended in this step"""
    streams: np.ndarray
    """uint32 [n, 4], one for the opponents of each game"""
    policies: np.ndarray
    """int64 [opponents], the policy of each opponent, or OUTSIDE"""
    weights: np.ndarray
    """float64 [opponents], how often a seat draws one of the first k + 1 opponents; [0]: they sit in turn order"""
    values: np.ndarray
    """float32 [num_actions], a buffer"""
    scratch: np.ndarray
    """int64 [SCRATCH_SIZE], a buffer"""
    seat: int
    """The learner's, or RANDOM_SEAT or ROTATING_SEAT"""
    max_plies: int
    """How many plies opponents may play in a call"""


@kernel
def begin_learners(
    games: Games, learners: LearningGames, seed: Integer, mask: np.ndarray, observation: np.ndarray
) -> None:
    """Seat everyone in games that have just been reset, and play to the learner's turn; `seed` is the opponents'."""
    for index in range(len(games.states)):
        _clear(learners.table[index])
        seed_stream(learners.streams[index], games.states[index]["seed"] ^ np.uint64(seed), OPPONENT_STREAM)
        _seat_players(games, learners, index)
        _play_opponents(games, learners, index, mask, observation)


@kernel
def step_learners(
    games: Games, learners: LearningGames, actions: np.ndarray, mask: np.ndarray, observation: np.ndarray
) -> int:
    """Play the learner's action in each game, int64 [n], and its opponents up to its next turn.

    Write masks and observations of the games in which it is its turn, or which are over. Return the index of the first
    illegal action, and change nothing; if there is none, NOTHING_ELSE or, where games have ended or wait, MORE.
    """
    refused = find_illegal(games.states, actions, games.mask, 0, len(games.states))
    if refused >= 0:
        return int(refused)
    result = NOTHING_ELSE
    for index in range(len(games.states)):
        learner = learners.table[index]
        _clear(learner)
        _play(games, learners, index, actions[index])
        _play_opponents(games, learners, index, mask, observation)
        if learner["done"] or learner["status"] != TURN:
            result = MORE
    return result


@kernel
def continue_learners(
    games: Games, learners: LearningGames, indices: np.ndarray, mask: np.ndarray, observation: np.ndarray
) -> None:
    """Go on in some games, int64 [k]: with the action in the table where the game is WAITING."""
    for index in indices:
        if learners.table[index]["status"] == WAITING:
            _play(games, learners, index, learners.table[index]["action"])
        _play_opponents(games, learners, index, mask, observation)


@kernel
def look(games: Games, learners: LearningGames, mask: np.ndarray, observation: np.ndarray) -> None:
    """Write mask and observation of the learner in every game."""
    for index in range(len(games.states)):
        _look(games, learners, index, mask, observation)


@kernel
def _clear(learner: np.void) -> None:
    learner["reward"] = 0.0
    learner["done"] = False
    learner["truncated"] = False


@kernel
def _play_opponents(
    games: Games, learners: LearningGames, index: Integer, mask: np.ndarray, observation: np.ndarray
) -> None:
    state, learner = games.states[index], learners.table[index]
    learner["status"] = TURN
    plies = 0
    while state["status"] == RUNNING and state["to_move"] != learner["seat"]:
        policy = learners.policies[learner["opponent_of"][state["to_move"]]]
        if policy == OUTSIDE or plies == learners.max_plies:
            learner["status"] = WAITING if policy == OUTSIDE else PAUSED
            return
        stream = learners.streams[index]
        action = choose_by_policy(policy, state, stream, games.mask, learners.values, learners.scratch)
        if action == NO_ACTION:
            break
        learner["action"] = action
        _play(games, learners, index, action)
        plies += 1
    _look(games, learners, index, mask, observation)


@kernel
def _play(games: Games, learners: LearningGames, index: Integer, action: Integer) -> None:
    """Play an action; note the first ending of a step, and seat everyone in the game that follows."""
    step_game(games, index, action)
    outcome, learner = games.outcomes[index], learners.table[index]
    if not outcome["done"]:
        return
    if not learner["done"]:
        # a second ending in one step belongs to a game that opponents played alone
        learner["done"] = True
        learner["reward"] = outcome["rewards"][learner["seat"]]
        learner["truncated"] = outcome["truncated"]
        learner["last_seat"] = learner["seat"]
        for player in range(len(learner["opponent_of"])):
            learner["last_opponent_of"][player] = learner["opponent_of"][player]
        learners.lasts[index] = games.finals[index]
    if games.settings[0]["auto_reset"]:
        _seat_players(games, learners, index)


@kernel
def _seat_players(games: Games, learners: LearningGames, index: Integer) -> None:
    state, learner = games.states[index], learners.table[index]
    num_players = int(state["option_num_players"])
    if learners.seat == RANDOM_SEAT:
        learner["seat"] = random_seat(state["seed"], num_players)
    elif learners.seat == ROTATING_SEAT:
        learner["seat"] = learner["seat"] + 1 if learner["seat"] + 1 < num_players else 0
    else:
        learner["seat"] = learners.seat
    learner["opponent_of"][learner["seat"]] = LEARNER
    for distance in range(1, num_players):
        player = (learner["seat"] + distance) % num_players
        learner["opponent_of"][player] = _choose_opponent(learners, distance, learners.streams[index])


@kernel
def _choose_opponent(learners: LearningGames, distance: Integer, stream: np.ndarray) -> Integer:
    if len(learners.weights) == 0:
        return (distance - 1) % len(learners.policies)
    if len(learners.weights) == 1:
        return 0
    drawn = draw(stream, _RESOLUTION) / _RESOLUTION
    opponent = 0
    while drawn >= learners.weights[opponent]:
        opponent += 1
    return opponent


@kernel
def _look(games: Games, learners: LearningGames, index: Integer, mask: np.ndarray, observation: np.ndarray) -> None:
    legal_mask(games.states[index], mask[index])
    write_observation(games.states[index], learners.table[index]["seat"], games.observer, observation[index])


if JIT_DISABLED:

    def _product(number: Integer, factor: Integer) -> Integer:
        # numpy would warn of the overflow, which is intended
        return np.uint64(int(number) * int(factor) & 0xFFFFFFFFFFFFFFFF)
else:

    @kernel
    def _product(number: Integer, factor: Integer) -> Integer:
        return number * factor


@kernel
def random_seat(seed: Integer, num_players: Integer) -> Integer:
    """Return the learner's random seat in the game of a seed (uint64), all equally likely.

    It follows from the game's own seed, so that a game is the same alone and in any batch.
    """
    # the finaliser of splitmix64: neighbouring seeds, as a batch has them, give unrelated seats
    mixed = _product(seed ^ (seed >> np.uint64(30)), np.uint64(0xBF58476D1CE4E5B9))
    mixed = _product(mixed ^ (mixed >> np.uint64(27)), np.uint64(0x94D049BB133111EB))
    mixed ^= mixed >> np.uint64(31)
    return np.int64((mixed >> np.uint64(32)) % np.uint64(num_players))
