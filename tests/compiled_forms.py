"""How often kernels have been compiled for a game."""

import sys

from meeplezoo.envs.engine import batch
from meeplezoo.envs.engine.dispatch import games_of_types


def compiled_forms(game):
    """Return for each kernel of batches and of the game's rules how many forms of it there are for the game."""
    modules = [batch, *(sys.modules[name] for _, name in game.spec.kernels().sources())]
    return {
        f"{module.__name__}.{name}": sum(game.name in games_of_types(signature) for signature in kernel.signatures)
        for module in modules
        for name, kernel in vars(module).items()
        if hasattr(kernel, "signatures")
    }
