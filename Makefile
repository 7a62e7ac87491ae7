# Two commands matter: `make up` runs the platform, `make test` proves it. `make help` lists the rest.
PYTHON ?= python3
# Every process that starts would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
# Processes that run tests at once: three for each processor, for most tests wait more than they compute.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Extras of the package; development needs all of them.
EXTRAS := --extra article --extra mcp --extra postgres --extra redis --extra s3
LOCK := --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --strip-extras --no-header --allow-unsafe

.DEFAULT_GOAL := help
.PHONY: help setup up demo test test-fast check fix bench docs dashboard shots lock clean
.PHONY: check-style check-types check-floors check-house

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "longline needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) ..."
	@# Everything is pinned, and resolving it again would warn of an extra that a package no longer has.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: $(STAMP) ## make .venv and install everything pinned into it

up: setup ## run the platform on embedded engines at http://127.0.0.1:8060
	@exec $(BIN)/longline up

demo: setup ## crawl a bundled website on loopback and show the result
	@exec $(BIN)/longline demo

.venv-replay/.installed: requirements/replay.txt
	@test -x .venv-replay/bin/python || $(PYTHON) -m venv .venv-replay
	@echo '*' > .venv-replay/.gitignore
	@echo "installing the replay tool that tests use into .venv-replay ..."
	@.venv-replay/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/replay.txt
	@touch $@

.venv-client/.installed: requirements/client.txt
	@test -x .venv-client/bin/python || $(PYTHON) -m venv .venv-client
	@echo '*' > .venv-client/.gitignore
	@echo "installing the generator of clients that tests use into .venv-client ..."
	@.venv-client/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/client.txt
	@touch $@

test: setup .venv-replay/.installed .venv-client/.installed ## run every test, with real PostgreSQL, Valkey and S3 servers from wheels
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

test-fast: setup ## run the tests that are quick and need no server
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "not servers and not slow" --ignore tests/house

check: setup ## format, lint, types, floors and house rules; under a minute
	@$(MAKE) --no-print-directory -j check-style check-types check-floors check-house

check-style:
	@$(BIN)/ruff format --check src tests bench
	@$(BIN)/ruff check src tests bench

check-types:
	@$(BIN)/mypy

check-floors:
	@$(BIN)/lint-imports --no-cache

check-house:
	@$(BIN)/python -m pytest -q tests/house

fix: setup ## format, and apply automatic fixes
	@$(BIN)/ruff format src tests bench
	@$(BIN)/ruff check --fix src tests bench

.venv-bench/.installed: requirements/bench.txt
	@test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	@echo '*' > .venv-bench/.gitignore
	@echo "installing rivals into .venv-bench ..."
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/bench.txt
	@touch $@

bench: setup .venv-bench/.installed ## crawl one site with Longline and other crawlers, side by side; ARGS="--only ours,scrapy"
	@$(BIN)/python -m bench $(ARGS)

docs: setup ## write the generated pages of the reference
	@$(BIN)/python -m longline.cli.generated_files.reference docs/reference

dashboard: setup ## write the Grafana dashboard
	@$(BIN)/python -m longline.cli.generated_files.grafana_dashboard deploy/grafana.json

shots: setup ## take pictures of every page of the console, with an installed Chromium
	@$(BIN)/python -m tests.console.browser.shots docs/pictures

lock: setup ## resolve the pinned versions again
	@$(BIN)/pip-compile $(LOCK) $(EXTRAS) -o requirements/runtime.txt pyproject.toml
	@$(BIN)/pip-compile $(LOCK) $(EXTRAS) --extra dev -c requirements/runtime.txt -o requirements/dev.txt pyproject.toml
	@$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['bench'], sep='\n')" \
		| $(BIN)/pip-compile $(LOCK) -o requirements/bench.txt -
	@$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['replay'], sep='\n')" \
		| $(BIN)/pip-compile $(LOCK) -o requirements/replay.txt -
	@$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['client'], sep='\n')" \
		| $(BIN)/pip-compile $(LOCK) -o requirements/client.txt -

clean: ## remove the virtual environment and caches
	@rm -rf $(VENV) .venv-bench .venv-replay .venv-client .mypy_cache .ruff_cache .pytest_cache .hypothesis
