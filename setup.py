"""The one thing that pyproject.toml cannot say: every folder with code is a package below `meeplezoo`."""

from setuptools import find_packages, setup

PARTS = ("envs", "agents", "training", "configs", "benchmarks", "cli")

setup(packages=[f"meeplezoo.{name}" for name in find_packages(include=[*PARTS, *(f"{part}.*" for part in PARTS)])])
