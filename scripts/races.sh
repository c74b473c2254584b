#!/bin/sh
# Looks for data races and undefined behaviour: the stress test of the CPU devices under the thread sanitizer, the tests of their
# memory under Miri, which take ten minutes. Needs a nightly toolchain with the components rust-src and miri.
set -eu
cd "$(dirname "$0")/.."
if ! rustc +nightly --version >/dev/null 2>&1; then
    echo "there is no nightly toolchain: the thread sanitizer and Miri did not run"
    exit 0
fi
host=$(rustc -vV | sed -n 's/^host: //p')
# Drivers are not built with the sanitizer, so none is offered.
RUSTFLAGS="-Zsanitizer=thread" TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}" VK_LOADER_DRIVERS_DISABLE='*' \
    RECAL_LAUNCHES="${RECAL_LAUNCHES:-200000}" \
    "${CARGO:-cargo}" +nightly test -Zbuild-std --target "$host" -p recal --test stress -- --nocapture
# The device looks at the memory and the processor of the host.
MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}" "${CARGO:-cargo}" +nightly miri test -p recal-cpu --test memory
