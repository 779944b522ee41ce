"""What a command ends with when it cannot go on: `main` prints the sentence and returns the exit code."""


class CommandError(Exception):
    """The command failed: exit code 1."""


class UsageError(Exception):
    """A usage error: exit code 2."""
