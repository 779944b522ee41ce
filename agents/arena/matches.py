"""Games between agents, many side by side: one call per agent and ply, whoever sits where.

`play_matches` is what evaluation, records, tournaments and training all play with.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

from ...envs.batch import GameBatch
from ...envs.engine.random_stream import checked_seed
from ...envs.engine.state import RUNNING
from ...envs.game import Game, IllegalMove, illegal_action_message
from ...envs.interfaces.decision_batch import DecisionBatch
from ...envs.system.messages import shorten
from ..external.replies import sentence, truncate
from ..protocol import Agent, AgentFailure
from ..registry import is_own_bot, make_agent
from .match_seeds import MatchSeeds, new_secret

OnStep = Callable[[np.ndarray, np.ndarray, np.ndarray], None]

NO_ACTION = -1
"""Stands for the action of a decision in which an agent failed."""


class MatchLog:
    """How agents conduct themselves in n games in which a failure costs the game and stops nothing else.

    Attributes:
        seconds_per_move: the time limit that agents are told; None for none.
        seconds: float64 [n, players], the time that each seat has used; agents that decide many games in one call
            share its time equally among them.
        moves: int64 [n, players], the decisions of each seat.
        failures: game -> (seat, reason) of the games that ended because an agent failed.
    """

    def __init__(self, num_games: int, num_players: int, seconds_per_move: float | None = None) -> None:
        self.seconds_per_move = seconds_per_move
        self.seconds: np.ndarray = np.zeros((num_games, num_players))
        self.moves: np.ndarray = np.zeros((num_games, num_players), np.int64)
        self.failures: dict[int, tuple[int, str]] = {}


def match_seeds(agents: Sequence[str | Agent], seed: int, secret: bytes | None = None) -> MatchSeeds:
    """Return the seeds of a match: of its seed alone, or with a secret if a bot of the user's own takes part.

    Raises ValueError if a secret is given to a match that needs none.
    """
    if any(map(is_own_bot, agents)):
        return MatchSeeds(seed, secret or new_secret())
    if secret is not None:
        raise ValueError("a match without bots of your own follows from its seed alone and takes no secret")
    return MatchSeeds(seed)


def make_agents(
    game: Game,
    agents: Sequence[str | Agent],
    seed: int,
    secret: bytes | None = None,
    start_seconds: float | None = None,
    *,
    trust: bool = False,
) -> list[Agent]:
    """Return agents for names like "greedy", each with its own stream of the seed; objects stay as they are.

    With the secret of a match (see `match_seeds`) the streams follow from it, too. `start_seconds` is how long a bot
    of the user's own has to start, `trust` is that of `make_agent`. Raises ValueError for an unknown name, or if there
    is not one agent per player.
    """
    if len(agents) != game.num_players:
        given = f"{len(agents)} {'agent was' if len(agents) == 1 else 'agents were'} given"
        raise ValueError(f"{game.name} with num_players={game.num_players} needs as many agents, but {given}")
    seeds = MatchSeeds(checked_seed(seed), secret).of_agents(len(agents))
    return [
        make_agent(agent, game, own_seed, start_seconds, trust=trust) if isinstance(agent, str) else agent
        for agent, own_seed in zip(agents, seeds, strict=True)
    ]


def act_or_raise(agent: Agent, game: Game, states: np.ndarray, game_indices: np.ndarray | None = None) -> np.ndarray:
    """Return an agent's legal actions, int64 [n], in running games, records [n], with the indices of the games.

    Raises IllegalMove that names the agent if it returns anything else, or if it failed.
    """
    try:
        actions = np.asarray(agent.act(DecisionBatch(game, states, game_indices=game_indices)))
    except AgentFailure as failure:
        raise IllegalMove(f"agent {shorten(agent.name, 200)}: {failure}") from failure
    if not _has_form(actions, len(states)):
        got = f"{actions.dtype} of shape {actions.shape}"
        raise IllegalMove(f"agent {shorten(agent.name, 200)} must return {len(states)} integer actions, not {got}")
    actions = actions.astype(np.int64)
    illegal = game.kernels.first_illegal(states, actions, 0, len(states))
    if illegal >= 0:
        message = illegal_action_message(game, states[illegal], int(actions[illegal]))
        raise IllegalMove(f"agent {shorten(agent.name, 200)} played an illegal action: {message}")
    return actions


def act_or_forfeit(
    agent: Agent,
    game: Game,
    states: np.ndarray,
    seconds_per_move: float | None = None,
    game_indices: np.ndarray | None = None,
) -> tuple[np.ndarray, dict[int, str]]:
    """Return an agent's actions, int64 [n], NO_ACTION where it failed, and the reason for every such index.

    Nothing that an agent raises gets through. Bots of the user's own are stopped when their time is over, the searches
    of meeplezoo look at the clock themselves, and its other agents do not.
    """
    everywhere = range(len(states))
    try:
        decisions = DecisionBatch(game, states, seconds_per_move=seconds_per_move, game_indices=game_indices)
        actions = np.array(agent.act(decisions))
    except AgentFailure as failure:
        return failure.actions, {index: sentence(reason) for index, reason in failure.reasons.items()}
    except Exception as error:  # whatever it is, it costs the agent these games, and the reason is kept
        nothing = np.full(len(states), NO_ACTION)
        return nothing, dict.fromkeys(everywhere, f"crashed: {type(error).__name__}: {truncate(str(error))}")
    if not _has_form(actions, len(states)):
        reason = f"must return {len(states)} integer actions, not {actions.dtype} of shape {actions.shape}"
        return np.full(len(states), NO_ACTION), dict.fromkeys(everywhere, reason)
    actions = actions.astype(np.int64)
    reasons = {}
    index = game.kernels.first_illegal(states, actions, 0, len(states))
    while index >= 0:
        reasons[index] = illegal_action_message(game, states[index], int(actions[index]))
        actions[index] = NO_ACTION
        index = game.kernels.first_illegal(states, actions, index + 1, len(states))
    return actions, reasons


def _has_form(actions: np.ndarray, number: int) -> bool:
    return actions.shape == (number,) and actions.dtype.kind in "iu"


def play_matches(
    game: Game,
    agents: Sequence[Agent],
    seeds: np.ndarray,
    seatings: np.ndarray,
    watch: OnStep | None = None,
    conduct: MatchLog | None = None,
    first_index: int = 0,
) -> GameBatch:
    """Play one game per seed to its end and return the batch of the finished games.

    Arguments:
        game: the game with its options.
        agents: any number of agents.
        seeds: uint64 [n], one per game.
        seatings: integers [n, num_players], the index into `agents` of who sits in each seat of each game.
        watch: called before every ply with (games, states, actions): the indices int64 [m] of the games that
            go on, their records [m] before the move, and the actions int64 [m]; all three may be kept.
        conduct: of these n games, to be filled; a game in which an agent fails then stays as it was before that
            decision. Without it a failure ends everything.
        first_index: what agents are told as the index of the first game; the others follow.

    Raises IllegalMove that names the agent if one fails and there is no `conduct`.
    """
    batch = GameBatch(game, len(seeds), auto_reset=False)
    batch.reset(seeds)
    actions = np.zeros(len(seeds), np.int64)
    running = np.arange(len(seeds))
    while len(running):
        playing = seatings[running, batch.to_move[running]]
        for index, agent in enumerate(agents):
            games = running[playing == index]
            if not len(games):
                continue
            # take copies whole records, indexing with an array would copy them field by field
            states = batch.states.take(games)
            if conduct is None:
                actions[games] = act_or_raise(agent, game, states, games + first_index)
            else:
                actions[games] = _attempt_noted(agent, game, games, states, conduct, first_index)
        if conduct is not None and conduct.failures:
            running = running[actions[running] != NO_ACTION]
        if watch is not None:
            watch(running, batch.states.take(running), actions[running])
        batch.step_some(running, actions[running], check=False)
        running = running[batch.states["status"][running] == RUNNING]
    return batch


def _attempt_noted(
    agent: Agent, game: Game, games: np.ndarray, states: np.ndarray, conduct: MatchLog, first_index: int
) -> np.ndarray:
    """Let an agent decide; note its time, its moves and its failures in `conduct`."""
    seats = states["to_move"]
    began = time.perf_counter() - _seconds_starting(agent)
    actions, reasons = act_or_forfeit(agent, game, states, conduct.seconds_per_move, games + first_index)
    conduct.seconds[games, seats] += (time.perf_counter() - _seconds_starting(agent) - began) / len(games)
    conduct.moves[games, seats] += 1
    for index, reason in reasons.items():
        conduct.failures[int(games[index])] = (int(seats[index]), reason)
    return actions


def _seconds_starting(agent: Agent) -> float:
    """Return the time that an agent has spent in all on starting a lost process anew; it is no time of its moves."""
    seconds: float = getattr(agent, "seconds_starting", 0.0)
    return seconds
