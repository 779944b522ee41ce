"""Head-to-head games between the policies of different algorithms.

Two algorithms can look alike against fixed references, beating the weak and losing to the strong ones; games between
them show the better one.
"""

from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.arena.evaluation import evaluate
from ..envs import Game, make_game
from ..envs.engine.random_stream import MAX_SEED
from ..training.algorithm import AGENT_KINDS
from ..training.run_folder import RunFolder
from .learning_statistics import summary

_EVALUATION_SEED_OFFSET = 2_000_000
"""Added to the seed: no other evaluation uses these deals."""


def last_agent(folder: RunFolder) -> str:
    """Return the agent of a run's last policy, by its kind and file."""
    return next(f"{agent}:{folder.last(kind)}" for kind, agent in AGENT_KINDS.items() if folder.last(kind).is_file())


def play_head_to_head(runs: Sequence[dict[str, Any]], folders: Sequence[Path], games: int) -> list[dict[str, Any]]:
    """Play the last policies of all algorithms of a game against each other, seed by seed.

    Arguments:
        runs: `result.json` of finished runs; folders: their folders, in the same order.
        games: for each pair, all seatings equally often.

    Returns for each game and pair of algorithms `game`, `algorithm`, `opponent`, `seeds`, the win rate (a draw is half
    a win) of the first: `win_rates` by seed, and `iqm`, `low`, `high` as in `learning_statistics.summary`. With more
    than two players one of the first sits with the others of the second, and every pair is there both ways.
    """
    results = []
    for game in dict.fromkeys(run["game"] for run in runs):
        of_game = [(run, RunFolder(folder)) for run, folder in zip(runs, folders, strict=True) if run["game"] == game]
        instance = make_game(game, **of_game[0][0]["options"])
        players: dict[str, dict[int, str]] = {}
        for run, folder in of_game:
            players.setdefault(run["algorithm"], {})[run["seed"]] = last_agent(folder)
        pairs = combinations if instance.num_players == 2 else permutations
        for one, other in pairs(players, 2):
            rates = _win_rates(instance, players[one], players[other], games)
            if rates:
                means = summary([np.array(list(rates.values()))[:, None]])
                numbers = {key: values and values[0] for key, values in means.items()}
                names = {"game": game, "algorithm": one, "opponent": other}
                results.append({**names, "seeds": list(rates), "win_rates": list(rates.values()), **numbers})
    return results


def _win_rates(game: Game, ones: dict[int, str], others: dict[int, str], games: int) -> dict[int, float]:
    """Return the win rates by common seed of an agent against the other one in all other seats."""
    rates = {}
    for seed in sorted(ones.keys() & others.keys()):
        names = [ones[seed], *[others[seed]] * (game.num_players - 1)]
        rates[seed] = evaluate(game, names, games, (seed + _EVALUATION_SEED_OFFSET) & MAX_SEED).agents[0].win_rate
    return rates
