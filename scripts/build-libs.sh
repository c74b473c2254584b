#!/bin/sh
# Builds libaticalrt.so, libaticalcl.so and libaticaldd.so into OUTDIR, and the recal command into OUTDIR/../bin.
#   usage: scripts/build-libs.sh OUTDIR [PROFILE]        PROFILE: release (default) or dev
# CARGO and CC name other tools. No library has a SONAME: programs record and open the bare file names.
set -eu
out=${1:?usage: build-libs.sh OUTDIR [PROFILE]}
profile=${2:-release}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)

cd "$root"
built=$("${CARGO:-cargo}" build -p recal-rt --profile "$profile" --message-format=json-render-diagnostics |
    sed -n 's/.*"filenames":\["\([^"]*libaticalrt\.so\)".*/\1/p' | tail -n 1)
[ -n "$built" ] || { echo "build-libs.sh: cargo built no libaticalrt.so" >&2; exit 1; }
# A new file rather than new contents: programs that have the old one mapped keep it.
cp "$built" "$out/libaticalrt.so.new"
mv -f "$out/libaticalrt.so.new" "$out/libaticalrt.so"

"${CC:-cc}" -std=c99 -O2 -g -Wall -Wextra -fPIC -shared -fvisibility=hidden -I cal-api/include \
    cal-api/rt/aticalcl.c -o "$out/libaticalcl.so.new" \
    -L "$out" -laticalrt -Wl,-rpath,'$ORIGIN' -Wl,-z,nodelete -Wl,-z,defs -Wl,--no-as-needed
mv -f "$out/libaticalcl.so.new" "$out/libaticalcl.so"

# What start-up scripts look for beside the two.
"${CC:-cc}" -std=c99 -O2 -Wall -Wextra -fPIC -shared cal-api/rt/aticaldd.c -o "$out/libaticaldd.so.new"
mv -f "$out/libaticaldd.so.new" "$out/libaticaldd.so"

# The command, beside the libraries.
tool=$("${CARGO:-cargo}" build -p recal-cli --profile "$profile" --message-format=json-render-diagnostics |
    sed -n 's/.*"executable":"\([^"]*\/recal\)".*/\1/p' | tail -n 1)
[ -n "$tool" ] || { echo "build-libs.sh: cargo built no recal" >&2; exit 1; }
mkdir -p "$out/../bin"
cp "$tool" "$out/../bin/recal.new"
mv -f "$out/../bin/recal.new" "$out/../bin/recal"
