"""Games between agents, many side by side: one call per agent and ply, whoever sits where.

`play_matches` is what evaluation, records, tournaments and training all play with.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

from ..envs.batch import GameBatch
from ..envs.engine.random_stream import checked_seed, game_seeds
from ..envs.engine.state import RUNNING
from ..envs.game import Game, IllegalMove, illegal_action_message
from .decisions import Decisions
from .protocol import Agent, AgentFailure
from .registry import make_agent

Watch = Callable[[np.ndarray, np.ndarray, np.ndarray], None]

NO_ACTION = -1
"""Stands for the action of a decision in which an agent failed."""


class Conduct:
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


def seat_agents(game: Game, agents: Sequence[str | Agent], seed: int, *, trust: bool = False) -> list[Agent]:
    """Return agents for names like "greedy", each with its own stream of the seed; objects stay as they are.

    `trust` is that of `make_agent`.

    Raises ValueError for an unknown name, or if there is not one agent per player.
    """
    if len(agents) != game.num_players:
        given = f"{len(agents)} {'agent was' if len(agents) == 1 else 'agents were'} given"
        raise ValueError(f"{game.name} with num_players={game.num_players} needs as many agents, but {given}")
    seeds = game_seeds(checked_seed(seed), len(agents)).tolist()
    return [
        make_agent(agent, game, own_seed, trust=trust) if isinstance(agent, str) else agent
        for agent, own_seed in zip(agents, seeds, strict=True)
    ]


def decide(agent: Agent, game: Game, states: np.ndarray) -> np.ndarray:
    """Return an agent's legal actions, int64 [n], in running games, records [n].

    Raises IllegalMove that names the agent if it returns anything else, or if it failed.
    """
    try:
        actions = np.asarray(agent.act(Decisions(game, states)))
    except AgentFailure as failure:
        raise IllegalMove(f"agent {agent.name!r}: {failure}") from failure
    if not _has_form(actions, len(states)):
        got = f"{actions.dtype} of shape {actions.shape}"
        raise IllegalMove(f"agent {agent.name!r} must return {len(states)} integer actions, not {got}")
    actions = actions.astype(np.int64)
    illegal = game.kernels.first_illegal(states, actions, 0, len(states))
    if illegal >= 0:
        message = illegal_action_message(game, states[illegal], int(actions[illegal]))
        raise IllegalMove(f"agent {agent.name!r} played an illegal action: {message}")
    return actions


def attempt(
    agent: Agent, game: Game, states: np.ndarray, seconds_per_move: float | None = None
) -> tuple[np.ndarray, dict[int, str]]:
    """Return an agent's actions, int64 [n], NO_ACTION where it failed, and the reason for every such index.

    Nothing that an agent raises gets through. Bots of the user's own are stopped when their time is over, the searches
    of meeplezoo look at the clock themselves, and its other agents do not.
    """
    everywhere = range(len(states))
    try:
        actions = np.array(agent.act(Decisions(game, states, seconds_per_move=seconds_per_move)))
    except AgentFailure as failure:
        return failure.actions, failure.reasons
    except Exception as error:  # whatever it is, it costs the agent these games, and the reason is kept
        nothing = np.full(len(states), NO_ACTION)
        return nothing, dict.fromkeys(everywhere, f"crashed: {type(error).__name__}: {error}")
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
    watch: Watch | None = None,
    conduct: Conduct | None = None,
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
                actions[games] = decide(agent, game, states)
            else:
                actions[games] = _attempt_noted(agent, game, games, states, conduct)
        if conduct is not None and conduct.failures:
            running = running[actions[running] != NO_ACTION]
        if watch is not None:
            watch(running, batch.states.take(running), actions[running])
        batch.step_some(running, actions[running], check=False)
        running = running[batch.states["over"][running] == RUNNING]
    return batch


def _attempt_noted(agent: Agent, game: Game, games: np.ndarray, states: np.ndarray, conduct: Conduct) -> np.ndarray:
    """Let an agent decide; note its time, its moves and its failures in `conduct`."""
    seats = states["to_move"]
    began = time.perf_counter()
    actions, reasons = attempt(agent, game, states, conduct.seconds_per_move)
    conduct.seconds[games, seats] += (time.perf_counter() - began) / len(games)
    conduct.moves[games, seats] += 1
    for index, reason in reasons.items():
        conduct.failures[int(games[index])] = (int(seats[index]), reason)
    return actions
