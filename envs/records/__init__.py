"""Records, positions and saved batches: games as data, written and read."""
