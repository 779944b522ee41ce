"""Every game in Gymnasium's registry, as "meeplezoo/Azul-v0"."""

import warnings

import gymnasium

from ..registry import load_games, on_load
from ..spec import GameSpec

NAMESPACE = "meeplezoo"


def gymnasium_id(spec: GameSpec) -> str:
    """Return the id of a game in Gymnasium's registry, such as "meeplezoo/Chess-v0"."""
    return f"{NAMESPACE}/{spec.title.replace(' ', '')}-v{spec.version}"


def register_games() -> None:
    """Register all games with Gymnasium, and others when they are loaded; warn of games that cannot be."""
    on_load(register_game)
    _, reasons = load_games()
    for reason in reasons:
        warnings.warn(reason, stacklevel=2)


def register_game(spec: GameSpec) -> None:
    """Register a game; nothing happens if Gymnasium knows it already.

    Raises ValueError if another game has the same title and version.
    """
    known = gymnasium.registry.get(gymnasium_id(spec))
    if known is not None:
        if known.kwargs.get("game") != spec.name:
            raise ValueError(f"{spec.name}: Gymnasium knows another game as {gymnasium_id(spec)}")
        return
    # texts: opponents are agents, a layer above, and their names are resolved there
    gymnasium.register(
        gymnasium_id(spec),
        entry_point=f"{NAMESPACE}.agents.environments:NamedOpponentsEnv",
        vector_entry_point=f"{NAMESPACE}.agents.environments:NamedOpponentsVectorEnv",
        kwargs={"game": spec.name},
    )
