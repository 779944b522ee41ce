"""The one protocol of all agents: what plays the seats of the learner's opponents, and every seat of the arena."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..engine.policies import OUTSIDE
from ..game import Game, IllegalMove, illegal_action_message
from ..system.messages import shorten
from .decision_batch import DecisionBatch

_LONGEST_NAME = 200


class Agent(Protocol):
    """A policy with its own seeded random stream.

    `name` is the text that `make_agent` was given. `act` receives n decisions and returns int64 [n], one legal
    action for each; it may not keep the arrays it is handed.
    """

    name: str

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]; AgentFailure if some of them have come to nothing."""
        ...


@runtime_checkable
class KernelAgent(Protocol):
    """An agent that also plays inside kernels, where games need no call per ply (`engine/policies.py`).

    `policy` is one of the policies there, and `stream`, uint32 [4], the agent's own stream.
    """

    policy: int
    stream: np.ndarray


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


def policy_of(agent: Agent) -> int:
    """Return the policy of an agent that plays inside kernels, OUTSIDE for all others."""
    return agent.policy if isinstance(agent, KernelAgent) else OUTSIDE


def stream_of(agent: Agent) -> np.ndarray:
    """Return the stream, uint32 [4], of an agent that plays inside kernels."""
    assert isinstance(agent, KernelAgent)
    return agent.stream


def are_actions(actions: np.ndarray, number: int) -> bool:
    """Tell whether an agent's answer to some decisions has one integer for each of them."""
    return actions.shape == (number,) and actions.dtype.kind in "iu"


def act_or_raise(agent: Agent, game: Game, states: np.ndarray, game_indices: np.ndarray | None = None) -> np.ndarray:
    """Return an agent's legal actions, int64 [n], in running games, records [n], with the indices of the games.

    Raises IllegalMove that names the agent if it returns anything else, or if it failed.
    """
    try:
        actions = np.asarray(agent.act(DecisionBatch(game, states, game_indices=game_indices)))
    except AgentFailure as failure:
        raise IllegalMove(f"{_name(agent)}: {failure}") from failure
    if not are_actions(actions, len(states)):
        got = f"{actions.dtype} of shape {actions.shape}"
        raise IllegalMove(f"{_name(agent)} must return {len(states)} integer actions, not {got}")
    actions = actions.astype(np.int64)
    illegal = game.find_illegal(states, actions)
    if illegal >= 0:
        message = illegal_action_message(game, states[illegal], int(actions[illegal]))
        raise IllegalMove(f"{_name(agent)} played an illegal action: {message}")
    return actions


def _name(agent: Agent) -> str:
    return f"agent {shorten(agent.name, _LONGEST_NAME)}"
