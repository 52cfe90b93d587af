# Everything runs in .venv, which `make .venv/ready` builds from pyproject.toml within constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
EXTRAS ?= test,cluster
TESTS ?=
MUTANTS ?=

.PHONY: verify test lint foreign proofs bench soak mutants attacks clean

verify: .venv/ready
	$(BIN)/packproof verify

test: .venv/ready
	$(BIN)/python -m pytest -n 2 $(TESTS)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Tools of other people: installed into .foreign where that can be done, and asked to check what packproof exports.
foreign: .venv/ready
	PYTHON=$(PYTHON) bash .ci/foreign $(BIN)/python

bench: .venv/ready
	$(BIN)/python -m benchmarks

soak: .venv/ready
	$(BIN)/python -m pytest -m soak

proofs:
	$(MAKE) -C proofs

mutants: .venv/ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[mutants]'
	nice $(BIN)/python -m tests.checker.mutants $(MUTANTS)

# Forged certificates, spoilt inputs and documents made to exhaust the checker (tests/bounds/attacks.py).
attacks: .venv/ready
	$(BIN)/python -m tests.bounds.attacks

clean:
	$(MAKE) -C proofs clean
	rm -rf .venv .foreign build dist *.egg-info

.venv/ready: Makefile pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[$(EXTRAS)]'
	touch $@
