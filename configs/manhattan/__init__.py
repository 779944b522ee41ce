"""Training configs of Manhattan."""
