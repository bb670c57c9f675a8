# make demo    set up and show the tool on an embedded example
# make test    set up and run every check: lint, types, layers, documentation, tests
#              (ORDER=reversed or ORDER=shuffled:SEED for another order of the tests)
# make check   lint, types, layers and the quick tests: no server, browser or training, under 90 seconds on two cores
# make slow    run the tests that take minutes: calibration by simulation
# make bench   measure wellput beside its peers; writes docs/results/speed.md
# make bench-NAME   run one benchmark, which writes its page of docs/results; ARGS="--trials 100" gives it options
# make papers  write the pages of docs/papers again, a benchmark for each paper
# make bench-list   name all benchmarks, with their pages and the data that they need
# make docs    build the documentation into docs/_build
# make fuzz    try damaged files and wrong calls for WELLPUT_FUZZ_SECONDS (120)
# make sanitize   the same, and the kernels' tests, under address and undefined-behavior sanitizers
# make races   parallel kernels under the thread sanitizer
# make package sdist and wheel in dist/; the wheel is tried in an empty environment
# make sbom    what wellput needs and contains, as CycloneDX, in dist/
# make reproducible   build the wheel twice, in two places, and compare
# make minimum run the tests with the oldest packages that pyproject.toml allows
# make audit   look the locked packages up among the known vulnerabilities
# make lock    choose the newest allowed packages for the lock anew
# make clean   remove what the others made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find native -type f)
LOCK := requirements-dev.lock
# What the tests import: the package as it lies here, or a wheel (CI: the one that it built).
PACKAGE ?= --editable .
TESTED := $(VENV)/.tested-with-$(if $(findstring .whl,$(PACKAGE)),wheel,source)
WELLPUT_FUZZ_SECONDS ?= 120

.DELETE_ON_ERROR:
.PHONY: bench-list papers demo test tests check quick-tests slow lint bench docs clean check-tools fuzz
.PHONY: sanitize races package
.PHONY: reproducible minimum audit lock sbom

demo: $(VENV)/.installed
	$(BIN)/wellput demo

# The tests of one file stay together: some start a server or a browser for all of them.
test: $(TESTED)
	@$(MAKE) --no-print-directory -j2 tests lint docs

tests: $(TESTED)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" --durations=10 $(addprefix --order=,$(ORDER))

check: $(TESTED)
	@$(MAKE) --no-print-directory -j2 quick-tests lint

quick-tests: $(TESTED)
	$(BIN)/python -m pytest -q -n auto -m "not slow and not heavy and not needs" --hypothesis-profile=quick

slow: $(TESTED)
	$(BIN)/python -m pytest -m slow

lint: $(TESTED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $$(find native -name '*.cpp' -o -name '*.h')

bench: bench-speed

bench-list: $(TESTED)
	@$(BIN)/python -m benchmarks --list

# The pages of docs/papers, from the data folder that WELLPUT_DATA names.
papers: $(TESTED)
	$(BIN)/python -m benchmarks.papers

bench-%: $(TESTED)
	$(BIN)/python -m benchmarks $* $(ARGS)

docs: $(TESTED)
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
	$(BIN)/pip install --quiet --editable '.[judge,report]'
	@touch $@

$(VENV)/.locked: $(LOCK) | $(VENV)/bin/python
	$(BIN)/pip install --quiet --require-hashes --requirement $(LOCK)
	@touch $@

# With the locked build tools, so that the native module is built again only where its sources changed.
# The groups add nothing but what was put into pyproject.toml after the last make lock.
$(TESTED): $(SOURCES) $(VENV)/.locked Makefile
	$(BIN)/pip install --quiet --force-reinstall --no-deps --no-build-isolation $(PACKAGE)
	$(BIN)/pip install --quiet --group test --group lint --group docs --group build
	@rm -f $(VENV)/.tested-with-* && touch $@

$(VENV)/.released-with: $(VENV)/.locked
	$(BIN)/pip install --quiet --group release
	@touch $@

fuzz: $(TESTED)
	$(BIN)/python -m tests.fuzz.campaign --seconds $(WELLPUT_FUZZ_SECONDS)

# The sanitized module lies beside a copy of the package, which PYTHONPATH puts before the installed one;
# -S keeps the import hook of the editable install away. CPython itself leaks at exit: no leak check.
SANITIZED := build/sanitize
SITE = $(shell $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
COMMA := ,
LIBRARY = $(shell $${CXX:-c++} -print-file-name=$(1))
UNDER_ADDRESS = LD_PRELOAD="$(call LIBRARY,libasan.so) $(call LIBRARY,libstdc++.so.6)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
UNDER_THREAD = LD_PRELOAD="$(call LIBRARY,libtsan.so) $(call LIBRARY,libstdc++.so.6)"
# A sanitizer writes to the file descriptor and ends the process: pytest must not catch what goes there.
TESTS_UNDER = -m pytest -q -p no:cacheprovider --capture=sys
SANITIZED_PYTHON = PYTHONPATH=$(abspath $(SANITIZED)/$(1)/site):$(SITE):$(CURDIR) $(BIN)/python -S

define build-sanitized
	$(BIN)/cmake -S . -B $(SANITIZED)/$(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	  -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DWELLPUT_SANITIZE=$(2) >/dev/null
	$(BIN)/cmake --build $(SANITIZED)/$(1)
	rm -rf $(SANITIZED)/$(1)/site && mkdir $(SANITIZED)/$(1)/site
	cp -r src/wellput $(SANITIZED)/$(1)/site/ && rm -f $(SANITIZED)/$(1)/site/wellput/_native*.so
	cp $(SANITIZED)/$(1)/_native*.so $(SANITIZED)/$(1)/site/wellput/
endef

sanitize: $(TESTED)
	$(call build-sanitized,address,address$(COMMA)undefined$(COMMA)float-cast-overflow)
	$(UNDER_ADDRESS) $(call SANITIZED_PYTHON,address) $(TESTS_UNDER) -m "not slow" \
	  tests/fuzz tests/test_threads.py tests/metrics tests/language \
	  tests/stats/test_kernel.py
	$(UNDER_ADDRESS) $(call SANITIZED_PYTHON,address) -m tests.fuzz.campaign --seconds $(WELLPUT_FUZZ_SECONDS)

# Of the statistics and the engine only the files with threads of ours: statsmodels and Ray cannot be imported
# under this sanitizer.
races: $(TESTED)
	$(call build-sanitized,thread,thread)
	$(UNDER_THREAD) $(call SANITIZED_PYTHON,thread) $(TESTS_UNDER) -k thread \
	  tests/test_threads.py tests/metrics tests/language tests/text tests/engine/test_score.py \
	  $(addprefix tests/stats/test_,kernel.py resampling.py permutation.py correlation_bootstrap.py)

package: $(VENV)/.locked
	rm -rf dist
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
	  $(BIN)/python -m build --no-isolation --outdir dist
	.ci/smoke dist/*.whl $(abspath $(BIN)/python)

sbom: $(VENV)/.released-with
	.ci/sbom $(abspath $(BIN)/python) $(abspath $(BIN)/uv)

reproducible: $(VENV)/.locked
	.ci/reproducible $(abspath $(BIN)/python)

minimum: $(VENV)/.released-with
	.ci/minimum $(PYTHON) $(abspath $(BIN)/uv)

audit: $(VENV)/.released-with
	.ci/audit $(abspath $(BIN)/python)

# For Python 3.11 and later on Linux and macOS; `uv` asks the same index as pip and writes no address.
lock: $(VENV)/.released-with
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
	  --no-header --no-annotate --extra all --group test --group lint --group docs --group build \
	  --output-file $(LOCK) pyproject.toml

clean:
	rm -rf $(VENV) build dist docs/_build wellput-demo.html .pytest_cache .mypy_cache .ruff_cache .hypothesis
