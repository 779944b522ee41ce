"""The one protocol of all agents."""

from typing import Protocol

import numpy as np

from .decisions import Decisions


class Agent(Protocol):
    """A policy with its own seeded random stream.

    `name` is the text that `make_agent` was given. `act` receives n decisions and returns int64 [n], one legal
    action for each; it may not keep the arrays it is handed.
    """

    name: str

    def act(self, decisions: Decisions) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]."""
        ...
