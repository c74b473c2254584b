#!/bin/sh
# Measures Brook+ beside the bare interface: brook/bench/bench.cpp says what.
#   usage: scripts/bench-brook.sh [ROUNDS]        20 rounds if left out
# Built once, the same program runs again: target/brook-bench/bench target/brook-bench/brcc target/brook-bench 20
# CARGO, CC and CXX name other tools; BRT_ADAPTER and CAL_BACKEND choose the device.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/target/brook-bench
mkdir -p "$out"
cd "$root"
sh scripts/build-libs.sh "$out/lib" >&2
sh scripts/build-brook.sh "$out" >&2
cxx="${CXX:-g++} -O2 -Wall -Wextra -Werror"
# The kernels of the samples, and their hosts under another name.
for sample in sum prefix_sum optimized_matmult; do
    "$out/brcc" -o "$out/$sample" "brook/samples/$sample.br" 2>"$out/$sample.warnings" || { cat "$out/$sample.warnings" >&2; exit 1; }
    $cxx -std=c++98 -Dmain="main_of_$sample" -Ibrook/samples/common -Ibrook/include -c "$out/$sample.cpp" -o "$out/$sample.o"
done
$cxx -std=c++98 -Ibrook/samples/common -Ibrook/include -c brook/samples/common/common.cpp -o "$out/common.o"
$cxx -std=c++98 -I"$out" -Ibrook/include -Ical-api/include/CAL -c brook/bench/bench.cpp -o "$out/bench.o"
$cxx "$out/bench.o" "$out/sum.o" "$out/prefix_sum.o" "$out/optimized_matmult.o" "$out/common.o" -L"$out" -L"$out/lib" \
    -Wl,-rpath,"$out" -Wl,-rpath,"$out/lib" -lbrook -laticalrt -laticalcl -lm -o "$out/bench"
"$out/bench" "$out/brcc" "$out" "${1:-20}"
