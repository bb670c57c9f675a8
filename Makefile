# make demo    set up and show the tool on an embedded example
# make test    set up and run every check: lint, types, layers, documentation, tests
# make slow    run the tests that take minutes: calibration by simulation
# make bench   measure wellput beside its peers; writes docs/results/speed.md
# make bench-agreement   hold the metrics against real judgments; writes docs/results/{agreement,fitted}.md
# make docs    build the documentation into docs/_build
# make clean   remove what the others made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*)

.DELETE_ON_ERROR:
.PHONY: bench-agreement demo test slow lint bench docs clean check-tools

demo: $(VENV)/.installed
	$(BIN)/wellput demo

test: $(VENV)/.tested-with lint docs
	$(BIN)/python -m pytest -m "not slow"

slow: $(VENV)/.tested-with
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/.tested-with
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.tested-with
	$(BIN)/python -m benchmarks.speed

bench-agreement: $(VENV)/.tested-with
	$(BIN)/python -m benchmarks.agreement
	$(BIN)/python -m benchmarks.fitted

docs: $(VENV)/.tested-with
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

check-tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "wellput needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "Python's venv is missing. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || { \
	  echo "Python's headers are missing. On Debian: apt-get install python3-dev" >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || { \
	  echo "A C++20 compiler is missing. On Debian: apt-get install g++" >&2; exit 1; }

$(VENV)/bin/python: | check-tools
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

# An editable install: Python files are used where they lie, the native module is built anew when
# its sources change.
$(VENV)/.installed: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/pip install --quiet --editable '.[report]'
	@touch $@

$(VENV)/.tested-with: $(VENV)/.installed Makefile
	$(BIN)/pip install --quiet --group test --group lint --group docs
	@touch $@

clean:
	rm -rf $(VENV) build docs/_build wellput-demo.html .pytest_cache .mypy_cache .ruff_cache .hypothesis
