"""What comes of decisions: actions, and a sentence for each that came to nothing."""

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


class NoMove(Exception):
    """Why a decision came to nothing, in one short sentence."""


def shortened(text: str, longest: int = _LONGEST_VALUE) -> str:
    """Return a text as one line of so many characters at most, all of them printable."""
    # more than can be shown is not looked at: it may be megabytes
    line = escape_controls(" ".join(text[: 2 * longest].split()))
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def sentence(reason: Any) -> str:
    """Return the reason that a bot's process gives, whatever it is, as one line."""
    return shortened(reason, _LONGEST_SENTENCE) if isinstance(reason, str) else as_json(reason)


def as_json(value: Any) -> str:
    """Return a value of a bot's answer as JSON, as one line of at most 80 characters."""
    try:
        return shortened(json.dumps(value))
    except RecursionError:
        return shorten(value)


def decide_each(number: int, decide: Callable[[int], int]) -> np.ndarray:
    """Return the action that `decide` finds for every index, int64 [number]; AgentFailure if it raised NoMove."""
    actions = np.full(number, -1, np.int64)
    reasons: dict[int, str] = {}
    for index in range(number):
        try:
            actions[index] = decide(index)
        except NoMove as reason:
            reasons[index] = str(reason)
    if reasons:
        raise AgentFailure(actions, reasons)
    return actions


def action_of_move(game: Game, move: Any, state: np.void) -> int:
    """Return the action of a move as a bot gave it, -1 if it is none."""
    try:
        return game.action(move, state)
    except ValueError:
        return -1


def legal_action(decisions: DecisionBatch, index: int, action: Any, answer: str) -> int:
    """Return the action if it is a legal one of that decision; NoMove, which tells the answer, if not."""
    is_action = type(action) is int and 0 <= action < decisions.game.num_actions
    if is_action and decisions.mask[index, action]:
        return int(action)
    raise NoMove(f"answered {shortened(answer)}, which is not a legal move")
