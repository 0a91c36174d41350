# The commands of everyday work; `make help` lists them. Everything that is made goes below build/.
.DEFAULT_GOAL := build
.PHONY: build demo test test-ascend test-cuda test-torch check bench bench-quick docs format install clean help setup

PREFIX ?= /usr/local
# Installs missing packages; `make test SETUP=true` leaves the machine as it is.
SETUP ?= scripts/setup
export SETUP

build: ## build with gcc, optimised; the command is build/bin/baton
	@scripts/build release

demo: setup ## build what users run, let four ranks hand a baton round and four chips run a transformer; draw it
	@scripts/build release product
	@scripts/demo

test: ## what every change must pass: checks, gcc, clang, clang-tidy, sanitizers
	@scripts/run_tests test

test-torch: setup ## the tests of baton.torch, with a PyTorch from the package index
	@scripts/test_torch

test-cuda: ## the tests that need an NVIDIA GPU; without one they are skipped, and say why
	@scripts/build release cuda_tests
	@build/tests/cuda_compile_all & build/tests/cuda_compile_all strict && wait $$!
	@ctest --preset release -R '^cuda_'
	@build/venv/bin/python -m pytest -q -rs -p no:cacheprovider tests/python/test_cuda.py || [ $$? = 5 ]

test-ascend: ## the tests of platforms a2a3 and a5, on a stand-in for the chip
	@scripts/build release ascend_tests
	@ctest --preset release -R '^ascend_'

check: ## everything: long tests, complete sanitizer runs, fuzzing
	@scripts/run_tests check

bench: setup build ## measure the communication layer against its peers
	@scripts/setup --bench || echo "bench: goes on without the peers that are missing"
	bench/run comm

bench-quick: setup build ## the same with few repetitions
	bench/run comm --quick

docs: ## make a searchable site of the documents in build/site/html; scripts/build_site --serve shows it
	@scripts/build_site

format: ## rewrite the sources as .clang-format says
	@scripts/check_format --fix

install: build ## install the command, the library and its headers below PREFIX (/usr/local)
	cmake --install build --prefix "$(PREFIX)"

setup: ## install what building and testing needs (Debian)
	@$(SETUP)

clean: ## remove everything that was made
	rm -rf build

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
