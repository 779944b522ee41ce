"""Folders of tournaments, and their configs."""

import random
from pathlib import Path

from ...agents.arena.folder import TournamentFolder
from ...envs import game_names
from .cases import Case, CommandResult
from .command import SECONDS_TO_WORK, run_command
from .containers import change_file
from .games import warm_all
from .input_cache import files_below, make_once

_BOT_FILE = "bot.py"
_BOT = b"def choose(observation, mask):\n    return int(mask.argmax())\n"
_WITH_BOT = "with-bot"


def _write_tournaments(folder: Path) -> None:
    """Play tournaments, one of them with a bot of one's own, and write results and records."""
    for name in game_names():
        _play(folder / name, name, ["random", "greedy", "random"])
    Path(_BOT_FILE).write_bytes(_BOT)
    _play(folder / _WITH_BOT, game_names()[0], ["random", f"{_BOT_FILE}:choose"])


def _play(path: Path, game: str, agents: list[str]) -> None:
    words = ["tournament", game, *agents, "--option", "num_players=2", "--rounds", "2", "--deals", "1", "--records"]
    ended = run_command([*words, "--processes", "1", "--out", str(path)])
    if ended.code:
        raise RuntimeError(ended.errors)


class Tournaments:
    """A tournament whose folder is damaged, resumed; or begun from a damaged config."""

    refusals = ()
    may_make_files = True

    def __init__(self, kept: Path) -> None:
        warm_all()
        folder = make_once(kept, "tournaments", _write_tournaments)
        self._folders = {path.name: files_below(path, "t/") for path in sorted(folder.iterdir())}

    def make(self, draw: random.Random) -> Case:
        """Return a folder with changes in a file, whole or as an interruption leaves it; or a config."""
        others = [name for name in self._folders if name != _WITH_BOT]
        # bots take seconds to start
        files = dict(self._folders[_WITH_BOT if draw.random() < 0.1 else draw.choice(others)])
        settings = TournamentFolder("t").settings.as_posix()
        if draw.random() < 0.2:
            content, note = change_file("c.yaml", files[settings], draw)
            return Case(["c.yaml", "--out", "new"], {"c.yaml": content}, note)
        lines = draw.randrange(1, 6)
        for name in ("t/games.jsonl", "t/records.jsonl"):
            if draw.random() < 0.5:
                files[name] = b"".join(files[name].splitlines(keepends=True)[:lines])
        read = [name for name in files if not name.endswith((".html", "results.json"))]
        name = draw.choice((settings, "t/games.jsonl", "t/games.jsonl", *read))
        files[name], note = change_file(name, files[name], draw)
        return Case(["--resume", "t"], {**files, _BOT_FILE: _BOT}, note)

    def run(self, case: Case) -> CommandResult:
        """Go on with the tournament, or begin it."""
        words = ["tournament", *case.words, "--processes", "1"]
        return run_command(words, interrupt_after=SECONDS_TO_WORK)
