"""What a match is dealt from: its seed alone, or, where bots of the user's own take part, a secret besides.

A bot can read the command line and try out every small seed, so it must not help to know the seed: all deals and all
streams of agents come from a keyed hash of 128 secret bits. The seeds that come out of it tell nothing of each other.
Each game then has a deal of its own, too: a bot that is asked about the same deal in several seats could compare.
"""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...envs.engine.random_stream import MAX_SEED, game_seeds
from ...envs.system.files import read_file
from ...envs.system.messages import shorten
from ...envs.system.strict_json import parse_json

_BYTES = 16
_LARGEST_FILE = 1 << 28
_HEXADECIMAL = re.compile(r"[0-9a-f]{32}")


def new_secret() -> bytes:
    """Return 16 bytes that nobody can guess."""
    return secrets.token_bytes(_BYTES)


@dataclass(frozen=True)
class MatchSeeds:
    """The seeds of one match: of its games and of its agents.

    Arguments:
        seed: of the match.
        secret: 16 bytes; None if all follows from the seed.
        part: tells parts of a match apart that have the same secret.
    """

    seed: int
    secret: bytes | None = None
    part: str = ""

    def of_games(self, first: int, number: int, seatings: int) -> np.ndarray:
        """Return the seeds of games from one on, uint64 [number].

        Without a secret every deal comes once for each of the seatings, one after the other; with one, once.
        """
        if self.secret is not None:
            return self._hashed("game", range(first, first + number))
        deals = np.arange(first, first + number) // seatings
        return game_seeds(self.seed, -(-number // seatings) + 1, first // seatings)[deals - first // seatings]

    def of_agents(self, number: int) -> list[int]:
        """Return the seeds of agents."""
        seeds = game_seeds(self.seed, number) if self.secret is None else self._hashed("agent", range(number))
        listed: list[int] = seeds.tolist()
        return listed

    def _hashed(self, purpose: str, numbers: Iterable[int]) -> np.ndarray:
        assert self.secret is not None
        begun = hashlib.blake2b(f"{self.seed} {self.part} {purpose} ".encode(), key=self.secret, digest_size=8)
        seeds = []
        for number in numbers:
            one = begun.copy()
            one.update(str(number).encode())
            seeds.append(int.from_bytes(one.digest(), "big") & MAX_SEED)
        return np.array(seeds, np.uint64)


@dataclass(frozen=True)
class Secrets:
    """Secrets out of a file: one for all, or one for each meeting of a tournament, by round and line-up."""

    one: bytes | None = None
    meetings: Mapping[tuple[int, tuple[str, ...]], bytes] = field(default_factory=dict)

    def of_meeting(self, number: int, names: Sequence[str]) -> bytes:
        """Return the secret of a meeting; a new one if there is none for it."""
        return self.meetings.get((number, tuple(names))) or self.one or new_secret()


def check_secrets(secrets: Secrets, with_own_bots: bool, names: Sequence[str]) -> None:
    """Raise ValueError if secrets out of a file are of no use to a tournament of agents with these names."""
    if not with_own_bots:
        raise ValueError("a tournament without bots of your own follows from its seed alone and takes no --secret")
    others = sorted({name for _, line_up in secrets.meetings for name in line_up} - set(names))
    if others:
        raise ValueError(f"--secret: the secrets are of a tournament in which {shorten(others[0])} plays")


def secret_line(secret: bytes, meeting: tuple[int, Sequence[str]] | None = None) -> str:
    """Return a line of a file of secrets, in JSON: of a whole match, or of a meeting by its round and line-up."""
    where = {} if meeting is None else {"round": meeting[0], "agents": list(meeting[1])}
    return json.dumps({**where, "secret": secret.hex()}, ensure_ascii=False) + "\n"


def add_secret(path: Path, line: str) -> None:
    """Append a line to a file that its owner alone may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(line)


def read_secrets(path: str | Path) -> Secrets:
    """Return the secrets of a file; ValueError that names the file, and the line, if there are none in it.

    A line is 32 hexadecimal digits, or an object as `secret_line` makes it. Of two for one meeting the last counts.
    """
    one: bytes | None = None
    meetings: dict[tuple[int, tuple[str, ...]], bytes] = {}
    lines = read_file(path, _LARGEST_FILE).splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            meeting, secret = _read_line(line)
            if meeting is None and len(lines) > 1:
                raise ValueError("is the secret of a whole match, so nothing else may stand in the file")
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if meeting is None:
            one = secret
        else:
            meetings[meeting] = secret
    if not lines:
        raise ValueError(f"{path} is empty; it should hold the secret of a match")
    return Secrets(one, meetings)


def _read_line(line: bytes) -> tuple[tuple[int, tuple[str, ...]] | None, bytes]:
    text = line.decode("ascii", errors="replace").strip()
    if _HEXADECIMAL.fullmatch(text):
        return None, bytes.fromhex(text)
    try:
        data = parse_json(line)
    except ValueError as error:
        raise ValueError(f"{error}, and it is no secret of 32 hexadecimal digits either") from None
    secret = data.get("secret") if isinstance(data, dict) else None
    if not isinstance(secret, str) or not _HEXADECIMAL.fullmatch(secret):
        raise ValueError(f"secret: must be 32 hexadecimal digits, not {shorten(secret)}")
    if set(data) == {"secret"}:
        return None, bytes.fromhex(secret)
    number, agents = data.get("round"), data.get("agents")
    if set(data) != {"secret", "round", "agents"} or type(number) is not int or number < 0:
        raise ValueError("needs the keys round, an integer from 0, agents and secret")
    if not isinstance(agents, list) or not all(isinstance(agent, str) for agent in agents):
        raise ValueError("agents: must be the names of a line-up")
    return (number, tuple(agents)), bytes.fromhex(secret)
