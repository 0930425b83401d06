# What a developer runs. `make test` is what CI runs. Needs GNU make 4; what else is missing is named when it is needed.
SHELL := /bin/bash
.ONESHELL:
.SHELLFLAGS := -euo pipefail -c
# As an assignment first: a failure inside `eval "$(…)"` would pass unnoticed.
env = settings="$$(scripts/build-env)"; eval "$$settings"

.PHONY: demo build test lint test-rust test-python test-shared bench bench-quick venv

## Build the release and show what gingham does, on data that it makes.
demo: build
	target/release/gingham demo

build:
	$(env)
	cargo build --release --locked -p gingham-cli

## Everything: formatting, lints, Rust tests, tests against other Zarr libraries and a real S3 server.
test: lint test-rust test-python test-shared

lint:
	$(env)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --exclude gingham-cli --no-deps --locked --document-private-items

test-rust: venv
	$(env)
	weed="$$(.venv/bin/python scripts/find_weed.py)"
	GINGHAM_TEST_WEED="$$weed" cargo test --workspace --locked

test-python: venv build
	GINGHAM="$$PWD/target/release/gingham" .venv/bin/python -m pytest -q tests/python

## The built command on data of other projects, where it lies beside the checkout.
test-shared: build
	scripts/check-shared

venv: .venv/.done

.venv/.done: tests/python/requirements.txt
	python="$$(scripts/find-python)"
	rm -rf .venv
	"$$python" -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt
	touch .venv/.done

bench_bin = bin="$${CARGO_TARGET_DIR:-bench/target}/release"

.venv-bench/.done: bench/requirements.txt
	python="$$(scripts/find-python)"
	rm -rf .venv-bench
	"$$python" -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	touch .venv-bench/.done

## Every stage alone, then gingham, its peers and the floor side by side (bench/README.md); goes on where it was stopped.
bench: .venv-bench/.done
	$(env)
	cargo build --release --locked --manifest-path bench/Cargo.toml --bins
	cargo bench --locked --manifest-path bench/Cargo.toml --bench stages
	.venv-bench/bin/python bench/data.py bench/out/data-full --scale full
	$(bench_bin)
	.venv-bench/bin/python bench/run.py --data bench/out/data-full --bin "$$bin" --out bench/out/full

## Side by side only, small data, one round: about six minutes on two cores once it is built and the data is made.
bench-quick: .venv-bench/.done
	$(env)
	cargo build --release --locked --manifest-path bench/Cargo.toml --bins
	.venv-bench/bin/python bench/data.py bench/out/data-quick --scale quick
	$(bench_bin)
	.venv-bench/bin/python bench/run.py --data bench/out/data-quick --bin "$$bin" --out bench/out/quick --quick --fresh
