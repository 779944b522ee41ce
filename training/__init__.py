"""The training of meeplezoo."""
