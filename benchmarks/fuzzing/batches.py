"""Files of `GameBatch.save`: what can be loaded has to be played without harm to the memory around it."""

import io
import random
from pathlib import Path
from typing import Any

import numpy as np

from ...agents import DecisionBatch, make_agent
from ...envs import GameBatch
from ...envs.engine.rewards import REWARD_SETTINGS, outcome_dtype
from .cases import Case, FaultFound
from .containers import change_file, hostile_number
from .games import draw_game, use_batch, use_state, warm_all
from .mutations import several

_FILE = "batch.npz"
_MOST_PLIES = 20_000
_PLAYERS = ("greedy", "mcts:sims=6,nodes=1000")


class Batches:
    """A saved batch with fields of its states changed, or its file damaged."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()

    def make(self, draw: random.Random) -> Case:
        """Return the file of a batch of one to five games with changes."""
        batch = _draw_batch(draw)
        batch.save(_FILE)
        content = Path(_FILE).read_bytes()
        Path(_FILE).unlink()
        change = _change_fields if draw.random() < 0.6 else _change_container
        content, note = change(content, batch, draw)
        return Case(draw.randrange(100), {_FILE: content}, f"{batch.game.name}: {note}")

    def run(self, case: Case) -> None:
        """Load the batch, play it, let agents play it, and save it again.

        Fields that do not fit each other make a meaningless game, in which moves may be refused; memory and time are
        kept all the same.
        """
        batch = GameBatch.load(_FILE)
        try:
            _use(batch, random.Random(case.words))
        except (ValueError, FaultFound):
            raise
        except Exception as error:
            # the place is where the file should have been refused, so that faults of one kind count as one
            raise FaultFound(f"{type(error).__name__} after a damaged batch was loaded", str(error)) from error


def _draw_batch(draw: random.Random) -> GameBatch:
    batch = GameBatch(
        draw_game(draw),
        draw.choice((1, 1, 2, 3, 5)),
        rewards=draw.choice(("outcome", "margin", "rank")),
        auto_reset=draw.random() < 0.5,
        threads=draw.choice((1, 1, 1, 2)),
    )
    batch.reset(draw.randrange(1000))
    for _ in range(draw.randrange(30)):
        batch.step(batch.random_actions())
    if draw.random() < 0.1:
        batch.play_out(_MOST_PLIES)
    return batch


def _use(batch: GameBatch, draw: random.Random) -> None:
    again = batch.clone()
    again.save("again.npz")
    if GameBatch.load("again.npz").states.tobytes() != batch.states.tobytes():
        raise FaultFound("a batch saved and loaded again is another one")
    Path("again.npz").unlink()
    for use in (use_batch, _use_states):
        try:
            use(batch.clone(), draw)
        except ValueError:
            continue
    running = again.states[again.mask().any(axis=1)]
    for player in _PLAYERS if len(running) else ():
        make_agent(player, batch.game, 3).act(DecisionBatch(batch.game, running.copy()))
    again.play_out(_MOST_PLIES)
    again.results()


def _use_states(batch: GameBatch, draw: random.Random) -> None:
    for state in batch.states:
        use_state(batch.game, state)


def _change_container(content: bytes, batch: GameBatch, draw: random.Random) -> tuple[bytes, str]:
    return change_file(_FILE, content, draw)


def _change_fields(content: bytes, batch: GameBatch, draw: random.Random) -> tuple[bytes, str]:
    """Put hostile numbers into fields of records, in a file that is right otherwise."""
    with np.load(io.BytesIO(content)) as file:
        arrays: dict[str, Any] = {name: file[name] for name in file}
    records = {
        "states": batch.game.spec.state_dtype,
        "finals": batch.game.spec.state_dtype,
        "outcomes": outcome_dtype(batch.game.spec.most_players),
        "settings": REWARD_SETTINGS,
    }
    notes = []
    for _ in range(several(draw)):
        name = draw.choice(("states",) * 6 + ("finals", "outcomes", "settings"))
        array = arrays.get(name)
        if array is None or array.nbytes % records[name].itemsize:
            continue
        changed = np.ascontiguousarray(array).view(np.uint8).reshape(-1).copy()
        notes.append(f"{name}: {_change_record(changed.view(records[name]), draw)}")
        arrays[name] = changed.view(array.dtype).reshape(array.shape)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue(), "; ".join(notes)


def _change_record(records: np.ndarray, draw: random.Random) -> str:
    names = records.dtype.names or ()
    name = draw.choice(names)
    if draw.random() < 0.3:
        name = draw.choice([one for one in names if one.startswith("option_")] or [name])
    index = draw.randrange(len(records))
    field = records[name][index]
    value = hostile_number(records.dtype[name].base, draw)
    if np.ndim(field):
        place = draw.randrange(field.size)
        field.reshape(-1)[place] = value
        return f"{name}[{place}] = {value}"
    records[name][index] = value
    return f"{name} = {value}"
