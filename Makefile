# Every target sets up what it needs (tools/setup) and can be called on a fresh machine.
#
#   make demo               build, verify the in-vehicle network, write its report
#   make demo-live          build, run a network in real time between interfaces of this machine, as root
#   make test               all tests, Rust and Python
#   make test-slow          the same tests with 25 times the cases of every search (TIMES=n: another number)
#   make hdl-test           the hardware: lint, and modules against the machines of core
#   make hdl-synth          area by open synthesis and latency of the hardware, to hdl.json; minutes
#   make hdl-place          clock rate of the hardware by placing and routing it for an ECP5, to hdl.json; half an hour
#   make hdl-bitstream      the bitstream of a board with two ports, to dist; a quarter of an hour
#   make hdl-prove          proofs of the hardware's invariants by induction, and that they can fail
#   make hdl-test-slow      the same with a million frames
#   make bench              speed, measured on the release build, to bench.json (ONLY=sim for a part; it keeps the others)
#   make bench PEERS=1      simulation and schedules beside ns-3, SimPy and tsnkit, to docs/validation/peers.md
#   make study STUDY=name   run a comparison of ours in whole, and write its results, figures and page
#   make papers PAPER=id    re-run a published evaluation (FULL=1: the published number of samples)
#   make lint               formatting, clippy, licences, ruff, mypy
#   make wheel              the wheel and the source distribution of the Python package, to dist, tried in a clean environment
#   make deb                the Debian package of the command, to dist, tried from where it is unpacked
#   make crates             the crates as they would be published, without publishing them
#   make docs               the Rust documentation, warnings denied
#   make site               the site of the documentation, to dist/site: pages, reports, Python and Rust reference
#   make web                rebuild the report's page, which is committed
#   make clean              remove builds, virtual environment and results

SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := demo
.PHONY: demo demo-live test test-rust test-python test-slow hdl-test hdl-test-slow hdl-synth hdl-place hdl-bitstream hdl-prove bench bench-own bench-peers papers study lint wheel deb crates docs site web clean develop

CACHE := $(or $(TAUTWIRE_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tautwire)
ENV := . '$(CACHE)/env';
# Test files side by side; within a file in order.
PARALLEL := -n auto --dist loadfile
SCENARIO ?= scenarios/in-vehicle.yaml
PAPER ?= ats-fpga-switch
STUDY ?= shapers

demo:
	@tools/setup rust
	@$(ENV) cargo build --release --locked --package tautwire-cli
	@$(ENV) "$$CARGO_TARGET_DIR/release/tautwire" verify $(SCENARIO) --out runs/demo
	@$(ENV) "$$CARGO_TARGET_DIR/release/tautwire" report runs/demo

demo-live:
	@tools/setup rust
	@$(ENV) cargo build --release --locked --package tautwire-cli
	@$(ENV) "$$CARGO_TARGET_DIR/release/tautwire" live scenarios/shaped-line.yaml --duration 2s --out runs/demo-live

# The three side by side: where one has a part that takes one core, another takes the second. What installs comes before, for it
# cannot be done twice at once.
test:
	@tools/setup tshark browser hdl
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line test-rust test-python hdl-test

test-rust:
	@tools/setup tshark
	@$(ENV) cargo test --locked --workspace

test-python: develop
	@tools/setup browser
	@$(ENV) cd python && PATH="$$VIRTUAL_ENV/bin:$$PATH" "$$TAUTWIRE_PYTHON" -m pytest $(PARALLEL) . ../papers ../studies ../web/tests

# The Python module of this tree in the virtual environment: release profile, for studies run for long.
develop:
	@tools/setup python
	@$(ENV) cd python && "$$TAUTWIRE_PYTHON" -m maturin develop --quiet --release --locked

# How many times the cases of every search: with 25 two daemons of admission are killed 200 times each, and studies have
# 10 000 tasks. Ray is a large package that nothing else needs: where it is not installed, its part is skipped.
TIMES ?= 25
SLOW_PYTHON := tests/test_killed_studies.py tests/test_cp_sat.py

test-slow: test deb
	@tools/setup peers
	@$(ENV) TAUTWIRE_TIMES=$(TIMES) cargo test --release --locked --workspace
	@$(ENV) cd python && PATH="$$VIRTUAL_ENV/bin:$$PATH" TAUTWIRE_TIMES=$(TIMES) "$$TAUTWIRE_PYTHON" -m pytest $(PARALLEL) $(SLOW_PYTHON)

HDL_TEST := cd hdl && PATH="$$VIRTUAL_ENV/bin:$$PATH" "$$TAUTWIRE_PYTHON" -m pytest $(PARALLEL) tests

hdl-test: develop
	@tools/setup hdl
	@$(ENV) $(HDL_TEST) -m 'not slow'

hdl-test-slow: develop
	@tools/setup hdl
	@$(ENV) export TAUTWIRE_TIMES=10; $(HDL_TEST)

hdl-synth: develop
	@tools/setup synth
	@$(ENV) "$$TAUTWIRE_PYTHON" hdl/synth.py

hdl-place: develop
	@tools/setup place
	@$(ENV) "$$TAUTWIRE_PYTHON" hdl/synth.py --place $(MODULE)

hdl-bitstream: develop
	@tools/setup place
	@$(ENV) "$$TAUTWIRE_PYTHON" hdl/bitstream.py

hdl-prove: develop
	@tools/setup prove
	@$(ENV) "$$TAUTWIRE_PYTHON" hdl/prove.py

bench: $(if $(PEERS),bench-peers,bench-own)

bench-own:
	@tools/setup rust
	@$(ENV) ONLY='$(ONLY)' NETWORKS='$(NETWORKS)' cargo run --release --locked --package tautwire-benches

bench-peers: develop
	@tools/setup bench-peers
	@$(ENV) cargo build --release --locked --package tautwire-cli
	@$(ENV) PATH="$$CARGO_TARGET_DIR/release:$$PATH" "$$TAUTWIRE_PYTHON" benches/peers/peers.py \
	    '$(CACHE)/bench-peers/bin/python' docs/validation/peers.md

# What a study needs beside Python it names in papers/<id>/needs, as parts of tools/setup.
papers: develop
	@tools/setup python $$(cat 'papers/$(PAPER)/needs' 2>/dev/null || true)
	@$(ENV) FULL='$(FULL)' "$$TAUTWIRE_PYTHON" -m tautwire.claims papers/$(PAPER)

study: develop
	@tools/setup python
	@$(ENV) "$$TAUTWIRE_PYTHON" 'studies/$(STUDY)/$(STUDY)_study.py'

lint:
	@tools/setup lint python
	@$(ENV) if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; \
	    else echo 'lint: SKIPPED cargo fmt: not installed' >&2; fi
	@$(ENV) if cargo clippy --version >/dev/null 2>&1; then \
	    cargo clippy --locked --workspace --all-targets --quiet -- --deny warnings; \
	    else echo 'lint: SKIPPED cargo clippy: not installed' >&2; fi
	@$(ENV) "$$TAUTWIRE_PYTHON" tools/licences.py
	@$(ENV) "$$TAUTWIRE_PYTHON" -m doctest tools/licences.py
	@$(ENV) "$$TAUTWIRE_PYTHON" -m ruff check tools python papers studies docs/notebooks web/tests hdl benches
	@$(ENV) "$$TAUTWIRE_PYTHON" -m ruff format --check python hdl
	@$(ENV) cd python && "$$TAUTWIRE_PYTHON" -m mypy
	@$(ENV) cd hdl && "$$TAUTWIRE_PYTHON" -m mypy
	@$(ENV) cargo test --locked --quiet --workspace --test tidy

wheel:
	@tools/setup python
	@$(ENV) tools/wheel

deb:
	@tools/setup python deb
	@$(ENV) PATH='$(CACHE)/tools/bin':"$$PATH" tools/deb

crates:
	@tools/setup rust
	@$(ENV) cargo publish --workspace --exclude tautwire-python --exclude tautwire-benches --dry-run --locked

docs:
	@tools/setup rust
	@$(ENV) RUSTDOCFLAGS='--deny warnings' cargo doc --locked --workspace --no-deps

site: docs
	@tools/setup site
	@$(ENV) TAUTWIRE_MKDOCS='$(CACHE)/site/bin/python' tools/site

# Needs Node 20.19 or newer with npm; only this target does.
web:
	@command -v npm >/dev/null || { echo 'web: npm (Node >= 20.19) is missing' >&2; exit 2; }
	@cd web && npm ci --no-audit --no-fund --silent && npm run --silent build
	@cp web/dist/index.html crates/report/src/page.html

clean:
	rm -rf runs dist bench.json
	rm -rf '$(CACHE)/target' '$(CACHE)/venv' '$(CACHE)/stamps' '$(CACHE)/env'
