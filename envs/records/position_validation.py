"""Reading positions of the JSON notation: what all games share, and the checks their own readers are made of.

Every check raises ValueError with one sentence that begins with the key it is about.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..engine.random_stream import GAME_STREAM, seed_stream
from ..engine.state import ENDED, RUNNING, TRUNCATED
from ..options import with_later_ones
from ..system.messages import shorten
from ..system.strict_json import first_difference

if TYPE_CHECKING:
    from ..game import Game

OVER = "over"
_MOST_LISTED = 12


def refuse(key: str, reason: str) -> NoReturn:
    """Raise the ValueError for a position that cannot be."""
    raise ValueError(f"{key}: {reason}")


def check_object(value: Any, key: str, keys: Sequence[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """Return the value if it is an object with exactly these keys, save the optional ones."""
    if not isinstance(value, dict):
        refuse(key, f"must be an object, not {shorten(value)}")
    for name in value:
        if not isinstance(name, str) or (name not in keys and name not in optional):
            refuse(key, f"unknown key {shorten(name)}; the keys are {', '.join([*keys, *optional])}")
    for name in keys:
        if name not in value:
            refuse(key, f"the key {name!r} is missing")
    return value


def check_list(value: Any, key: str, length: int | None = None, at_most: int | None = None) -> list[Any]:
    """Return the value if it is a list of the length."""
    if not isinstance(value, list):
        refuse(key, f"must be a list, not {shorten(value)}")
    if length is not None and len(value) != length:
        refuse(key, f"must have {length} entries, not {len(value)}")
    if at_most is not None and len(value) > at_most:
        refuse(key, f"must have at most {at_most} entries, not {len(value)}")
    return value


def check_integer(value: Any, key: str, low: int, high: int) -> int:
    """Return the value if it is an integer from low to high: no boolean, no float, none of numpy's."""
    if type(value) is not int or not low <= value <= high:
        refuse(key, f"must be an integer from {low} to {high}, not {shorten(value)}")
    return value


def check_name(value: Any, key: str, names: Sequence[str]) -> int:
    """Return the index of a name; the value has to be one of them."""
    if not isinstance(value, str) or value not in names:
        listed = names if len(names) <= _MOST_LISTED else [*names[:2], "...", names[-1]]
        refuse(key, f"must be one of {', '.join(listed)}, not {shorten(value)}")
    return names.index(value)


def check_boolean(value: Any, key: str) -> bool:
    """Return the value if it is true or false."""
    if not isinstance(value, bool):
        refuse(key, f"must be true or false, not {shorten(value)}")
    return value


def count_names(value: Any, key: str, names: Sequence[str], at_most: int) -> np.ndarray:
    """Return how often each name stands in a list, uint8 [names]."""
    counts = np.zeros(len(names), np.uint8)
    for place, name in enumerate(check_list(value, key, at_most=at_most)):
        counts[check_name(name, f"{key}[{place}]", names)] += 1
    return counts


def list_names(counts: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return each name as often as it is counted, in the order of the names."""
    return [name for name, count in zip(names, counts, strict=True) for _ in range(int(count))]


def read_position(game: "Game", position: Any, seed: int) -> np.ndarray:
    """Return the record of a position, its stream begun from the seed; ValueError if the position cannot be."""
    if not isinstance(position, dict):
        refuse("position", f"must be an object, not {shorten(position)}")
    if not _is_text(position.get("game"), game.name):
        refuse("game", f"must be {game.name!r}, not {shorten(position.get('game'))}")
    _check_options(game, position.get("options"))
    notation = game.spec.notation()
    states = game.template.copy()
    state = states[0]
    state["seed"] = seed
    seed_stream(state["random"], np.uint64(seed), GAME_STREAM)
    over = _is_text(position.get("phase"), OVER)
    shared = ["game", "options", "phase", "result" if over else "to_move"]
    own = {name: value for name, value in position.items() if name not in shared}
    for name in shared:
        if name not in position:
            refuse("position", f"the key {name!r} is missing")
    if over:
        # the reader needs to know that the game has ended; whether it was cut off is the result's to say
        state["status"] = ENDED
    else:
        check_name(position["phase"], "phase", [*notation.phases, OVER])
        state["to_move"] = check_integer(position["to_move"], "to_move", 0, game.num_players - 1)
        state["status"] = RUNNING
    notation.fill(game.options, own, position["phase"], state)
    if over:
        _check_result(game, state, position["result"])
    elif not game.mask(state).any():
        refuse("position", "nothing is legal in it, although it is not over")
    return states.reshape(())


def _is_text(value: Any, text: str) -> bool:
    """Tell whether a value is this text; arrays have an `==` of their own."""
    return isinstance(value, str) and value == text


def _check_options(game: "Game", options: Any) -> None:
    if isinstance(options, dict):
        options = with_later_ones(game.spec.options, options)
    check_object(options, "options", list(game.options))
    for name, value in game.options.items():
        given = options[name]
        if type(given) is not type(value) or given != value:
            refuse("options", f"{name} is {shorten(given)}, but this game was made with {value!r}")


def _check_result(game: "Game", state: np.void, result: Any) -> None:
    check_object(result, "result", ["scores", "winners", "truncated"])
    if check_boolean(result["truncated"], "result.truncated"):
        state["status"] = TRUNCATED
    expected = game.result(state)
    for name in ("scores", "winners"):
        # as data: 62.0 and true are equal to 62 and 1 in Python
        if first_difference(expected[name], result[name]) is not None:
            refuse(f"result.{name}", f"must be {expected[name]}, not {shorten(result[name])}")
    reason = game.spec.notation().ending_error(state)
    if reason:
        refuse("result", reason)
