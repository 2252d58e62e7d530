# One command each. Every target first sets up what it needs: a virtual environment, the
# dependencies, the compiled kernel. A change of pyproject.toml, setup.py or the kernel sets up anew.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help setup demo test check bench clean

help:
	@echo "make demo    the tour: what Trivium does today, on your machine"
	@echo "make test    every test that needs nothing but Python"
	@echo "make check   ruff, mypy --strict, import contracts"
	@echo "make bench   the benchmarks, as ratios against the references"

setup: $(READY)

$(READY): pyproject.toml setup.py src/trivium/records/kernel.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

test: $(READY)
	$(BIN)/python -m pytest -n 2

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) build dist src/*.egg-info src/trivium/records/*.so .mypy_cache .ruff_cache .pytest_cache
