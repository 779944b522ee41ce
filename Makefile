# Everything from a clean clone: each target makes .venv, installs what it needs and runs.
#   make demo    train Azul by self-play for about three minutes, rate it against the baselines
#   make test    the whole test suite
#   make warm-up compile ahead all that games and agents need (test, demo and bench do so themselves)
#   make lint    ruff (check and format), mypy over the whole package, and names that have been replaced
#   make bench   decisions per second of every layer, beside other libraries'
#   make wheel   build the wheel, install it into an empty environment outside the checkout, play a game there

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/pip install --quiet --constraint constraints.txt

.PHONY: demo test warm-up lint bench wheel clean

demo: .venv/installed
	$(BIN)/meeplezoo warm-up azul
	$(BIN)/python -m meeplezoo.training.demo

# two processes, whole files each: a file's fixtures are made once
test: warm-up
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --durations 25

# compiled ahead, nothing is compiled by several processes at once or while something is timed
warm-up: .venv/installed
	$(BIN)/meeplezoo warm-up

# mypy does not follow the import hook of an editable install: a folder of links shows it the package
lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	mkdir -p .types/meeplezoo
	for part in __init__.py envs agents training configs benchmarks cli; do ln -sfn ../../$$part .types/meeplezoo/$$part; done
	MYPYPATH=.types $(BIN)/mypy
	$(BIN)/python .ci/check_names.py

bench: .venv/installed-bench
	$(BIN)/meeplezoo warm-up
	$(BIN)/python -m meeplezoo.benchmarks.throughput

wheel: .venv/installed
	sh .ci/try_wheel $(PYTHON)

# the example too: tests and lint cover it
.venv/installed: pyproject.toml setup.py constraints.txt examples/connect_four/pyproject.toml
	$(PYTHON) -m venv .venv
	$(INSTALL) --editable '.[all]'
	$(INSTALL) --no-deps --editable examples/connect_four
	touch $@

.venv/installed-bench: .venv/installed
	$(INSTALL) --editable '.[all,bench]'
	touch $@

clean:
	rm -rf .venv build dist *.egg-info
