"""The Gymnasium environments with opponents by name: what `gymnasium.make` and `gymnasium.make_vec` make."""

from typing import Any

from ..envs.game import Game
from ..envs.interfaces.single_agent_env import SingleAgentEnv
from ..envs.interfaces.single_agent_vector_env import SingleAgentVectorEnv
from .opponents import NamedOpponents, Opponents


class NamedOpponentsEnv(SingleAgentEnv):
    """A `SingleAgentEnv` whose opponents may be texts like "greedy" (see `make_agent`), alone or in a list.

    A reset with a seed begins the random streams of opponents given as texts anew.
    """

    def __init__(self, game: str | Game, *, opponents: Opponents = "random", **arguments: Any) -> None:
        super().__init__(game, opponents=NamedOpponents(opponents), **arguments)


class NamedOpponentsVectorEnv(SingleAgentVectorEnv):
    """A `SingleAgentVectorEnv` whose opponents may be texts; see `NamedOpponentsEnv`."""

    def __init__(
        self, game: str | Game, num_envs: int = 1, *, opponents: Opponents = "random", **arguments: Any
    ) -> None:
        super().__init__(game, num_envs, opponents=NamedOpponents(opponents), **arguments)
