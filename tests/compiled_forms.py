"""How often kernels have been compiled for a game."""

from meeplezoo.envs.engine import batch
from meeplezoo.envs.engine.dispatch import games_of_types


def compiled_forms(game):
    """Return for each kernel of batches and of the game how many forms of it there are for the game."""
    kernels = {**vars(batch), **vars(game.spec.kernels())}
    return {
        f"{kernel.__module__}.{name}": sum(game.name in games_of_types(signature) for signature in kernel.signatures)
        for name, kernel in kernels.items()
        if hasattr(kernel, "signatures")
    }
