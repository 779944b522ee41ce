"""Memory of processes, as far as the system tells it."""

import contextlib
import sys
from pathlib import Path

_MIB = 2**20


def peak_mib() -> float:
    """Return the most memory that this process has had since `forget_peak`, or ever where that is not possible."""
    found = _status("self", "VmHWM")
    if found is not None:
        return found
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / _MIB if sys.platform == "darwin" else most / 1024


def forget_peak() -> None:
    """Let the system measure the peak of this process anew; does nothing where it cannot."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def resident_mib(process: int) -> float:
    """Return the memory that a process has now; 0 where the system does not tell."""
    return _status(str(process), "VmRSS") or 0.0


def limit_growth(mib: int) -> None:
    """Let this process reserve so much memory beyond what it has, and no more; does nothing where that is unknown."""
    reserved = _status("self", "VmSize")
    if reserved is None:
        return
    import resource

    most = int((reserved + mib) * _MIB)
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _status(process: str, field: str) -> float | None:
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    return None
