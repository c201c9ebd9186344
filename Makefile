# Needs only Python 3.11 or later, with pip, and make.
PYTHON ?= python3
BIN := .venv/bin
# Those with a peer's name are run by others, some by interpreters of their own.
BENCHMARKS = $(filter-out $(addprefix benchmarks/,_% tables_% release_% ranges_%),$(wildcard benchmarks/*.py))

# Compiled modules are kept: the tests start many processes, each of which would compile them anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo serve test check slow fuzz spark lowest bench clean

demo: .venv/demo
	$(BIN)/tacit demo

# The same shop behind a service, for a browser on this machine.
serve: .venv/serve
	$(BIN)/tacit demo --serve

test: check
	$(BIN)/pytest

check: .venv/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

slow: .venv/test
	$(BIN)/pytest -m slow

# Random SQL text about hostile tables, for as long as wanted: make fuzz SECONDS=36000
SECONDS ?= 3600
fuzz: .venv/test
	$(BIN)/python -m tacit.testing.fuzz --seconds $(SECONDS)

# The long tests of the Spark engine; the short ones are among all the others.
spark: .venv/test
	$(BIN)/pytest -o addopts= tests/engines/test_spark.py tests/engines/test_spark_at_length.py

# The lowest release of every dependency that pyproject.toml admits, and tests that use all of them.  (tests/engines/
# test_loaders.py is not among these: it writes Parquet features that need a recent pyarrow.)
LOWEST = $(addprefix tests/,test_house.py test_docs.py test_cli.py test_composition.py test_plots.py query/test_sql.py \
	engines/test_dialects.py engines/test_duckdb.py engines/test_postgres.py engines/test_spark.py \
	ledger/test_conformance.py ledger/test_postgres.py holdout/test_scoring.py oracles \
	server/test_oidc.py server/test_upkeep.py server/store)
lowest:
	rm -rf .venv/lowest
	$(PYTHON) -m venv .venv/lowest
	$(PYTHON) .ci/lowest > .venv/lowest/requirements.txt
	.venv/lowest/bin/python -m pip install --quiet --disable-pip-version-check -r .venv/lowest/requirements.txt -e .
	.venv/lowest/bin/python -m pytest -n 0 $(LOWEST)

bench: .venv/bench
	set -e; for file in $(BENCHMARKS); do $(BIN)/python $$file; done

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov

# Each stamp says that one set of requirements is installed; it is renewed when these two files change.
.venv/demo: EXTRA := [plots]
.venv/serve: EXTRA := [plots,server]
.venv/test: EXTRA := [test]
.venv/bench: EXTRA := [bench]
.venv/demo .venv/serve .venv/test .venv/bench: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.$(EXTRA)'
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv .venv
