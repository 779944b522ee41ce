"""Folders of tournaments, and their configs."""

import random
from pathlib import Path

from ...agents.arena.folder import TournamentFolder
from ...envs import game_names
from .cases import Case, Ended
from .command import SECONDS_TO_WORK, run_command
from .containers import change_file
from .games import warm_all
from .kept import files_below, made_once


def _write_tournaments(folder: Path) -> None:
    """Play tournaments with the package's own agents and write results and records."""
    for number, name in enumerate(game_names()):
        path = str(folder / f"t{number}")
        words = ["tournament", name, "random", "greedy", "random", "--option", "num_players=2"]
        ended = run_command([*words, "--rounds", "2", "--deals", "1", "--records", "--processes", "1", "--out", path])
        if ended.code:
            raise RuntimeError(ended.errors)


class Tournaments:
    """A tournament whose folder is damaged, resumed; or begun from a damaged config."""

    refusals = ()
    may_make_files = True

    def __init__(self, kept: Path) -> None:
        warm_all()
        folder = made_once(kept, "tournaments", _write_tournaments)
        self._folders = {path.name: files_below(path, "t/") for path in sorted(folder.iterdir())}

    def make(self, draw: random.Random) -> Case:
        """Return a folder with changes in a file, whole or as an interruption leaves it; or a config."""
        files = dict(self._folders[draw.choice(list(self._folders))])
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
        return Case(["--resume", "t"], files, note)

    def run(self, case: Case) -> Ended:
        """Go on with the tournament, or begin it."""
        words = ["tournament", *case.words, "--processes", "1"]
        return run_command(words, interrupt_after=SECONDS_TO_WORK)
