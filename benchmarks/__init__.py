"""Benchmarks of the package, beside other libraries in the same run."""
