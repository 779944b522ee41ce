"""Makes every game of the suite known to PettingZoo's way of importing and to Gymnasium's registry."""

import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium

from ..game import make_game
from ..registry import describe, game_names
from ..spec import GameSpec

if TYPE_CHECKING:
    from .pettingzoo_env import GameAECEnv

NAMESPACE = "meeplezoo"


def env(
    name: str,
    /,
    *,
    rewards: str = "outcome",
    render_mode: str | None = None,
    illegal: str = "terminate",
    **options: Any,
) -> "GameAECEnv":
    """Return a game as a PettingZoo AEC environment that checks how it is used.

    Arguments:
        rewards: "outcome" (winner +1, the others -1 / (n - 1)), "margin" or "rank".
        render_mode: "human", "ansi", "rgb_array", "svg" or None.
        illegal: "terminate" (the game ends, -1 for the mover) or "raise" (IllegalMove).
        options: those of the game; unknown names and values raise ValueError.
    """
    from .pettingzoo_env import GameAECEnv

    return GameAECEnv(make_game(name, **options), rewards=rewards, render_mode=render_mode, illegal=illegal)


def raw_env(name: str, /, *, rewards: str = "outcome", render_mode: str | None = None, **options: Any) -> "GameAECEnv":
    """Return the same environment without checks of the order of calls; an illegal move raises IllegalMove."""
    from .pettingzoo_env import GameAECEnv

    game = make_game(name, **options)
    return GameAECEnv(game, rewards=rewards, render_mode=render_mode, checks=False, illegal="raise")


def gymnasium_id(spec: GameSpec) -> str:
    """Return the id of a game in Gymnasium's registry, such as "meeplezoo/Chess-v0"."""
    return f"{NAMESPACE}/{spec.title.replace(' ', '')}-v{spec.version}"


def register_games() -> dict[str, ModuleType]:
    """Register all games with Gymnasium and return their PettingZoo modules by name, such as "chess_v0".

    The modules can be imported as `meeplezoo.envs.<name>` too.
    """
    modules: dict[str, ModuleType] = {}
    for name in game_names():
        spec = describe(name)
        _register_with_gymnasium(spec)
        module = _pettingzoo_module(spec)
        modules[module.__name__.rpartition(".")[2]] = module
    return modules


def _pettingzoo_module(spec: GameSpec) -> ModuleType:
    module = ModuleType(f"{__package__}.{spec.name}_v{spec.version}", spec.summary)
    vars(module).update(env=partial(env, spec.name), raw_env=partial(raw_env, spec.name), __all__=["env", "raw_env"])
    sys.modules[module.__name__] = module
    return module


def _register_with_gymnasium(spec: GameSpec) -> None:
    name = gymnasium_id(spec)
    if name in gymnasium.registry:
        return
    # the entry points are texts: they play opponents, and agents are a layer above the games
    gymnasium.register(
        name,
        entry_point=f"{NAMESPACE}.envs.interfaces.single_agent_env:SingleAgentEnv",
        vector_entry_point=f"{NAMESPACE}.envs.interfaces.single_agent_vector_env:SingleAgentVectorEnv",
        kwargs={"game": spec.name},
    )
