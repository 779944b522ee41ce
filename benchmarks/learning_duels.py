"""What runs of different algorithms have made, against each other.

Against frozen references two algorithms can look alike, all their players beating the weak one and losing to the strong
one; in games between the two the better one shows.
"""

from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.evaluation import evaluate
from ..envs import make_game
from ..envs.engine.random_stream import MAX_SEED
from ..training.learner import AGENT_KINDS
from ..training.run_folder import RunFolder
from .learning_statistics import summary

_OTHER_DEALS = 2_000_000
"""Added to the seed: no policy has been measured on these deals."""


def last_agent(folder: RunFolder) -> str:
    """Return the agent of a run's last policy, by its kind and file."""
    return next(f"{agent}:{folder.last(kind)}" for kind, agent in AGENT_KINDS.items() if folder.last(kind).is_file())


def play_duels(runs: Sequence[dict[str, Any]], folders: Sequence[Path], games: int) -> list[dict[str, Any]]:
    """Let the last policies of all algorithms of a game play each other, seed by seed.

    Arguments:
        runs: `result.json` of finished runs; folders: where they lie, in the same order.
        games: of each duel, all seatings equally often.

    Returns for each game and pair of algorithms `game`, `algorithm`, `opponent`, `seeds`, the win rate (a draw is half
    a win) of the first: `win_rates` by seed, and `iqm`, `low`, `high` as in `learning_statistics.summary`. With more
    than two players one of the first sits with the others of the second, and every pair is there both ways.
    """
    found = []
    for game in dict.fromkeys(run["game"] for run in runs):
        players: dict[str, dict[int, str]] = {}
        options: dict[str, Any] = {}
        for run, folder in zip(runs, folders, strict=True):
            if run["game"] == game:
                players.setdefault(run["algorithm"], {})[run["seed"]] = last_agent(RunFolder(folder))
                options = run["options"]
        table = make_game(game, **options)
        pairs = combinations if table.num_players == 2 else permutations
        for one, other in pairs(players, 2):
            seeds = sorted(players[one].keys() & players[other].keys())
            rates = []
            for seed in seeds:
                names = [players[one][seed], *[players[other][seed]] * (table.num_players - 1)]
                result = evaluate(table, names, games, (seed + _OTHER_DEALS) & MAX_SEED)
                rates.append(result.agents[0].win_rate)
            if seeds:
                means = summary([np.array(rates)[:, None]])
                numbers = {key: values and values[0] for key, values in means.items()}
                found.append(
                    {"game": game, "algorithm": one, "opponent": other, "seeds": seeds, "win_rates": rates, **numbers}
                )
    return found
