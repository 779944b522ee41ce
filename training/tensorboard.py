"""The numbers of metrics.jsonl as TensorBoard events."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class TensorBoard:
    """Writes rows of metrics to a folder; events after `decisions`, of a run that went further, are hidden."""

    def __init__(self, folder: Path, decisions: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(str(folder), purge_step=decisions + 1)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the numbers of one iteration at its number of decisions."""
        step = row["decisions"]
        for name, value in row.items():
            if isinstance(value, float):
                self._writer.add_scalar(name if "/" in name else f"time/{name}", value, step)
        for opponent, result in row.get("evaluation", {}).items():
            self._writer.add_scalar(f"win_rate/{opponent}", result["win_rate"], step)
            self._writer.add_scalar(f"margin/{opponent}", result["mean_margin"], step)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()
