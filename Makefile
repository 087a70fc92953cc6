# Every target does its own set-up: the first one makes .venv and installs the package into it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-all fuzz lint format bench figures docs package clean

demo: $(VENV)/.demo
	$(BIN)/phaselect demo --out demo.png

# Two processes, one BLAS thread each: more would fight for the cores.
test: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile

# The long statistical tests too.
test-all: $(VENV)/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile -m ''

# Ten thousand instances against the certificate, by a judge of its own. Options: .venv/bin/python -m tests.fuzz --help
fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# On a GPU: make bench DEVICE=gpu. For options, such as --quick or --only: .venv/bin/python -m benchmarks.run --help
DEVICE ?= cpu
bench: $(VENV)/.bench-$(DEVICE)
	$(BIN)/python -m benchmarks.run --device $(DEVICE)

# Every figure of the paper at small scale, and a page with all of them: report/index.html.
figures: $(VENV)/.demo
	$(BIN)/phaselect report --out report

# The documentation as a site, site/index.html: runs the examples that have changed, fails at a warning.
docs: $(VENV)/.docs
	$(BIN)/python docs/make_cli_reference.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -b html -q -W --keep-going docs site -d build/docs
	@echo "wrote site/index.html"

# The sdist and the wheel, in dist/, after each has been installed and tried in a clean environment.
package: | $(BIN)/python
	$(BIN)/python -m tests.package

clean:
	rm -rf $(VENV) build dist demo.png explorer.html report site docs/gallery docs/api/generated

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "phaselect needs Python 3.11 or later: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.demo $(VENV)/.docs

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@ $(VENV)/.demo

$(VENV)/.bench-cpu: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $@ $(VENV)/.dev $(VENV)/.demo $(VENV)/.docs

$(VENV)/.bench-gpu: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,bench,cuda]'
	@touch $@ $(VENV)/.bench-cpu $(VENV)/.dev $(VENV)/.demo $(VENV)/.docs
