"""The one protocol of all agents."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ..envs.interfaces.decision_batch import DecisionBatch
from ..envs.system.messages import shorten


class Agent(Protocol):
    """A policy with its own seeded random stream.

    `name` is the text that `make_agent` was given. `act` receives n decisions and returns int64 [n], one legal
    action for each; it may not keep the arrays it is handed.
    """

    name: str

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]; AgentFailure if some of them have come to nothing."""
        ...


class AgentFailure(Exception):
    """What an agent of the user's own raises when it crashed, took too long or answered no move in some decisions.

    `actions`: int64 [n], -1 where it failed; `reasons`: a sentence for every index at which it failed.
    """

    def __init__(self, actions: np.ndarray, reasons: Mapping[int, str]) -> None:
        super().__init__("; ".join(sorted(set(reasons.values()))))
        self.actions = actions
        self.reasons = dict(reasons)

    def __reduce__(self) -> tuple[type, tuple[np.ndarray, dict[int, str]]]:
        return AgentFailure, (self.actions, self.reasons)


def check_agent(agent: Any) -> Agent:
    """Return what has a name and the method `act`; ValueError for anything else."""
    if isinstance(agent, type) or not callable(getattr(agent, "act", None)) or not hasattr(agent, "name"):
        raise ValueError(f"an agent is an object with a name and a method act, not {shorten(agent)}")
    checked: Agent = agent
    return checked
