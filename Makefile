# The map of the project: `make help` lists every target. CI calls the same ones (.ci/run).
# One build profile (dev, see Cargo.toml) serves all of them, so that wasmtime is compiled once.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:

TOOLS := target/tools
PYTHON ?= python3
UV := $(CURDIR)/$(TOOLS)/uv/bin/uv
CARGO_DENY := $(TOOLS)/cargo-deny/bin/cargo-deny
# Where the demonstration keeps its environments and records.
DEMO := target/demo
SOAK_SECONDS ?= 60
FUZZ_SECONDS ?= 60

# The tests and the demonstration build environments with this uv; without it they fall back to pip.
export HOOKGATE_UV := $(UV)
# Snapshots are only compared; whoever changes a message writes them anew with INSTA_UPDATE=always.
export INSTA_UPDATE ?= no

.PHONY: help demo test lint bench bench-engine bench-peers soak fuzz guests setup fmt vectors worker-tests clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup guests ## run the demonstration chain over 3,461 real and labelled calls
	@echo "==> building the hookgate binary (the first build compiles wasmtime: about 10 minutes on 2 cores)"
	cargo build --quiet --locked -p hookgate-cli
	mkdir -p $(DEMO)
	echo "==> running the demonstration"
	HOOKGATE_ENV_DIR=$(CURDIR)/$(DEMO)/environments HOOKGATE_CACHE_DIR=$(CURDIR)/$(DEMO)/components \
	    target/debug/hookgate demo \
	    --config examples/demo.yaml \
	    --calls tests/data/bfcl-tool-calls.jsonl --expected tests/data/bfcl-expected.jsonl \
	    --labelled tests/data/labelled-calls.jsonl --labelled-expected tests/data/labelled-expected.jsonl \
	    --records $(DEMO)/records.jsonl

test: setup guests ## pass every test (cargo's, and the Python worker's own)
	@echo "==> cargo test (the first build compiles wasmtime: about 10 minutes on 2 cores)"
	cargo test --locked --workspace
	$(MAKE) --no-print-directory worker-tests vectors

worker-tests: setup ## the Python worker's own tests, against the published plugins
	@echo "==> tests of the Python worker"
	if ! cmp -s crates/python/worker/tests/requirements.txt $(TOOLS)/worker-tests/requirements.txt; then
	    $(UV) venv --quiet --clear --python $(PYTHON) $(TOOLS)/worker-tests
	    $(UV) pip install --quiet --compile-bytecode --python $(TOOLS)/worker-tests/bin/python -r crates/python/worker/tests/requirements.txt
	    cp crates/python/worker/tests/requirements.txt $(TOOLS)/worker-tests/requirements.txt
	fi
	HOOKGATE_TEST_PYTHON=$(CURDIR)/$(TOOLS)/worker-tests/bin/python $(PYTHON) -m unittest discover -s crates/python/worker/tests

vectors: setup ## check that the vectors are what their generator writes
	@$(PYTHON) tests/vectors/make.py --check
	$(PYTHON) tests/vectors/configs.py --check
	$(PYTHON) tests/vectors/extensions.py --check

lint: setup $(CARGO_DENY) ## fmt, clippy, rustdoc, cargo-deny
	@cargo fmt --all --check
	cargo fmt --manifest-path guest-plugins/Cargo.toml --all --check
	cargo fmt --manifest-path tests/guests/Cargo.toml --all --check
	cargo fmt --manifest-path benches/engine-peer/Cargo.toml --check
	cargo fmt --manifest-path benches/wasm-peers/Cargo.toml --check
	cargo fmt --manifest-path benches/wasm-peers/guests/Cargo.toml --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items
	$(CARGO_DENY) --locked check licenses bans sources

bench: setup guests ## measure calls, and a million of them; writes target/bench/*.json
	@cargo bench --locked --profile dev --workspace --bench calls
	cargo bench --locked --profile dev --workspace --bench endurance

bench-engine: ## measure the engine beside cpex-core's, which must not be quicker; writes target/bench/engine.json
	@command -v cargo >/dev/null || { echo "error: cargo is missing; hint: install Rust from https://rustup.rs" >&2; exit 1; }
	cargo run --quiet --release --locked --ignore-rust-version \
	    --manifest-path benches/engine-peer/Cargo.toml --target-dir target/bench-engine \
	    -- target/bench/engine.json

bench-peers: setup guests ## measure wasm calls beside extism's; writes target/bench/peers.json (slow: compiles two wasmtimes)
	@bash benches/wasm-peers/guests/build.sh target/bench-guests
	RUST_BACKTRACE=0 cargo run --quiet --release --locked --ignore-rust-version \
	    --manifest-path benches/wasm-peers/Cargo.toml --target-dir target/bench-peers \
	    -- target/bench-guests target/guests target/bench/peers.json

soak: setup guests ## let 64 callers ask ten wasm plugins, three of them bad, for 60 s, and measure what the good ones wait
	@HOOKGATE_SOAK_SECONDS=$(SOAK_SECONDS) cargo test --locked --workspace --test soak -- --nocapture

fuzz: setup guests ## give damaged components to the loader for 60 s
	@HOOKGATE_FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --locked --workspace --test fuzz_load -- --nocapture

guests: setup ## build the guest components into target/guests
	@bash guest-plugins/build.sh

fmt: ## format everything
	@cargo fmt --all
	cargo fmt --manifest-path guest-plugins/Cargo.toml --all
	cargo fmt --manifest-path tests/guests/Cargo.toml --all
	cargo fmt --manifest-path benches/engine-peer/Cargo.toml
	cargo fmt --manifest-path benches/wasm-peers/Cargo.toml
	cargo fmt --manifest-path benches/wasm-peers/guests/Cargo.toml --all

clean: ## remove everything that was built
	[ ! -d target ] || chmod -R u+w target # environments are read-only
	rm -rf target

# Says what is missing in one line with the fix; installs what can be installed here.
setup: $(UV)
	@command -v cargo >/dev/null || { echo "error: cargo is missing; hint: install Rust from https://rustup.rs" >&2; exit 1; }
	[ -d "$$(rustc --print sysroot)/lib/rustlib/wasm32-wasip2" ] || rustup target add wasm32-wasip2

$(UV): tools/uv.txt
	@command -v $(PYTHON) >/dev/null || { echo "error: python3 is missing; hint: install Python 3.11 or later" >&2; exit 1; }
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is older than 3.11; hint: make PYTHON=python3.11" >&2; exit 1; }
	echo "==> installing uv"
	$(PYTHON) -m venv $(TOOLS)/uv || { echo "error: python3 cannot make virtual environments; hint: apt-get install python3-venv" >&2; exit 1; }
	$(TOOLS)/uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/uv.txt
	touch $@

$(CARGO_DENY): tools/cargo-deny.txt | setup
	@echo "==> installing cargo-deny"
	$(PYTHON) -m venv $(TOOLS)/cargo-deny
	$(TOOLS)/cargo-deny/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/cargo-deny.txt
	touch $@
