"""Replies of external bots: legal actions, or one sentence for each decision that failed."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ...envs.game import Game
from ...envs.interfaces.decision_batch import DecisionBatch
from ...envs.system.messages import escape_controls, shorten
from ..protocol import AgentFailure

_LONGEST_VALUE = 80
_LONGEST_SENTENCE = 500


class BotError(Exception):
    """Why a bot made no move, in one short sentence."""


def truncate(text: str, longest: int = _LONGEST_VALUE) -> str:
    """Return a text as one printable line of at most `longest` characters."""
    # it may be megabytes: skip what cannot be shown
    line = escape_controls(" ".join(text[: 2 * longest].split()))
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def sentence(reason: Any) -> str:
    """Return the reason in a reply as one line, whatever its type."""
    return truncate(reason, _LONGEST_SENTENCE) if isinstance(reason, str) else as_json(reason)


def as_json(value: Any) -> str:
    """Return a value of a reply as JSON, as one line of at most 80 characters."""
    try:
        return truncate(json.dumps(value))
    except RecursionError:
        return shorten(value)


def decide_each(number: int, decide: Callable[[int], int]) -> np.ndarray:
    """Return the action that `decide` finds for every index, int64 [number]; AgentFailure if it raised BotError."""
    actions = np.full(number, -1, np.int64)
    reasons: dict[int, str] = {}
    for index in range(number):
        try:
            actions[index] = decide(index)
        except BotError as reason:
            reasons[index] = str(reason)
    if reasons:
        raise AgentFailure(actions, reasons)
    return actions


def parse_move(game: Game, move: Any, state: np.void) -> int:
    """Return the action of a move in a reply, -1 if it is not a legal one."""
    try:
        return game.action(move, state)
    except ValueError:
        return -1


def check_action(decisions: DecisionBatch, index: int, action: Any, reply: str) -> int:
    """Return the action if it is a legal one of that decision; BotError, which quotes the reply, if not."""
    is_action = type(action) is int and 0 <= action < decisions.game.num_actions
    if is_action and decisions.mask[index, action]:
        return int(action)
    raise BotError(f"answered {truncate(reply)}, which is not a legal move")
