"""What holds for all tests."""

import signal

# a shell without job control starts what runs in the background with SIGINT ignored, and commands that tests start
# would go on ignoring it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
