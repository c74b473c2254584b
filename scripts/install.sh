#!/bin/sh
# install.sh LIBS PREFIX DESTDIR [LIBDIR]: copies headers, libraries, pkg-config and CMake files, and the recal command with
# its man pages and completions where it has been built. LIBDIR is the folder of libraries under PREFIX, `lib` unless the
# system has another. KEEP_DEBUG=1 leaves line tables in libraries and command. For other systems than this one: STRIP names
# the tool, STRIP_LIBRARIES its option, TOOL a recal command that runs here, PC_PREFIX the prefix that cal.pc tells.
#
# What was installed is listed in PREFIX/share/recal/LIBDIR.files; uninstall.sh removes that.
set -eu

libs=$1
prefix=$2
root=$3$2
libdir=${4:-lib}
here=$(dirname "$0")
. "$here/install-common.sh"

put 644 include/CAL "$here"/../cal-api/include/CAL/*.h
put 755 "$libdir" "$libs/libaticalrt.so" "$libs/libaticalcl.so" "$libs/libaticaldd.so"
slim "${STRIP_LIBRARIES:---strip-debug}" "$root/$libdir/libaticalrt.so" "$root/$libdir/libaticalcl.so" "$root/$libdir/libaticaldd.so"
fill cal.pc "$libdir/pkgconfig"
fill CALConfig.cmake "$libdir/cmake/CAL"
fill CALConfigVersion.cmake "$libdir/cmake/CAL"
if [ -x "$libs/../bin/recal" ]; then
    put 755 bin "$libs/../bin/recal"
    slim --strip-all "$root/bin/recal"
    # What the command knows about itself.
    tool=${TOOL:-$libs/../bin/recal}
    pages=$(mktemp -d)
    trap 'rm -rf "$pages"' EXIT
    "$tool" manual "$pages"
    put 644 share/man/man1 "$pages"/*.1
    put 644 share/man/man3 "$pages"/*.3
    put 644 share/man/man7 "$pages"/*.7
    for pair in bash:bash-completion/completions/recal zsh:zsh/site-functions/_recal fish:fish/vendor_completions.d/recal.fish; do
        file=share/${pair#*:}
        mkdir -p "$(dirname "$root/$file")"
        "$tool" completions "${pair%%:*}" >"$root/$file"
        chmod 644 "$root/$file"
        installed "$file"
    done
fi
