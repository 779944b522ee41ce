"""Agents by name: "random", "greedy", "mcts:sims=1000", "ppo:FILE", "net:FILE", "program:COMMAND", "FILE.py:NAME"."""

import re
from collections.abc import Callable
from typing import Any

from ..envs.engine.random_stream import check_seed
from ..envs.game import Game
from ..envs.system.messages import shorten
from .baselines import greedy_agent, random_agent
from .external import program_bot, python_bot
from .maskable_ppo import model_agent as maskable_ppo_agent
from .networks import network_agent
from .protocol import Agent
from .search import mcts_agent, minimax_agent

Factory = Callable[[Game, str, str, int], Agent]
BotFactory = Callable[[Game, str, str, int, float | None], Agent]

LONGEST_TEXT = 4096
"""Characters of an agent's text: the longest path of a file on Linux."""

_FILE = "FILE.py"
_FACTORIES: dict[str, tuple[Factory, str]] = {
    "random": (random_agent.make, "every legal action equally likely"),
    "greedy": (greedy_agent.make, "the game's own heuristic, one decision ahead"),
    "mcts": (mcts_agent.make, "Monte-Carlo tree search, mcts:sims=1000,leaf=greedy"),
    "minimax": (minimax_agent.make, "alpha-beta search for two players, minimax:depth=3,width=12"),
    "ppo": (maskable_ppo_agent.make, "ppo:FILE, a MaskablePPO model trained by `meeplezoo train`"),
    "net": (network_agent.make, "net:NAME or net:FILE, a trained network, with tree search net:FILE,sims=200"),
}
_BOT_FACTORIES: dict[str, tuple[BotFactory, str]] = {
    "program": (program_bot.make, "program:COMMAND, a program of your own in any language (docs/your_bot.md)"),
    _FILE: (python_bot.make, "FILE.py:NAME, a function or class of your own (docs/your_bot.md)"),
}


def agent_names() -> dict[str, str]:
    """Return the names of all kinds of agents with what they do."""
    return {name: meaning for name, (_, meaning) in [*_FACTORIES.items(), *_BOT_FACTORIES.items()]}


def make_agent(
    text: str, game: Game, seed: int | None = None, start_seconds: float | None = None, *, trust: bool = False
) -> Agent:
    """Return the agent that a text like "greedy" or "ppo:runs/mine/best.zip" names, with its own random stream.

    `start_seconds` is how long a bot of the user's own has to start, whenever it does; None for 120. With `trust` the
    file of a "ppo" that holds classes of its own may run code when it is read; otherwise no trained agent's file does.

    Raises ValueError that lists the known names, or says what is wrong with the part behind the colon.
    """
    check_agent_text(text)
    name, argument = kind_of(text), text.partition(":")[2]
    if name in _BOT_FACTORIES:
        return _BOT_FACTORIES[name][0](game, text, argument, check_seed(seed), start_seconds)
    if name not in _FACTORIES:
        raise ValueError(f"there is no agent {shorten(name)}; the agents are {', '.join(agent_names())}")
    if name == "ppo":
        return maskable_ppo_agent.make(game, text, argument, check_seed(seed), trust=trust)
    return _FACTORIES[name][0](game, text, argument, check_seed(seed))


def check_agent_text(text: Any) -> None:
    """Raise ValueError if something cannot be the text of an agent, whatever agents there are."""
    if not isinstance(text, str):
        raise ValueError(f"an agent is named by a text, not {shorten(text)}")
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"the text of an agent has at most {LONGEST_TEXT:,} characters, not {len(text):,}")
    if "\0" in text:
        raise ValueError(f"agent {shorten(text)}: its text holds the character \\0, which no file or command can have")


def kind_of(text: str) -> str:
    """Return what kind of agent a text names: its first word, or "FILE.py"."""
    name = text.partition(":")[0]
    is_file = name not in agent_names() and re.search(r"\.py(:|$)", text)
    return _FILE if is_file else name


def is_own_bot(agent: str | Agent) -> bool:
    """Tell whether an agent, or what a text names, is a bot of the user's own, in a process of its own."""
    if isinstance(agent, str):
        return kind_of(agent) in _BOT_FACTORIES
    return isinstance(agent, program_bot.ProgramBot | python_bot.PythonBot)


def reset_agent(
    agent: Agent | None, text: str, game: Game, seed: int, start_seconds: float | None = None, *, trust: bool = False
) -> Agent:
    """Return an agent of a text as if just made with the seed: the one given, reset, if it has a `reset`."""
    reset: Callable[[int], None] | None = getattr(agent, "reset", None)
    if agent is None or reset is None:
        return make_agent(text, game, seed, start_seconds, trust=trust)
    reset(seed)
    return agent
