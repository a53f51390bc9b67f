# `make` or `make help` lists what can be done. `make demo` and `make test` do all set-up themselves.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DATA   := $(CURDIR)/.cache/data

# rustup puts cargo here; a terminal opened before its installation does not know.
export PATH := $(PATH):$(HOME)/.cargo/bin
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# One Python for cargo, clippy and maturin, or each of them builds the binding anew.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

# What the extension is built from: it is built again when one of these is newer.
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml -o -name build.rs 2>/dev/null) \
        Cargo.toml Cargo.lock pyproject.toml

# Tests on real corpora run where these are unpacked; elsewhere they skip.
export BYTELOOM_TEST_DATA ?= $(if $(wildcard ../shared/data/unpack.py),$(DATA))

.DEFAULT_GOAL := help
.PHONY: help demo test test-rust test-python build dev fmt lint type check data parity bench stages instructions clean

help: ## show this help
	@echo "byteloom: train, use and understand tokenizers"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  make demo TEXT=\"a.txt b.txt\"   the demo on your own text files"
	@echo "  make test PYTHON=python3.12    the virtual environment from another Python (after make clean)"

demo: build ## build, then train a small tokenizer and look at it
	@$(BIN)/python examples/demo.py $(TEXT)

test: test-rust test-python ## run all tests

test-rust: $(VENV)/.python data
	cargo test -p byteloom-core --quiet

test-python: dev data
	$(BIN)/python -m pytest

# One environment for everything. The hidden files in it remember what was done, so that the next run is quick.
$(VENV)/.python: pyproject.toml tools/check-setup.sh
	@sh tools/check-setup.sh $(PYTHON)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { echo "Creating the virtual environment $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@$(BIN)/python -m pip install --quiet 'maturin>=1.9.4,<2'
	@touch $@

$(VENV)/.built: $(VENV)/.python $(RUST)
	@echo "Building byteloom (the first time takes a minute or two)"
	@PIP_QUIET=1 $(BIN)/maturin develop --release
	@touch $@

$(VENV)/.dev: $(VENV)/.python
	@echo "Installing the tools for tests"
	@PIP_QUIET=1 $(BIN)/maturin develop --release --extras dev
	@touch $(VENV)/.built
	@PIP_QUIET=1 $(BIN)/maturin develop --release --extras parity || \
		echo "Some peers cannot be installed here; tests that compare with them will skip."
	@touch $@

build: $(VENV)/.built ## build the extension and install byteloom into .venv

dev: $(VENV)/.dev $(VENV)/.built ## the same, with the tools for tests, types and lints

data: $(VENV)/.python
ifneq ($(wildcard ../shared/data/unpack.py),)
	@mkdir -p $(DATA) && $(BIN)/python ../shared/data/unpack.py $(DATA)
endif

fmt: dev ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --select I --fix .

lint: dev ## check formatting and lints; any warning is an error
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

type: dev ## check types, and the type stub against the extension
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest byteloom._native --ignore-disjoint-bases --allowlist tests/typing/stubtest-allowlist.txt

check: lint type test ## everything before a commit

parity: dev data ## compare ids and merges with other tokenizers, on whole corpora too
	cargo test -p byteloom-core --lib --quiet -- --ignored
	$(BIN)/python -m pytest tests/parity -m "slow or not slow"

bench: dev data ## measure speed beside the other tokenizers that are installed
	$(BIN)/python benchmarks/compare.py

stages: data ## measure the stages of the core, one by one
	cargo bench -p byteloom-core --bench stages

instructions: ## count the instructions of the core's hot paths; WRITE=1 keeps the counts
	@$(PYTHON) benchmarks/instructions.py $(if $(WRITE),--write)

clean: ## remove what was built, the virtual environment and caches
	rm -rf $(VENV) target dist demo .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -f python/byteloom/_native*.so python/byteloom/_native*.pyd
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
