"""`meeplezoo warm-up`: compile ahead what games and agents need, so that nothing waits for it later."""

from __future__ import annotations

import time

from ..envs import game_names, make_game
from ..envs.engine.compilation import JIT_DISABLED, cache_directory
from .arguments import CommandParser
from .errors import UsageError


def run(argv: list[str]) -> int:
    """Compile the kernels of the games, or of all."""
    arguments = _parser().parse(argv)
    from ..agents.warm_up import warm_up

    try:
        games = [make_game(name) for name in dict.fromkeys(arguments.games or game_names())]
    except ValueError as error:
        raise UsageError(str(error)) from None
    if JIT_DISABLED:
        print("NUMBA_DISABLE_JIT is set: everything is played in plain Python, and there is nothing to compile")
        return 0
    for game in games:
        began = time.perf_counter()
        warm_up(game)
        print(f"{game.name}: ready after {time.perf_counter() - began:.1f} s", flush=True)
    directory = cache_directory()
    if directory is not None:
        print(f"compiled kernels: {directory}")
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        "warm-up",
        "Compile all that games and agents need: about half a minute for each game, once. Whatever is not compiled\n"
        "ahead is compiled when it is first needed. The options of a game make no difference.",
        ["meeplezoo warm-up", "meeplezoo warm-up {game}"],
    )
    parser.add_argument("games", metavar="GAME", nargs="*", help="names of games (default: all)")
    return parser
