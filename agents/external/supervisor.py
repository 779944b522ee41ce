"""Start one bot and end all its descendants with it: `python -I -S supervisor.py SOCKET PARENT COMMAND [ARGUMENT ...]`.

A script of its own that imports nothing of the package, so that it is there within milliseconds. SOCKET is the number
of an inherited socket on which it writes lines:

| line | meaning |
|---|---|
| `started` | the command runs |
| `failed ERRNO` | it cannot be started |
| `ended CODE` | it has ended; CODE is its exit code, or minus the number of the signal |

The bot has this process's input and output, and a session of its own. When it ends, when the other end of the socket
is closed, or when the process PARENT is gone, everything that the bot has started is killed: on Linux also what has
left its session, since this process inherits all orphans (`PR_SET_CHILD_SUBREAPER`); elsewhere the bot's process group.
"""

import contextlib
import os
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_TO_KILL = 5.0


def main(control: int, parent: int, command: list[str]) -> None:
    """Run the command until it or the parent ends, then leave nothing of it behind."""
    os.set_inheritable(control, False)
    inherits_orphans = os.path.isdir("/proc/self") and _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake = _wake_at_signals()
    try:
        bot = _start(command)
    except OSError as error:
        _send(control, f"failed {error.errno}")
        return
    _release_streams()
    _send(control, "started")
    exit_codes: dict[int, int] = {}
    while bot not in exit_codes and os.getppid() == parent:
        ready = select.select([control, wake], [], [], _SECONDS_BETWEEN_LOOKS)[0]
        if control in ready or any(number != signal.SIGCHLD for number in _signals(wake)):
            break
        _reap(exit_codes)
    _end_all(bot, exit_codes, inherits_orphans)
    if bot in exit_codes:
        _send(control, f"ended {exit_codes[bot]}")


def _prctl(option: int, argument: int) -> bool:
    """Set an attribute of this process; False where the system has none such."""
    if sys.platform != "linux":
        return False
    try:
        import ctypes
    except ImportError:
        return False
    return bool(ctypes.CDLL(None).prctl(option, argument, 0, 0, 0) == 0)


def _wake_at_signals() -> int:
    """Return a pipe from which the number of every signal that asks for something can be read."""
    wake, write_end = os.pipe()
    for end in (wake, write_end):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, frame: None)
    return wake


def _signals(wake: int) -> bytes:
    try:
        return os.read(wake, 4096)
    except BlockingIOError:
        return b""


def _start(command: list[str]) -> int:
    """Return the process of the command; OSError if it cannot be started."""
    # closed by the exec that succeeds
    reason, write_end = os.pipe()
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            # a bot does not outlive a supervisor that was killed
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if os.getppid() == supervisor:
                os.execvp(command[0], command)
        except OSError as error:
            os.write(write_end, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(write_end)
    errno = os.read(reason, 16)
    os.close(reason)
    if errno:
        os.waitpid(child, 0)
        raise OSError(int(errno), os.strerror(int(errno)))
    return child


def _release_streams() -> None:
    """Leave input and output to the bot alone, so that the other ends notice when it closes them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)


def _reap(exit_codes: dict[int, int]) -> bool:
    """Note the exit codes of all children that have ended; False if no children are left."""
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if child == 0:
            return True
        exit_codes[child] = os.waitstatus_to_exitcode(status)


def _end_all(bot: int, exit_codes: dict[int, int], inherits_orphans: bool) -> None:
    deadline = time.monotonic() + _SECONDS_TO_KILL
    while True:
        # a whole group at once: none of its members starts another one meanwhile
        for group in _groups(bot) if inherits_orphans else {bot}:
            # of a group of dead processes some systems say that it may not be signalled
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        if not _reap(exit_codes) or time.monotonic() > deadline:
            return
        time.sleep(0.001)


def _groups(bot: int) -> set[int]:
    """Return the process groups of all descendants of this process; none of them has a member that is not one."""
    parent_of: dict[int, int] = {}
    group_of: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            # it may be gone by now
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                # the name, in brackets, may hold anything
                _, parent, group = file.read().rpartition(b")")[2].split()[:3]
                parent_of[int(name)], group_of[int(name)] = int(parent), int(group)
    own = os.getpid()
    descendants: set[int] = set()
    while more := {child for child, parent in parent_of.items() if parent in {own, *descendants}} - descendants:
        descendants |= more
    return {group_of[process] for process in descendants} - {os.getpgid(own)} | ({bot} & descendants)


def _send(control: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(control, f"{line}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
