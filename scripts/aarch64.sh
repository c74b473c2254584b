#!/bin/sh
# Builds the CPU backend for AArch64 and runs its tests there: encoders, compiled code and the evaluator (recal-jit), the
# engine (recal-cpu), every conformance case and random kernels, with NEON code and interpreted. Where the host is another
# processor, under qemu. Installs what is missing, as root or through sudo.
set -eu
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
cargo=${CARGO:-cargo}

if [ "$(uname -m)" != aarch64 ]; then
    missing=
    # command:package that provides it
    for pair in aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64:qemu-user; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
    done
    [ -e /usr/aarch64-linux-gnu/include/stdio.h ] || missing="$missing libc6-dev-arm64-cross"
    if [ -n "$missing" ]; then
        sudo=
        [ "$(id -u)" = 0 ] || sudo=sudo
        $sudo apt-get update
        # shellcheck disable=SC2086 # a list of packages
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
    fi
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || rustup target add $target
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
fi

# What is interpreted, evaluated or read back needs no particular processor: `make test` has it.
$cargo test --target $target -p recal-jit --test jit -- "neon code"
$cargo test --target $target -p recal-hal --lib float_env
$cargo test --target $target -p recal-cpu
# Whatever else is asked about cases: not what they look like, which the host knows, but what they give.
$cargo test --target $target -p recal-suite --test conformance -- the_cpu_backend_passes_every_case
$cargo test --target $target -p recal-suite --test fuzzing -- the_cpu_backend_agrees_with_the_slow_interpreter
