# Every target sets up what it needs: a virtual environment with the package and its test tools.
#   make demo       both baselines on the shipped samples, and a report: no key, no network once installed
#   make test       style, and all tests but the long ones
#   make test-all   style, and all tests
#   make bench      what the plugin adds to the start of lmms-eval
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.lmms-tasks-installed
DEMO := results/demo

.PHONY: help demo test test-all lint bench clean
help:
	@sed -n 's/^#   //p' Makefile

# The environment is made again after a change of pyproject.toml; the package itself is installed editable.
# With VENV=PATH an environment of your own is used; `touch PATH/.lmms-tasks-installed` says that it is complete.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "lmms-tasks needs Python 3.10 or later, set PYTHON=…; this is " + sys.version)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing lmms-tasks, lmms-eval and the test tools into $(VENV); this takes minutes the first time."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input -e '.[test]'
	@touch $@

# lmms-eval alone exits 0 where a run failed, so the results file has to be there as well.
define run_demo
	@rm -rf $(DEMO)/$(1) && mkdir -p $(DEMO)/$(1)
	@echo "lmms-eval --model $(1) --tasks $(2) --output_path $(DEMO)/$(1) --log_samples"
	@HF_HUB_OFFLINE=1 LMMS_TASKS_JUDGES=offline LMMS_TASKS_DISABLE= \
	  $(BIN)/lmms-eval --model $(1) --tasks $(2) --output_path $(DEMO)/$(1) --log_samples \
	  > $(DEMO)/$(1)/run.log 2>&1 < /dev/null; code=$$?; \
	results=$$(find $(DEMO)/$(1) -name '*_results.json'); \
	if [ $$code -ne 0 ] || [ -z "$$results" ]; then \
	  tail -n 40 $(DEMO)/$(1)/run.log >&2; \
	  echo "The run of $(1) failed (exit code $$code, results file: $${results:-none}); log: $(DEMO)/$(1)/run.log" >&2; \
	  exit 1; \
	fi; \
	awk '/^\|/ { print; table = 1; next } table { print ""; table = 0 }' $(DEMO)/$(1)/run.log; \
	echo "results      $$results"; \
	find $(DEMO)/$(1) -name '*_samples_*.jsonl' | sort | sed 's/^/sample log   /'; \
	find $(DEMO)/$(1) -name '*_lmms_tasks_*.json' | sort | sed 's/^/manifest     /'; \
	echo "full log     $(DEMO)/$(1)/run.log"; echo
endef

demo: $(STAMP)
	$(call run_demo,reference,lmms_tasks_samples)
	$(call run_demo,tiny_vlm,mirage_mmst_sample)
	@$(BIN)/lmms-tasks report $(DEMO) --output $(DEMO)/report.html
	@echo "reference answers with the gold answers, tiny_vlm has random weights; both were scored by comparing words."

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

test: lint
	@$(BIN)/python -m pytest -m "not long"

# Long proofs that need more packages are skipped without them.
test-all: lint
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input -e '.[long]'
	@$(BIN)/python -m pytest

bench: $(STAMP)
	@$(BIN)/python benchmarks/plugin_load.py

clean:
	rm -rf .venv results build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find lmms_tasks tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
