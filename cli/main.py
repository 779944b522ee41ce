"""The command `meeplezoo`: finds the subcommand, runs it, and turns errors into one sentence and an exit code.

Exit codes: 0 done, 1 failed, 2 usage error, 130 interrupted (Ctrl-C), 141 nobody reads the output any more.
Only the subcommand that is run is imported, and it imports the games when it needs them.
"""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from .. import __version__
from .console import print_error, standard_streams
from .errors import CommandError, UsageError

COMMANDS = {
    "games": "list the games with their options, sizes and agents",
    "play": "play a game in the terminal, yourself or between agents",
    "record": "play games between agents and write their records",
    "replay": "show recorded games ply by ply, or check them",
    "evaluate": "measure agents against each other over many games",
    "tournament": "rate any number of agents in a tournament, with a report",
    "train": "train an agent by self-play as a config says",
    "runs": "list training runs: how far they are and how good",
    "warm-up": "compile ahead what games and agents need",
    "bench": "measure the speed of every layer",
}

INTERRUPTED = 130
BROKEN_PIPE = 141

Run = Callable[[list[str]], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: that of the process) and return the exit code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    with standard_streams():
        try:
            code = _run(argv)
            # here, where a reader who has gone away is noticed, and not at the end of the process
            sys.stdout.flush()
        except UsageError as error:
            return _report(error, 2)
        except CommandError as error:
            return _report(error, 1)
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            return BROKEN_PIPE
        except OSError as error:
            return _report(f"{error.filename}: {error.strerror}" if error.filename else error, 1)
        return code


def _report(error: object, code: int) -> int:
    print_error(error)
    return code


def _run(argv: list[str]) -> int:
    if not argv:
        raise UsageError(f"a command is missing; the commands are {', '.join(COMMANDS)}")
    command, *rest = argv
    if command in ("-h", "--help"):
        print(_help())
        return 0
    if command == "--version":
        print(f"meeplezoo {__version__}")
        return 0
    if command not in COMMANDS:
        from ..envs.system.messages import shorten

        raise UsageError(f"there is no command {shorten(command)}; the commands are {', '.join(COMMANDS)}")
    run: Run = import_module(f".{command.replace('-', '_')}", __package__).run
    try:
        return run(rest)
    except SystemExit as leaving:
        # argparse leaves this way after --help
        return leaving.code if isinstance(leaving.code, int) else 0


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [
        "usage: meeplezoo COMMAND ...",
        "",
        "Modern tabletop games for reinforcement learning: play, record, evaluate, train.",
        "",
        "commands:",
        *(f"  {name:{width}}  {meaning}" for name, meaning in COMMANDS.items()),
        "",
        "options:",
        "  -h, --help  show this help; `meeplezoo COMMAND --help` shows that of a command, with examples",
        "  --version   show the version",
        "",
        "exit codes: 0 done, 1 failed, 2 usage error, 130 interrupted, 141 nobody reads the output any more",
    ]
    return "\n".join(lines)
