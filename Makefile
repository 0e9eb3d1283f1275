# Everything runs in .venv, which is made on first use and brought up to date when
# pyproject.toml or constraints/dev.txt change. Another interpreter: make PYTHON=python3.13 test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/dev.txt

# Some tests read published data sets that are not part of the repository; without them they are skipped.
ifneq ($(wildcard ../shared/data),)
export RELVEC_DATA ?= $(abspath ../shared/data)
endif

# One BLAS thread per process: the tests already run one process per core. Each begins with a part
# of its own, so that fixtures of a file are made once, and takes over tests of others at the end.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

# compiled tests are kept: that is half of the time before the first one runs
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo quick test lint types layers unit bench reproduce docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.dev ## fit a relevance vector machine and print its results
	$(BIN)/python examples/quickstart.py

test: lint types layers unit ## lint, types, layer contracts, then every test and doctest

quick: lint types $(VENV)/.dev ## lint, types and the fast tests: for every day
	$(PYTEST) -m "not slow and not estimator_check" tests

lint: $(VENV)/.dev ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## mypy on src
	$(BIN)/mypy

layers: $(VENV)/.dev ## import-linter: subpackages import downwards only
	$(BIN)/lint-imports --no-logo

unit: $(VENV)/.dev ## pytest, one process per core
	$(PYTEST)

bench: $(VENV)/.bench ## compare with other implementations (minutes; see bench/README.md)
	$(BIN)/python -m bench regression

NAME ?= all

reproduce: $(VENV)/.dev ## reproduce published tables and figures; one of them: make reproduce NAME=tipping_sinc
	$(BIN)/python -m reproduce $(NAME)

docs: $(VENV)/.docs ## build the site into build/docs, examples and all; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

clean: ## remove the environment and all caches
	rm -rf $(VENV) build dist docs/gallery docs/api/generated .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "relvec needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)."; \
	  echo "Name another interpreter, for example: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.dev: pyproject.toml constraints/dev.txt | $(BIN)/python
	$(PIP_INSTALL) -e ".[all,dev]"
	@touch $@

$(VENV)/.docs: pyproject.toml constraints/dev.txt | $(BIN)/python
	$(PIP_INSTALL) -e ".[docs]"
	@touch $@

$(VENV)/.bench: pyproject.toml constraints/dev.txt | $(BIN)/python
	$(PIP_INSTALL) -e ".[bench]"
	@touch $@
