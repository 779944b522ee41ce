"""The learner's decisions per second against built-in opponents: the kernel alone and every interface around it.

python -m meeplezoo.benchmarks.opponents [--game NAME] [--opponent random|greedy] [--games N]

The kernel plays from the learner's turn to its next one and writes masks and observations; the interfaces add what
Gymnasium and Stable-Baselines3 ask for. The shares are those of the kernel's own rate. Choosing the learner's actions,
at random, is not counted.
"""

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import gymnasium
import numpy as np

from ..agents import make_agent
from ..envs import Game, game_names, make_game
from ..envs.engine.masks import choose_from_mask
from ..envs.interfaces.opponent_batch import OpponentBatch
from ..envs.interfaces.registration import gymnasium_id
from .layers import SEED

OPPONENTS = ("random", "greedy")
_REPEATS, _SECONDS = 5, 0.3

Step = Callable[[np.ndarray], np.ndarray]
"""Takes the learner's actions, int64 [n]; returns the next mask, int8 [n, num_actions]."""


def kernel(game: Game, opponent: str, num_games: int) -> tuple[np.ndarray, Step]:
    """Return the first mask and the step of the bare kernel."""
    batch = OpponentBatch(game, num_games, [make_agent(opponent, game, SEED)])
    batch.reset(SEED)

    def step(actions: np.ndarray) -> np.ndarray:
        batch.play(actions)
        return batch.mask

    return batch.mask, step


def single(game: Game, opponent: str, num_games: int) -> tuple[np.ndarray, Step]:
    """Return the first mask and the step of a Gymnasium environment with the wrappers of `gymnasium.make`."""
    env = gymnasium.make(gymnasium_id(game.spec), game=game, opponents=opponent)
    _, info = env.reset(seed=SEED)

    def step(actions: np.ndarray) -> np.ndarray:
        _, _, terminated, truncated, info = env.step(int(actions[0]))
        if terminated or truncated:
            _, info = env.reset()
        mask: np.ndarray = info["action_mask"]
        return mask[None]

    return info["action_mask"][None], step


def vector(game: Game, opponent: str, num_games: int) -> tuple[np.ndarray, Step]:
    """Return the first mask and the step of the Gymnasium vector environment."""
    env = gymnasium.make_vec(gymnasium_id(game.spec), num_envs=num_games, game=game, opponents=opponent)
    _, infos = env.reset(seed=SEED)

    def step(actions: np.ndarray) -> np.ndarray:
        mask: np.ndarray = env.step(actions)[4]["action_mask"]
        return mask

    return infos["action_mask"], step


def vec_env(game: Game, opponent: str, num_games: int) -> tuple[np.ndarray, Step]:
    """Return the first mask and the step of the VecEnv of Stable-Baselines3."""
    from ..envs.interfaces.sb3_vec_env import SelfPlayVecEnv

    env = SelfPlayVecEnv(game, num_games, [make_agent(opponent, game, SEED)], seed=SEED)
    env.reset()

    def step(actions: np.ndarray) -> np.ndarray:
        env.step(actions)
        return env.action_masks()

    return env.action_masks(), step


def decisions_per_second(make: Callable[..., Any], game: Game, opponent: str, num_games: int) -> float:
    """Return the median rate of some repeats, in processor time."""
    mask, step = make(game, opponent, num_games)
    stream = np.array([1, 2, 3, 4], np.uint32)
    actions = np.zeros(len(mask), np.int64)
    rates = []
    for _ in range(1 + _REPEATS):
        spent, decisions = 0.0, 0
        while spent < _SECONDS:
            choose_from_mask(mask, stream, actions)
            began = time.process_time()
            mask = step(actions)
            spent += time.process_time() - began
            decisions += len(actions)
        rates.append(decisions / spent)
    # the first repeat compiles
    return median(rates[1:])


def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="opponents", description="Measure learners against built-in opponents.")
    parser.add_argument("--game", choices=game_names(), help="this game only (default: all)")
    parser.add_argument("--opponent", choices=OPPONENTS, help="this opponent only (default: both)")
    parser.add_argument("--games", type=int, default=1024, help="games of the batches (default: 1024)")
    chosen = parser.parse_args(arguments)
    print(f"{'game':<14}{'players':>8}  {'opponent':<10}{'single':>10}{'kernel':>12}{'vector':>12}{'VecEnv':>18}")
    for name in [chosen.game] if chosen.game else game_names():
        for players in make_game(name).spec.player_counts:
            game = make_game(name, num_players=players)
            for opponent in [chosen.opponent] if chosen.opponent else OPPONENTS:
                alone = decisions_per_second(single, game, opponent, 1)
                rates = [decisions_per_second(make, game, opponent, chosen.games) for make in (kernel, vector, vec_env)]
                others = "".join(f"{rate:>12,.0f}{rate / rates[0]:>6.0%}" for rate in rates[1:])
                print(f"{name:<14}{players:>8}  {opponent:<10}{alone:>10,.0f}{rates[0]:>12,.0f}{others}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
