"""Files of `GameBatch.save`: an .npz that numpy reads, with a head in JSON and the arrays of the batch as bytes."""

import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..batch import MAX_GAMES, GameBatch
from ..engine.rewards import REWARD_SETTINGS, REWARDS, outcome_dtype
from ..game import Game, make_game
from ..options import Option
from ..registry import describe
from ..system.files import open_regular, write_atomically
from ..system.messages import shorten
from ..system.strict_json import parse_json
from .batch_state import CHOICE_STREAMS, FINALS, OUTCOMES, STATES

FORMAT = "meeplezoo-batch/1"

_HEAD, _SETTINGS = "head", "settings"
_MEMBERS = (_HEAD, STATES, FINALS, OUTCOMES, _SETTINGS, CHOICE_STREAMS)
_HEAD_KEYS = {"format": str, "game": str, "version": int, "options": dict, "encoding": str, "threads": int}
_MOST_HEAD_BYTES = 2**16
_MOST_NPY_HEADER_BYTES = 512


def save_batch(batch: GameBatch, path: Path) -> None:
    """Write a batch to an .npz file; it is complete or it is not there."""
    header = {
        "format": FORMAT,
        "game": batch.game.name,
        "version": batch.game.spec.version,
        "options": batch.game.options,
        "encoding": batch.game.encoding,
        "threads": batch.threads,
    }
    text = np.array(json.dumps(header))
    arrays: dict[str, Any] = {_HEAD: text, **batch.get_state(), _SETTINGS: batch.settings.view(np.uint8)}
    with write_atomically(path) as file:
        np.savez(file, **arrays)


def load_batch(path: Path) -> GameBatch:
    """Return the batch of a file.

    Raises ValueError, one sentence that names the file, if it is none, is damaged or holds what cannot be.
    """
    with open_regular(path) as file:
        try:
            return _read_batch(file)
        except ValueError as error:
            # what is wrong with the file as a whole, or a sentence about a part of it
            link = " " if str(error).startswith(("is ", "holds ")) else ": "
            raise ValueError(f"{path}{link}{error}") from error.__cause__


def _read_batch(file: IO[bytes]) -> GameBatch:
    with _refuse_damage():
        archive = zipfile.ZipFile(file)
    with archive:
        if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in _MEMBERS):
            raise ValueError("is no file of GameBatch.save")
        game, threads = _read_head(archive)
        record, outcome = game.template.nbytes, outcome_dtype(game.spec.most_players).itemsize
        states = _read_member(archive, STATES, np.uint8, record * MAX_GAMES)
        number = states.size // record
        if not number:
            raise ValueError("is damaged: it holds no games")
        state = {
            STATES: states,
            FINALS: _read_member(archive, FINALS, np.uint8, record * number),
            OUTCOMES: _read_member(archive, OUTCOMES, np.uint8, outcome * number),
            CHOICE_STREAMS: _read_member(archive, CHOICE_STREAMS, np.uint32, 16 * number),
        }
        settings = _read_member(archive, _SETTINGS, np.uint8, 2 * REWARD_SETTINGS.itemsize)
    batch = _batch_of_settings(game, number, threads, settings)
    try:
        batch.set_state(state)
    except ValueError as error:
        raise ValueError(f"is damaged: {error}") from None
    return batch


@contextmanager
def _refuse_damage() -> Iterator[None]:
    """Turn whatever zipfile and numpy raise about a damaged file into one ValueError."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        zlib.error,
        struct.error,
        EOFError,
        OSError,
        # encrypted members and unknown methods of compression
        RuntimeError,
        ValueError,
        TypeError,
        KeyError,
        SyntaxError,
        # of a damaged header of an array
        tokenize.TokenError,
        OverflowError,
    ) as error:
        raise ValueError("is no file of GameBatch.save, or is damaged") from error


def _read_member(archive: zipfile.ZipFile, name: str, dtype: type, most_bytes: int) -> np.ndarray:
    """Return an array of the archive; nothing is read of one that is larger or says so of itself."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type != zipfile.ZIP_STORED or info.file_size > most_bytes + _MOST_NPY_HEADER_BYTES:
        raise ValueError(f"is no file of GameBatch.save: {name} is compressed or too large")
    with _refuse_damage():
        content = archive.read(info)
        header = BytesIO(content[:_MOST_NPY_HEADER_BYTES])
        if np.lib.format.read_magic(header) != (1, 0):
            raise ValueError(name)
        shape, column_first, described = np.lib.format.read_array_header_1_0(
            header, max_header_size=_MOST_NPY_HEADER_BYTES
        )
        if name == _HEAD:
            fits = described.kind == "U" and shape == ()
        else:
            fits = described == dtype and not (column_first and len(shape) > 1)
        if not fits or described.hasobject:
            raise ValueError(name)
        return np.frombuffer(content, described, offset=header.tell()).reshape(shape)


def _read_head(archive: zipfile.ZipFile) -> tuple[Game, int]:
    """Return game and threads of the head."""
    text = str(_read_member(archive, _HEAD, np.str_, _MOST_HEAD_BYTES)[()])
    try:
        header = parse_json(text)
    except ValueError as error:
        raise ValueError(f"is damaged: its head {error}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("is no file of GameBatch.save")
    if sorted(header) != sorted(_HEAD_KEYS):
        raise ValueError(
            f"is damaged: its head must have the keys {', '.join(_HEAD_KEYS)}, not {shorten(sorted(header))}"
        )
    for key, kind in _HEAD_KEYS.items():
        if type(header[key]) is not kind:
            raise ValueError(f"is damaged: {key} in its head is {shorten(header[key])}")
    spec = describe(header["game"])
    _check_names(header["options"], spec.options)
    game = make_game(header["game"], encoding=header["encoding"], **header["options"])
    if header["version"] != spec.version:
        raise ValueError(f"holds version {shorten(header['version'])} of {game.name}, not this one")
    return game, header["threads"]


def _check_names(given: dict[str, Any], options: tuple[Option, ...]) -> None:
    # before they become arguments of a function that has others too
    for name in given:
        if name not in [option.name for option in options]:
            raise ValueError(f"is damaged: there is no option {shorten(name)}")


def _batch_of_settings(game: Game, number: int, threads: int, raw: np.ndarray) -> GameBatch:
    if raw.shape != (2, REWARD_SETTINGS.itemsize):
        raise ValueError("is damaged: its settings have another size")
    settings = raw.reshape(-1).view(REWARD_SETTINGS)
    rewards, auto_reset = int(settings["rewards"][0]), bool(settings["auto_reset"][0])
    if rewards >= len(REWARDS):
        raise ValueError(f"is damaged: there is no kind of rewards {rewards}")
    batch = GameBatch(game, number, rewards=REWARDS[rewards], auto_reset=auto_reset, threads=threads)
    if batch.settings.tobytes() != settings.tobytes():
        raise ValueError("is damaged: its settings do not fit together, or not to the game")
    return batch
