#!/bin/sh
# install.sh LIBS PREFIX DESTDIR [LIBDIR]: copies headers, libraries, pkg-config and CMake files, and the cal command with
# its man pages and completions where it has been built. LIBDIR is the folder of libraries under PREFIX, `lib` unless the
# system has another. KEEP_DEBUG=1 leaves line tables in the libraries.
set -eu

libs=$1
prefix=$2
root=$3$2
libdir=${4:-lib}
# From the folder of libraries back to the prefix.
up=$(echo "$libdir" | sed 's|[^/][^/]*|..|g')
here=$(dirname "$0")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)

put() { # mode, folder, files
    mode=$1
    folder=$2
    shift 2
    mkdir -p "$root/$folder"
    for file in "$@"; do
        install -m "$mode" "$file" "$root/$folder/"
    done
}
fill() { # template, folder, mode 644
    mkdir -p "$root/$2"
    sed -e "s|@PREFIX@|$prefix|g" -e "s|@LIBDIR@|$libdir|g" -e "s|@UP@|$up|g" -e "s|@VERSION@|$version|g" "$here/templates/$1.in" >"$root/$2/$1"
    chmod 644 "$root/$2/$1"
}

put 644 include/CAL "$here"/../cal-api/include/CAL/*.h
put 755 "$libdir" "$libs/libaticalrt.so" "$libs/libaticalcl.so"
# Line tables are for who builds it; nothing that programs link is touched.
if [ -z "${KEEP_DEBUG:-}" ] && command -v strip >/dev/null 2>&1; then
    strip --strip-debug "$root/$libdir/libaticalrt.so" "$root/$libdir/libaticalcl.so"
fi
fill cal.pc "$libdir/pkgconfig"
fill CALConfig.cmake "$libdir/cmake/CAL"
fill CALConfigVersion.cmake "$libdir/cmake/CAL"
if [ -x "$libs/../bin/cal" ]; then
    put 755 bin "$libs/../bin/cal"
    # What the command knows about itself.
    pages=$(mktemp -d)
    trap 'rm -rf "$pages"' EXIT
    "$libs/../bin/cal" manual "$pages"
    put 644 share/man/man1 "$pages"/*.1
    put 644 share/man/man7 "$pages"/*.7
    for pair in bash:bash-completion/completions/cal zsh:zsh/site-functions/_cal fish:fish/vendor_completions.d/cal.fish; do
        file=$root/share/${pair#*:}
        mkdir -p "$(dirname "$file")"
        "$libs/../bin/cal" completions "${pair%%:*}" >"$file"
        chmod 644 "$file"
    done
fi
