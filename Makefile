# Everything runs in .venv, which `make .venv/ready` builds from pyproject.toml within constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
# What pytest makes of a test file is kept beside it, also where the environment forbids Python to do so.
# A test that hangs is named, with what each thread does, and ends its worker.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true
# Two processes; what the tests of a file share is made in one of them.
TWO := -n 2 --dist loadfile
EXTRAS ?= test,cluster
TESTS ?=
MUTANTS ?=
POLICIES ?=
DRAWN ?=
ATTACKS ?=
FAULTS ?=
VERIFY ?=

CLAIMS ?=

.PHONY: install verify test test-all nightly release lint docs docs-run foreign proofs bench soak mutants attacks faults figures clean

install: .venv/ready

verify: .venv/ready
	$(BIN)/packproof verify $(VERIFY)

# Every room, command and claim, in about five minutes after `make verify`: the tests without a marker.
test: .venv/ready
	$(PYTEST) $(TWO) $(TESTS)

# What CI runs: also slow tests, those of processes and systems, pictures, and pages of the documentation if they are built.
test-all: .venv/ready
	$(PYTEST) $(TWO) -m "not foreign and not soak" $(TESTS)

# Hours: the matrix of versions, mutants, attacks, faults, foreign tools, long sweeps, tutorials, proofs from nothing.
nightly: .venv/ready
	.ci/nightly

# The wheel and the source distribution in dist/, checked, after a night of tests on them.
release: .venv/ready
	.ci/release

# Lines, names and comments of each room, for people: nothing depends on them.
figures: .venv/ready
	$(BIN)/python -m tests.tools.figures

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Cells of tutorials that are not run are shown as Python, in which a line may not begin with a mark of exclamation.
UNRUN := config.cache,mystnb.unknown_mime_type,misc.highlighting_failure

# The documentation, into docs/_build/html; warnings are errors. TUTORIALS=off leaves out what the tutorials print.
docs: .venv/docs
	@echo "building the documentation: about a quarter of an hour the first time, as the tutorials run; then only what changed"
	nice $(BIN)/python -m sphinx -q -W --keep-going $(if $(TUTORIALS),-D nb_execution_mode=$(TUTORIALS) -D suppress_warnings=$(UNRUN)) -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# The stored run of the atlas: claims that it lacks, or CLAIMS=--all, or CLAIMS="ID ...".
docs-run: .venv/docs
	cd docs && nice ../$(BIN)/python -m generate.store $(CLAIMS)

# Tools of other people: installed into .foreign where that can be done, and asked to check what packproof exports.
foreign: .venv/ready
	PYTHON=$(PYTHON) bash .ci/foreign $(BIN)/python

# The figures of this version beside peers: make bench OUT=new.json COMPARE=old.json
bench: .venv/ready
	$(BIN)/python -m benchmarks $(if $(OUT),--out $(OUT)) $(if $(COMPARE),--compare $(COMPARE))

soak: .venv/ready
	HYPOTHESIS_PROFILE=soak $(PYTEST) -n 2 -m soak -o faulthandler_timeout=0 $(TESTS)

proofs:
	$(MAKE) -C proofs

# Wrong checkers, wrong policies by name, and a sample of all wrong policies, each with its score:
# make mutants MUTANTS="--every 10" POLICIES="--only vqs- bf-" DRAWN="--every 400"
mutants: .venv/ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[mutants]'
	nice $(BIN)/python -m tests.tools.checker.mutants $(MUTANTS); checker=$$?; \
		nice $(BIN)/python -m tests.tools.mutants $(POLICIES); named=$$?; \
		nice $(BIN)/python -m tests.tools.mutants.drawn $(DRAWN) && exit $$((checker > named ? checker : named))

# Forged certificates, spoilt inputs, documents that exhaust and the like: make attacks ATTACKS="--small forgeries"
attacks: .venv/ready
	$(BIN)/python -m tests.tools.attacks $(ATTACKS)

# Kills, full disks, damaged stores, lost workers, clocks that jump and the like: make faults FAULTS="--small kills"
faults: .venv/ready
	$(BIN)/python -m tests.tools.faults $(FAULTS)

clean:
	$(MAKE) -C proofs clean
	rm -rf .venv .foreign build dist *.egg-info docs/_build docs/_generated docs/gallery docs/atlas/*/ docs/atlas/by-*.md \
		docs/atlas/summary.txt docs/reference/api $(addprefix docs/reference/,commands.md policies.md schemas.md)

.venv/ready: Makefile pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[$(EXTRAS)]'
	$(BIN)/python -m compileall -q theory fluid bounds packproof.py # environments may forbid Python to do so as it runs
	touch $@

.venv/docs: .venv/ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@
