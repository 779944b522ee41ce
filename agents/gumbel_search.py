"""Tree search that plans the root's simulations: better than its policy with few of them, and what learning wants.

At the root the actions of the largest logits plus Gumbel noise are considered; half of them drop out again and again
(sequential halving) while the others get more simulations. The improved policy is the softmax of logits plus scaled
returns. Source: Danihelka, Guez, Schrittwieser, Silver 2022, "Policy improvement by planning with Gumbel". Below the
root the search is PUCT, as in `network_search`.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from ..envs.game import Game
from .network_search import AT_ONCE, Evaluate, NetworkTrees
from .time_limit import portions

_LONGEST_KEPT = 2000
"""Simulations of plans that are kept for the next search; of others making them takes no time beside the search."""
VISITS_SCALE, RETURNS_SCALE = 50.0, 1.0
"""A return counts (VISITS_SCALE + the root's largest number of visits) * RETURNS_SCALE as much as a logit."""


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
    simulations: int,
    seed: int,
    *,
    considered: int = 16,
    noise: np.ndarray | None = None,
    policy_scale: float = 1.0,
    exploration: float = 0.15,
    closed: bool = False,
    win_weight: float = 0.5,
    plies: int = 0,
    nodes: int = 20_000,
    ends: float = math.inf,
) -> GumbelSearch:
    """Search n games side by side.

    Arguments:
        mask: int8 [n, num_actions], the legal actions.
        simulations: for each game, besides the one that evaluates the root.
        considered: actions at the root that get any.
        noise: float [n, num_actions], a sample of the Gumbel distribution, which makes the action one drawn from the
            policy before anything is searched; None for none, to play as well as possible.
        policy_scale: share of a return's weight in the improved policy. In games of chance a mean of few simulations is
            noise in the main, which averages out over many searches only if the single policy does not follow it.
        ends: a time of `time.perf_counter`, at which the plan is broken off; the best of what has been visited most is
            chosen, as ever. One simulation is made in any case.

    The other arguments are those of `NetworkTrees`.
    """
    trees = NetworkTrees(
        game,
        states,
        evaluate,
        seed,
        exploration=exploration,
        closed=closed,
        win_weight=win_weight,
        plies=plies,
        nodes=nodes,
    )
    trees.simulate()
    legal = mask != 0
    logits = np.where(legal, np.log(np.maximum(trees.priors, 1e-30)), -np.inf)
    scores = logits if noise is None else logits + noise
    own = trees.values[np.arange(len(states)), states["to_move"]]
    plans = np.array([visit_plan(min(considered, count), simulations) for count in legal.sum(axis=1).tolist()])
    steps = iter(range(simulations))
    for count in portions(simulations, AT_ONCE, ends):
        for step in islice(steps, count):
            trees.simulate(trees.planned(own, scores, plans[:, step], VISITS_SCALE, RETURNS_SCALE))
    visits, returns = trees.statistics()
    scaled = scaled_returns(trees.priors, own, visits, returns)
    most = legal & (visits == visits.max(axis=1, keepdims=True))
    actions = np.where(most, scores + scaled, -np.inf).argmax(axis=1)
    return GumbelSearch(actions, softmax(logits + policy_scale * scaled), trees.root_returns(), visits)


def visit_plan(considered: int, simulations: int) -> tuple[int, ...]:
    """Return for each simulation how many visits the action that it goes to has had: sequential halving.

    All actions that are still considered get equally many simulations in every phase, then the better half stays.
    """
    return (_kept_plan if simulations <= _LONGEST_KEPT else _make_plan)(considered, simulations)


def _make_plan(considered: int, simulations: int) -> tuple[int, ...]:
    phases = max(1, (considered - 1).bit_length())
    plan: list[int] = []
    visits = [0] * considered
    left = considered
    while len(plan) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            plan.extend(visits[:left])
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2) if considered > 1 else 1
    return tuple(plan[:simulations])


_kept_plan = lru_cache(maxsize=512)(_make_plan)


def scaled_returns(priors: np.ndarray, own: np.ndarray, visits: np.ndarray, returns: np.ndarray) -> np.ndarray:
    """Return what the actions' returns count beside logits, float64 [n, num_actions].

    An action without visits has the mean of what the network says of the root (`own`, float32 [n]) and of the returns
    of the visited actions, weighted by their priors ("mixed value", appendix D of the paper).
    """
    visited = visits > 0
    total = visits.sum(axis=1)
    weight = np.where(visited, priors, 0.0).sum(axis=1)
    mean = np.where(visited, priors * returns, 0.0).sum(axis=1) / np.maximum(weight, 1e-30)
    mixed = np.where(total > 0, (own + total * mean) / (1 + total), own)
    scale = (VISITS_SCALE + visits.max(axis=1, keepdims=True)) * RETURNS_SCALE
    scaled: np.ndarray = scale * np.where(visited, returns, mixed[:, None])
    return scaled


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return the probabilities, float32 [n, num_actions]; -inf stands for none."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: np.ndarray = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return probabilities
