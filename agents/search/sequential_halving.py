"""Sequential halving of the actions at a root: which of them the next simulation goes to, however many are to come."""

import numpy as np

_FIRST = 2
"""Simulations of every action in the first phase, at least, where the number of actions is free."""


class SequentialHalvingSchedule:
    """The plan of one root: all actions that are considered get equally many simulations, then the better half stays.

    There are as many phases as it takes to come down to two actions, and every phase gets the same share of the
    simulations; those that are left over go to the last two. An action is known by the visits that it has had: of those
    with equally many the search takes the best.
    """

    def __init__(self, max_num_considered_actions: int) -> None:
        self._visits = [0] * max_num_considered_actions
        self._reset()

    def _reset(self) -> None:
        self._left = len(self._visits)
        self._phases = _phases(self._left)
        self._began_with = 0

    @property
    def widens(self) -> bool:
        """Return whether another number of actions may still be considered: no action has had two simulations."""
        return self._visits[0] <= 1

    def consider(self, number: int) -> None:
        """Consider another number of actions, but none less than have had a simulation."""
        visited = sum(self._visits)
        if self.widens and len(self._visits) != max(number, visited):
            self._visits = [1] * visited + [0] * (max(number, visited) - visited)
            self._reset()

    def next_visits(self, num_simulations: int) -> int:
        """Return how many visits the action has had that the next simulation goes to, and count that one.

        `num_simulations` are all that there are to be, the past ones too; the number may change from call to call.
        """
        quota = max(1, num_simulations // (self._phases * self._left))
        if self._visits[self._left - 1] >= self._began_with + quota:
            self._left = min(len(self._visits), max(2, self._left // 2))
            self._began_with = self._visits[self._left - 1]
        count = self._visits[self._left - 1]
        self._visits[self._visits.index(count)] += 1
        return count


class SequentialHalvingSchedules:
    """The plans of n roots that are searched side by side, one simulation each at a time.

    Arguments:
        legal: integers [n], the legal actions of each root.
        considered: how many of them get simulations, at most.
        simulations: for each root.
    """

    def __init__(self, legal: np.ndarray, max_num_considered_actions: int, num_simulations: int) -> None:
        # roots with equally many actions have the same plan
        self._numbers, self._which = np.unique(np.minimum(legal, max_num_considered_actions), return_inverse=True)
        self._plans = [SequentialHalvingSchedule(number) for number in self._numbers.tolist()]
        self._num_simulations = self._fitting = num_simulations

    def fit(self, num_simulations: int) -> None:
        """Plan for as many simulations in all as fit into the time; if not all do, fewer actions may be considered."""
        self._fitting = min(num_simulations, self._num_simulations)
        whole = self._fitting == self._num_simulations
        for plan, number in zip(self._plans, self._numbers.tolist(), strict=True):
            if plan.widens:
                plan.consider(number if whole else affordable(number, self._fitting))

    def next_visits(self) -> np.ndarray:
        """Return of each root how many visits the action has had that the next simulation goes to, int64 [n]."""
        return np.array([plan.next_visits(self._fitting) for plan in self._plans], np.int64)[self._which]


def affordable(max_num_considered_actions: int, num_simulations: int) -> int:
    """Return how many actions may be considered for each of them to have some simulations in the first phase.

    How many was found by matches of Azul: of 64 simulations, 8 actions are better than 16 and than 4.
    """
    phases = range(1, max_num_considered_actions.bit_length() + 1)
    return min(
        max_num_considered_actions, max(2, *(min(2**number, num_simulations // (_FIRST * number)) for number in phases))
    )


def _phases(max_num_considered_actions: int) -> int:
    return max(1, (max_num_considered_actions - 1).bit_length())
