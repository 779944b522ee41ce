"""`meeplezoo bench`: the same as `python -m meeplezoo.benchmarks.throughput`, with all its arguments."""

from __future__ import annotations


def run(argv: list[str]) -> int:
    """Hand all arguments to the benchmark."""
    from ..benchmarks.throughput import main

    code: int | None = main(argv)
    return code or 0
