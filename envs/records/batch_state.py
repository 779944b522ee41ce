"""The arrays that make the games of a batch, as bytes: taken out of one, and put back after a look at everything."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..engine.rewards import outcome_dtype
from ..engine.state import RUNNING
from ..game import Game
from ..validation.arrays import output_array
from ..validation.state_validity import check_states

STATES, FINALS, OUTCOMES, CHOICE_STREAMS = "states", "finals", "outcomes", "choice_streams"
_SCORES = np.iinfo(np.int16)


def state_bytes(records: np.ndarray) -> np.ndarray:
    """Return a copy of records as they lie in memory, uint8 [N * size of one]."""
    raw: np.ndarray = records.view(np.uint8)
    return raw.copy()


def read_state(game: Game, num_games: int, state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the arrays of `GameBatch.get_state`, copied and given their types.

    Raises ValueError, one sentence, if one is missing, of another form, or holds what no batch can hold. `states` must
    be there, the others may be left out.
    """
    for name in state:
        if name not in (STATES, FINALS, OUTCOMES, CHOICE_STREAMS):
            raise ValueError(f"there is no {name!r} in the state of a batch")
    if STATES not in state:
        raise ValueError(f"the state of a batch must hold {STATES!r}")
    read = {STATES: _read_states(game, num_games, state[STATES])}
    if FINALS in state:
        read[FINALS] = _read_finals(game, num_games, state[FINALS])
    if OUTCOMES in state:
        read[OUTCOMES] = _read_outcomes(game, num_games, state[OUTCOMES])
    if FINALS in read and OUTCOMES in read and is_template(game, read[FINALS])[read[OUTCOMES]["done"]].any():
        raise ValueError(f"{OUTCOMES}: a game is done, but there is no final state of it")
    if CHOICE_STREAMS in state:
        shape = (num_games, 4)
        read[CHOICE_STREAMS] = output_array(_copy(state[CHOICE_STREAMS]), CHOICE_STREAMS, np.uint32, shape)
    return read


def _copy(array: Any) -> Any:
    """Return a copy that is contiguous and can be written; what is no array stays what it is."""
    return array.copy() if isinstance(array, np.ndarray) and not array.dtype.hasobject else array


def _records(num_games: int, raw: Any, dtype: np.dtype, name: str) -> np.ndarray:
    return output_array(_copy(raw), name, np.uint8, (num_games * dtype.itemsize,)).view(dtype)


def is_template(game: Game, records: np.ndarray) -> np.ndarray:
    """Return which records have not been begun, bool [N]."""
    template: np.ndarray = np.logical_not(records["random"].any(axis=1))
    # few are left to be looked at byte by byte
    indices = np.flatnonzero(template)
    taken = records.take(indices).view(np.uint8).reshape(len(indices), game.template.nbytes)
    template[indices] = (taken == game.template.view(np.uint8)).all(axis=1)
    return template


def _read_states(game: Game, num_games: int, raw: Any) -> np.ndarray:
    states = _records(num_games, raw, game.template.dtype, STATES)
    _check_options(game, states, STATES)
    template = is_template(game, states)
    if not template.all():
        check_states(game, states, STATES)
    return states


def _read_finals(game: Game, num_games: int, raw: Any) -> np.ndarray:
    finals = _records(num_games, raw, game.template.dtype, FINALS)
    _check_options(game, finals, FINALS)
    indices = np.flatnonzero(~is_template(game, finals))
    ended = finals.take(indices)
    check_states(game, ended, FINALS, indices)
    running = ended["status"] == RUNNING
    if running.any():
        raise ValueError(f"{FINALS}: game {indices[running][0]} is not over")
    return finals


def _check_options(game: Game, records: np.ndarray, name: str) -> None:
    try:
        game.door.many(records)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _read_outcomes(game: Game, num_games: int, raw: Any) -> np.ndarray:
    num_players = game.num_players
    dtype = outcome_dtype(game.spec.most_players)
    outcomes = _records(num_games, raw, dtype, OUTCOMES)
    flags = outcomes.view(np.uint8).reshape(num_games, -1)
    assert dtype.fields is not None
    for name in ("done", "truncated"):
        _, place, *_ = dtype.fields[name]
        _demand((flags[:, place] <= 1).all(), f"{name} must be 0 or 1")
    _demand((outcomes["done"] | ~outcomes["truncated"]).all(), "no game is truncated without being done")
    _demand(np.isfinite(outcomes["rewards"]).all(), "rewards must be finite")
    scores, ranks = outcomes["scores"], outcomes["ranks"]
    _demand(((scores >= _SCORES.min) & (scores <= _SCORES.max)).all(), f"scores must be at most {_SCORES.max}")
    _demand(((ranks >= 0) & (ranks < num_players)).all(), f"ranks must be from 0 to {num_players - 1}")
    for name in ("rewards", "scores", "ranks"):
        absent = outcomes[name][:, num_players:]
        _demand(not absent.any(), f"{name} of players who are not in the game must be 0")
    return outcomes


def _demand(holds: Any, sentence: str) -> None:
    if not holds:
        raise ValueError(f"{OUTCOMES}: {sentence}")
