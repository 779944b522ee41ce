"""Games, positions and records to begin with: whatever is registered, with all its options, played at random."""

import random
from functools import cache
from typing import Any

import numpy as np

from ...agents import DecisionBatch
from ...envs import Game, GameBatch, game_names, make_game
from ...envs.game import as_batch
from ...envs.options import Choice, Option
from ...envs.records.record import Record, make_record
from ...envs.registry import describe
from ...envs.validation.states import State
from .cases import FaultFound

_PLIES_TO_WARM = 40
_MOST_PLIES = 40


def draw_game(draw: random.Random) -> Game:
    """Return a game with drawn options."""
    name = draw.choice(game_names())
    options = {option.name: _draw_value(option, draw) for option in describe(name).options}
    return make_game(name, encoding=draw.choice(describe(name).encodings), **options)


def _draw_value(option: Option, draw: random.Random) -> Any:
    if isinstance(option, Choice):
        return draw.choice(option.choices)
    if option.high - option.low < 10:
        return draw.randint(option.low, option.high)
    return draw.choice((option.default,) * 4 + (option.low, option.high))


def play_random(game: Game, plies: int, draw: random.Random) -> tuple[list[tuple[State, int]], State]:
    """Return the (state before, action) of so many random plies, or fewer to the end, and the state after them."""
    state = game.new(draw.randrange(1000))
    history: list[tuple[State, int]] = []
    for _ in range(plies):
        legal = np.flatnonzero(game.mask(state))
        if not len(legal):
            break
        action = int(draw.choice(legal))
        history.append((state.copy(), action))
        game.play_action(state, action)
    return history, state


def draw_state(game: Game, draw: random.Random) -> State:
    """Return a game somewhere in its course, rarely at its end."""
    if draw.random() < 0.1:
        batch = GameBatch(game, 1, auto_reset=False)
        batch.reset(draw.randrange(1000))
        batch.play_out(10_000)
        return batch.states[0].copy()
    return play_random(game, draw.randrange(_MOST_PLIES), draw)[1]


def draw_record(game: Game, draw: random.Random) -> Record:
    """Return the record of a short game, ended by a player's failure if it is cut short."""
    plies = draw.choice((0, 1, 3, 8, 20))
    history, state = play_random(game, plies, draw)
    agents = ["random"] * game.num_players
    first = history[0][0] if history else state
    forfeit = None if game.is_over(state) else (int(state["to_move"]), "took longer than 1 s for a move")
    return make_record(game, int(first["seed"]), agents, history, state, draw.random() < 0.5, forfeit)


@cache
def warm_all() -> None:
    """Load or compile the kernels of all games, once in a process."""
    for name in game_names():
        _warm(make_game(name))


def _warm(game: Game) -> None:
    """Load or compile all kernels that states of a game are read, played and shown with."""
    state = game.new(0)
    for _ in range(_PLIES_TO_WARM):
        use_state(game, state)
        if game.is_over(state):
            break
        game.play(state, game.legal_moves(state)[0])
    batch = GameBatch(game, 2)
    batch.reset(0)
    use_batch(batch, random.Random(0))
    batch.play_out(10)


def use_state(game: Game, state: State) -> None:
    """Do with a state what everybody does with one."""
    game.mask(state)
    for seat in range(game.num_players):
        game.observe(state, seat)
    game.legal_moves(state)
    game.position(state)
    game.result(state)
    DecisionBatch(game, as_batch(state).copy()).determinize(np.array([1, 2, 3, 4], np.uint32))


def use_batch(batch: GameBatch, draw: random.Random, steps: int = 8) -> None:
    """Do with a batch what everybody does with one."""
    batch.results()
    for seat in range(batch.game.num_players):
        batch.observe(seat)
    for number in range(steps):
        batch.observe()
        legal = [np.flatnonzero(row) for row in batch.mask()]
        running = np.array([index for index, row in enumerate(legal) if len(row)], np.int64)
        chosen = np.array([draw.choice(row) if len(row) else 0 for row in legal], np.int64)
        if number % 2 and len(running):
            batch.step_subset(running, chosen[running])
        else:
            batch.step(chosen if len(running) == len(legal) else batch.random_actions())
    batch.results()


def check_legal(game: Game, states: np.ndarray, actions: Any) -> None:
    """Raise FaultFound unless an agent's actions are legal ones, int64 [n]."""
    if not isinstance(actions, np.ndarray) or actions.shape != (len(states),) or actions.dtype.kind not in "iu":
        raise FaultFound("an agent's actions are not integers [n]")
    for state, action in zip(states, actions.tolist(), strict=True):
        if not 0 <= action < game.num_actions or not game.mask(state)[action]:
            raise FaultFound("an agent plays an illegal action")
