#!/bin/sh
# Runs fuzzers: fuzz.sh SECONDS [target...]. Needs a C++ compiler, and the toolchain at hand: coverage and the address
# sanitizer are switched on by the flags that cargo-fuzz uses. New inputs go to fuzz/work (not kept), crashes to
# fuzz/artifacts; a crash that is mended belongs into fuzz/finds/<target>, which `cargo test` replays.
set -eu
seconds=${1:-60}
[ $# -gt 0 ] && shift
targets=${*:-text structured image api kernel brook}
cd "$(dirname "$0")/../fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTC_BOOTSTRAP=1
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 -Zsanitizer=address"
export RUSTC_BOOTSTRAP RUSTFLAGS
"${CARGO:-cargo}" build --release --target "$host"
for target in $targets; do
    mkdir -p "work/$target" "artifacts/$target" "corpus/$target" "finds/$target"
    echo "$target: $seconds seconds"
    # Leaks are looked for by other tests; the runtime keeps some things for the life of the process.
    ASAN_OPTIONS=detect_leaks=0 "target/$host/release/$target" "work/$target" "corpus/$target" "finds/$target" \
        -artifact_prefix="artifacts/$target/" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=20 \
        -max_len=4096 -print_final_stats=1 -verbosity=0 ${FUZZ_FLAGS:-}
done
