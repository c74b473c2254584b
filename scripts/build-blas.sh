#!/bin/sh
# Builds libCALBLAS.so into OUTDIR, and beside it the names by which CMake's BLA_VENDOR=ACML_GPU looks for it.
#   usage: scripts/build-blas.sh OUTDIR [PROFILE]        PROFILE: release (default) or dev
# CARGO and CC name other tools. The library shows the symbols of BLAS and no others: a program may link CAL as well.
set -eu
out=${1:?usage: build-blas.sh OUTDIR [PROFILE]}
profile=${2:-release}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)

cd "$root"
target=
. scripts/products.sh
# shellcheck disable=SC2086 # a list of options
built=$("${CARGO:-cargo}" build $products --profile "$profile" --message-format=json-render-diagnostics)
library=$(echo "$built" | sed -n 's/.*"\([^"]*libcalblas\.a\)".*/\1/p' | tail -n 1)
[ -n "$library" ] || { echo "build-blas.sh: cargo built no libcalblas.a" >&2; exit 1; }
# What is shown: the routines of the table, their error handlers, and two variables that error handlers of C programs read.
{
    echo '{ global: xerbla_; cblas_xerbla; RowMajorStrg; CBLAS_CallFromC;'
    sed -n '/^[sc]:/{s/ =.*//;s/[sdcz]://g;p;}' blas/abi/routines.txt | tr ' ' '\n' |
        sed 's/.*/    &_; cblas_&;/;s/cblas_\([cz]dot[uc]\);/cblas_\1_sub;/'
    echo 'local: *; };'
} >"$out/exports.map"
# Programs replace error handlers, so no symbol is bound here. New files rather than new contents: programs that have the old ones
# mapped keep them.
if [ ! "$out/libCALBLAS.so" -nt "$library" ] || [ ! "$out/libCALBLAS.so" -nt blas/abi/c/xerbla.c ]; then
    "${CC:-cc}" -std=c99 -O2 -g -Wall -Wextra -fPIC -shared -ffile-prefix-map="$root=recal" -Wl,-soname,libCALBLAS.so \
        -o "$out/libCALBLAS.so.new" blas/abi/c/xerbla.c -Wl,--whole-archive "$library" -Wl,--no-whole-archive -Wl,--gc-sections \
        -Wl,--version-script="$out/exports.map" -Wl,-z,nodelete -Wl,-z,defs -lgcc_s -lpthread -ldl -lm -lc
    mv -f "$out/libCALBLAS.so.new" "$out/libCALBLAS.so"
fi
for name in libacml.so libacml_mv.so; do
    ln -sf libCALBLAS.so "$out/$name"
done
