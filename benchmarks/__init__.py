"""Measurements: what the suite costs, beside other libraries in the same run."""
