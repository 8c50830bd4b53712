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

.PHONY: demo test coverage fuzz fuzz-sql properties check study bench bench-final bench-all bench-desk docs test-lowest clean

# Four models are compared, and then a desk runs until Ctrl-C: at a terminal, where CI is not set.
# Machines get the comparison alone; make demo ARGS=--no-serve asks for that anywhere.
demo: $(VENV)/.demo
	$(PY) -m rarefind demo $(if $(CI),--no-serve) $(ARGS)

test: $(VENV)/.dev
	$(PY) -m pytest -n auto --dist worksteal --durations 30 -rs

# The same, counting the lines that tests run; it takes a quarter longer.
coverage: $(VENV)/.dev
	$(PY) -m pytest -n auto --dist worksteal --cov --cov-report=term

# Mutated model files, each opened and scored in a process of its own (not on Windows):
# make fuzz ARGS="--count 20000 --seed 1 --bounds-check"; --help lists the options. Files of tables
# and files of rules: make fuzz ARGS="--what readers", ARGS="--what rules".
fuzz: $(VENV)/.dev
	cd tests && $(abspath $(PY)) -m fuzz $(ARGS)

# Every property on all examples that it asks for.
properties: $(VENV)/.dev
	RAREFIND_EXAMPLES=all $(PY) -m pytest -n auto --dist worksteal -m hypothesis

# Rules run in six ways, and models as SQL in three databases, on other examples each time.
fuzz-sql: $(VENV)/.dev
	RAREFIND_FUZZ=$(or $(COUNT),3000) $(PY) -m pytest -q tests/rules/test_meaning.py tests/tables/test_sql.py

# Locally files are mended; in CI a file that would change is an error.
check: $(VENV)/.dev
	$(PY) -m ruff format $(if $(CI),--check)
	$(PY) -m ruff check $(if $(CI),,--fix)
	$(PY) -m mypy
	$(BIN)/lint-imports

# A published experiment, run again: make study NAME=gamma-knn ARGS="--quick"; without NAME they are listed.
study: $(VENV)/.bench
	$(PY) -m studies $(if $(NAME),run $(NAME) $(ARGS),list)

# rarefind beside its peers on what may be chosen by, written to benchmarks/results/; DATA is a folder
# of more sets. A part of it: make bench ARGS="--half large --methods quick"
bench: $(VENV)/.bench
	$(PY) benchmarks/scoreboard.py $(if $(DATA),--data $(DATA)) $(ARGS)

# The same on the final block, once, when all choices are made: docs/scoreboard.md, docs/prequential.md.
bench-final: $(VENV)/.bench
	$(PY) benchmarks/scoreboard.py --block final --final $(if $(DATA),--data $(DATA))
	$(PY) benchmarks/prequential.py --block final --final

# Every other figure of the docs, written to benchmarks/results/: hours.
bench-all: bench
	$(PY) benchmarks/prequential.py
	$(PY) benchmarks/gamma_knn.py
	$(PY) benchmarks/neighbors.py
	$(PY) benchmarks/me2.py
	$(PY) benchmarks/metric_learn.py
	$(PY) benchmarks/trees.py
	$(PY) benchmarks/trees_speed.py
	$(PY) benchmarks/boosting.py
	$(PY) benchmarks/boosting_speed.py
	$(PY) benchmarks/projection.py
	$(PY) benchmarks/conditions.py
	$(PY) benchmarks/auto.py
	$(PY) benchmarks/rules.py
	$(PY) benchmarks/streams.py
	$(PY) benchmarks/streams_speed.py
	$(PY) benchmarks/streams_row.py
	$(PY) benchmarks/one_row.py
	$(PY) benchmarks/desk_path.py
	$(PY) benchmarks/reasons.py
	$(PY) benchmarks/rank.py
	$(PY) benchmarks/search.py
	$(PY) benchmarks/data.py
	$(PY) benchmarks/openmp.py
	$(PY) benchmarks/rare_in_a_million.py

# What a desk stands: load, kills, restarts, parity; about three hours on a machine with nothing else
# to do. A part of it: make bench-desk ARGS="--only kills --kills 20"
bench-desk: $(VENV)/.bench
	$(PY) benchmarks/desk.py $(ARGS)

docs: $(VENV)/.docs
	$(PY) -m sphinx -W --keep-going -b html docs docs/_build/html

# The tests with every run-time dependency at the lower bound that pyproject.toml names.
test-lowest:
	$(PYTHON) .ci/lowest.py > .lowest.txt
	$(MAKE) VENV=.venv-lowest REQUIREMENTS="-r .lowest.txt" test

clean:
	$(PYTHON) -c "import shutil; [shutil.rmtree(d, True) for d in ('$(VENV)', '.venv-lowest', 'docs/_build')]"

# The stamps say what is installed; a change of pyproject.toml installs again.
$(VENV)/.demo: pyproject.toml
	$(call install,.[demo])
$(VENV)/.dev: pyproject.toml
	$(call install,.[dev])
$(VENV)/.bench: pyproject.toml
	$(call install,.[all,bench])
$(VENV)/.docs: pyproject.toml
	$(call install,.[docs])

define install
	@echo "Installing rarefind into $(VENV): once, a minute or two."
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check $(REQUIREMENTS) --editable "$(1)"
	@$(PY) -c "open('$@', 'w').close()"
endef
