# Everything is set up from here: `make demo` and `make test` work on a fresh machine with Python >= 3.11.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test lint loops search-loops factor-loops rewritten format fuzz hostile coverage mutation audit test-minimal test-lowest docs reproduction dist bench bench-regressions clean

demo: $(VENV)/.user
	$(BIN)/equigraph warmup
	$(BIN)/equigraph demo

# Three processes for two cores: some tests wait for a browser, a time limit or a process that was killed. Files go to them in their
# order, not by their number of tests: the doctests of src come last, which are short, and leave no process alone at the end.
# Python may keep what it compiled, whatever the shell says: tests start it a few hundred times. Linear algebra has one thread in each:
# on cores that are busy, threads of BLAS that wait for each other took most of the time of small products.
test coverage: export PYTHONDONTWRITEBYTECODE =
test coverage: export OPENBLAS_NUM_THREADS = 1
test coverage: export OMP_NUM_THREADS = 1
test: $(VENV)/.dev
	$(MAKE) --no-print-directory --jobs=3 lint loops rewritten
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell *.md docs/*.md docs/reference/*.md src tests benchmarks examples

# Compiled before the tests, which run in three processes and would each do so.
loops: search-loops factor-loops

search-loops: $(VENV)/.dev
	$(BIN)/python -m tests.compile_loops search

factor-loops: $(VENV)/.dev
	$(BIN)/python -m tests.compile_loops factors

# The assertions of the tests, rewritten by pytest: for the same reason. What cannot be imported is told by the tests themselves.
rewritten: $(VENV)/.dev
	$(BIN)/python -m pytest --collect-only -qq > $(VENV)/.collected || true

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz --seconds 60 $(FUZZ_ARGS)

# The site; the scripts of the gallery are run on the way. A warning is an error.
docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet -e ".[docs]"
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The site is in docs/_build/html/index.html."

# The paper's tables and figures, written into the docs: at most an hour on two cores, and it can be resumed.
reproduction: $(VENV)/.dev
	$(BIN)/equigraph reproduce all -o docs/reproduction --page docs/reproduction.md

# Every method on every hostile matrix; a slice of it is in the suite.
hostile: $(VENV)/.dev
	$(BIN)/python -m tests.hostile

# Line coverage of src. Loops that numba compiles are run by machine code, which no tracer sees; see pyproject.toml.
# A process that forks under the tracer ends with its complaint, so that test is left out.
coverage: export COVERAGE_FILE = $(CURDIR)/.coverage
coverage: $(VENV)/.dev
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q -n 3 --dist loadfile \
		--deselect tests/stores/test_products.py::test_threads_work_after_a_fork $(PYTEST_ARGS)
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report

# Faults planted one at a time, in the copy mutants/; docs/reliability.md has the figures.
mutation: $(VENV)/.dev
	$(BIN)/mutmut run $(MUTATION_ARGS)
	$(BIN)/mutmut results

audit: $(VENV)/.dev
	$(BIN)/python -m pip_audit --skip-editable

# The package alone, without any extra; tests of what needs one skip themselves, which CI would else refuse.
test-minimal:
	rm -rf $(VENV)-minimal
	$(PYTHON) -m venv $(VENV)-minimal
	$(VENV)-minimal/bin/python -m pip install --quiet -e . pytest pytest-timeout hypothesis
	env -u CI $(VENV)-minimal/bin/python -m pytest -q -p no:cacheprovider $(MINIMAL_TESTS)

# The oldest versions that pyproject.toml allows, on the oldest Python that it allows; that they call newer packages in old ways is no
# fault of ours.
test-lowest:
	rm -rf $(VENV)-lowest
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet -c tests/lowest.txt -e ".[plot,io,data]" pytest pytest-timeout hypothesis
	env -u CI $(VENV)-lowest/bin/python -m pytest -q -p no:cacheprovider -W default::DeprecationWarning -W default::ImportWarning $(MINIMAL_TESTS)

# All folders whose tests are quick, which is most of the suite.
MINIMAL_TESTS ?= $(addprefix tests/,_utils/test_compilation.py analysis apps/classes apps/cli datasets factorization/penalties \
	graph metrics plotting results rules)

# Wheel and sdist, checked, and tried in an empty environment without any extra.
dist:
	rm -rf dist build/tools build/empty
	$(PYTHON) -m venv build/tools
	build/tools/bin/python -m pip install --quiet build twine check-wheel-contents
	build/tools/bin/python -m build --outdir dist .
	build/tools/bin/twine check --strict dist/*
	build/tools/bin/check-wheel-contents dist/*.whl
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet dist/*.whl
	cd build && empty/bin/equigraph --version && empty/bin/equigraph demo -o demo --force

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# Against the first run that is kept, which itself has nothing to be compared with; remove the folder to begin anew.
REGRESSIONS := benchmarks/results/regressions
bench-regressions: $(VENV)/.dev
	$(BIN)/python -m pytest benchmarks/regressions -q -W default::pytest_benchmark.logger.PytestBenchmarkWarning \
		--benchmark-storage=$(REGRESSIONS) --benchmark-autosave --benchmark-timer=time.process_time \
		--benchmark-sort=name --benchmark-columns=min,median,rounds \
		$(if $(wildcard $(REGRESSIONS)/*/*.json),--benchmark-compare=0001 --benchmark-compare-fail=min:50%) $(BENCH_ARGS)

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "equigraph needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.user: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[plot,io,data]"
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[dev]"
	touch $@ $(VENV)/.user

clean:
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/reference/generated docs/sg_execution_times.rst
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis mutants htmlcov .coverage*
