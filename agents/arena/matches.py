"""Games between agents, many side by side: one call per agent and ply, whoever sits where.

`play_games` is the loop of evaluations, records and tournaments; `match_runner` calls it with their line-ups.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

from ...envs.batch import GameBatch
from ...envs.engine.state import RUNNING
from ...envs.game import Game, illegal_action_message
from ...envs.interfaces.agent import Agent, AgentFailure, act_or_raise, are_actions
from ...envs.interfaces.decision_batch import DecisionBatch
from ...envs.system.messages import pluralize
from ..external.replies import sentence, truncate
from ..registry import reset_agent
from .match_seeds import MatchSeeds

OnStep = Callable[[np.ndarray, np.ndarray, np.ndarray], None]

NO_ACTION = -1
"""Stands for the action of a decision in which an agent failed."""


class MatchLog:
    """Time, move counts and forfeits of n games; an agent that fails forfeits its game, and the others go on.

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


def make_agents(
    game: Game,
    agents: Sequence[str | Agent],
    seeds: MatchSeeds,
    start_seconds: float | None = None,
    *,
    trust: bool = False,
    kept: Sequence[Agent | None] | None = None,
) -> list[Agent]:
    """Return agents for names like "greedy", each with its own random stream; objects stay as they are.

    Arguments:
        game: the game with its options.
        agents: one per player.
        seeds: of the match, from which the streams follow.
        start_seconds: how long a bot of the user's own has to start; None for the default.
        trust: that of `make_agent`.
        kept: agents that were made from the same names before; those that can are reset instead of made.

    Raises ValueError for an unknown name, or if there is not one agent per player.
    """
    if len(agents) != game.num_players:
        given = f"{pluralize(len(agents), 'agent')} {'was' if len(agents) == 1 else 'were'} given"
        raise ValueError(f"{game.name} with num_players={game.num_players} needs as many agents, but {given}")
    before = kept or [None] * len(agents)
    return [
        reset_agent(old, agent, game, seed, start_seconds, trust=trust) if isinstance(agent, str) else agent
        for old, agent, seed in zip(before, agents, seeds.of_agents(len(agents)), strict=True)
    ]


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
    if not are_actions(actions, len(states)):
        reason = f"must return {len(states)} integer actions, not {actions.dtype} of shape {actions.shape}"
        return np.full(len(states), NO_ACTION), dict.fromkeys(everywhere, reason)
    actions = actions.astype(np.int64)
    reasons = {}
    index = game.find_illegal(states, actions)
    while index >= 0:
        reasons[index] = illegal_action_message(game, states[index], int(actions[index]))
        actions[index] = NO_ACTION
        index = game.find_illegal(states, actions, index + 1)
    return actions, reasons


def play_games(
    game: Game,
    agents: Sequence[Agent],
    seeds: np.ndarray,
    seatings: np.ndarray,
    on_step: OnStep | None = None,
    log: MatchLog | None = None,
    first_index: int = 0,
) -> GameBatch:
    """Play one game per seed to its end and return the batch of the finished games.

    Arguments:
        game: the game with its options.
        agents: any number of agents.
        seeds: uint64 [n], one per game.
        seatings: integers [n, num_players], the index into `agents` of who sits in each seat of each game.
        on_step: called before every ply with (games, states, actions): the indices int64 [m] of the games that
            go on, their records [m] before the move, and the actions int64 [m]; all three may be kept.
        log: of these n games, to be filled; a game in which an agent fails then stays as it was before that
            decision. Without it a failure ends everything.
        first_index: what agents are told as the index of the first game; the others follow.

    Raises IllegalMove that names the agent if one fails and there is no `log`.
    """
    batch = GameBatch(game, len(seeds), auto_reset=False)
    batch.reset(seeds)
    actions = np.zeros(len(seeds), np.int64)
    running = np.arange(len(seeds))
    while len(running):
        deciding = seatings[running, batch.to_move[running]]
        for index, agent in enumerate(agents):
            games = running[deciding == index]
            if not len(games):
                continue
            # take copies whole records, indexing with an array would copy them field by field
            states = batch.states.take(games)
            if log is None:
                actions[games] = act_or_raise(agent, game, states, games + first_index)
            else:
                actions[games] = _act_and_log(agent, game, games, states, log, first_index)
        if log is not None and log.failures:
            running = running[actions[running] != NO_ACTION]
        if on_step is not None:
            on_step(running, batch.states.take(running), actions[running])
        batch.step_subset(running, actions[running], check=False)
        running = running[batch.states["status"][running] == RUNNING]
    return batch


def _act_and_log(
    agent: Agent, game: Game, games: np.ndarray, states: np.ndarray, log: MatchLog, first_index: int
) -> np.ndarray:
    """Let an agent decide; note its time, its moves and its failures in `log`."""
    seats = states["to_move"]
    began = time.perf_counter() - _seconds_starting(agent)
    actions, reasons = act_or_forfeit(agent, game, states, log.seconds_per_move, games + first_index)
    log.seconds[games, seats] += (time.perf_counter() - _seconds_starting(agent) - began) / len(games)
    log.moves[games, seats] += 1
    for index, reason in reasons.items():
        log.failures[int(games[index])] = (int(seats[index]), reason)
    return actions


def _seconds_starting(agent: Agent) -> float:
    """Return the time that an agent has spent in all on restarting a lost process; it is no time of its moves."""
    seconds: float = getattr(agent, "seconds_starting", 0.0)
    return seconds
