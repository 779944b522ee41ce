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

from ...envs.engine.random_stream import MAX_SEED, check_seed, game_seeds
from ...envs.system.files import read_file
from ...envs.system.messages import shorten
from ...envs.system.strict_json import parse_json
from ..protocol import Agent
from ..registry import is_own_bot

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
        seed: of the match, or of the tournament that it belongs to.
        secret: 16 bytes; None if all follows from the seed.
        round: of the tournament.
        line_up: the participants of the tournament that play; empty outside tournaments.
        first_deal: the number of the match's first deal among all deals of the seed.
    """

    seed: int
    secret: bytes | None = None
    round: int = 0
    line_up: tuple[int, ...] = ()
    first_deal: int = 0

    def of_games(self, first: int, number: int, num_seatings: int) -> np.ndarray:
        """Return the seeds of games `first` to `first + number - 1`, uint64 [number].

        Without a secret every deal comes once for each of the seatings, one after the other; with one, once.
        """
        if self.secret is not None:
            return self._hash("game", range(first, first + number))
        deals = np.arange(first, first + number) // num_seatings
        first_deal, num_deals = first // num_seatings, -(-number // num_seatings) + 1
        return game_seeds(self.seed, num_deals, self.first_deal + first_deal)[deals - first_deal]

    def of_agents(self, number: int) -> list[int]:
        """Return the seeds of agents; in a tournament they do not depend on the matches before."""
        if self.secret is not None:
            seeds = self._hash("agent", range(number))
        elif self.line_up:
            sequence = np.random.SeedSequence([self.seed, self.round, *self.line_up])
            seeds = sequence.generate_state(number, np.uint64) & np.uint64(MAX_SEED)
        else:
            seeds = game_seeds(self.seed, number)
        return [int(seed) for seed in seeds]

    def _hash(self, purpose: str, numbers: Iterable[int]) -> np.ndarray:
        assert self.secret is not None
        match = f"{self.round} {self.line_up}" if self.line_up else ""
        prefix = hashlib.blake2b(f"{self.seed} {match} {purpose} ".encode(), key=self.secret, digest_size=8)
        seeds = []
        for number in numbers:
            one = prefix.copy()
            one.update(str(number).encode())
            seeds.append(int.from_bytes(one.digest(), "big") & MAX_SEED)
        return np.array(seeds, np.uint64)


def derive_seeds(agents: Iterable[str | Agent], seed: int, secret: bytes | None = None) -> MatchSeeds:
    """Return the seeds of a match: of its seed alone, or with a secret if a bot of the user's own takes part.

    Raises ValueError if the seed is none, or if a secret is given to a match that needs none.
    """
    seed = check_seed(seed)
    if any(map(is_own_bot, agents)):
        return MatchSeeds(seed, secret or new_secret())
    if secret is not None:
        raise ValueError("a match without bots of your own follows from its seed alone and takes no secret")
    return MatchSeeds(seed)


@dataclass(frozen=True)
class Secrets:
    """Secrets out of a file: one for all, or one for each match of a tournament, by round and line-up."""

    one: bytes | None = None
    matches: Mapping[tuple[int, tuple[str, ...]], bytes] = field(default_factory=dict)

    def of_match(self, number: int, names: Sequence[str]) -> bytes:
        """Return the secret of a match of a tournament; a new one if there is none for it."""
        return self.matches.get((number, tuple(names))) or self.one or new_secret()


def check_secrets(secrets: Secrets, with_own_bots: bool, names: Sequence[str]) -> None:
    """Raise ValueError if secrets out of a file are of no use to a tournament of agents with these names."""
    if not with_own_bots:
        raise ValueError("a tournament without bots of your own follows from its seed alone and takes no --secret")
    others = sorted({name for _, line_up in secrets.matches for name in line_up} - set(names))
    if others:
        raise ValueError(f"--secret: the secrets are of a tournament in which {shorten(others[0])} plays")


def secret_line(secret: bytes, match: tuple[int, Sequence[str]] | None = None) -> str:
    """Return a line of a file of secrets, in JSON; one of a tournament also has the match's round and line-up."""
    where = {} if match is None else {"round": match[0], "agents": list(match[1])}
    return json.dumps({**where, "secret": secret.hex()}, ensure_ascii=False) + "\n"


def add_secret(path: Path, line: str) -> None:
    """Append a line to a file that its owner alone may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(line)


def read_secrets(path: str | Path) -> Secrets:
    """Return the secrets of a file; ValueError that names the file, and the line, if there are none in it.

    A line is 32 hexadecimal digits, or an object as `secret_line` makes it. Of two for one match the last counts.
    """
    one: bytes | None = None
    matches: dict[tuple[int, tuple[str, ...]], bytes] = {}
    lines = read_file(path, _LARGEST_FILE).splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            match, secret = _read_line(line)
            if match is None and len(lines) > 1:
                raise ValueError("is the secret of a whole match, so nothing else may stand in the file")
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if match is None:
            one = secret
        else:
            matches[match] = secret
    if not lines:
        raise ValueError(f"{path} is empty; it should hold the secret of a match")
    return Secrets(one, matches)


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
