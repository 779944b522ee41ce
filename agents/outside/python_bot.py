"""An agent that is a function or class in a Python file of the user's own: "FILE.py:NAME".

It runs in a process of its own (`python_host`), to which states go as bytes in which all that is hidden has been dealt
anew. So it sees no more than its seat may know, may crash, print and run for ever, and is killed when its time is up.
"""

import base64
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ...envs.game import Game
from ..decisions import Decisions
from .answers import NoMove, decide_each, legal_action
from .session import BotSession
from .shown import dealing_stream, shown_states, told_seed, warm_up

_HOST = [sys.executable, "-P", "-m", f"{__package__}.python_host"]
# sets of strings come in the same order in every run
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}


class PythonBot:
    """Asks a function for one decision after the other, or a class for all at once."""

    def __init__(self, game: Game, text: str, file: Path, name: str, seed: int) -> None:
        self.name = text
        self._made_of = {
            "type": "hello",
            "file": str(file.absolute()),
            "name": name,
            "game": game.name,
            "observation": game.observation,
            "options": dict(game.options),
        }
        self._at_once = False
        self._stream = dealing_stream(seed)
        self._session = BotSession(_HOST, self._hello(seed), _ENVIRONMENT)

    def start(self) -> None:
        """Start the process; NoMove if the file or what it names is no bot."""
        self._at_once = bool(self._session.start().get("at_once"))

    def restart(self, seed: int) -> None:
        """Begin anew as if just made with that seed, in the same process: the file is not run again."""
        self._stream = dealing_stream(seed)
        self._session.begin_anew(self._hello(seed))

    def act(self, decisions: Decisions) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]; AgentFailure if some of them have come to nothing."""
        states = shown_states(decisions, self._stream)
        if self._at_once:
            return self._act_at_once(decisions, states)
        return decide_each(len(decisions), lambda index: self._decide(decisions, states[index : index + 1], index))

    def _decide(self, decisions: Decisions, state: np.ndarray, index: int) -> int:
        answer = self._ask(state, decisions.seconds_per_move)
        return legal_action(decisions, index, answer.get("action"), str(answer.get("answer")))

    def _act_at_once(self, decisions: Decisions, states: np.ndarray) -> np.ndarray:
        actions: list[Any] = []
        failure = ""
        try:
            actions = self._ask(states, decisions.seconds_per_move)["actions"] if len(states) else []
        except NoMove as reason:
            failure = str(reason)

        def decide(index: int) -> int:
            if failure:
                raise NoMove(failure)
            return legal_action(decisions, index, actions[index], str(actions[index]))

        return decide_each(len(states), decide)

    def _ask(self, states: np.ndarray, seconds_per_move: float | None) -> dict[str, Any]:
        number = len(states)
        content = {"states": base64.b64encode(states.tobytes()).decode(), "seconds_per_move": seconds_per_move}
        seconds = None if seconds_per_move is None else number * seconds_per_move
        answer = self._session.ask(content, seconds, "a move" if number == 1 else f"{number} moves")
        if "failure" in answer:
            raise NoMove(str(answer["failure"]))
        return answer

    def _hello(self, seed: int) -> dict[str, Any]:
        return {**self._made_of, "seed": told_seed(seed)}


def make(game: Game, text: str, argument: str, seed: int) -> PythonBot:
    """Return the agent of a text FILE.py:NAME, its process running; see `registry.make_agent`.

    Raises ValueError if the file or the name is missing, the file raises, or the parameters fit no kind of bot.
    """
    file, colon, name = text.rpartition(":")
    path = Path(file)
    if not colon or not name:
        raise ValueError(f"agent {text!r} lacks the name of a function or class in the file; write FILE.py:NAME")
    if not path.is_file():
        raise ValueError(f"agent {text!r}: there is no file {file!r}")
    warm_up(game)
    bot = PythonBot(game, text, path, name, seed)
    try:
        bot.start()
    except NoMove as reason:
        raise ValueError(f"agent {text!r}: {reason}") from None
    return bot
