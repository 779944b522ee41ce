"""The process of a Python bot: `python -m meeplezoo.agents.outside.python_host`, spoken to by `python_bot`.

Lines of JSON come in on stdin and go out on stdout, both kept away from the bot: it reads nothing and prints to stderr.
"""

import base64
import json
import os
import random
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...envs.game import Game, make_game
from ..decisions import Decisions
from .answers import action_of_move, shortened
from .bot_file import BotError, Wanted, call_of, load, described
from .shown import warm_up

Answer = dict[str, Any]
Bot = Callable[[Decisions, np.ndarray], Answer]


def main() -> None:
    """Answer every line until the goodbye, or until there are no more."""
    lines, answers = _private_streams()
    host = _Host()
    for line in lines:
        message = json.loads(line)
        if message["type"] == "goodbye":
            break
        answers.write(json.dumps(host.answer(message)).encode() + b"\n")
        answers.flush()


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the streams of the protocol; from here on the bot's input is empty and its output goes to stderr."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # shown when it is printed, not when there is much of it
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return lines, answers


class _Host:
    pass
