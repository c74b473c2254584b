#!/bin/sh
# install.sh LIBS PREFIX DESTDIR: copies headers, libraries, pkg-config and CMake files, and the cal command and its
# man pages where they have been built.
set -eu

libs=$1
prefix=$2
root=$3$2
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
    sed -e "s|@PREFIX@|$prefix|g" -e "s|@VERSION@|$version|g" "$here/templates/$1.in" >"$root/$2/$1"
    chmod 644 "$root/$2/$1"
}

put 644 include/CAL "$here"/../cal-api/include/CAL/*.h
put 755 lib "$libs/libaticalrt.so" "$libs/libaticalcl.so"
fill cal.pc lib/pkgconfig
fill CALConfig.cmake lib/cmake/CAL
fill CALConfigVersion.cmake lib/cmake/CAL
if [ -x "$libs/../bin/cal" ]; then
    put 755 bin "$libs/../bin/cal"
fi
for page in "$here"/../docs/man/*.1; do
    if [ -f "$page" ]; then
        put 644 share/man/man1 "$page"
    fi
done
