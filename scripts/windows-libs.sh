#!/bin/sh
# windows-libs.sh TRIPLE STATIC OUTDIR [brook]: the Windows libraries out of STATIC, the static library of recal-rt for TRIPLE
# (x86_64-pc-windows-gnu or i686-pc-windows-gnu), by mingw; with `brook` brook.dll out of that of recal-brook.
#
# aticalrt.dll holds all code and state, aticalcl.dll forwards the compiler's functions to it. The other names that programs try
# (aticalrt64.dll, aticalcl64.dll, amdcalrt.dll ...) hold nothing but forwarders, which the system's loader follows: a process
# that loads several names has one state. 32-bit functions are __stdcall; each is exported as calInit, calInit@0 and
# _calInit@0, since programs linked in all three ways. LIBGCC=-shared-libgcc has the libraries want the DLL of libgcc.
set -eu
triple=$1
static=$2
out=$3
here=$(cd "$(dirname "$0")/.." && pwd)
case $triple in
x86_64-*) mingw=x86_64-w64-mingw32 ;;
i686-*) mingw=i686-w64-mingw32 ;;
*) echo "windows-libs.sh: $triple is no Windows target" >&2; exit 1 ;;
esac
mkdir -p "$out"
# The linker makes a library's address of the path of its output, sorts imports by the paths of its inputs, and dlltool makes its
# members' names of a path: all are relative, so that the same sources give the same bytes in any folder.
static=$(cd "$(dirname "$static")" && pwd)/$(basename "$static")
cd "$out"
work=$(mktemp -d ./work.XXXXXX)
trap 'rm -rf "$work"' EXIT
cp "$static" "$work/static.a"
static=$work/static.a

# Names as the linker sees them, without the leading underscore of 32-bit symbols.
symbols() { # files
    "$mingw-nm" -g --defined-only "$@" 2>/dev/null | sed -n 's/^[0-9a-f]* T _\{0,1\}\(\(cal\|calcl\|recal_cl_\|brook_\)[A-Za-z0-9_]*\(@[0-9]*\)\{0,1\}\)$/\1/p' | sort -u
}
definitions() { # library, names on standard input: a .def file
    echo "LIBRARY $1.dll"
    echo EXPORTS
    while read -r name; do
        case $name in
        *@*) printf '    %s = %s\n    %s\n    _%s = %s\n' "${name%@*}" "$name" "$name" "$name" "$name" ;;
        *) echo "    $name" ;;
        esac
    done
}
forwarders() { # library, of, names on standard input
    echo "LIBRARY $1.dll"
    echo EXPORTS
    while read -r name; do
        plain=${name%@*}
        echo "    $plain = $2.$plain"
        case $name in *@*) printf '    %s = %s.%s\n    _%s = %s.%s\n' "$name" "$2" "$plain" "$name" "$2" "$plain" ;; esac
    done
}
link() { # library, inputs and options
    library=$1
    shift
    "$mingw-gcc" -shared "${LIBGCC:--static-libgcc}" -o "$library.dll" "$work/$library.def" "$@" \
        -Wl,--no-insert-timestamp -Wl,--enable-stdcall-fixup -s
    # What programs link: undecorated and decorated names lead to the undecorated export.
    "$mingw-dlltool" -k -d "$work/$library.lib.def" -l "lib$library.dll.a"
    cp "lib$library.dll.a" "$library.lib"
    cp "$work/$library.lib.def" "$library.def"
}
import() { # library, names on standard input: the .def that import libraries are made of
    echo "LIBRARY $1.dll"
    echo EXPORTS
    sed 's/^/    /'
}

"$mingw-gcc" -std=c99 -O2 -Wall -Wextra -DRECAL_DLL -c "$here/cal-api/rt/windows.c" -o "$work/windows.o"
system="-lws2_32 -luserenv -lntdll -lbcrypt -ladvapi32 -lole32 -lkernel32"
if [ "${4:-}" = brook ]; then
    # What brook.dll shows is __cdecl.
    symbols "$static" | grep '^brook_' >"$work/brook"
    definitions brook <"$work/brook" >"$work/brook.def"
    import brook <"$work/brook" >"$work/brook.lib.def"
    # shellcheck disable=SC2086 # a list of options
    link brook "$work/windows.o" "$static" $system
    exit
fi
symbols "$static" | grep -v '^calcl\|^brook_' >"$work/rt"
grep -v '^recal_cl_' "$work/rt" >"$work/rt.public"
definitions aticalrt <"$work/rt" >"$work/aticalrt.def"
import aticalrt <"$work/rt.public" >"$work/aticalrt.lib.def"
# shellcheck disable=SC2086 # a list of options
link aticalrt "$work/windows.o" "$static" $system

# Exceptions of a program's log function pass through, whose unwinding needs tables.
"$mingw-gcc" -std=c99 -O2 -Wall -Wextra -fexceptions -I "$here/cal-api/include" -c "$here/cal-api/rt/aticalcl.c" -o "$work/aticalcl.o"
symbols "$work/aticalcl.o" | grep '^calcl' >"$work/cl"
definitions aticalcl <"$work/cl" >"$work/aticalcl.def"
import aticalcl <"$work/cl" >"$work/aticalcl.lib.def"
import aticalrt <"$work/rt" >"$work/bridge.def"
(cd "$work" && "$mingw-dlltool" -k -d bridge.def -l libbridge.a)
link aticalcl "$work/windows.o" "$work/aticalcl.o" -L "$work" -lbridge

: >"$work/empty.c"
"$mingw-gcc" -c "$work/empty.c" -o "$work/empty.o"
for pair in aticalrt64:rt amdcalrt:rt amdcalrt64:rt aticalcl64:cl amdcalcl:cl amdcalcl64:cl; do
    library=${pair%:*}
    part=${pair#*:}
    # Names that end in 64 are those of 64-bit programs.
    case $triple:$library in i686-*:*64) continue ;; esac
    forwarders "$library" "atical$part" <"$work/$part" | grep -v recal_cl_ >"$work/$library.def"
    "$mingw-gcc" -shared -nostdlib -Wl,-e,0 -o "$library.dll" "$work/$library.def" "$work/empty.o" -Wl,--no-insert-timestamp -s
done
