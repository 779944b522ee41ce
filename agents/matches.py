"""Games between agents, many side by side: one call per agent and ply, whoever sits where.

`play_matches` is what evaluation, records, tournaments and training all play with.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..envs.batch import GameBatch
from ..envs.engine.random_stream import checked_seed, game_seeds
from ..envs.engine.state import RUNNING
from ..envs.game import Game, IllegalMove, illegal_action_message
from .decisions import Decisions
from .protocol import Agent
from .registry import make_agent

Watch = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


def seat_agents(game: Game, agents: Sequence[str | Agent], seed: int) -> list[Agent]:
    """Return agents for names like "greedy", each with its own stream of the seed; objects stay as they are.

    Raises ValueError for an unknown name, or if there is not one agent per player.
    """
    if len(agents) != game.num_players:
        given = f"{len(agents)} {'agent was' if len(agents) == 1 else 'agents were'} given"
        raise ValueError(f"{game.name} with num_players={game.num_players} needs as many agents, but {given}")
    seeds = game_seeds(checked_seed(seed), len(agents)).tolist()
    return [
        make_agent(agent, game, own_seed) if isinstance(agent, str) else agent
        for agent, own_seed in zip(agents, seeds, strict=True)
    ]


def decide(agent: Agent, game: Game, states: np.ndarray) -> np.ndarray:
    """Return an agent's legal actions, int64 [n], in running games, records [n].

    Raises IllegalMove that names the agent if it returns anything else.
    """
    actions = np.asarray(agent.act(Decisions(game, states)))
    if actions.shape != (len(states),) or actions.dtype.kind not in "iu":
        got = f"{actions.dtype} of shape {actions.shape}"
        raise IllegalMove(f"agent {agent.name!r} must return {len(states)} integer actions, not {got}")
    actions = actions.astype(np.int64)
    illegal = game.kernels.first_illegal(states, actions, 0, len(states))
    if illegal >= 0:
        message = illegal_action_message(game, states[illegal], int(actions[illegal]))
        raise IllegalMove(f"agent {agent.name!r} played an illegal action: {message}")
    return actions


def play_matches(
    game: Game, agents: Sequence[Agent], seeds: np.ndarray, seatings: np.ndarray, watch: Watch | None = None
) -> GameBatch:
    """Play one game per seed to its end and return the batch of the finished games.

    Arguments:
        agents: any number of agents.
        seeds: uint64 [n], one per game.
        seatings: integers [n, num_players], the index into `agents` of who sits in each seat of each game.
        watch: called before every ply with (games, states, actions): the indices int64 [m] of the games that
            go on, their records [m] before the move, and the actions int64 [m]; all three may be kept.

    Raises IllegalMove that names the agent if one returns an illegal action.
    """
    batch = GameBatch(game, len(seeds), auto_reset=False)
    batch.reset(seeds)
    actions = np.zeros(len(seeds), np.int64)
    running = np.arange(len(seeds))
    while len(running):
        playing = seatings[running, batch.to_move[running]]
        for index, agent in enumerate(agents):
            games = running[playing == index]
            if len(games):
                actions[games] = decide(agent, game, batch.states[games])
        if watch is not None:
            watch(running, batch.states[running], actions[running])
        batch.step(actions, check=False)
        running = running[batch.states["over"][running] == RUNNING]
    return batch
