"""Files, locks, signals and text from outside: what every machine does a little differently."""
