"""Connect Four as a PettingZoo environment: `connect_four_v0.env()` or `connect_four_v0.raw_env()`."""

from functools import partial

from meeplezoo.envs.interfaces import pettingzoo_env

__all__ = ["env", "raw_env"]

env = partial(pettingzoo_env.env, "connect_four")
raw_env = partial(pettingzoo_env.raw_env, "connect_four")
