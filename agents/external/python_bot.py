"""An agent that is a function or class in a Python file of the user: "FILE.py:NAME,SETTING=VALUE,...".

It runs in a process of its own (`python_host`) and gets determinized states as bytes. So it sees no more than its seat
may know; it may crash, print or never return, and is killed when its time is up.
"""

import base64
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch
from ...envs.system.messages import shorten
from ..agent_settings import agent_error
from .bot_settings import Setting, split_name
from .replies import BotError, as_json, check_action, decide_each, sentence
from .requests import bot_seed, determinization_stream, visible_states, warm_up
from .session import BotSession

_HOST = [sys.executable, "-P", "-m", f"{__package__}.python_host"]
# sets of strings come in the same order in every run
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}


class PythonBot:
    """Asks a function for one decision after the other, or a class for all at once."""

    def __init__(
        self,
        game: Game,
        text: str,
        file: Path,
        name: str,
        settings: Mapping[str, Setting],
        seed: int,
        start_seconds: float | None = None,
    ) -> None:
        self.name = text
        self._bot_fields = {
            "type": "hello",
            "file": str(file.absolute()),
            "name": name,
            "settings": dict(settings),
            "game": game.name,
            "encoding": game.encoding,
            "options": dict(game.options),
        }
        self._batched = False
        self._stream = determinization_stream(seed)
        self._session = BotSession(_HOST, self._hello(seed), _ENVIRONMENT, name=text, start_seconds=start_seconds)

    @property
    def seconds_starting(self) -> float:
        """Return the seconds spent restarting the process for decisions."""
        return self._session.seconds_starting

    def start(self) -> None:
        """Start the process; BotError if the file or what it names is no bot."""
        self._batched = bool(self._session.start().get("batched"))

    def reset(self, seed: int) -> None:
        """Reset as if just made with that seed, in the same process: the file is not run again."""
        self._stream = determinization_stream(seed)
        self._session.reset(self._hello(seed))

    def act(self, decisions: DecisionBatch) -> np.ndarray:
        """Return one legal action for each decision, int64 [n]; AgentFailure if the bot failed at some of them."""
        states = visible_states(decisions, self._stream)
        if self._batched:
            return self._act_batch(decisions, states)
        return decide_each(len(decisions), lambda index: self._decide(decisions, states[index : index + 1], index))

    def _decide(self, decisions: DecisionBatch, state: np.ndarray, index: int) -> int:
        reply = self._ask(state, decisions.game_indices[index : index + 1], decisions.seconds_per_move)
        return check_action(decisions, index, reply.get("action"), _text(reply.get("returned")))

    def _act_batch(self, decisions: DecisionBatch, states: np.ndarray) -> np.ndarray:
        actions: list[Any] = []
        failure = ""
        try:
            actions = self._ask_for_all(decisions, states) if len(states) else []
        except BotError as reason:
            failure = str(reason)

        def decide(index: int) -> int:
            if failure:
                raise BotError(failure)
            return check_action(decisions, index, actions[index], as_json(actions[index]))

        return decide_each(len(states), decide)

    def _ask_for_all(self, decisions: DecisionBatch, states: np.ndarray) -> list[Any]:
        actions = self._ask(states, decisions.game_indices, decisions.seconds_per_move).get("actions")
        # what comes from its process may have been written by the bot
        if not isinstance(actions, list) or len(actions) != len(states):
            raise BotError(f"answered {as_json(actions)}, not {len(states)} integer actions")
        return actions

    def _ask(self, states: np.ndarray, game_indices: np.ndarray, seconds_per_move: float | None) -> dict[str, Any]:
        number = len(states)
        content = {
            "states": base64.b64encode(states.tobytes()).decode(),
            "game_indices": game_indices.tolist(),
            "seconds_per_move": seconds_per_move,
        }
        seconds = None if seconds_per_move is None else number * seconds_per_move
        reply = self._session.ask(content, seconds, "a move" if number == 1 else f"{number} moves")
        if "failure" in reply:
            raise BotError(sentence(reply["failure"]))
        return reply

    def _hello(self, seed: int) -> dict[str, Any]:
        return {**self._bot_fields, "seed": bot_seed(seed)}


def _text(reply: Any) -> str:
    return reply if isinstance(reply, str) else as_json(reply)


def make(game: Game, text: str, argument: str, seed: int, start_seconds: float | None = None) -> PythonBot:
    """Return the agent of a text FILE.py:NAME,SETTING=VALUE,..., its process running; see `registry.make_agent`.

    Raises ValueError if the file or the name is missing, the file raises, or parameters and settings fit no bot.
    """
    file, name, settings = split_name(text)
    path = Path(file)
    if not path.is_file():
        raise agent_error(text, f"there is no file {shorten(file, 200)}")
    warm_up(game)
    bot = PythonBot(game, text, path, name, settings, seed, start_seconds)
    try:
        bot.start()
    except BotError as reason:
        raise agent_error(text, reason) from None
    return bot
