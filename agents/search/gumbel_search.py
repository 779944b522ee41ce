"""Tree search that plans the root's simulations: better than its policy with few of them, and what learning wants.

At the root the actions of the largest logits plus Gumbel noise are considered; half of them drop out again and again
(sequential halving) while the others get more simulations. The improved policy is the softmax of logits plus scaled
returns. Source: Danihelka, Guez, Schrittwieser, Silver 2022, "Policy improvement by planning with Gumbel". Below the
root the search is PUCT, as in `network_search`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...envs.engine.gumbel_root import MAXVISIT_INIT, VALUE_SCALE
from ...envs.game import Game
from .batched_search import CHUNK_SIZE, BatchedSearch, Evaluate
from .sequential_halving import SequentialHalvingSchedules
from .time_limit import Pace


@dataclass(frozen=True)
class GumbelSearch:
    """What a search of n games found.

    actions: int64 [n], the best that were considered; policy: float32 [n, num_actions], the improved policy; returns:
    float32 [n, num_players], what all players may expect by the mean of the simulations; visits: int64
    [n, num_actions].
    """

    actions: np.ndarray
    policy: np.ndarray
    returns: np.ndarray
    visits: np.ndarray


def gumbel_search(
    game: Game,
    states: np.ndarray,
    mask: np.ndarray,
    evaluate: Evaluate,
    num_simulations: int,
    seed: int,
    *,
    max_num_considered_actions: int = 16,
    noise: np.ndarray | None = None,
    policy_target_scale: float = 1.0,
    c_puct: float = 0.15,
    closed_loop: bool = False,
    win_weight: float = 0.5,
    plies: int = 0,
    nodes: int = 20_000,
    deadline: float = math.inf,
) -> GumbelSearch:
    """Search n games side by side.

    Arguments:
        mask: int8 [n, num_actions], the legal actions.
        num_simulations: for each game, besides the one that evaluates the root.
        max_num_considered_actions: actions at the root that get any.
        noise: float [n, num_actions], a sample of the Gumbel distribution, which makes the action one drawn from the
            policy before anything is searched; None for none, to play as well as possible.
        policy_target_scale: weight of a value in the improved policy. In games of chance a mean of few simulations is
            noise in the main, which averages out over many searches only if the single policy does not follow it.
        deadline: a time of `time.perf_counter`, by which the search is over. The plan is made for the simulations that
            fit into the time, and made anew as the pace changes; with few of them fewer actions are considered. One
            simulation is made in any case.

    The other arguments are those of `BatchedSearch`.
    """
    trees = BatchedSearch(
        game,
        states,
        evaluate,
        seed,
        c_puct=c_puct,
        closed_loop=closed_loop,
        win_weight=win_weight,
        plies=plies,
        nodes=nodes,
    )
    pace = Pace(deadline)
    trees.simulate()
    legal = mask != 0
    logits = np.where(legal, np.log(np.maximum(trees.priors, 1e-30)), -np.inf)
    scores = logits if noise is None else logits + noise
    root_values = trees.values[np.arange(len(states)), states["to_move"]]
    plans = SequentialHalvingSchedules(legal.sum(axis=1), max_num_considered_actions, num_simulations)
    for count in _fit_to_time(plans, num_simulations, pace):
        for _ in range(count):
            trees.simulate(trees.select_root_actions(root_values, scores, plans.next_visits()))
    visits, returns = trees.statistics()
    scaled = completed_qvalues(trees.priors, root_values, visits, returns)
    most = legal & (visits == visits.max(axis=1, keepdims=True))
    actions = np.where(most, scores + scaled, -np.inf).argmax(axis=1)
    return GumbelSearch(actions, softmax(logits + policy_target_scale * scaled), trees.root_returns(), visits)


def _fit_to_time(plans: SequentialHalvingSchedules, num_simulations: int, pace: Pace) -> Iterator[int]:
    """Yield how many simulations to run next, the plans made for what fits into the time, until it is over.

    The pace begins with the simulation that values the root. At first there are few until the clock is looked at again:
    the plan for the first simulations, one for each action, may still become one of more actions or fewer.
    """
    done = 0
    while done < num_simulations:
        fitting = pace.fitting(1 + done)
        if done and fitting < 1:
            return
        if fitting >= num_simulations - done:
            plans.fit(num_simulations)
        else:
            plans.fit(done + max(1, int(fitting)))
        # half of what fits, since the pace so far is not the pace to come
        chunk = num_simulations if fitting == math.inf else max(1, min(CHUNK_SIZE, done, int(fitting / 2)))
        chunk = min(chunk, num_simulations - done)
        yield chunk
        done += chunk


def completed_qvalues(
    priors: np.ndarray, root_values: np.ndarray, visits: np.ndarray, returns: np.ndarray
) -> np.ndarray:
    """Return what the actions' returns count beside logits, float64 [n, num_actions].

    An action without visits has the mean of what the network says of the root (`root_values`, float32 [n]) and of the
    returns of the visited actions, weighted by their priors ("mixed value", appendix D of the paper).
    """
    visited = visits > 0
    total = visits.sum(axis=1)
    weight = np.where(visited, priors, 0.0).sum(axis=1)
    mean = np.where(visited, priors * returns, 0.0).sum(axis=1) / np.maximum(weight, 1e-30)
    mixed = np.where(total > 0, (root_values + total * mean) / (1 + total), root_values)
    scale = (MAXVISIT_INIT + visits.max(axis=1, keepdims=True)) * VALUE_SCALE
    scaled: np.ndarray = scale * np.where(visited, returns, mixed[:, None])
    return scaled


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return the probabilities, float32 [n, num_actions]; -inf stands for none."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: np.ndarray = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return probabilities
