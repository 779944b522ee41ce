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
from .bot_file import InvalidBot, describe_error, load, required_parameters
from .replies import parse_move
from .requests import warm_up

Reply = dict[str, Any]
Bot = Callable[[DecisionBatch, np.ndarray], Reply]
"""Takes decisions and their states, and returns the reply."""


_SECONDS_BETWEEN_LOOKS = 1.0
_TOO_LARGE = 10**300
"""Python does not write integers of any length."""


def main() -> None:
    """Answer every line until the goodbye, or until there are no more."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    lines, replies = _private_streams()
    host = _Host()
    for line in lines:
        message = json.loads(line)
        if message["type"] == "goodbye":
            break
        reply = host.reset(message) if message["type"] == "hello" else host.decide(message)
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def _end_with(parent: int) -> None:
    """End this process when its parent has been killed: a bot that runs for ever would not notice."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the streams of the protocol; from here on the bot's input is empty and its output goes to stderr."""
    lines, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if isinstance(sys.stdout, TextIOWrapper):
        # a line is shown when it is printed, not when many have been
        sys.stdout.reconfigure(line_buffering=True)
    return lines, replies


class _Host:
    """The bot of one file, made again for every hello; the file is run once."""

    def __init__(self) -> None:
        self._bot_source: Any = None
        self._file = Path()
        self._traceback_shown = False

    def reset(self, hello: dict[str, Any]) -> Reply:
        """Make the bot again; reply whether it is ready."""
        self._game = make_game(hello["game"], encoding=hello["encoding"], **hello["options"])
        try:
            if self._bot_source is None:
                warm_up(self._game)
                self._file = Path(hello["file"])
                self._bot_source = load(self._file, hello["name"])
            parameters = required_parameters(self._bot_source, hello["name"], hello["settings"])
            _seed_globals(hello["seed"])
            self._bot = self._make_bot(parameters, hello["settings"], hello["seed"])
        except InvalidBot as reason:
            return {"type": "refused", "reason": str(reason)}
        return {"type": "ready", "batched": isinstance(self._bot_source, type)}

    def _make_bot(self, parameters: set[str], settings: dict[str, Any], seed: int) -> Bot:
        source = self._bot_source
        if not isinstance(source, type):
            function = functools.partial(source, **settings)
            return _function_bot(self._game, function, parameters, np.random.default_rng(seed))
        given = {"game": self._game, "seed": seed}
        try:
            return _class_bot(source(**{name: given[name] for name in parameters}, **settings))
        except Exception as error:
            raise InvalidBot(f"{source.__name__} cannot be made: {self._describe(error)}") from None

    def decide(self, message: dict[str, Any]) -> Reply:
        """Answer a decision (all of them for a class) with the actions of the bot or with its failure."""
        data = bytearray(base64.b64decode(message["states"]))
        states = np.frombuffer(data, self._game.spec.state_dtype)
        decisions = DecisionBatch(
            self._game,
            states,
            seconds_per_move=message["seconds_per_move"],
            game_indices=np.array(message["game_indices"], np.int64),
        )
        try:
            reply = self._bot(decisions, states)
        except Exception as error:
            reply = {"failure": f"crashed: {self._describe(error)}"}
        return {"id": message["id"], **reply}

    def _describe(self, error: Exception) -> str:
        """Return an error in one line; the first one's traceback is shown."""
        if not self._traceback_shown:
            self._traceback_shown = True
            traceback.print_exception(error)
        return describe_error(error, self._file)


def _seed_globals(seed: int) -> None:
    # a bot that draws from these is reproduced too
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002


def _function_bot(game: Game, function: Callable[..., Any], parameters: set[str], rng: np.random.Generator) -> Bot:
    """Return a bot that asks a function for one decision."""

    def decide(decisions: DecisionBatch, states: np.ndarray) -> Reply:
        parts: dict[str, Callable[[], Any]] = {
            "observation": lambda: decisions.observation[0],
            "mask": lambda: decisions.mask[0],
            "position": lambda: game.position(states[0]),
            "legal": lambda: game.legal_moves(states[0]),
            "random": lambda: rng,
            "game_index": lambda: int(decisions.game_indices[0]),
            "ply": lambda: int(decisions.plies[0]),
        }
        value = function(**{name: parts[name]() for name in parameters})
        if "position" in parameters:
            return {"action": parse_move(game, value, states[0]), "returned": shorten(value)}
        is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if is_integer and abs(int(value)) < _TOO_LARGE:
            return {"action": int(value), "returned": str(int(value))}
        return {"action": -1, "returned": shorten(value)}

    return decide


def _class_bot(bot: Any) -> Bot:
    """Return a bot that asks an object for all decisions at once."""

    def decide(decisions: DecisionBatch, states: np.ndarray) -> Reply:
        number = len(decisions)
        actions = np.asarray(bot.act(decisions))
        if actions.shape != (number,) or actions.dtype.kind not in "iu":
            got = f"{actions.dtype} of shape {actions.shape}"
            return {"failure": f"answered {got}, not {number} integer actions"}
        return {"actions": actions.tolist()}

    return decide


if __name__ == "__main__":
    main()
