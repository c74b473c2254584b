# make            the two libraries, Brook+, and linear algebra
# make run        build everything and multiply matrices on the default device
# make test       install what the tests need (apt-get, as root or through sudo), then run them all
# make brook      Brook+ alone: libbrook.so and brcc
# make blas       linear algebra alone: libCALBLAS.so
# make install    PREFIX=/usr/local [LIBDIR=lib] [DESTDIR=]: headers, libraries, pkg-config, CMake, the commands recal and brcc
# make uninstall  PREFIX, LIBDIR, DESTDIR as for install: removes what that put there
# make manual     the manual of IL and the API as pages of HTML, into target/recal/manual
# make dist       archives and Debian packages for five targets, with SHA256SUMS, into target/recal/dist
# make dist-check  what make dist made, as a stranger uses it: hello.c against every archive and package, lintian, removal
# make platforms  samples, C programs, cases and API tests on 32-bit Linux, Arm (qemu) and Windows (Wine): docs/platforms.md
# make platforms-quick  as much of that as ten minutes allow
# make ci         format, lints, documentation, whether the API compiles for Windows, make test
# make exhaustive every operand of the inexact operations, 10^8 random ones of each exact one: hours
# make bench      our kernels beside hand-written GLSL and OpenCL C (and CUDA's library, where there is one)
# make bench-tables  the tables of docs/performance.md from benches/results
# make samples    build the C samples into target/recal/samples
# make mpi-samples  build the programs for MPI into target/recal/mpi
# make brook-samples build the samples of Brook+ into target/recal/brook-samples and run each with -e
# make brook-bench   Brook+ beside the bare interface: docs/brook-tuning.md
# make fuzz       SECONDS=60 for each of the fuzzers
# make stress     a million launches from 16 threads, 100,000 rounds of every object
# make faults     every call of a system, driver or backend that may fail does; damaged caches, rubbish, limits
# make races      handle tables and queues in every order of their threads; the thread sanitizer and Miri, where there is a nightly toolchain
# make arm        AArch64: tests of the CPU backend and the API, and the conformance cases, under qemu on another host
# make mutants    small changes of the product, one at a time, each of which a test should notice: EVERY=8 takes one of eight; hours
# make isolation  hostile addresses against guard pages and canaries
# make audit      licences, sources, doubled crates; crates build from what is published of them; known vulnerabilities where cargo-deny is installed
# make clean      remove what this file built; cargo's files stay

PREFIX  ?= /usr/local
LIBDIR  ?= lib
DESTDIR ?=
CARGO   ?= cargo
CC      ?= cc
CFLAGS  ?= -O3
MPICC   ?= mpicc
SECONDS ?= 60
MINUTES ?= 10
EVERY   ?= 8

BUILD    := target/recal
LIBS     := $(BUILD)/lib
BROOK    := $(BUILD)/brook
BLAS     := $(BUILD)/blas
SAMPLES  := $(BUILD)/samples
INCLUDE  := cal-api/include
PROGRAMS := $(filter-out sample,$(basename $(notdir $(wildcard samples/c/*.c))))
WARNINGS := -Wall -Wextra -Wno-overlength-strings

.PHONY: all libs brook blas manual brook-samples brook-bench samples mpi-samples run test test-deps install uninstall dist dist-check platforms platforms-quick ci exhaustive bench bench-tables clean fuzz stress faults races arm isolation mutants audit

all: libs brook blas

# cargo knows what is out of date, so this always asks it.
libs:
	CARGO="$(CARGO)" CC="$(CC)" sh scripts/build-libs.sh $(LIBS)

brook:
	CARGO="$(CARGO)" CC="$(CC)" sh scripts/build-brook.sh $(BROOK)

brook-samples: brook
	$(MAKE) -C brook/samples OUT=$(abspath $(BUILD)/brook-samples) BROOK_LIB=$(abspath $(BROOK)) check

brook-bench:
	CARGO="$(CARGO)" CC="$(CC)" sh scripts/bench-brook.sh

blas:
	CARGO="$(CARGO)" CC="$(CC)" sh scripts/build-blas.sh $(BLAS)

samples: libs $(addprefix $(SAMPLES)/,$(PROGRAMS))

$(SAMPLES)/%: samples/c/%.c samples/c/sample.c samples/c/sample.h $(wildcard $(INCLUDE)/CAL/*.h) | libs
	@mkdir -p $(SAMPLES)
	$(CC) -std=c99 $(CFLAGS) $(WARNINGS) -I$(INCLUDE)/CAL $< samples/c/sample.c -o $@ \
	    -L$(LIBS) -Wl,-rpath,'$$ORIGIN/../lib' -laticalrt -laticalcl -lm -lpthread

mpi-samples: blas $(addprefix $(BUILD)/mpi/,$(basename $(notdir $(wildcard samples/mpi/*.c))))

$(BUILD)/mpi/%: samples/mpi/%.c blas/include/calblas.h | blas
	@mkdir -p $(BUILD)/mpi
	$(MPICC) -std=c99 $(CFLAGS) $(WARNINGS) -Iblas/include $< -o $@ -L$(BLAS) -Wl,-rpath,'$$ORIGIN/../blas' -lCALBLAS -lm -lpthread

run: libs $(SAMPLES)/simple_matmult
	$(SAMPLES)/simple_matmult

manual:
	$(CARGO) run -p recal-manual -- $(BUILD)/manual

test-deps:
	sh scripts/install-test-deps.sh

# The wheel is built without the network, by maturin, which asks cargo for the crates of every platform: they are fetched before.
test: test-deps libs brook
	$(CARGO) fetch --locked
	$(CARGO) test --workspace

install: libs brook blas
	CARGO="$(CARGO)" sh scripts/install.sh $(LIBS) "$(PREFIX)" "$(DESTDIR)" "$(LIBDIR)"
	sh scripts/install-brook.sh $(BROOK) "$(PREFIX)" "$(DESTDIR)" "$(LIBDIR)"
	sh scripts/install-blas.sh $(BLAS) "$(PREFIX)" "$(DESTDIR)" "$(LIBDIR)"

uninstall:
	sh scripts/uninstall.sh "$(PREFIX)" "$(DESTDIR)" "$(LIBDIR)"

dist:
	CARGO="$(CARGO)" sh scripts/dist.sh $(BUILD)/dist

dist-check:
	sh scripts/dist-check.sh $(BUILD)/dist

platforms:
	CARGO="$(CARGO)" sh scripts/platforms.sh

platforms-quick:
	CARGO="$(CARGO)" PLATFORMS_MINUTES=$(MINUTES) sh scripts/platforms.sh --quick

ci:
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	for backend in cpu vulkan; do \
	    $(CARGO) clippy -p recal --all-targets --no-default-features --features $$backend -- -D warnings || exit 1; done
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	if rustup target add x86_64-pc-windows-gnu; then $(CARGO) check -p recal --target x86_64-pc-windows-gnu; \
	    else echo "make ci: not checked for Windows: rustup has no such target here"; fi
	$(MAKE) test

exhaustive:
	$(CARGO) run --release -p recal-il --example exhaustive
	RECAL_RANDOM=100000000 $(CARGO) test --release -p recal-il --test numerics

bench: test-deps
	sh scripts/install-bench-deps.sh
	@mkdir -p $(BUILD)
	$(CARGO) run --release -p recal-bench -- --json $(BUILD)/bench.json

bench-tables:
	$(CARGO) run --release -p recal-bench -- --tables docs/performance.md

fuzz:
	CARGO="$(CARGO)" sh scripts/fuzz.sh $(SECONDS)

stress:
	RECAL_LAUNCHES=1000000 RECAL_ROUNDS=100000 $(CARGO) test -p recal --test stress --test leaks -- --nocapture

# One set of packages, so that cargo builds each once.
FAULTS := -p recal-cpu -p recal-vulkan -p recal --test faults --test cache --test watchdog --test hostile

faults:
	RECAL_FAULTS=1000000 $(CARGO) test $(FAULTS) -- --nocapture

races:
	$(CARGO) test -p recal-models
	CARGO="$(CARGO)" sh scripts/races.sh

arm:
	CARGO="$(CARGO)" sh scripts/rust-tests.sh aarch64-unknown-linux-gnu cpu cases api

mutants: test-deps
	nice -n 19 $(CARGO) run --release --manifest-path tests/mutants/Cargo.toml --target-dir target/mutants/tool -- --every $(EVERY)

isolation:
	$(CARGO) test -p recal-fuzz-targets --test isolation

# What is published.
CRATES := recal-il recal-hal recal-reference recal-jit recal-cpu recal-vulkan recal-macros recal recal-rt recal-manual recal-cli recal-brook-abi recal-brcc recal-brook recal-brook-build recal-blas recal-blas-abi

audit:
	$(CARGO) test -p recal-conformance --test repository
	$(CARGO) package --allow-dirty --offline $(CRATES:%=-p %)
	if command -v cargo-deny >/dev/null; then $(CARGO) deny check; else echo "cargo-deny is not installed: vulnerabilities were not looked up"; fi

clean:
	rm -rf $(BUILD)
