"""Agents by name: "random", "greedy", "mcts:sims=1000", "ppo:FILE", "net:FILE", "program:COMMAND", "FILE.py:NAME"."""

import re
from collections.abc import Callable

from ..envs.engine.random_stream import checked_seed
from ..envs.game import Game
from . import greedy_agent, maskable_ppo_agent, mcts_agent, minimax_agent, network_agent, random_agent
from .outside import program_bot, python_bot
from .protocol import Agent

Factory = Callable[[Game, str, str, int], Agent]

_FILE = "FILE.py"
_FACTORIES: dict[str, tuple[Factory, str]] = {
    "random": (random_agent.make, "every legal action equally likely"),
    "greedy": (greedy_agent.make, "the game's own heuristic, one decision ahead"),
    "mcts": (mcts_agent.make, "Monte-Carlo tree search, mcts:sims=1000,leaf=greedy"),
    "minimax": (minimax_agent.make, "alpha-beta search for two players, minimax:depth=3,width=12"),
    "ppo": (maskable_ppo_agent.make, "ppo:FILE, a MaskablePPO model trained by `meeplezoo train`"),
    "net": (network_agent.make, "net:NAME or net:FILE, a trained network, with tree search net:FILE,sims=200"),
    "program": (program_bot.make, "program:COMMAND, a program of your own in any language (docs/your_bot.md)"),
    _FILE: (python_bot.make, "FILE.py:NAME, a function or class of your own (docs/your_bot.md)"),
}


def agent_names() -> dict[str, str]:
    """Return the names of all kinds of agents with what they do."""
    return {name: meaning for name, (_, meaning) in _FACTORIES.items()}


def make_agent(text: str, game: Game, seed: int | None = None, *, trust: bool = False) -> Agent:
    """Return the agent that a text like "greedy" or "ppo:runs/mine/best.zip" names, with its own random stream.

    With `trust` a file of a "ppo" that holds classes of its own may run code when it is read; without, no file of a
    trained agent ever does.

    Raises ValueError that lists the known names, or says what is wrong with the part behind the colon.
    """
    name, _, argument = text.partition(":")
    if name not in _FACTORIES and re.search(r"\.py(:|$)", text):
        name = _FILE
    if name not in _FACTORIES:
        raise ValueError(f"there is no agent {name!r}; the agents are {', '.join(_FACTORIES)}")
    if name == "ppo":
        return maskable_ppo_agent.make(game, text, argument, checked_seed(seed), trust=trust)
    return _FACTORIES[name][0](game, text, argument, checked_seed(seed))


def begun_anew(agent: Agent | None, text: str, game: Game, seed: int, *, trust: bool = False) -> Agent:
    """Return an agent of a text as if just made with the seed: the one given, begun anew, if it has a `restart`."""
    restart: Callable[[int], None] | None = getattr(agent, "restart", None)
    if agent is None or restart is None:
        given = {"trust": True} if trust else {}
        return make_agent(text, game, seed, **given)
    restart(seed)
    return agent
