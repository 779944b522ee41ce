"""Files, locks, signals and text from outside, the same on every system."""
