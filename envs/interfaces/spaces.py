"""The Gymnasium spaces of a game's actions, masks and observations."""

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from ..engine.observation import LARGEST_BYTE
from ..game import Game
from ..spec import COMPACT


def observation_high(game: Game) -> np.ndarray:
    """Return the largest value of every part of the observation, [observation_size]; the smallest is 0."""
    fields = game.observation_fields
    high = np.repeat([field.high for field in fields], [field.size for field in fields]).astype(np.float32)
    if game.encoding != COMPACT:
        return high
    return np.minimum(np.rint(high / game.observation_scales), LARGEST_BYTE).astype(np.uint8)


def observation_box(game: Game, seats: int = 1) -> Box:
    """Return the space of the observations of some seats one after the other, [seats * observation_size]."""
    high = np.tile(observation_high(game), seats)
    return Box(np.zeros_like(high), high, dtype=game.observation_dtype.type)


def action_space(game: Game) -> Discrete:
    """Return the space of all actions, legal or not."""
    return Discrete(game.num_actions)


def masked_observation(game: Game) -> Dict:
    """Return the space of the dict with the keys "observation" and "action_mask" (int8 [num_actions])."""
    mask = Box(0, 1, (game.num_actions,), np.int8)
    return Dict({"observation": observation_box(game), "action_mask": mask})
