"""The cli of meeplezoo."""
