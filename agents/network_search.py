"""Tree search with a network at the leaves: many games side by side, one evaluation for all leaves of a step."""

from collections.abc import Callable

import numpy as np

from ..envs.engine.playout_kernels import MAX_PLAYERS
from ..envs.engine.random_stream import game_seeds
from ..envs.engine.search_kernels import MAX_DEPTH
from ..envs.engine.state import RUNNING
from ..envs.game import Game
from ..envs.search import NODE_DTYPE, SETTINGS_DTYPE, root_statistics, search_kernels
from .decisions import Decisions
from .streams import agent_stream

Evaluate = Callable[[Decisions], tuple[np.ndarray, np.ndarray]]
"""Returns priors float32 [n, num_actions] of the players to move, and values float32 [n, players], the return from 0
to 1 that each seat may expect."""


def search_with_network(
    game: Game,
    states: np.ndarray,
    evaluate: Evaluate,
    simulations: int,
    seed: int,
    *,
    exploration: float = 1.25,
    closed: bool = False,
    win_weight: float = 0.5,
    nodes: int = 20_000,
) -> tuple[np.ndarray, np.ndarray]:
    """Search n games by PUCT and return visits and mean returns of the actions of the players to move.

    Arguments:
        states: records [n], running games in which all that the seat to move cannot see has been dealt anew
            (`Decisions.redealt`).
        evaluate: the network, called once per simulation with the leaves of all games that are not over.
        simulations: for each game; the first one evaluates the root.
        seed: of all deals and ties. Game i of a seed has a stream of its own.
        exploration: weight of the priors.
        closed: whether what chance brings makes nodes of its own.
        win_weight: share of winning in the return of a finished game; the rest is the squashed margin.
        nodes: size of each game's tree at most, 48 bytes each.

    Returns int64 [n, num_actions] and float64 [n, num_actions], 0 where there are no visits.
    """
    number = len(states)
    kernels = search_kernels(game.description)
    settings = np.zeros(1, SETTINGS_DTYPE)
    settings["exploration"], settings["closed"], settings["win_weight"] = exploration, closed, win_weight
    settings["puct"] = settings["network"] = True
    settings["temperature"], settings["margin_scale"] = 1.0, game.description.margin_scale
    streams = np.stack([agent_stream(own) for own in game_seeds(seed, number).tolist()])
    trees = np.zeros((number, nodes), NODE_DTYPE)
    used, depths = np.zeros(number, np.int64), np.zeros(number, np.int64)
    paths = np.zeros((number, MAX_DEPTH), np.int32)
    leaves = states.copy()
    seats = states["to_move"].astype(np.int64)
    mask, slots = np.zeros(game.num_actions, np.int8), np.zeros(game.num_actions, np.int32)
    heuristic, scratch = np.zeros(game.num_actions, np.float32), np.zeros(game.kernels.SCRATCH_SIZE, np.int64)
    observation = np.zeros(game.observation_size, np.float32)
    room = (mask, slots, heuristic, scratch, observation, game.form)
    firsts = np.full(number, -1)
    priors = np.zeros((number, game.num_actions), np.float32)
    values = np.zeros((number, MAX_PLAYERS), np.float32)
    for _ in range(simulations):
        kernels.descend_all(states, leaves, seats, firsts, trees, used, paths, depths, settings, streams, *room)
        running = np.flatnonzero(leaves["over"] == RUNNING)
        if len(running):
            found = evaluate(Decisions(game, leaves.take(running)))
            priors[running], values[running, : game.num_players] = found
        kernels.back_up_all(leaves, trees, used, paths, depths, settings, priors, values, mask)
    roots = [root_statistics(tree, seat, game.num_actions) for tree, seat in zip(trees, seats.tolist(), strict=True)]
    visits, returns = zip(*roots, strict=True)
    return np.stack(visits), np.stack(returns)
