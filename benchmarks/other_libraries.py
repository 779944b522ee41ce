"""Other libraries' games, timed in the same run where they are installed (extra `bench`)."""

import random
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from .layers import SEED, Work, pettingzoo_loop


def pettingzoo_connect_four() -> Work:
    """Time PettingZoo's connect_four with its usual wrappers in the usual loop."""
    from pettingzoo.classic import connect_four_v3

    return pettingzoo_loop(connect_four_v3.env, 1000)


def pettingzoo_connect_four_raw() -> Work:
    """Time PettingZoo's connect_four without wrappers in the usual loop."""
    from pettingzoo.classic import connect_four_v3

    return pettingzoo_loop(connect_four_v3.raw_env, 1000)


def openspiel(name: str) -> Work:
    """Time random games of an OpenSpiel game from Python: legal actions, one of them applied; chance not counted."""
    import pyspiel

    game = pyspiel.load_game(name)
    rng = random.Random(SEED)

    def work() -> int:
        decisions = 0
        while decisions < 2000:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(rng.random() * len(outcomes))][0])
                else:
                    actions = state.legal_actions()
                    state.apply_action(actions[int(rng.random() * len(actions))])
                    decisions += 1
        return decisions

    return work


def pgx_game(name: str, batch_size: int) -> Work:
    """Time a game of pgx on this machine's processor: compiled, batched steps with random legal actions.

    A step of pgx writes the mask and the observation of the next player too: `step+mask+observation` is the same work.
    """
    import pgx
    from pgx.experimental.wrappers import auto_reset

    # by name, so that type checks do not depend on whether jax is installed
    jax: Any = import_module("jax")
    game: Any = pgx.make(name)
    step = auto_reset(game.step, game.init)

    def one(state: Any, key: Any) -> Any:
        key_action, key_step = jax.random.split(key)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)
        return step(state, jax.random.categorical(key_action, logits), key_step)

    steps = 20

    @jax.jit
    def many(states: Any, key: Any) -> Any:
        def body(states: Any, key: Any) -> tuple[Any, None]:
            return jax.vmap(one)(states, jax.random.split(key, batch_size)), None

        return jax.lax.scan(body, states, jax.random.split(key, steps))[0]

    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.PRNGKey(SEED), batch_size))

    def work() -> int:
        jax.block_until_ready(many(states, jax.random.PRNGKey(SEED)))
        return steps * batch_size

    return work


PEERS: tuple[tuple[str, str, int, Callable[[], Work]], ...] = (
    ("connect_four", "pettingzoo raw", 1, pettingzoo_connect_four_raw),
    ("connect_four", "pettingzoo", 1, pettingzoo_connect_four),
    ("connect_four", "openspiel", 1, partial(openspiel, "connect_four")),
    ("backgammon", "openspiel", 1, partial(openspiel, "backgammon")),
    ("connect_four", "pgx", 1024, partial(pgx_game, "connect_four", 1024)),
    ("backgammon", "pgx", 1024, partial(pgx_game, "backgammon", 1024)),
)
"""(game, library, batch, maker of the work)."""
