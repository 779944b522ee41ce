"""The benchmarks of meeplezoo."""
