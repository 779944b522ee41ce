"""Texts that name agents, and what bots answer."""

import random
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ...agents import DecisionBatch, agent_names, make_agent
from ...agents.networks.network_agent import NetworkSettings
from ...agents.protocol import AgentFailure
from ...agents.search.mcts_agent import SearchSettings
from ...agents.search.minimax_agent import MinimaxSettings
from ...envs import Game, GameBatch, game_names, make_game
from .cases import Case, FaultFound
from .containers import change_content
from .games import check_legal, warm_all
from .hostile import NUMBERS, PYTHON, TEXTS, to_json
from .mutations import change_bytes, change_text, change_tree, format_number, several
from .networks import files_of_networks
from .verdicts import wrong_sentence

_SECONDS = 0.05
"""Time limit of a move, which searches keep however much they are asked for."""
_SETTINGS = {"mcts": SearchSettings, "minimax": MinimaxSettings, "net:n.safetensors": NetworkSettings}


def _decisions(game: Game, number: int, seconds: float | None) -> DecisionBatch:
    batch = GameBatch(game, number)
    batch.reset(2)
    for _ in range(3):
        batch.step(batch.random_actions())
    return DecisionBatch(game, batch.states.copy(), seconds_per_move=seconds)


class AgentTexts:
    """What `make_agent` takes; an agent that it makes plays legally and in time."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()
        networks = files_of_networks(kept)
        self._network = {name.split("-")[0]: content for name, content in sorted(networks.items())}
        for name in game_names():
            game = make_game(name, num_players=2)
            for agent in ("mcts", "mcts:chance=closed", "mcts:select=uct,leaf=random", "minimax", "greedy"):
                make_agent(agent, game, 0).act(_decisions(game, 1, _SECONDS))

    def make(self, draw: random.Random) -> Case:
        """Return the text of an agent with changes, or with hostile settings."""
        name = draw.choice(game_names())
        files = {"n.safetensors": self._network[name], "folder/": b"", "empty": b"", "text.txt": b"some text\n"}
        files["bot.py"] = b"def choose(observation, mask):\n    return int(mask.argmax())\n"
        kind = draw.choice(list(_SETTINGS))
        if draw.random() < 0.6:
            text = _with_settings(kind, draw)
        else:
            named = ("n.safetensors", "folder", "empty", "text.txt", "missing", "bot.py", "/dev/zero", "/dev/stdin", "")
            text = f"{draw.choice(('net', 'ppo', 'mcts', 'greedy', *agent_names()))}:{draw.choice(named)}"
            text = draw.choice((text, "bot.py:choose", f"bot.py:{draw.choice(TEXTS)}", draw.choice(TEXTS)))
        if draw.random() < 0.3:
            text, _ = change_text(text, draw)
        # a changed text may not run programs
        text = text.replace("program:", "program", 1) if text.startswith("program:") else text
        return Case({"game": name, "agent": text}, files, repr(text[:200]))

    def run(self, case: Case) -> None:
        """Make the agent and let it play."""
        game = make_game(case.words["game"], num_players=2)
        agent = make_agent(case.words["agent"], game, 1)
        decisions = _decisions(game, 2, _SECONDS)
        check_legal(game, decisions.determinize(np.zeros(4, np.uint32)), agent.act(decisions))


def _with_settings(kind: str, draw: random.Random) -> str:
    names = [field.name for field in fields(_SETTINGS[kind])]
    usual = {"select": "uct", "leaf": "random", "chance": "closed"}
    parts = []
    for _ in range(several(draw)):
        name = draw.choice(names)
        value = draw.choice((usual.get(name, "1"), *map(format_number, NUMBERS), *TEXTS))
        parts.append(f"{name}={value}")
    return f"{kind}{',' if ':' in kind else ':'}{','.join(parts)}"


class Answers:
    """What bots answer: the bytes that a program writes, and the values that a Python function returns."""

    refusals = (AgentFailure,)

    def __init__(self, kept: Path) -> None:
        warm_all()
        kept.mkdir(parents=True, exist_ok=True)
        # every process has its own: what its bots answer lies there
        self._folder = Path(tempfile.mkdtemp(prefix="bots-", dir=kept))
        self._game = make_game(game_names()[0])
        self._legal = self._game.legal_moves(self._game.new(1))
        self._agents: dict[str, Any] = {}

    def make(self, draw: random.Random) -> Case:
        """Return the lines of a program with changes, or a value instead of an action or a move."""
        if draw.random() < 0.5:
            how = draw.choice(("index", "move", "class"))
            good = {"index": 3, "move": self._legal[0], "class": [3]}[how]
            value, note = change_tree(good, draw, PYTHON)
            return Case({"how": how, "value": value}, note=f"{how}: {note}")
        move = draw.choice(self._legal)
        ready, answer = to_json({"type": "ready"}).encode(), to_json({"id": 1, "move": move}).encode()
        which = draw.choice((0, 1, 1, 1))
        lines, note = [ready, answer], ""
        if draw.random() < 0.8:
            lines[which], note = change_content("line", lines[which], draw)
            lines[which] = lines[which].replace(b"\n", b"") if draw.random() < 0.7 else lines[which]
        content = b"\n".join([*lines, b""])
        if not note or draw.random() < 0.2:
            content, note = change_bytes(content, draw)
        return Case({"how": "program"}, {"answers": content}, f"program: {note}")

    def run(self, case: Case) -> None:
        """Ask the bot for a decision; a failure says why in one short line."""
        how = case.words["how"]
        agent = self._program() if how == "program" else self._python(how, case.words["value"])
        decisions = _decisions(self._game, 1, 2.0)
        try:
            actions = agent.act(decisions)
        except AgentFailure as failure:
            wrong = next((wrong for wrong in map(wrong_sentence, failure.reasons.values()) if wrong), "")
            if wrong:
                raise FaultFound(f"reason of a failure: {wrong}", str(failure)) from None
            raise
        check_legal(self._game, decisions.determinize(np.zeros(4, np.uint32)), actions)

    def _program(self) -> Any:
        # it answers before it is asked, reads on, and ends after a second for which an answer is waited in vain
        return make_agent("program:sh -c 'cat answers; timeout 1 cat > /dev/null'", self._game, 1)

    def _python(self, how: str, value: Any) -> Any:
        """Return an agent whose function returns what stands in a file; its process runs on from input to input."""
        (self._folder / "value.txt").write_text(repr(value), encoding="utf-8", errors="surrogatepass")
        if how not in self._agents:
            path = self._folder / f"{how}_bot.py"
            path.write_text(_BOT + _FUNCTIONS[how], encoding="utf-8")
            self._agents[how] = make_agent(f"{path}:choose", self._game, 1)
        return self._agents[how]


_FUNCTIONS = {
    "index": "def choose(observation, mask):\n    return value()\n",
    "move": "def choose(position):\n    return value()\n",
    "class": "class choose:\n    def act(self, decisions):\n        return value()\n",
}
_BOT = """
from pathlib import Path

from meeplezoo.benchmarks.fuzzing.hostile import python_value


def value():
    text = Path(__file__).with_name("value.txt").read_text(encoding="utf-8", errors="surrogatepass")
    return python_value(eval(text, {"nan": float("nan"), "inf": float("inf")}))


"""
