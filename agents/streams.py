"""Random streams of agents."""

import numpy as np

from ..envs.engine.random_stream import seed_stream
from .agent_settings import agent_error

AGENT_STREAM = 2


def agent_stream(seed: int) -> np.ndarray:
    """Return a new stream, uint32[4], that differs from every game's stream of the same seed."""
    stream = np.zeros(4, np.uint32)
    seed_stream(stream, np.uint64(seed), AGENT_STREAM)
    return stream


def refuse_argument(text: str, argument: str) -> None:
    """Raise ValueError if an agent that takes nothing behind its name was given something."""
    if argument:
        raise agent_error(text, f"{text.partition(':')[0]} takes nothing behind its name")
