#!/bin/sh
# Builds libbrook.so and the command brcc into OUTDIR; for Windows brook.dll, its import libraries and brcc.exe.
#   usage: scripts/build-brook.sh OUTDIR [PROFILE [TARGET]]        as for build-libs.sh
# CARGO and CC name other tools. The library shows the symbols of brook/capi.h and no others: a program may link CAL as well.
set -eu
out=${1:?usage: build-brook.sh OUTDIR [PROFILE [TARGET]]}
profile=${2:-release}
target=${3:-}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)

cd "$root"
. scripts/products.sh
system=linux
if [ -n "$target" ]; then
    . scripts/target.sh
    cross
fi
# shellcheck disable=SC2086 # a list of options
built=$("${CARGO:-cargo}" build $products --profile "$profile" ${target:+--target "$target"} \
    --message-format=json-render-diagnostics)
library=$(echo "$built" | sed -n 's/.*"\([^"]*libbrook\.a\)".*/\1/p' | tail -n 1)
tool=$(echo "$built" | sed -n 's/.*"executable":"\([^"]*\/brcc\(\.exe\)\{0,1\}\)".*/\1/p' | tail -n 1)
[ -n "$library" ] && [ -n "$tool" ] || { echo "build-brook.sh: cargo built no libbrook.a or no brcc" >&2; exit 1; }
# New files rather than new contents: programs that have the old ones mapped keep them.
name=$(basename "$tool")
cp "$tool" "$out/$name.new"
mv -f "$out/$name.new" "$out/$name"
if [ "$system" = windows ]; then
    sh scripts/windows-libs.sh "$target" "$library" "$out" brook
elif [ ! "$out/libbrook.so" -nt "$library" ]; then
    "${CC:-cc}" -shared -o "$out/libbrook.so.new" -Wl,--whole-archive "$library" -Wl,--no-whole-archive -Wl,--gc-sections \
        -Wl,--version-script=brook/runtime/exports.map -Wl,-z,nodelete -Wl,-z,defs \
        ${target:+-Wl,--build-id=none} -lgcc_s -lpthread -ldl -lm -lc
    mv -f "$out/libbrook.so.new" "$out/libbrook.so"
fi
