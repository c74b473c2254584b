#!/bin/sh
# bench.sh SAMPLES: runs the samples that report a speed, at sizes that take a few seconds each.
set -eu
for size in 256 512 1024; do
    "$1/simple_matmult" -n "$size" -i 5
done
