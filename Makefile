# Everything runs in a virtual environment of its own, .venv, made on first use.
# Another Python: make test PYTHON=python3.12 (.venv is made anew if it holds another version)

VENV := .venv
BIN := $(VENV)/bin
VERSION := -c 'import sys; print("%d.%d" % sys.version_info[:2])'
ifneq ($(origin PYTHON),undefined)
ifneq ($(wildcard $(BIN)/python),)
ifneq ($(shell $(PYTHON) $(VERSION) 2>/dev/null),$(shell $(BIN)/python $(VERSION) 2>/dev/null))
ANEW := another-python
endif
endif
endif
PYTHON ?= python3
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt
RECIPE := pyproject.toml constraints.txt
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable
# Installs packages of the system, as root or where sudo asks for no password; waits while somebody else installs some.
APT_INSTALL := sh -c 'if [ "$$(id -u)" = 0 ]; then as_root=env; else as_root="sudo -n env"; fi; \
	apt="$$as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3"; \
	$$apt update || { sleep 20; $$apt update; }; $$apt -y --no-install-recommends install "$$@"' apt-install
MINUTES ?= 10

.PHONY: help install demo test fuzz browser java minisign check bench bench-scale bench-discovery bench-attributes bench-mining audit comparison clean another-python

help:
	@echo "make demo      a tour on the bundled example log"
	@echo "make test      install everything and run the tests"
	@echo "make fuzz MINUTES=30  the property tests, with other examples each time, for so long (10 minutes by default)"
	@echo "make install   install Libra into $(VENV); then: $(BIN)/libra --help"
	@echo "make check     lint, format and types"
	@echo "make bench     time and memory, beside other tools"
	@echo "make bench-scale  1, 10 and 100 million events: time and memory, beside bare jobs (ten minutes, 10 GB of disk)"
	@echo "make bench-discovery  models discovered from releases and from the originals (half an hour)"
	@echo "make bench-attributes  released attributes beside MST and PRIPEL: distances, and what a classifier learns (some minutes)"
	@echo "make bench-mining  bottlenecks, predictions and what ties cases together, in releases and in fresh samples (a minute)"
	@echo "make audit     audit every mechanism: docs/audit-results.md (a quarter of an hour)"
	@echo "make comparison  compare every mechanism on the public logs: docs/comparison.md (half an hour)"
	@echo "make clean     remove what was built"

install: $(VENV)/.installed
	@echo "Libra is installed: $(BIN)/libra --help"

demo: $(VENV)/.installed
	@$(BIN)/libra demo -o demo

# Every core has a worker, so no worker needs threads; that their number changes nothing is a test of its own. Processes that
# tests start find compiled modules, whatever the environment says about writing them.
test: $(VENV)/.installed-dev browser java minisign
	@PYTHONDONTWRITEBYTECODE= POLARS_MAX_THREADS=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

fuzz: $(VENV)/.installed-dev
	@$(BIN)/python tests/fuzz.py $(MINUTES) $(TESTS)

# Tests open reports in Chromium. Where there is none and it cannot be installed they are skipped, with the reason.
browser:
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; \
	command -v apt-get >/dev/null || { echo "There is no Chromium here: tests in a browser are skipped" >&2; exit 0; }; \
	echo "Installing Chromium, in which tests open reports"; \
	$(APT_INSTALL) chromium fonts-liberation </dev/null >/dev/null 2>&1 \
	|| echo "Chromium cannot be installed: tests in a browser are skipped" >&2

# Tests of the Spark engine need Java 17 or newer. Where there is none and it cannot be installed they are skipped, with the reason.
java:
	@$(BIN)/python -c 'import sys; from libra._system.doctor import find_java; sys.exit(not find_java()[0])' 2>/dev/null && exit 0; \
	command -v apt-get >/dev/null || { echo "There is no Java 17 here: tests of the Spark engine are skipped" >&2; exit 0; }; \
	echo "Installing Java, in which the Spark engine runs"; \
	$(APT_INSTALL) openjdk-17-jre-headless </dev/null >/dev/null 2>&1 \
	|| echo "Java cannot be installed: tests of the Spark engine are skipped" >&2

# Tests have minisign read keys and check signatures. Where there is none and it cannot be installed they are skipped, with the reason.
minisign:
	@command -v minisign >/dev/null && exit 0; \
	command -v apt-get >/dev/null || { echo "There is no minisign here: tests with it are skipped" >&2; exit 0; }; \
	echo "Installing minisign, which checks signatures in tests"; \
	$(APT_INSTALL) minisign </dev/null >/dev/null 2>&1 \
	|| echo "minisign cannot be installed: tests with it are skipped" >&2

check: $(VENV)/.installed-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks

bench-scale: $(VENV)/.installed-dev java
	@$(BIN)/python -m benchmarks.scale

bench-discovery: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks.discovery

bench-attributes: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks.attributes

bench-mining: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks.mining

audit: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks.audits > docs/audit-results.new && mv docs/audit-results.new docs/audit-results.md

comparison: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks.comparison

clean:
	rm -rf $(VENV) demo libra-demo build screenshots dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python: $(ANEW)
	@command -v $(PYTHON) >/dev/null || { echo "There is no '$(PYTHON)' here. Install Python 3.11 or newer, or name one: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c '' || { echo "'$(PYTHON)' does not run. Install Python 3.11 or newer, or name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Libra needs Python 3.11 or newer, and '$(PYTHON)' is older. Name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "'$(PYTHON)' lacks the venv module. Install it (Debian, Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.installed: $(RECIPE) $(ANEW) | $(BIN)/python
	@echo "Installing Libra into $(VENV) (a minute the first time)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: $(RECIPE) $(ANEW) | $(BIN)/python
	@echo "Installing Libra and its development tools into $(VENV) (some minutes the first time)"
	@$(PIP) --editable ".[dev]"
	@touch $@ $(VENV)/.installed
