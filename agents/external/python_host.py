"""The process of a Python bot: `python -m meeplezoo.agents.external.python_host`, spoken to by `python_bot`.

Lines of JSON come in on stdin and go out on stdout, both kept away from the bot: it reads nothing and
prints to stderr.
"""

import base64
import functools
import json
import os
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...envs.game import Game, make_game
from ...envs.interfaces.decision_batch import DecisionBatch
from ...envs.system.messages import shorten
from .bot_file import NoBot, described, load, wanted_parameters
from .replies import action_of_move
from .requests import warm_up

Answer = dict[str, Any]
Bot = Callable[[DecisionBatch, np.ndarray], Answer]
"""Answers decisions, of which it gets the states too."""


_SECONDS_BETWEEN_LOOKS = 1.0
_TOO_LARGE = 10**300
"""Python does not write integers of any length."""


def main() -> None:
    """Answer every line until the goodbye, or until there are no more."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    lines, answers = _private_streams()
    host = _Host()
    for line in lines:
        message = json.loads(line)
        if message["type"] == "goodbye":
            break
        answer = host.begin(message) if message["type"] == "hello" else host.decide(message)
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _end_with(parent: int) -> None:
    """End this process when its parent has been killed: a bot that runs for ever would not notice."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the streams of the protocol; from here on the bot's input is empty and its output goes to stderr."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if isinstance(sys.stdout, TextIOWrapper):
        # a line is shown when it is printed, not when many have been
        sys.stdout.reconfigure(line_buffering=True)
    return lines, answers


class _Host:
    """The bot of one file, begun anew with every hello; the file runs once."""

    def __init__(self) -> None:
        self._thing: Any = None
        self._file = Path()
        self._shown = False

    def begin(self, hello: dict[str, Any]) -> Answer:
        """Make the bot anew; answer whether it is ready."""
        self._game = make_game(hello["game"], observation=hello["observation"], **hello["options"])
        try:
            if self._thing is None:
                warm_up(self._game)
                self._file = Path(hello["file"])
                self._thing = load(self._file, hello["name"])
            wanted = wanted_parameters(self._thing, hello["name"], hello["settings"])
            _seed_globals(hello["seed"])
            self._bot = self._made(wanted, hello["settings"], hello["seed"])
        except NoBot as reason:
            return {"type": "refused", "reason": str(reason)}
        return {"type": "ready", "at_once": isinstance(self._thing, type)}

    def _made(self, wanted: set[str], settings: dict[str, Any], seed: int) -> Bot:
        thing = self._thing
        if not isinstance(thing, type):
            function = functools.partial(thing, **settings)
            return _function_bot(self._game, function, wanted, np.random.default_rng(seed))
        given = {"game": self._game, "seed": seed}
        try:
            return _class_bot(thing(**{name: given[name] for name in wanted}, **settings))
        except Exception as error:
            raise NoBot(f"{thing.__name__} cannot be made: {self._told(error)}") from None

    def decide(self, message: dict[str, Any]) -> Answer:
        """Answer one decision, or all of a class, with the bot's actions or with its failure."""
        data = bytearray(base64.b64decode(message["states"]))
        states = np.frombuffer(data, self._game.spec.state_dtype)
        decisions = DecisionBatch(
            self._game,
            states,
            seconds_per_move=message["seconds_per_move"],
            game_indices=np.array(message["game_indices"], np.int64),
        )
        try:
            answer = self._bot(decisions, states)
        except Exception as error:
            answer = {"failure": f"crashed: {self._told(error)}"}
        return {"id": message["id"], **answer}

    def _told(self, error: Exception) -> str:
        """Return an error in one line; the first one's traceback is shown."""
        if not self._shown:
            self._shown = True
            traceback.print_exception(error)
        return described(error, self._file)


def _seed_globals(seed: int) -> None:
    # a bot that draws from these is reproduced too
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002


def _function_bot(game: Game, function: Callable[..., Any], wanted: set[str], generator: np.random.Generator) -> Bot:
    """Return a bot that asks a function for one decision."""

    def decide(decisions: DecisionBatch, states: np.ndarray) -> Answer:
        parts: dict[str, Callable[[], Any]] = {
            "observation": lambda: decisions.observation[0],
            "mask": lambda: decisions.mask[0],
            "position": lambda: game.position(states[0]),
            "legal": lambda: game.legal_moves(states[0]),
            "random": lambda: generator,
            "game_index": lambda: int(decisions.game_indices[0]),
            "ply": lambda: int(decisions.plies[0]),
        }
        chosen = function(**{name: parts[name]() for name in wanted})
        if "position" in wanted:
            return {"action": action_of_move(game, chosen, states[0]), "answer": shorten(chosen)}
        if isinstance(chosen, int | np.integer) and not isinstance(chosen, bool) and abs(int(chosen)) < _TOO_LARGE:
            return {"action": int(chosen), "answer": str(int(chosen))}
        return {"action": -1, "answer": shorten(chosen)}

    return decide


def _class_bot(bot: Any) -> Bot:
    """Return a bot that asks an object for all decisions at once."""

    def decide(decisions: DecisionBatch, states: np.ndarray) -> Answer:
        number = len(decisions)
        actions = np.asarray(bot.act(decisions))
        if actions.shape != (number,) or actions.dtype.kind not in "iu":
            got = f"{actions.dtype} of shape {actions.shape}"
            return {"failure": f"answered {got}, not {number} integer actions"}
        return {"actions": actions.tolist()}

    return decide


if __name__ == "__main__":
    main()
