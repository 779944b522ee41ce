"""Strength of several runs as one number with an interval, and as curves.

The number is the interquartile mean, the interval a percentile interval of the stratified bootstrap: Agarwal,
Schwarzer, Castro, Courville and Bellemare 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"
(NeurIPS; arXiv:2108.13264). The bootstrap resamples runs; the uncertainty
of the evaluation of each run is included, as every run was evaluated in its own games.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

REPETITIONS = 2000
CONFIDENCE = 0.95
_SEED = 0
"""Of the draws of the bootstrap: the same runs give the same interval."""


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Return the mean of the middle half along the first axis, float64 [...] of scores [n, ...].

    n // 4 scores are left out at either end, as in the paper's own implementation: fewer than four runs are averaged.
    """
    runs = len(scores)
    cut = runs // 4
    middle: np.ndarray = np.sort(scores, axis=0)[cut : runs - cut].mean(axis=0)
    return middle


def bootstrap(strata: Sequence[np.ndarray], repetitions: int = REPETITIONS, seed: int = _SEED) -> np.ndarray:
    """Return interquartile means of resampled runs, float64 [repetitions, points].

    Arguments:
        strata: scores of the runs of each game, float [runs, points] each. As many runs of a game as there are are
            drawn from it, with replacement; the mean is over all games' runs together.
    """
    random = np.random.default_rng(seed)
    resampled = []
    for scores in strata:
        rows = random.integers(len(scores), size=(repetitions, len(scores)))
        resampled.append(scores[rows])
    return interquartile_mean(np.concatenate(resampled, axis=1).swapaxes(0, 1))


def summary(strata: Sequence[np.ndarray]) -> dict[str, list[float] | None]:
    """Return `iqm`, `low` and `high`, a list [points] each, of the scores of runs as in `bootstrap`.

    `low` and `high` are the ends of the 95 % interval; None if no game has two runs, which would tell nothing.
    """
    means = interquartile_mean(np.concatenate(strata, axis=0))
    if max(map(len, strata)) < 2:
        return {"iqm": means.tolist(), "low": None, "high": None}
    outside = (1 - CONFIDENCE) / 2
    low, high = np.quantile(bootstrap(strata), [outside, 1 - outside], axis=0)
    return {"iqm": means.tolist(), "low": low.tolist(), "high": high.tolist()}


def score(results: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the mean win rate against the references of an evaluation."""
    return float(np.mean([one["win_rate"] for one in results.values()]))


def curve(run: Mapping[str, Any], along: str, grid: np.ndarray) -> np.ndarray:
    """Return a run's score at some points, float64 [points], linearly between its evaluations.

    Arguments:
        run: its `evaluations`, in order, each with `training_seconds`, `decisions` and `results` by reference.
        along: which of the first two the points are on.
        grid: the points, float [points]; before the first evaluation and behind the last one those are taken.
    """
    places = [evaluation[along] for evaluation in run["evaluations"]]
    return np.interp(grid, places, [score(evaluation["results"]) for evaluation in run["evaluations"]])


def compare(runs: Sequence[Mapping[str, Any]], minutes: float, points: int) -> dict[str, Any]:
    """Compare finished runs: return `rows` by game and algorithm, and `overall` by algorithm over several games.

    A row has curves `over_minutes` (at `points` equal steps, and at 0) and `over_decisions` (up to where the shortest
    run came), and `final`, strength at the end by reference. `overall`, over minutes alone as games differ in how many
    decisions they take, has the algorithms that have runs of every game.
    """
    games = list(dict.fromkeys(run["game"] for run in runs))
    algorithms = list(dict.fromkeys(run["algorithm"] for run in runs))
    times = np.linspace(0.0, minutes, points + 1)
    groups = {
        (game, algorithm): [run for run in runs if (run["game"], run["algorithm"]) == (game, algorithm)]
        for game in games
        for algorithm in algorithms
    }
    rows = [_row(group, times) for group in groups.values() if group]
    overall = []
    for algorithm in algorithms if len(games) > 1 else []:
        of_algorithm = [groups[game, algorithm] for game in games]
        if all(of_algorithm):
            strata = [_curves(group, "training_seconds", 60 * times) for group in of_algorithm]
            overall.append({"algorithm": algorithm, "over_minutes": {"minutes": times.tolist(), **summary(strata)}})
    return {"rows": rows, "overall": overall}


def _row(group: Sequence[Mapping[str, Any]], times: np.ndarray) -> dict[str, Any]:
    """Return the statistics of the runs of one game and algorithm."""
    shortest = min(run["evaluations"][-1]["decisions"] for run in group)
    decisions = np.linspace(0.0, shortest, len(times))
    over_time = summary([_curves(group, "training_seconds", 60 * times)])
    over_decisions = summary([_curves(group, "decisions", decisions)])
    names = list(group[0]["final"])
    rates = np.array([[run["final"][name]["win_rate"] for name in names] for run in group])
    last = summary([rates])
    first = group[0]
    return {
        "game": first["game"],
        "options": first["options"],
        "algorithm": first["algorithm"],
        "config": first["config"],
        "seeds": [run["seed"] for run in group],
        "over_minutes": {"minutes": times.tolist(), **over_time},
        "over_decisions": {"decisions": decisions.round().tolist(), **over_decisions},
        "final": {
            name: {key: None if values is None else values[place] for key, values in last.items()}
            for place, name in enumerate(names)
        },
        "decisions": float(np.mean([run["decisions"] for run in group])),
        "training_minutes": float(np.mean([run["training_seconds"] for run in group]) / 60),
        "schedule": float(np.mean([run["schedule"] for run in group])),
    }


def _curves(group: Sequence[Mapping[str, Any]], along: str, grid: np.ndarray) -> np.ndarray:
    return np.stack([curve(run, along, grid) for run in group])
