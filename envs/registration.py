"""Makes every game of the suite known to PettingZoo's way of importing and to Gymnasium's registry."""

import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium

from .description import GameDescription
from .game import make_game
from .registry import describe, game_names

if TYPE_CHECKING:
    from .aec import TurnEnv

NAMESPACE = "meeplezoo"


def env(
    name: str,
    /,
    *,
    rewards: str = "outcome",
    render_mode: str | None = None,
    illegal: str = "terminate",
    **options: Any,
) -> "TurnEnv":
    """Return a game as a PettingZoo AEC environment that checks how it is used.

    Arguments:
        rewards: "outcome" (winner +1, the others -1 / (n - 1)), "margin" or "rank".
        render_mode: "human", "ansi", "rgb_array", "svg" or None.
        illegal: "terminate" (the game ends, -1 for the mover) or "raise" (IllegalMove).
        options: those of the game; unknown names and values raise ValueError.
    """
    from .aec import TurnEnv

    return TurnEnv(make_game(name, **options), rewards=rewards, render_mode=render_mode, illegal=illegal)


def raw_env(name: str, /, *, rewards: str = "outcome", render_mode: str | None = None, **options: Any) -> "TurnEnv":
    """Return the same environment without checks of the order of calls; an illegal move raises IllegalMove."""
    from .aec import TurnEnv

    game = make_game(name, **options)
    return TurnEnv(game, rewards=rewards, render_mode=render_mode, checks=False, illegal="raise")


def gymnasium_id(description: GameDescription) -> str:
    """Return the id of a game in Gymnasium's registry, such as "meeplezoo/Chess-v0"."""
    return f"{NAMESPACE}/{description.title.replace(' ', '')}-v{description.version}"


def register_games() -> dict[str, ModuleType]:
    """Register all games with Gymnasium and return their PettingZoo modules by name, such as "chess_v0".

    The modules can be imported as `meeplezoo.envs.<name>` too.
    """
    modules: dict[str, ModuleType] = {}
    for name in game_names():
        description = describe(name)
        _register_with_gymnasium(description)
        module = _pettingzoo_module(description)
        modules[module.__name__.rpartition(".")[2]] = module
    return modules


def _pettingzoo_module(description: GameDescription) -> ModuleType:
    module = ModuleType(f"{__package__}.{description.name}_v{description.version}", description.summary)
    vars(module).update(
        env=partial(env, description.name), raw_env=partial(raw_env, description.name), __all__=["env", "raw_env"]
    )
    sys.modules[module.__name__] = module
    return module


def _register_with_gymnasium(description: GameDescription) -> None:
    name = gymnasium_id(description)
    if name in gymnasium.registry:
        return
    # the entry points are texts: they play opponents, and agents are a layer above the games
    gymnasium.register(
        name,
        entry_point=f"{NAMESPACE}.agents.single_seat:SingleSeatEnv",
        vector_entry_point=f"{NAMESPACE}.agents.seated_vector:SeatedVectorEnv",
        kwargs={"game": description.name},
    )
