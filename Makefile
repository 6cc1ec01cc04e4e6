# Everything one does here. Each target does all the set-up it needs: `make demo` works on a fresh machine.
#
#   make demo      design an algorithm in two minutes, after as many of setting up, and show it on one page
#   make quick     the tests that take next to no time: half a minute, once all is built
#   make test      all tests, Rust and Python
#   make lint      formatting, lints, types
#   make bench     how fast the simulator is
#   make fuzz      100,000 random worlds: nothing panics, stands still, falls silent or loses count
#   make fuzz-files  100,000 damaged files: nothing panics, hangs or gives a traceback
#   make validate  what takes too long for the tests: known answers at full length, kills, threads, curves of ns-2
#   make lock      renew the pinned versions of the development tools

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := requirements-dev.lock.txt
# The bindings have no tests of their own, and maturin builds them otherwise: left out, or each would build pyo3 anew.
# All else at once: the test bed has QUIC's dependencies in the program already, so that what all share has the same features in
# both, and is built once. By itself, QUIC's crate would have others, and all of it be built anew.
CARGO_TEST := cargo test --workspace --exclude exmachina-py --locked --profile fast

# The same settings for cargo and for maturin, which calls it: else each would rebuild what the other built.
export PYO3_BUILD_EXTENSION_MODULE := 1
export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath $(VENV))
# maturin has pip look for what is installed already.
export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo quick test lint bench fuzz fuzz-files validate lock build build-fast tools clean

demo: $(READY)
	@echo "Compiling the simulator: once, a minute or two."
	@$(BIN)/maturin develop --profile demo --no-default-features --locked --quiet
	@$(BIN)/exmachina demo --output out

# Unit tests without whole designs, and what of Python neither starts the program nor simulates for long.
quick: build-fast
	$(CARGO_TEST) --lib -- --skip search::tests
	$(BIN)/python -m pytest -q -m "not slow"

test: build-fast
	$(CARGO_TEST)
	$(BIN)/python -m pytest -q

lint: $(READY)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: tools
	cargo bench --locked -p exmachina-run --bench packets

# Minutes; FUZZ_WORLDS, FUZZ_FROM and FUZZ_SEED as tests/fuzz.rs has them.
fuzz: tools
	cargo test --locked --profile fuzz -p exmachina-run --test fuzz -- --ignored --nocapture

# Some minutes; FUZZ_FILES, FUZZ_FROM, FUZZ_THREADS and FUZZ_SEED as python/tests/mutants.py has them.
fuzz-files: build-fast
	$(BIN)/python python/tests/mutants.py

validate: build
	cargo test --workspace --release --locked -- --ignored --nocapture
	$(BIN)/python validation/kills.py
	$(BIN)/python validation/threads.py
	$(BIN)/python validation/lag_bound.py
	$(BIN)/python validation/ns2.py

build: $(READY)
	$(BIN)/maturin develop --release --locked

build-fast: $(READY)
	$(BIN)/maturin develop --profile fast --locked

$(READY): $(LOCK) | tools
	@echo "Setting up $(VENV): once, about a minute."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --requirement $(LOCK)
	@touch $@

lock: | tools
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install maturin
	$(BIN)/maturin develop --locked --quiet --extras dev
	echo "# Every tool and library of the development environment, with its version: written by \`make lock\`." > $(LOCK)
	$(BIN)/python -m pip freeze --exclude-editable --exclude exmachina >> $(LOCK)
	@touch $(READY)

tools:
	@command -v cargo > /dev/null || { echo "Rust is missing: install it (https://rustup.rs), then try again." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || \
		{ echo "Python 3.11 or later is missing: install it, or name it with PYTHON=..., then try again." >&2; exit 1; }

clean:
	rm -rf $(VENV) target out python/exmachina/*.so
