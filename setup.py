"""What pyproject.toml cannot say: the checkout is `meeplezoo`, and every folder with code is a package below it."""

from setuptools import find_packages, setup

PARTS = ("envs", "agents", "training", "configs", "benchmarks", "cli")

folders = find_packages(include=[*PARTS, *(f"{part}.*" for part in PARTS)])
# the name of this script, which a build from pyproject.toml does not tell, keeps it out of the package
setup(packages=["meeplezoo", *(f"meeplezoo.{folder}" for folder in folders)], script_name="setup.py")
