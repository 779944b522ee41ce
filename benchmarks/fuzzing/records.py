"""Files of records, by the library's reader and by `meeplezoo replay`."""

import random
from pathlib import Path

from ...envs.records.record import read_records, record_line, replay
from ...envs.records.record_validation import check_record
from .cases import Case, CommandResult
from .command import run_command
from .containers import change_file
from .games import draw_game, draw_record, warm_all

_FILE = "games.jsonl"


class Records:
    """A file of one to three records."""

    refusals = ()

    def __init__(self, kept: Path) -> None:
        warm_all()

    def make(self, draw: random.Random) -> Case:
        """Return a file with changes, and how it is read."""
        records = [draw_record(draw_game(draw), draw) for _ in range(draw.choice((1, 1, 2, 3)))]
        content, note = change_file(_FILE, b"".join(map(record_line, records)), draw)
        return Case(draw.choice(("check", "replay", "replay --check", "replay")), {_FILE: content}, note)

    def run(self, case: Case) -> CommandResult | None:
        """Read the records and check them, or let the command do so."""
        if case.words.startswith("replay"):
            return run_command([*case.words.split(), _FILE])
        for stored in read_records(Path(_FILE)):
            check_record(stored)
            for _ in replay(stored):
                pass
        return None
