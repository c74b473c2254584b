#!/bin/sh
# Builds libaticalrt.so, libaticalcl.so and libaticaldd.so into OUTDIR, and the recal command into OUTDIR/../bin.
#   usage: scripts/build-libs.sh OUTDIR [PROFILE [TARGET]]        PROFILE: release (default) or dev
# CARGO and CC name other tools. No library has a SONAME: programs record and open the bare file names.
#
# TARGET is one of Rust's names for Linux or Windows (scripts/target.sh). What is built for a TARGET is for others, and reproducible.
set -eu
out=${1:?usage: build-libs.sh OUTDIR [PROFILE [TARGET]]}
profile=${2:-release}
target=${3:-}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
cargo=${CARGO:-cargo}
cd "$root"
. scripts/products.sh

build() {
    # shellcheck disable=SC2086 # a list of options
    said=$("$cargo" build $products --profile "$profile" ${target:+--target "$target"} \
        --message-format=json-render-diagnostics)
}
built() { # name of a file: the last such path that cargo names
    found=$(printf '%s\n' "$said" | sed -n "s|.*\"\([^\"]*/$1\)\".*|\1|p" | tail -n 1)
    [ -n "$found" ] || { echo "build-libs.sh: cargo built no $1" >&2; exit 1; }
    echo "$found"
}
# New files rather than new contents: programs that have the old ones mapped keep them.
put() { # file, place
    cp "$1" "$2.new"
    mv -f "$2.new" "$2"
}

if [ -n "$target" ]; then
    . scripts/target.sh
    cross
fi
mkdir -p "$out/../bin"
build

case $target in
*-windows-*)
    static=$(built libaticalrt.a)
    sh scripts/windows-libs.sh "$target" "$static" "$out"
    tool=$(built recal.exe)
    put "$tool" "$out/../bin/recal.exe"
    exit
    ;;
esac

library=$(built libaticalrt.so)
put "$library" "$out/libaticalrt.so"

# Exceptions of a program's log function pass through, whose unwinding needs tables.
"${CC:-cc}" -std=c99 -O2 -g -Wall -Wextra -fPIC -shared -fvisibility=hidden -fexceptions -ffile-prefix-map="$root=recal" \
    -I cal-api/include cal-api/rt/aticalcl.c -o "$out/libaticalcl.so.new" \
    -L "$out" -laticalrt -Wl,-rpath,'$ORIGIN' -Wl,-z,nodelete -Wl,-z,defs -Wl,--no-as-needed
mv -f "$out/libaticalcl.so.new" "$out/libaticalcl.so"

# What start-up scripts look for beside the two.
"${CC:-cc}" -std=c99 -O2 -Wall -Wextra -fPIC -shared cal-api/rt/aticaldd.c -o "$out/libaticaldd.so.new"
mv -f "$out/libaticaldd.so.new" "$out/libaticaldd.so"

# The command, beside the libraries.
tool=$(built recal)
put "$tool" "$out/../bin/recal"
