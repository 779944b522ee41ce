"""Manhattan as a PettingZoo environment: `manhattan_v0.env()` or `manhattan_v0.raw_env()`."""

from functools import partial

from .interfaces import pettingzoo_env

__all__ = ["env", "raw_env"]

env = partial(pettingzoo_env.env, "manhattan")
raw_env = partial(pettingzoo_env.raw_env, "manhattan")
