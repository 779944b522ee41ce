"""Azul as a PettingZoo environment: `azul_v0.env()` or `azul_v0.raw_env()`."""

from functools import partial

from .interfaces import pettingzoo_env

__all__ = ["env", "raw_env"]

env = partial(pettingzoo_env.env, "azul")
raw_env = partial(pettingzoo_env.raw_env, "azul")
