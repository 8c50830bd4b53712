# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Each makes the virtual environment once; a second call starts at once.
VENV ?= .venv
ifeq ($(OS),Windows_NT)
  PYTHON ?= python
  BIN := $(VENV)/Scripts
else
  PYTHON ?= python3
  BIN := $(VENV)/bin
endif
PY := $(BIN)/python

.PHONY: demo test check bench docs test-lowest clean

demo: $(VENV)/.run
	$(PY) -m rarefind demo

test: $(VENV)/.dev
	$(PY) -m pytest -n auto --cov --cov-report=term

# Locally the files are formatted; in CI a file that would change is an error.
check: $(VENV)/.dev
	$(PY) -m ruff format $(if $(CI),--check)
	$(PY) -m ruff check $(if $(CI),,--fix)
	$(PY) -m mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(PY) benchmarks/gamma_knn.py

docs: $(VENV)/.docs
	$(PY) -m sphinx -W --keep-going -b html docs docs/_build/html

# The tests with every dependency at the lower bound that pyproject.toml names.
test-lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet -r benchmarks/lowest.txt
