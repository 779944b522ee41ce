"""Write the metrics of a run as TensorBoard events.

Rows are written synchronously: the writer of TensorBoard has a thread, which reports a full disk late or never.
"""

import io
import os
import socket
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from ..envs.system.files import append


class TensorBoard:
    """Writes rows of metrics to a folder; events of earlier processes from `first_step` on are hidden."""

    def __init__(self, folder: Path, first_step: int) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog

        folder.mkdir(exist_ok=True)
        # TensorBoard reads a folder's files by their names
        stem = f"events.out.tfevents.{int(time.time()):010}.{socket.gethostname()}.{os.getpid()}"
        paths = (folder / f"{stem}.{number}" for number in count())
        self._path = next(path for path in paths if not path.exists())
        session_start = SessionLog(status=SessionLog.START)
        self._write([Event(file_version="brain.Event:2"), Event(step=first_step, session_log=session_start)])

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the numbers of one iteration at its number of decisions."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        numbers = {
            name if "/" in name else f"time/{name}": value for name, value in row.items() if isinstance(value, float)
        }
        for opponent, result in row.get("evaluation", {}).items():
            numbers[f"win_rate/{opponent}"] = result["win_rate"]
            numbers[f"margin/{opponent}"] = result["mean_margin"]
        values = [Summary.Value(tag=name, simple_value=value) for name, value in numbers.items()]
        self._write([Event(step=row["decisions"], summary=Summary(value=values))])

    def _write(self, events: list[Any]) -> None:
        from tensorboard.summary.writer.record_writer import RecordWriter

        content = io.BytesIO()
        writer = RecordWriter(content)
        for event in events:
            event.wall_time = time.time()
            writer.write(event.SerializeToString())
        append(self._path, content.getvalue())
