# One command each. Every target first sets up what it needs: a virtual environment, the dependencies,
# the compiled kernel. A change of pyproject.toml, setup.py or the kernel sets up anew.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
N      ?= 100

.PHONY: help setup demo test check bench crash abuse sim puppets interop pipelines clean

help:
	@echo "make demo          the tour: three protocols in, a pipeline on Spark, checked tables out"
	@echo "make test          every test that needs nothing but Python"
	@echo "make check         ruff, mypy --strict, import contracts"
	@echo "make setup         only the virtual environment, in $(VENV)"
	@echo "make bench         the benchmarks, as ratios against the references"
	@echo "make crash N=100   the long form of the crash tests, with so many seeds"
	@echo "make abuse N=100   the long form of the security tests; SEED=7 replays a failure"
	@echo "make sim N=1000    the seeded world: so many histories of each profile, in all cores;"
	@echo "                   or REBALANCES=100000 of its groups; PYPY=pypy3 for long runs"
	@echo "make interop       Kafka's tools and broker, and clients of other languages (Java, Node, Go, kcat, tshark)"
	@echo "make puppets       only fetches and builds what make interop runs"
	@echo "make pipelines     whole pipelines on Spark, also killed in the middle (minutes; needs Java 17)"

setup: $(READY)

$(READY): pyproject.toml setup.py $(wildcard src/trivium/records/kernel/*.p*)
	@echo "setting up $(VENV) (once; about a minute)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is not Python 3.11 or newer; name one that is: make demo PYTHON=python3.13"; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@$(BIN)/python -m compileall -q src  # a first start is quick, also where Python may not write bytecode
	@touch $@

demo: $(READY)
	@$(BIN)/python -m demo.tour

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not pipelines"

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	@$(BIN)/python -m compileall -q src  # starts are measured: what was changed since the set-up must not be compiled by them
	$(BIN)/python bench/messages.py
	$(BIN)/python bench/records.py
	$(BIN)/python bench/bridge.py
	$(BIN)/python bench/log.py
	$(BIN)/python bench/session.py
	$(BIN)/python bench/simulation.py
	$(BIN)/python -m bench.access
	$(BIN)/python -m bench.tls
	$(BIN)/python -m bench.logins
	$(BIN)/python -m bench.broker
	$(BIN)/python -m bench.iggy
	$(BIN)/python -m bench.rustlog
	$(BIN)/python -m bench.spark
	$(BIN)/python -m bench.spark_latency
	$(BIN)/python -m bench.spark_pipelines

crash: $(READY)
	TRIVIUM_CRASH_SEEDS=$(N) TRIVIUM_CRASH_KILLS=$(N) TRIVIUM_CRASH_BIT_STEP=1 $(BIN)/python -m pytest tests/crash -n 2 --timeout 0

abuse: $(READY)
	TRIVIUM_ABUSE=$(N) TRIVIUM_ABUSE_SEED=$(SEED) TRIVIUM_EXAMPLES=$(N) \
		$(BIN)/python -m pytest tests/abuse tests/messages/test_hostile_bytes.py -n 2 --timeout 0

# PyPy learns: at first it is slower. Its counters must not decay, or what is rare is never compiled; and what
# it does there it does a million times, so that it may compile early.
JIT = decay=0,threshold=500,function_threshold=800,trace_eagerness=100
SIM_PYTHON = $(if $(PYPY),PYTHONPATH=src:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
	PYPY_GC_NURSERY=32M $(PYPY) --jit $(JIT) -W ignore,$(BIN)/python)

sim: $(READY)
	@test -z "$(PYPY)" || $(PYPY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYPY) is no PyPy of Python 3.11 or newer: install one (Debian 13: apt install pypy3), or leave PYPY out"; exit 1; }
	$(SIM_PYTHON) -m trivium.testing.world $(if $(REBALANCES),--rebalances $(REBALANCES),--histories $(N))

pipelines: $(READY)
	$(BIN)/python -m pytest tests/spark/running tests/crash/test_killed_pipelines.py -m pipelines -rs --timeout 900

puppets: $(READY)
	@$(BIN)/python -m tests.interop.prepare

# Three at a time, because they wait half of the time: for a broker to start, a session to end, a disk.
interop: puppets
	$(BIN)/python -m pytest tests/interop -m interop -rs -n 3 --dist loadfile --timeout 1500

clean:
	rm -rf $(VENV) build dist src/*.egg-info src/trivium/records/kernel/*.so .mypy_cache .ruff_cache .pytest_cache
