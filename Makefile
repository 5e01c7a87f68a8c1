# Everything runs from a .venv in this checkout. Nothing is installed elsewhere, except Chromium
# and bubblewrap, which `make test` installs if they are missing.

PYTHON      ?= python3
BIN         := .venv/bin
# The tests of a file share a JupyterLab, a browser or a wheel, so one worker runs a whole file, and
# slow files start first (tests/conftest.py). There are two more workers than cores, because the
# tests spend part of their time waiting for such programs.
WORKERS     := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
PYTEST_ARGS ?= --numprocesses=$(WORKERS) --maxprocesses=4 --dist=loadfile \
               --no-loadscope-reorder --durations=10

EXTRAS      := --editable ".[claude-code,dask,inspect,office]"

# Another tool that the calibration compares ours with; it is not installed into the .venv.
BESIDE      := $(BIN)/uv run --quiet --no-project --python $(BIN)/python --with evalstats==0.3.3 python

# Without this, every process that a test starts would compile each library again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test lab docs check fix bench calibrate constraints

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: .venv/installed ## run and grade the demo skill offline; charts and reports go to build/demo
	$(BIN)/skill-eval-nb demo --out build/demo

test: .venv/extras ## install what the tests need, including Chromium, and run all of them
	$(BIN)/python -m tests.chromium
	$(BIN)/python -m tests.bubblewrap
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lab: .venv/installed ## open a copy of the notebooks, in build/lab, in JupyterLab
	$(BIN)/skill-eval-nb lab --to build/lab

docs: .venv/extras ## run the notebooks and build the documentation, in build/docs/site
	@echo "Installing what builds the documentation into .venv ..."
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group docs \
	  || $(BIN)/python -m pip install --quiet --constraint constraints.txt --group docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python docs/build.py

check: .venv/extras ## check style, types, import directions, and that notebooks have no outputs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/nbstripout --verify notebooks/*.ipynb

fix: .venv/installed ## fix what can be fixed automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/nbstripout notebooks/*.ipynb

bench: .venv/extras ## measure loading, statistics, checks, calls, running and widgets
	$(BIN)/python -m bench
	$(BIN)/python -m bench.start
	$(BIN)/python -m bench.tools
	$(BIN)/python -m bench.statistics
	$(BIN)/python -m bench.before
	$(BIN)/python -m bench.sessions
	$(BIN)/python -m bench.checks
	$(BIN)/python -m bench.calls
	$(BIN)/python -m bench.running
	$(BIN)/python -m bench.widgets
	$(BIN)/python -m bench.grouping
	$(BIN)/python -m bench.tryouts
	$(BIN)/python -m bench.fuzzing

calibrate: .venv/installed ## simulate whether the verdicts hold up, for skill_eval_nb/stats/CALIBRATION.md
	@if $(BESIDE) -c "import evalstats"; then $(BESIDE) -m bench.calibrate; \
	  else echo "evalstats cannot be installed here: calibrating without it."; $(BIN)/python -m bench.calibrate; fi

constraints: .venv/installed ## resolve constraints.txt again from pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --all-extras --group dev --group docs \
	  --custom-compile-command "make constraints" --output-file constraints.txt pyproject.toml

# The extras have tests too; if one cannot be installed, its tests are left out.
.venv/extras: .venv/installed
	@echo "Installing the extras into .venv ..."
	@{ $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt $(EXTRAS) \
	  || $(BIN)/python -m pip install --quiet --constraint constraints.txt $(EXTRAS); } && touch $@ \
	  || echo "The extras could not be installed: their tests are left out."

# uv is fast but does not read pip's settings; where it finds no packages, pip may.
.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("This needs Python 3.11 or newer; $(PYTHON) is %s. Name another: make PYTHON=python3.12" % sys.version.split()[0])'
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "$(PYTHON) cannot create a virtual environment: install its venv module (Debian: python3-venv)."; exit 1; }
	@echo "Installing into .venv ..."
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group dev --editable . \
	  || $(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable .
	@touch $@
