# Everything here installs what it needs into .venv (development) or .venv-run (the demo), once.
# A second run does no set-up. Needs Python 3.11 or newer, git, make and gcc; `make test` also Go with
# its x/mod, and Chromium, which it installs where it may (Debian, as root or by sudo).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

DEV := .venv
RUN := .venv-run
BIN := $(DEV)/bin
TOOLS := $(DEV)/log-tools
WEB := verifier/web
PAGE := verifier/fairdeal_verifier/verify.html
PROJECTS := pyproject.toml api/pyproject.toml verifier/pyproject.toml

# Given on the command line: make test ARGS="-k merkle -x" (in one process; all of it takes two),
# make PYTHON=/opt/python/bin/python3 venv
ARGS ?=
PYTHON ?=

# The first interpreter that runs and is new enough.
find_python = python=; \
	for candidate in $(if $(PYTHON),"$(PYTHON)",python3.11 python3 python3.12 python3.13 python3.14); do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'fairdeal needs Python 3.11 or newer: install it, or name it with `make PYTHON=/path/to/python3 ...`.' >&2; exit 1; \
	fi

# $(call environment,VENV,REQUIREMENTS): a fresh environment with exactly the pinned packages.
define environment
	@$(find_python); \
	echo "Making $(1) with $$("$$python" --version)"; \
	if ! "$$python" -m venv --clear $(1) >/dev/null 2>&1; then \
	  echo "$$python cannot make a virtual environment: install its venv module (on Debian: python3-venv)." >&2; exit 1; \
	fi
	@echo "Installing $(2)"
	@$(call pip,$(1)) --require-hashes -r $(2) $(call or_show,$(1))
	@touch $@
endef

# $(call link,VENV): the three packages of this repository, editable.
define link
	@echo "Linking fairdeal, fairdeal-api and fairdeal-verifier into $(1)"
	@$(call pip,$(1)) --no-deps --no-build-isolation --no-index -e . -e api -e verifier $(call or_show,$(1))
	@touch $@
endef

npm = PATH=$(CURDIR)/$(BIN):$$PATH npm --prefix $(WEB)
pip = PIP_DISABLE_PIP_VERSION_CHECK=1 $(1)/bin/python -m pip install --quiet --no-input
or_show = >$(1)/setup.log 2>&1 || { cat $(1)/setup.log >&2; echo "Setting up $(1) failed; what pip said stands above." >&2; exit 1; }

.PHONY: help
help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: $(RUN)/.linked ## Start a throw-away service, play a hand of each game, verify it, try to cheat
	@$(RUN)/bin/fairdeal demo $(ARGS)

.PHONY: venv
venv: $(DEV)/.linked ## Set up .venv for development
	@:

.PHONY: test
test: $(DEV)/.linked $(TOOLS)/.node $(TOOLS)/.go $(TOOLS)/.web $(TOOLS)/.chromium ## Run the tests
	@$(BIN)/python -m pytest $(or $(ARGS),-n 2)

.PHONY: check
check: $(DEV)/.linked $(TOOLS)/.web ## Lint, types, layers; vectors, OpenAPI file and page up to date
	@echo 'ruff check';          $(BIN)/ruff check --quiet .
	@echo 'ruff format --check'; $(BIN)/ruff format --quiet --check . || { echo 'Run `make format`.' >&2; exit 1; }
	@echo 'mypy';                $(BIN)/mypy --no-error-summary
	@echo 'lint-imports';        $(BIN)/lint-imports --no-cache >$(DEV)/imports.log 2>&1 || { cat $(DEV)/imports.log >&2; exit 1; }
	@echo 'vectors';             $(BIN)/python -m seeds.generate --check
	@echo 'openapi';             $(BIN)/fairdeal openapi --check
	@echo 'tsc';                 $(npm) run --silent check
	@echo 'page';                rm -rf build/page; $(npm) run --silent build -- --outDir $(CURDIR)/build/page --logLevel error; \
	  cmp build/page/verify.html $(PAGE) || { echo '$(PAGE) is not what its sources give. Run `make page`.' >&2; exit 1; }

.PHONY: format
format: $(DEV)/.linked ## Format the code and fix what can be fixed
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

.PHONY: bench
bench: $(DEV)/.linked $(TOOLS)/.web $(TOOLS)/.chromium ## Measure
	@$(BIN)/python -m bench $(ARGS)

.PHONY: soak
soak: $(DEV)/.linked ## The full counts, resumable; writes docs/soak.json (about an hour; ARGS="audit play" for families)
	@$(BIN)/python -m tests.soak $(ARGS)

.PHONY: faults
faults: $(DEV)/.linked ## Run the tests that kill, cut and corrupt
	@$(BIN)/python -m pytest tests/faults $(ARGS)

.PHONY: vectors
vectors: $(DEV)/.linked ## Write the known-answer vectors again
	@$(BIN)/python -m seeds.generate

.PHONY: openapi
openapi: $(DEV)/.linked ## Write the OpenAPI file again
	@$(BIN)/fairdeal openapi

.PHONY: page
page: $(TOOLS)/.web ## Build the page that checks hands again
	@$(npm) run --silent build -- --logLevel warn
	@sha256sum $(PAGE)

.PHONY: zipapp
zipapp: ## Build dist/fairdeal-verify.pyz, the verifier in one file
	@$(find_python); "$$python" verifier/build_zipapp.py dist/fairdeal-verify.pyz

.PHONY: lock
lock: ## Pin the requirements again (needs uv)
	@command -v uv >/dev/null || { echo 'make lock needs uv on the PATH: pip install uv.' >&2; exit 1; }
	@cd requirements; for name in run dev; do \
	  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    $(ARGS) $$name.in -o $$name.txt; \
	done

.PHONY: clean
clean: ## Remove what the targets above have made
	@rm -rf $(DEV) $(RUN) dist build $(WEB)/dist $(WEB)/node_modules .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find fairdeal api verifier tests bench seeds -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# An environment is made anew when its requirements change, and linked again when a project file does.
$(DEV)/.pinned: requirements/dev.txt
	$(call environment,$(DEV),$<)

$(RUN)/.pinned: requirements/run.txt
	$(call environment,$(RUN),$<)

$(DEV)/.linked: $(DEV)/.pinned $(PROJECTS)
	$(call link,$(DEV))

$(RUN)/.linked: $(RUN)/.pinned $(PROJECTS)
	$(call link,$(RUN))

# $(call npm_ci,FOLDER,WITHOUT): exactly what FOLDER's lock file names. Without it make goes on, and
# the tests that need it fail and say so: the others are worth running.
define npm_ci
	@echo "Installing $(1)/package-lock.json"
	@mkdir -p $(TOOLS)
	@PATH=$(CURDIR)/$(BIN):$$PATH npm ci --prefix $(1) --cache $(TOOLS)/npm-cache --ignore-scripts --no-audit --no-fund >$@.log 2>&1 && touch $@ \
	  || { cat $@.log >&2; echo 'npm could not install $(1)/package-lock.json: $(2) will fail.' >&2; }
endef

# $(call from_debian,PACKAGES): by apt, where this may be done. Whoever calls looks what has come of it.
define from_debian
	if [ "$$(id -u)" = 0 ]; then as_root=; else as_root='sudo -n'; fi; \
	echo 'Installing $(1)'; \
	install="$$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $(1)"; \
	$$install >$@.log 2>&1 || { $$as_root apt-get -qq update && $$install; } >>$@.log 2>&1 || cat $@.log >&2
endef

# Other people's readers of the log, for tests/log.
$(TOOLS)/.node: tests/log/package.json tests/log/package-lock.json $(DEV)/.pinned
	@mkdir -p $(TOOLS) && cp tests/log/package.json tests/log/package-lock.json $(TOOLS)
	$(call npm_ci,$(TOOLS),the tests in tests/log)

# Go and its x/mod come from Debian, so that no module proxy is asked.
XMOD := /usr/share/gocode/src/golang.org/x/mod/sumdb/tlog
debian_go = golang-go golang-golang-x-mod-dev
$(TOOLS)/.go: tests/log/govf/main.go $(DEV)/.pinned
	@mkdir -p $(TOOLS) && rm -f $(TOOLS)/govf
	@if ! command -v go >/dev/null || [ ! -d $(XMOD) ]; then $(call from_debian,$(debian_go)); fi
	@GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS= GOCACHE=$(CURDIR)/$(TOOLS)/go-cache go build -o $(TOOLS)/govf ./tests/log/govf && touch $@ \
	  || echo 'Go and golang.org/x/mod are needed (Debian: $(debian_go)), and could not be installed: their tests in tests/log will fail.' >&2

# What builds and tests the page that checks hands, and a browser to try it in.
$(TOOLS)/.web: $(WEB)/package.json $(WEB)/package-lock.json $(DEV)/.pinned
	$(call npm_ci,$(WEB),building the page and its tests)

$(TOOLS)/.chromium: $(DEV)/.pinned
	@mkdir -p $(TOOLS)
	@if ! command -v chromium >/dev/null; then $(call from_debian,chromium); fi
	@command -v chromium >/dev/null && touch $@ \
	  || echo 'Chromium is needed (Debian: chromium), and could not be installed: the tests in tests/page will fail.' >&2
