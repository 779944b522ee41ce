"""Who plays whom, and where: line-ups of a round and their seatings.

A line-up is a sorted tuple with the number of the participant for each seat. Every line-up of a round plays the same
deals, each in all its seatings, so that agents are compared on equal luck. In a tournament with bots of the user's own
no two games have the same deal (see `match_seeds`).
"""

from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, permutations
from math import comb

import numpy as np

LineUp = tuple[int, ...]

MOST_ROUNDS = 100_000
"""Rounds of a tournament."""
MOST_LINE_UPS = 100_000
"""Line-ups of a round."""
MOST_GAMES_AT_ONCE = 5000
"""Games of a line-up in a round, played side by side: with the largest states of today's games half a gigabyte."""


def all_line_ups(num_agents: int, num_players: int) -> list[LineUp]:
    """Return the line-ups of a round robin: every choice of agents once.

    With fewer agents than players, every way to fill the seats in which each agent has at least one.
    """
    if num_agents >= num_players:
        return list(combinations(range(num_agents), num_players))
    filled = combinations_with_replacement(range(num_agents), num_players)
    return [line_up for line_up in filled if len(set(line_up)) == num_agents]


def swiss_line_ups(
    points: Sequence[float], met: np.ndarray, byes: Sequence[int], num_players: int, random: np.random.Generator
) -> list[LineUp]:
    """Return the line-ups of a Swiss round: agents of similar points who have met as little as possible.

    Arguments:
        points: per agent, any scale; ties are broken at random.
        met: integers [agents, agents], in how many line-ups two have sat together.
        byes: per agent, how many rounds it has sat out.
        num_players: the seats of a line-up, at most the number of agents.
        random: breaks ties.

    If the agents do not fill the last line-up, those with the fewest byes, among them the weakest, sit out.
    """
    lots = random.permutation(len(points)).tolist()
    ladder = sorted(range(len(points)), key=lambda agent: (-points[agent], lots[agent]))
    weakest_first = ladder[::-1]
    sitting_out = sorted(weakest_first, key=lambda agent: byes[agent])[: len(points) % num_players]
    waiting = [agent for agent in ladder if agent not in sitting_out]
    line_ups = []
    while waiting:
        line_up = [waiting.pop(0)]
        while len(line_up) < num_players:
            # min takes the first, hence the strongest, among those who have met the line-up least
            line_up.append(min(waiting, key=lambda agent: met[agent, line_up].sum()))
            waiting.remove(line_up[-1])
        line_ups.append(tuple(sorted(line_up)))
    return sorted(line_ups)


def list_seatings(line_up: Sequence[int]) -> np.ndarray:
    """Return all different ways to seat a line-up, int64 [seatings, players], in ascending order."""
    return np.array(sorted(set(permutations(line_up))), np.int64)


def count_line_ups(num_agents: int, num_players: int) -> int:
    """Return how many line-ups a round robin has, without making them."""
    if num_agents >= num_players:
        return comb(num_agents, num_players)
    # one seat for each agent, the others anyhow
    return comb(num_players - 1, num_agents - 1)
