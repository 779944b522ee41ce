"""External bots, each in its own process: Python files and programs in any language."""
