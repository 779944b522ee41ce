"""What holds for all tests."""

import signal

from other_games import install_games, other_games

__all__ = ["install_games", "other_games"]

# a shell without job control starts what runs in the background with SIGINT ignored, and commands that tests start
# would go on ignoring it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
