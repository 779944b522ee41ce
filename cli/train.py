"""`meeplezoo train`: self-play training as a config says."""

from __future__ import annotations

import os

from .arguments import CommandParser
from .errors import CommandError


def run(argv: list[str]) -> int:
    """Hand config, changes and run to the training."""
    parser = CommandParser(
        "train",
        "Train an agent by self-play. The config is a file, or the name of one that comes with the package;\n"
        "KEY=VALUE changes single settings. Ctrl-C saves and stops; --resume goes on.",
        [
            "meeplezoo train {game}/ppo",
            "meeplezoo train {game}/ppo seed=3 decisions=2000000",
            "meeplezoo train my_config.yaml run=runs/mine",
            "meeplezoo train --resume runs/RUN",
        ],
        ["CONFIG [KEY=VALUE ...]", "--resume RUN [KEY=VALUE ...]"],
    )
    parser.add_argument(
        "positional",
        metavar="CONFIG KEY=VALUE ...",
        nargs="*",
        default=[],
        help="file or name of a config, and changes to it",
    )
    parser.add_argument("--resume", metavar="RUN", help="folder of a run that is to go on")
    parser.add_trust()
    arguments = parser.parse(argv)
    first, *rest = arguments.positional or [None]
    is_config = first is not None and ("=" not in first or os.path.exists(first))
    config, overrides = (first, rest) if is_config else (None, arguments.positional)
    if config is None and arguments.resume is None:
        parser.error("the following arguments are required: CONFIG, or --resume RUN")
    try:
        from ..training.command import train_command

        trust = {"trust": True} if arguments.trust else {}
        code: int = train_command(config, overrides, arguments.resume, **trust)
    except ImportError as error:
        if str(error.name).startswith("meeplezoo"):
            raise
        raise CommandError(
            f"training needs {error.name}, which is missing; install it with: pip install 'meeplezoo[train]'"
        ) from None
    return code
