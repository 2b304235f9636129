# Two commands do all set-up: `make run` plays a simulated table, `make test` checks everything.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TABLE ?= config/tables/demo.toml

.PHONY: run test lint soak bench clean

run: $(READY)
	@$(BIN)/tablectl simulate $(TABLE)

test: nats-server chromium lint
	@$(BIN)/pytest -n 2

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# The "must show" lists with their full numbers; takes the better part of an hour.
soak: $(READY) nats-server chromium
	@TABLECTL_SOAK=1 $(BIN)/pytest -n 2 --timeout 3600 --durations 20 --ignore tests/hall
	@TABLECTL_SOAK=1 $(BIN)/pytest -n 0 -s tests/hall

bench: $(READY)
	@$(BIN)/python tests/bench/bench.py

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: apt-get install python3 python3-venv"; exit 3; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory apt PACKAGES=python3-venv
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (once) ..."
	@$(BIN)/pip install -qq --disable-pip-version-check -e '.[test]'
	@touch $(READY)

# The bridge is tested against a real server; only its program is used, not the service.
.PHONY: nats-server
nats-server:
	@PATH="$$PATH:/usr/sbin" command -v nats-server >/dev/null || $(MAKE) --no-print-directory apt PACKAGES=nats-server

# The pages are tested in a real browser.
.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || $(MAKE) --no-print-directory apt PACKAGES=chromium

# Installs Debian packages, or says which are missing and stops.
.PHONY: apt
apt:
	@if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -y -qq $(PACKAGES); \
	else echo "missing Debian packages: apt-get install $(PACKAGES)"; exit 3; fi

clean:
	rm -rf $(VENV) run build dist artefacts .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
